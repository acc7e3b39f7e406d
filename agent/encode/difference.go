package encode

import (
	"slices"
	"strings"
	"unicode"
)

func (v *view) names() {
	o, n := v.o, v.n
	var newSubjects []int
	for _, d := range v.near {
		newSubjects = union(newSubjects, d.subject)
	}
	kinN := n.filter(newSubjects, func(j int) bool { return n.words[j].class&kin != 0 && !v.nHit[j] })
	v.add("kin.new", float64(min(len(kinN), 2)))
	count := func(r *reading, ids []int, hit []bool) (shared, lost int) {
		names := r.filter(ids, func(i int) bool { return r.words[i].name })
		shared = len(r.filter(names, func(i int) bool { return hit[i] }))
		return shared, len(names) - shared
	}
	shared, _ := count(o, v.oAll, v.oHit)
	sharedN, extra := count(n, v.nAll, v.nHit)
	v.add("names.shared", float64(min(max(shared, sharedN), 3)))
	v.add("names.extra", float64(min(extra, 4))/2)
}

// values compares numbers, and what the stored clause says in the place of the new one.
func (v *view) values() {
	only := func(r *reading, ids []int, hit []bool) []int {
		return r.filter(ids, func(i int) bool { return r.words[i].number && !hit[i] })
	}
	lost, gained := only(v.o, indices(v.c.a, v.c.b), v.oHit), only(v.n, v.nAll, v.nHit)
	alike := slices.ContainsFunc(lost, func(i int) bool {
		return slices.ContainsFunc(gained, func(j int) bool { return v.o.words[i].shape == v.n.words[j].shape })
	})
	values := v.o.filter(indices(v.c.a, v.c.b), func(i int) bool { return v.o.words[i].number || v.o.words[i].name })
	kept := v.o.filter(values, v.inN(v.dAll))
	share := float64(len(kept)) / float64(max(1, len(values)))
	v.add("values.kept", share)
	v.add("values.kept.all", any01(len(values) > 1 && len(kept) == len(values)))
	v.add("values.kept.plain", any01(v.all&strongCues == 0)*share)
	v.is("number.differs", len(lost) > 0 && len(gained) > 0)
	v.add("number.shape", any01(alike)*max(v.get("subject.in.new"), v.get("newsubject.in.old")))
	v.beside()
	v.swap()
}

// shapeOfNumber makes one of numbers that are written alike: 8091 and 8191, 9:30 and 20:00.
func shapeOfNumber(s string) string {
	var b strings.Builder
	parted := strings.ContainsAny(s, ":./-")
	for _, r := range s {
		if unicode.IsDigit(r) {
			r = '9'
		}
		if !parted || r != '9' || !strings.HasSuffix(b.String(), "9") {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// beside looks for words of change and of end beside what the stored clause says.
func (v *view) beside() {
	var awayValue, ended, from bool
	in := v.inO(indices(v.c.a, v.c.b))
	for _, d := range v.near {
		for j := d.a; j < d.b; j++ {
			if v.nW[j] == 0 || !in(j) {
				continue
			}
			subject := v.inO(weighty(v.c.subject, v.oW))(j)
			behind := v.n.words[max(d.a, j-3):j]
			from = from || !subject && v.displaced(j, d)
			ahead := v.n.words[j+1 : min(d.b, j+5)]
			isA := func(c class) func(word) bool { return func(w word) bool { return w.class&c != 0 } }
			if slices.ContainsFunc(behind, isA(away)) {
				awayValue = awayValue || !subject
			}
			if slices.ContainsFunc(ahead, isA(over)) || slices.ContainsFunc(behind, isA(over)) {
				ended = true
			}
		}
	}
	for _, f := range v.n.cues {
		if f.cue&cueGone != 0 && slices.Contains(v.nAll, f.from) {
			for j := f.from; j < min(f.to+4, len(v.n.words)); j++ {
				awayValue = awayValue || v.nW[j] > 0 && in(j)
			}
		}
	}
	v.is("away.from", from)
	v.is("away.value", awayValue)
	v.is("ended.near", ended)
}

// displaced reports a word of what the stored clause says behind "from", "instead of" or
// "replaces", with another thing beside it in the new clause.
func (v *view) displaced(j int, d *clause) bool {
	k := j - 1
	for k > d.a && v.n.words[k].weight == 0 && v.n.words[k].class&(away|bind) == 0 {
		k--
	}
	w := &v.n.words[max(k, d.a)]
	from := slices.Contains(v.n.lang.roles[w.fold], "from") || w.class&away != 0 && w.class&(deny|prep) == 0
	if k < d.a || !from {
		return false
	}
	return slices.ContainsFunc(indices(d.a, d.b), func(i int) bool { return !v.nHit[i] && (v.n.words[i].name || v.n.words[i].number) })
}

// swap looks for the same frame with something else in one place.
func (v *view) swap() {
	o, n := v.o, v.n
	so := weighty(v.c.subject, v.oW)
	sn := weighty(v.d.subject, v.nW)
	inD, inC := v.inN(v.dAll), v.inO(v.oAll)
	same := v.get("subject.missing") == 0 && v.get("subject.extra") == 0 && !v.self
	head := slices.ContainsFunc(so, v.inN(sn)) || len(so) == 0 && len(sn) == 0
	difO := o.filter(weighty(indices(v.c.a, v.c.b), v.oW), func(i int) bool { return !inD(i) })
	difN := n.filter(weighty(indices(v.d.a, v.d.b), v.nW), func(j int) bool { return !inC(j) })
	swap := v.is("swap", same && head && len(difO) > 0 && len(difN) > 0)
	one := o.has(v.c.subject, func(w *word) bool { return w.class&single != 0 }) || v.c.verb < v.c.b && o.words[v.c.verb].class&single != 0
	v.is("swap.single", swap && one)
	rest := func(r *reading, ids []int) int {
		return len(r.filter(ids, func(i int) bool { return !r.words[i].number }))
	}
	tiny := rest(o, difO) <= 1 && rest(n, difN) <= 2 && v.get("cover.old.best") > .5
	v.is("tiny", tiny && same)
}

// confirmed reports whether the new text repeats a stored clause, or all its values, without a
// word that ends or corrects anything, or what it ends is another one.
func (v *view) confirmed() bool {
	if v.all&(cueGone|cueInstead|cueEnded|cueWrong|cueBack) != 0 {
		return v.endsAnother()
	}
	return v.get("cover.old.best") > .99 && v.get("cover.new") > .99 || v.get("values.kept.all") > 0
}

// endsAnother reports whether the only numbers of the new text stand in a clause that says "no longer", and the
// stored clause has others of the same form: "no longer runs on 5433" leaves what runs on 5434.
func (v *view) endsAnother() bool {
	if v.d.cues&cueGone == 0 || v.n.all&(cueInstead|cueWrong|cueChange) != 0 {
		return false
	}
	ended, other := map[string]bool{}, false
	for j, w := range v.n.words {
		if w.number && (j < v.d.a || j >= v.d.b) {
			return false
		}
		ended[w.stem] = ended[w.stem] || w.number
	}
	for _, i := range indices(v.c.a, v.c.b) {
		w := &v.o.words[i]
		if w.number && ended[w.stem] {
			return false
		}
		other = other || w.number && slices.ContainsFunc(v.n.words, func(n word) bool { return n.number && n.shape == w.shape })
	}
	return other
}

// signed reports whether the two clauses share what they are about, and the new one has another
// number of the same form, or tells of a change or an end.
func (v *view) signed() bool {
	var shared float64
	for _, i := range v.o.filter(v.oAll, v.inN(v.dAll)) {
		if !v.o.words[i].number {
			shared += v.oW[i]
		}
	}
	if shared < 1.5 {
		return false
	}
	lost := v.o.filter(indices(v.c.a, v.c.b), func(i int) bool { return v.o.words[i].number && !v.oHit[i] })
	gained := v.n.filter(v.dAll, func(j int) bool { return v.n.words[j].number && !v.nHit[j] })
	return v.d.cues&strongCues != 0 || slices.ContainsFunc(lost, func(i int) bool {
		return slices.ContainsFunc(gained, func(j int) bool { return v.o.words[i].shape == v.n.words[j].shape })
	})
}
