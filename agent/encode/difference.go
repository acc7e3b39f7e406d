package encode

import (
	"slices"
	"strings"
	"unicode"
)

func (v *view) names() {
	o, n := v.o, v.n
	var newSubjects []int
	for _, d := range n.clauses {
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

// contrasts looks for words of which each text has another one.
func (v *view) contrasts() {
	o, n := v.o, v.n
	groups := func(r *reading, ids []int) map[string][]string {
		out := map[string][]string{}
		for _, i := range ids {
			for _, g := range r.lang.contrast[r.words[i].fold] {
				out[g] = append(out[g], r.words[i].fold)
			}
		}
		return out
	}
	differ := func(a, b map[string][]string, only string) (n int) {
		for g, words := range a {
			if other := b[g]; len(other) > 0 && strings.HasPrefix(g, only) && !slices.ContainsFunc(words, func(w string) bool { return slices.Contains(other, w) }) {
				n++
			}
		}
		return n
	}
	subjectO, subjectN := groups(o, v.c.subject), groups(n, v.d.subject)
	allO, allN, bestN := groups(o, v.oAll), groups(n, v.nAll), groups(n, v.dAll)
	v.is("contrast.subject", differ(subjectO, subjectN, "") > 0)
	v.all = differ(allO, allN, "") > 0
	v.add("contrast.best", float64(min(differ(allO, bestN, ""), 2)))
	v.is("contrast.time", differ(allO, allN, "time/") > 0)
	lead := func(r *reading, c *clause) map[string]bool {
		out := map[string]bool{}
		for i := c.a; i < min(c.b, c.a+4, c.verb); i++ {
			w := &r.words[i]
			timely := slices.ContainsFunc(r.lang.contrast[w.fold], func(g string) bool { return strings.HasPrefix(g, "time/") })
			if w.number || timely {
				out[w.stem] = true
			}
		}
		return out
	}
	lo, ln := lead(o, v.c), lead(n, v.d)
	shared := false
	for s := range lo {
		shared = shared || ln[s]
	}
	v.is("lead.differs", len(lo) > 0 && len(ln) > 0 && !shared)
}

// values compares numbers, and what the stored clause says in the place of the new one.
func (v *view) values() {
	only := func(r *reading, ids []int, hit []bool) []int {
		return r.filter(ids, func(i int) bool { return r.words[i].number && !hit[i] })
	}
	lost, gained := only(v.o, indices(v.c.a, v.c.b), v.oHit), only(v.n, v.nAll, v.nHit)
	alike := slices.ContainsFunc(lost, func(i int) bool {
		return slices.ContainsFunc(gained, func(j int) bool { return shapeOfNumber(v.o.words[i].stem) == shapeOfNumber(v.n.words[j].stem) })
	})
	v.is("number.differs", len(lost) > 0 && len(gained) > 0)
	v.add("number.shape", any01(alike)*max(v.get("subject.in.new"), v.get("newsubject.in.old")))
	v.denials()
	v.near()
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

// denials looks for a denial in one of the clauses alone.
func (v *view) denials() {
	o, n := v.o, v.n
	isNeg := func(r *reading, c *clause) bool {
		return r.has(indices(c.a, c.b), func(w *word) bool { return w.class&deny != 0 || w.fold == "not" })
	}
	negO, negN := isNeg(o, v.c), isNeg(n, v.d)
	best := v.get("cover.old.best")
	v.add("negation.cover", any01(negO != negN)*best)
	verbs := func() bool {
		for i := v.c.verb; i < min(v.c.verb+3, v.c.b); i++ {
			if v.oW[i] >= commonWeight && v.inN(v.dAll)(i) {
				return true
			}
		}
		return false
	}
	v.is("negation.verb", negO != negN && verbs())
}

// near looks for words of change and of end beside what the stored clause says.
func (v *view) near() {
	var awayValue, ended, from bool
	in := v.inO(indices(v.c.a, v.c.b))
	for _, d := range v.n.clauses {
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
		if f.cue&cueGone != 0 {
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
	if w := &v.n.words[max(k, d.a)]; k < d.a || w.fold != "from" && w.fold != "von" && w.fold != "vom" && (w.class&away == 0 || w.class&(deny|prep) != 0) && w.fold != "of" {
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
	v.is("contrast.swap", same && v.all)
}
