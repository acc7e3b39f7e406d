package encode

import (
	"slices"
	"strings"
)

// values are those that claims give: one, and whether there are others.
type values struct {
	one    string
	others bool
}

type stored struct {
	*reading
	claims []*claim
}

// proven removes the clauses of a stored memory that the new one proves untrue.
func (r *reader) proven(o *stored) *Verdict {
	var dead []*clause
	var first *proof
	if !sameScope(r.n.Scope, o.Scope) || r.work.over() {
		return nil
	}
	for k, c := range o.clauses {
		if o.claims[k] == nil {
			continue
		}
		owned := r.owned[o.claims[k].owner]
		r.work += work(len(owned))
		for _, i := range owned {
			p := proves(r.claims[i], o.claims[k], r.n.clauses[i])
			if p == nil || p.sole && r.others(o.claims[k]) {
				continue
			}
			dead = append(dead, c)
			if first == nil {
				first = p
			}
			break
		}
	}
	if first == nil {
		return nil
	}
	v := &Verdict{Kind: Supersede, Old: o.ID, Rule: first.rule, Confidence: 0.95, Said: r.n.string(first.said), Was: o.string(dead[0]), Why: []Reason{{Feature: first.rule, Words: r.n.string(first.said)}}}
	rest, ok := without(o.reading, dead)
	if !ok || r.n.Authority < o.Authority || older(r.n, o.reading) {
		v.Kind, v.Confidence = Conflict, 0.7
		return v
	}
	v.Rest = rest
	for _, c := range dead {
		v.Gone = append(v.Gone, o.string(c))
	}
	return v
}

// sameScope reports whether two memories are filed in one place: what is said of another
// one, or of none, proves nothing here.
func sameScope(n, o string) bool { return strings.Trim(n, "/") == strings.Trim(o, "/") }

// others reports whether another stored clause in the place of the new memory gives the same owner a value of the
// same kind.
func (r *reader) others(c *claim) bool {
	if r.given == nil {
		r.given = map[string]values{}
		for _, other := range r.olds {
			if !sameScope(r.n.Scope, other.Scope) {
				continue
			}
			for _, c := range other.claims {
				if c == nil {
					continue
				}
				if v, known := r.given[c.of()]; !known {
					r.given[c.of()] = values{one: c.value}
				} else if v.one != c.value {
					r.given[c.of()] = values{v.one, true}
				}
			}
		}
	}
	v := r.given[c.of()]
	return v.others || v.one != c.value || slices.ContainsFunc(r.olds, func(o *stored) bool { return len(o.clauses) > maxClauses })
}
