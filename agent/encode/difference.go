package encode

import (
	"slices"
	"strings"
)

func (v *view) names() {
	o, n := v.o, v.n
	isKin := func(hit []bool, r *reading, ids []int) (lost, both int) {
		for _, i := range ids {
			if r.words[i].class&kin == 0 {
				continue
			}
			if hit[i] {
				both++
			} else {
				lost++
			}
		}
		return lost, both
	}
	kinO, kinBoth := isKin(v.oHit, o, v.oAll)
	var newSubjects []int
	for _, d := range n.clauses {
		newSubjects = union(newSubjects, d.subject)
	}
	kinN, _ := isKin(v.nHit, n, newSubjects)
	v.add("kin.new", float64(min(kinN, 2)))
	v.add("kin.old", float64(min(kinO, 2)))
	v.is("kin.same", kinBoth > 0)
	count := func(r *reading, ids []int, hit []bool) (shared, lost int) {
		for _, i := range ids {
			if !r.words[i].name {
				continue
			}
			if hit[i] {
				shared++
			} else {
				lost++
			}
		}
		return shared, lost
	}
	shared, missing := count(o, v.oAll, v.oHit)
	sharedN, extra := count(n, v.nAll, v.nHit)
	v.add("names.shared", float64(min(max(shared, sharedN), 3)))
	v.add("names.extra", float64(min(extra, 4))/2)
	v.add("names.missing", float64(min(missing, 4))/2)
	v.is("names.disjoint", missing > 0 && extra > 0 && shared+sharedN == 0)
	owners := func(r *reading, ids []int, hit []bool) bool {
		return slices.ContainsFunc(ids, func(i int) bool { return r.words[i].owns && !hit[i] })
	}
	v.is("owner.other", owners(o, v.oAll, v.oHit) || owners(n, v.dAll, v.nHit))
	v.lookalikes()
}

// lookalikes looks for names of which each text has another one that resembles it.
func (v *view) lookalikes() {
	o, n := v.o, v.n
	inSubject, inValue := false, false
	for _, i := range v.oAll {
		if v.oW[i] == 0 || v.oHit[i] {
			continue
		}
		for _, j := range v.nAll {
			if v.nW[j] == 0 || v.nHit[j] || !confusable(&o.words[i], &n.words[j]) {
				continue
			}
			if slices.Contains(v.c.subject, i) || slices.Contains(v.d.subject, j) {
				inSubject = true
			} else {
				inValue = true
			}
		}
	}
	v.is("confusable.subject", inSubject)
	v.is("confusable.value", inValue)
}

// confusable reports two names or identifiers that look alike and are not the same:
// "db-host-1" and "db-host-3", "Milo" and "Milou".
func confusable(a, b *word) bool {
	letters := func(w *word) bool { return strings.ContainsFunc(w.fold, func(r rune) bool { return r > '9' }) }
	if !letters(a) || !letters(b) {
		return false
	}
	if a.number && b.number {
		return bareOf(a.fold) == bareOf(b.fold) && bareOf(a.fold) != ""
	}
	return !a.number && !b.number && (a.name || b.name || a.starts || b.starts) && len(a.fold) > 3 && len(b.fold) > 3 && near(a.fold, b.fold)
}

func bareOf(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == '.' {
			return -1
		}
		return r
	}, s)
}

// near reports words that two letters make one of.
func near(a, b string) bool {
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) > 2 || len(y)-len(x) > 2 {
		return false
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range x {
		last := row[0]
		row[0] = i + 1
		for j, s := range y {
			next := last + 1
			if r == s {
				next = last
			}
			last = row[j+1]
			row[j+1] = min(next, last+1, row[j]+1)
		}
	}
	return row[len(y)] <= 2
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
	v.add("contrast", float64(min(differ(allO, allN, ""), 2)))
	v.add("contrast.best", float64(min(differ(allO, bestN, ""), 2)))
	v.is("contrast.time", differ(allO, allN, "time/") > 0)
	same := false
	for g, words := range allO {
		if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(allN[g], w) }) {
			same = true
		}
	}
	v.is("contrast.same", same)
	lead := func(r *reading, c *clause) map[string]bool {
		out := map[string]bool{}
		for i := c.a; i < min(c.b, c.a+4); i++ {
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
	anti := false
	for _, i := range indices(v.c.a, v.c.b) {
		for _, x := range o.lang.antonyms[o.words[i].fold] {
			for _, j := range v.nAll {
				anti = anti || n.words[j].fold == x && !v.nHit[j]
			}
		}
	}
	v.is("antonym", anti)
}

// values compares numbers, and what the stored clause says in the place of the new one.
func (v *view) values() {
	o, n := v.o, v.n
	type num struct{ value, before, after string }
	numbers := func(r *reading, ids []int) (out []num) {
		for _, i := range ids {
			if !r.words[i].number {
				continue
			}
			x := num{value: r.words[i].stem}
			if i > 0 && !r.words[i].starts && r.words[i-1].class&stop == 0 {
				x.before = r.words[i-1].stem
			}
			if i+1 < len(r.words) && !r.words[i+1].starts && r.words[i+1].class&stop == 0 {
				x.after = r.words[i+1].stem
			}
			out = append(out, x)
		}
		return out
	}
	a, b := numbers(o, indices(v.c.a, v.c.b)), numbers(n, v.nAll)
	has := func(list []num, value string) bool {
		return slices.ContainsFunc(list, func(x num) bool { return x.value == value })
	}
	same, lost, gained, unit := false, false, false, false
	for _, x := range a {
		if has(b, x.value) {
			same = true
		} else {
			lost = true
		}
		for _, y := range b {
			if x.value != y.value && !has(a, y.value) && (x.after != "" && x.after == y.after || x.before != "" && x.before == y.before) {
				unit = true
			}
		}
	}
	for _, y := range b {
		gained = gained || !has(a, y.value)
	}
	v.is("number.same", same)
	v.is("number.differs", lost && gained && len(a) > 0)
	v.is("number.unit", unit)
	v.denials()
	v.near()
	v.swap()
}

// denials looks for a denial in one of the clauses alone.
func (v *view) denials() {
	o, n := v.o, v.n
	isNeg := func(r *reading, c *clause) bool {
		return r.has(indices(c.a, c.b), func(w *word) bool { return w.class&deny != 0 || w.fold == "not" })
	}
	negO, negN := isNeg(o, v.c), isNeg(n, v.d)
	best := v.get("cover.old.best")
	v.is("negation.differs", negO != negN)
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
	var awayValue, awaySubject, ended bool
	in := v.inO(indices(v.c.a, v.c.b))
	for _, d := range v.n.clauses {
		for j := d.a; j < d.b; j++ {
			if v.nW[j] == 0 || !in(j) {
				continue
			}
			subject := v.inO(weighty(v.c.subject, v.oW))(j)
			behind := v.n.words[max(d.a, j-3):j]
			ahead := v.n.words[j+1 : min(d.b, j+5)]
			isA := func(c class) func(word) bool { return func(w word) bool { return w.class&c != 0 } }
			if slices.ContainsFunc(behind, isA(away)) {
				awayValue, awaySubject = awayValue || !subject, awaySubject || subject
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
	v.is("away.value", awayValue)
	v.is("away.subject", awaySubject)
	v.is("ended.near", ended)
}

// swap looks for the same frame with something else in one place.
func (v *view) swap() {
	o, n := v.o, v.n
	so := weighty(v.c.subject, v.oW)
	sn := weighty(v.d.subject, v.nW)
	inD, inC := v.inN(v.dAll), v.inO(v.oAll)
	same := v.get("subject.missing") == 0 && v.get("subject.extra") == 0 && v.get("subject.self.one") == 0 && v.get("confusable.subject") == 0
	head := slices.ContainsFunc(so, v.inN(sn)) || len(so) == 0 && len(sn) == 0
	difO := o.filter(weighty(indices(v.c.a, v.c.b), v.oW), func(i int) bool { return !inD(i) })
	difN := n.filter(weighty(indices(v.d.a, v.d.b), v.nW), func(j int) bool { return !inC(j) })
	swap := v.is("swap", same && head && len(difO) > 0 && len(difN) > 0)
	one := o.has(v.c.subject, func(w *word) bool { return w.class&single != 0 }) || v.c.verb < v.c.b && o.words[v.c.verb].class&single != 0
	v.is("swap.single", swap && one)
	number := func(r *reading, ids []int) (numbers, others int) {
		for _, i := range ids {
			if r.words[i].number {
				numbers++
			} else {
				others++
			}
		}
		return numbers, others
	}
	a, restO := number(o, difO)
	b, restN := number(n, difN)
	v.is("swap.number", swap && a > 0 && b > 0 && restO <= 1)
	tiny := restO <= 1 && restN <= 2 && v.get("cover.old.best") > .5
	v.is("tiny", tiny && same)
	v.is("tiny.other", tiny && !same)
	v.is("contrast.swap", same && v.get("contrast") > 0)
	v.add("single", any01(o.has(indices(v.c.a, v.c.b), func(w *word) bool { return w.class&single != 0 })))
	v.is("single.shared", slices.ContainsFunc(indices(v.c.a, v.c.b), func(i int) bool { return o.words[i].class&single != 0 && v.oHit[i] }))
}
