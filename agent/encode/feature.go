package encode

import "slices"

// A feature is one thing seen in a stored clause beside a new text.
type feature struct {
	name  string
	value float64
}

// A view collects the features of one stored clause beside a new memory. Of a long text it
// sees the clauses around the two that it compares: what else is said far from them is about
// other things.
type view struct {
	*pairing
	c    *clause   // the stored clause
	d    *clause   // the new clause nearest to it
	near []*clause // the new clauses around d
	all  cue       // that one of them says
	out  []feature
	oAll []int  // words of the clause and of its subject
	dAll []int  // of the new clause
	nAll []int  // of the clauses around it, and of the title
	oHit []bool // words of o that nAll has
	nHit []bool // words of n that the clauses around c have
	self bool   // one of the subjects alone is the writer
}

func (v *view) add(name string, value float64) {
	v.out = append(v.out, feature{name: name, value: value})
}

func (v *view) is(name string, b bool) bool {
	v.add(name, any01(b))
	return b
}

// align finds the new clause that a stored one stands to, and what stands around both.
func (p *pairing) align(c *clause) *view {
	v := &view{pairing: p, c: c, oAll: union(indices(c.a, c.b), c.subject)}
	v.d = v.nearest()
	v.dAll = union(indices(v.d.a, v.d.b), v.d.subject)
	v.look()
	return v
}

// features says how the two clauses stand to each other.
func (v *view) features() *view {
	v.out = make([]feature, 0, 128)
	v.overlap()
	v.subjects()
	v.names()
	v.values()
	v.cues()
	v.shape()
	v.apart()
	return v
}

func union(a, b []int) []int {
	out := slices.Clone(a)
	for _, i := range b {
		if !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	return out
}

// around is how many clauses on each side of one are seen with it.
const around = 2

// look finds what stands around the two clauses.
func (v *view) look() {
	v.near, v.nAll = v.n.around(v.d)
	for _, d := range v.near {
		v.nAll = union(v.nAll, d.subject)
	}
	_, o := v.o.around(v.c)
	for _, d := range v.near {
		v.all |= d.cues
	}
	v.oHit, v.nHit = make([]bool, len(v.o.words)), make([]bool, len(v.n.words))
	for _, i := range o {
		v.oHit[i] = v.inN(v.nAll)(i)
	}
	for _, j := range v.nAll {
		v.nHit[j] = v.inO(o)(j)
	}
}

// around lists the clauses around one, with the words of the title, of them and between them.
func (r *reading) around(c *clause) ([]*clause, []int) {
	k := slices.Index(r.clauses, c)
	near := r.clauses[max(0, k-around):min(len(r.clauses), k+around+1)]
	from, to := near[0].a, near[len(near)-1].b
	if k <= around {
		from = 0
	}
	if k+around+1 >= len(r.clauses) {
		to = len(r.words)
	}
	title := 0
	for title < from && r.words[title].title {
		title++
	}
	return near, union(slices.Concat(indices(0, title), indices(from, to)), c.subject)
}

// nearest is the new clause that has most of the stored one.
func (v *view) nearest() *clause {
	var best *clause
	most := -1.0
	for _, d := range v.n.clauses {
		if m := v.match(d); m > most+1e-9 {
			best, most = d, m
		}
	}
	return best
}

// match says how much of each other two clauses have.
func (v *view) match(d *clause) float64 {
	var in func(int) bool // made where it is needed: most clauses share nothing
	var hit, o, n float64
	for i := v.c.a; i < v.c.b; i++ {
		o += v.oW[i]
	}
	for _, i := range v.oAll {
		if v.oW[i] == 0 || !v.pairing.oHit[i] {
			continue
		}
		if in == nil {
			in = v.inN(union(indices(d.a, d.b), d.subject))
		}
		if !in(i) {
			continue
		}
		if w := &v.o.words[i]; w.name || w.number {
			hit += 1.3 * v.oW[i]
		} else {
			hit += v.oW[i]
		}
	}
	for j := d.a; j < d.b; j++ {
		n += v.nW[j]
	}
	o, n = max(o, 0.4), max(n, 0.4)
	return hit/min(o, n)*(0.5+0.5*min(o, n)/max(o, n)) + 0.3*v.coverO(v.c.subject, v.inN(d.subject))
}

func (v *view) overlap() {
	own := indices(v.c.a, v.c.b)
	v.add("cover.old", v.coverO(own, func(i int) bool { return v.oHit[i] }))
	v.add("cover.old.best", v.coverO(own, v.inN(v.dAll)))
	v.add("cover.new", covered(indices(v.d.a, v.d.b), v.nW, func(j int) bool { return v.nHit[j] }))
	shared := 0.0
	for _, i := range own {
		if v.oHit[i] {
			shared += v.oW[i]
		}
	}
	v.add("shared", min(shared, 6)/6)
	v.add("match", v.match(v.d))
	pred := indices(min(v.c.verb, v.c.b), v.c.b)
	v.add("cover.predicate", v.coverO(pred, func(i int) bool { return v.oHit[i] }))
	all := 0.0
	for _, i := range own {
		all += v.oW[i]
	}
	v.add("weight.old", min(all, 5)/5)
	missing := 0.0
	for _, i := range pred {
		if !v.oHit[i] {
			missing += v.oW[i]
		}
	}
	v.add("missing.predicate", min(missing, 5)/5)
}

func (v *view) get(name string) float64 {
	for i := range v.out {
		if v.out[i].name == name {
			return v.out[i].value
		}
	}
	panic("encode: no feature " + name)
}

// own are the words of a subject that stand in the clause itself.
func own(c *clause) (out []int) {
	for _, i := range c.subject {
		if i >= c.a && i < c.b {
			out = append(out, i)
		}
	}
	return out
}

func (v *view) subjects() {
	o, n := v.o, v.n
	so, sn := weighty(v.c.subject, v.oW), weighty(v.d.subject, v.nW)
	selfO, selfN := o.isSelf(v.c.subject), n.isSelf(v.d.subject)
	var inNew, inSubject, newInOld float64
	if len(so) > 0 {
		inNew, inSubject = v.coverO(so, func(i int) bool { return v.oHit[i] }), v.coverO(so, v.inN(v.d.subject))
	} else if selfO {
		inNew, inSubject = 0.5, any01(selfN)
	}
	if len(sn) > 0 {
		newInOld = covered(sn, v.nW, func(j int) bool { return v.nHit[j] })
	} else {
		newInOld = any01(selfN)
	}
	v.add("subject.in.new", inNew)
	v.add("subject.in.subject", inSubject)
	v.add("newsubject.in.old", newInOld)
	v.is("subject.both", inNew > .99 && newInOld > .99 && len(so) > 0 && len(sn) > 0)
	v.self = selfO != selfN
	uo := o.filter(so, func(i int) bool { return !v.oHit[i] })
	un := n.filter(sn, func(j int) bool { return !v.nHit[j] })
	fixedO := o.has(uo, func(w *word) bool { return w.name || w.number })
	fixedN := n.has(un, func(w *word) bool { return w.name || w.number })
	v.is("subject.missing.name", fixedO)
	v.is("subject.extra.name", fixedN)
	v.add("subject.missing", float64(min(len(uo), 3)))
	v.add("subject.extra", float64(min(len(un), 3)))
	v.is("subject.swap.name", fixedO && fixedN)
	v.add("subject.only", any01(inSubject > .99 && newInOld > .6)*(1-v.get("cover.predicate")))
	v.is("newsubject.known", len(sn) > 0 && newInOld > .99)
	v.parallel()
}

// head is the noun that a subject is about, -1 for none: the last word before "of".
func (r *reading) head(own, all []int) int {
	for _, ids := range [][]int{own, all} {
		h := -1
		for _, i := range ids {
			w := &r.words[i]
			if h >= 0 && w.class&prep != 0 {
				break
			}
			if w.weight > 0 {
				h = i
			}
		}
		if h >= 0 {
			return h
		}
	}
	return -1
}

func weighty(ids []int, weight []float64) []int {
	var out []int
	for _, i := range ids {
		if weight[i] > 0 {
			out = append(out, i)
		}
	}
	return out
}

// parallel looks for texts of which the same clauses say the same of two things.
func (v *view) parallel() {
	o, n := v.o, v.n
	parallel := 0
	for k := range min(len(o.clauses), len(n.clauses)) {
		a, b := o.clauses[k], n.clauses[k]
		if o.words[a.a].fold != n.words[b.a].fold {
			continue
		}
		both := 0
		for i := a.a; i < a.b; i++ {
			if v.inN(indices(b.a, b.b))(i) {
				both++
			}
		}
		if both >= 2 {
			parallel++
		}
	}
	v.is("parallel", parallel >= 2 && len(o.clauses) > 1 && len(n.clauses) > 1)
}
