package encode

import "slices"

// apart looks for what tells that two clauses are about different things although they share
// words: another word before a shared one ("the left knee", "the right knee"), an owner where
// the other has the thing ("Kiran's sister", "Kiran"), and nouns that each has alone; and for the
// contrary, two short texts about one thing of which one tells of a change.
func (v *view) apart() {
	var seen [5]bool
	for i := v.c.a; i < v.c.b; i++ {
		for j := v.d.a; j < v.d.b; j++ {
			a, b := &v.o.words[i], &v.n.words[j]
			if !v.same[i][j] || v.oW[i] == 0 {
				continue
			}
			seen[4] = seen[4] || a.owns != b.owns
			if (a.class|b.class)&verb != 0 || a.number {
				continue
			}
			lost := i > v.c.a && !v.oHit[i-1] && v.o.words[i-1].modifies()
			gained := j > v.d.a && !v.nHit[j-1] && v.n.words[j-1].modifies()
			subject := slices.Contains(v.c.subject, i) && slices.Contains(v.d.subject, j)
			seen[0] = seen[0] || lost && gained
			seen[1] = seen[1] || lost && gained && subject
			seen[2] = seen[2] || lost && !gained
			seen[3] = seen[3] || gained && !lost
		}
	}
	names := []string{"modifier.swap", "modifier.subject", "modifier.lost", "modifier.gained", "owner.differs"}
	for k, name := range names {
		v.is(name, seen[k])
	}
	x, y := v.o.head(own(v.c), v.c.subject), v.n.head(own(v.d), v.d.subject)
	same := x >= 0 && y >= 0 && v.same[x][y]
	apart := x >= 0 && y >= 0 && !same
	v.is("head.same", same)
	v.is("head.moved", apart && (v.oHit[x] || v.nHit[y]))
	v.is("head.swap", apart && !v.oHit[x] && !v.nHit[y] && !v.o.words[x].name && !v.n.words[y].name)
	lone := len(v.o.clauses) == 1 && len(v.n.clauses) == 1 && v.get("subject.both") > 0
	told := v.d.cues&(strongCues|cueNow|cueBegan|cueBack) != 0 &&
		v.d.cues&(cueAsk|cueMaybe|cuePlan|cueSaid|cueAlso|cueExcept) == 0
	v.is("alone", lone)
	v.is("alone.changed", lone && told && v.d.b-v.d.a <= fewWords)
	missing, extra := v.o.nouns(v.c, v.oW, v.oHit), v.n.nouns(v.d, v.nW, v.nHit)
	v.add("nouns.missing", missing)
	v.add("nouns.extra", extra)
	v.add("nouns.both", min(missing, extra))
}

// fewWords is how many words a text has that says one change and nothing else.
const fewWords = 10

// modifies reports a word that makes one thing of the next: "left knee".
func (w *word) modifies() bool {
	return !w.comma && w.weight > commonWeight && w.class&(verb|prep|away|over|day|timely) == 0
}

// nouns counts, up to 1 for four, the words of a clause that are not hit and may be nouns.
func (r *reading) nouns(c *clause, weight []float64, hit []bool) float64 {
	n := 0
	for i := c.a; i < c.b; i++ {
		w := &r.words[i]
		if weight[i] > commonWeight && !hit[i] && !w.name && !w.number && w.class&(verb|away|over|timely|day) == 0 {
			n++
		}
	}
	return float64(min(n, 4)) / 4
}
