package encode

import (
	"cmp"
	"slices"
	"strings"
)

// A reading is a memory with what the rules see in it.
type reading struct {
	Memory
	clauses []*clause
	norm    string // its words, folded, without punctuation
	said    []sentence
}

// A sentence is one with all its words.
type sentence struct {
	words    []word
	question bool
}

func read(m Memory) *reading {
	r := &reading{Memory: m, clauses: clausesOf(m.Text)}
	var b strings.Builder
	for _, s := range sentences(m.Text) {
		words, question := wordsOf(m.Text, s.from, s.to), strings.ContainsAny(m.Text[s.from:s.to], "?？")
		r.said = append(r.said, sentence{words, question})
		b.WriteString(folds(words))
		if question {
			b.WriteByte('?')
		}
		b.WriteByte('\n')
	}
	r.norm = strings.TrimSpace(b.String())
	if strings.Contains(m.Text, "```") || strings.Contains(m.Text, "~~~") {
		r.norm = strings.Join(strings.Fields(m.Text), " ") // code counts letter by letter
	}
	return r
}

// hasCode keeps texts that differ in a code block from being called the same.
func (r *reading) hasCode() bool {
	return strings.Contains(r.Text, "```") || strings.Contains(r.Text, "~~~")
}

// Decide says what becomes of m beside the stored memories. Their order does not
// matter. A stored memory with the id of m is not looked at. The corpus says how rare
// the words are that two memories share.
func Decide(m Memory, stored []Memory, _ Corpus) Plan {
	n := read(m)
	var plan Plan
	var found []Verdict
	var olds []*reading
	for _, s := range stored {
		if s.ID == m.ID && m.ID != "" {
			continue
		}
		o := read(s)
		olds = append(olds, o)
		if d := duplicateOf(n, o); d != nil && d.Kind == Supersede {
			d.Old, d.Said, d.Was = s.ID, strings.TrimSpace(m.Text), strings.TrimSpace(s.Text)
			if m.Authority >= s.Authority && !older(n, o) {
				found = append(found, *d)
			}
			continue
		} else if d != nil {
			d.Old = s.ID
			if plan.Duplicate == nil || better(*d, *plan.Duplicate) {
				plan.Duplicate = d
			}
			continue
		}
		if v := judge(n, o); v != nil {
			v.Old = s.ID
			found = append(found, *v)
		}
	}
	if plan.Duplicate != nil {
		return plan
	}
	for _, v := range rebuttals(n, olds) {
		if !slices.ContainsFunc(found, func(f Verdict) bool { return f.Old == v.Old || f.Said == v.Said }) {
			found = append(found, v)
		}
	}
	slices.SortFunc(found, func(a, b Verdict) int { return cmp.Compare(a.Old, b.Old) })
	plan.Verdicts = found
	return plan
}

func duplicateOf(n, o *reading) *Verdict {
	if (n.hasCode() || o.hasCode()) && n.norm != o.norm {
		return nil
	}
	return duplicate(n, o)
}

// better orders verdicts: the surer first, then by id, so that the order in which
// memories are stored does not decide.
func better(a, b Verdict) bool {
	if a.Confidence != b.Confidence {
		return a.Confidence > b.Confidence
	}
	return a.Old < b.Old
}

// judge compares two texts clause by clause. The clauses of the old one that are
// no longer true go; what else it says stays.
func judge(n, o *reading) *Verdict {
	var best *Verdict
	var dead []*clause
	for _, oc := range o.clauses {
		var worst *Verdict
		for _, nc := range n.clauses {
			v := n.clauseVerdict(nc, oc)
			if v == nil {
				continue
			}
			v.Said, v.Was = nc.String(), oc.String()
			if worst == nil || v.Confidence > worst.Confidence {
				worst = v
			}
		}
		if worst == nil {
			continue
		}
		if worst.Kind == Supersede {
			dead = append(dead, oc)
		}
		if best == nil || rank(worst) > rank(best) {
			best = worst
		}
	}
	if best == nil || best.Kind != Supersede {
		return best
	}
	if n.Authority < o.Authority || older(n, o) {
		best.Kind, best.Confidence = Conflict, min(best.Confidence, 0.7)
		return best
	}
	rest, ok := without(o, dead)
	if !ok {
		best.Kind, best.Confidence = Conflict, min(best.Confidence, 0.7)
		return best
	}
	best.Rest = rest
	for _, c := range dead {
		best.Gone = append(best.Gone, c.String())
	}
	return best
}

// older reports whether what is new here was true before what is stored.
func older(n, o *reading) bool {
	return !n.When.IsZero() && !o.When.IsZero() && n.When.Before(o.When)
}

func rank(v *Verdict) float64 {
	if v.Kind == Supersede {
		return 1 + v.Confidence
	}
	return v.Confidence
}
