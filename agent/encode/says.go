package encode

import (
	"slices"
)

// These compare what somebody else, a model, says of two texts with the texts
// themselves. They err on the side of no: then nothing is lost.

// Keyed reports whether a new text could have to do with a stored one though they share
// few words: one tells of a change or the end of what the other says, or gives another
// value to the same attribute of the same.
func Keyed(text, stored string) bool {
	return keyed(read(Memory{Text: text}), read(Memory{Text: stored}))
}

// SameKind reports whether two texts name things of one kind, as two databases.
func SameKind(a, b string) bool {
	have := read(Memory{Text: b}).kinds()
	for kind := range read(Memory{Text: a}).kinds() {
		if have[kind] {
			return true
		}
	}
	return false
}

func keyed(n, o *reading) bool {
	for _, c := range n.clauses {
		a := n.claim(c)
		for _, d := range o.clauses {
			b := o.claim(d).settled()
			if a != nil && b != nil && (proves(a, b, c) != nil || a.of() == b.of() && a.form != "does") {
				return true
			}
		}
	}
	p := pair(o, n, Corpus{})
	for _, c := range o.clauses {
		v := view{pairing: p, c: c, oAll: union(indices(c.a, c.b), c.subject), nAll: indices(0, len(n.words))}
		if v.meets() > 0 && o.has(v.oAll, func(w *word) bool { return w.name || w.starts && w.weight > 0 || w.class&self != 0 }) && slices.ContainsFunc(v.oAll, func(i int) bool { return p.oHit[i] && (o.words[i].weight > 0 || o.words[i].class&self != 0) }) {
			return true
		}
	}
	return false
}

// kinds are those of the things that a text names.
func (r *reading) kinds() map[string]bool {
	out := map[string]bool{}
	for i := range r.words {
		if k := kinds()[r.words[i].stem]; k != "" {
			out[k] = true
		}
	}
	return out
}

// SaysSame reports whether a stored text says everything that a new one says, so
// that the new one need not be stored.
func SaysSame(stored, text string) bool {
	n, o := read(Memory{Text: text}), read(Memory{Text: stored})
	if hasCode(text) || hasCode(stored) {
		return n.plain() == o.plain()
	}
	return o.says(n)
}

func missing(want, have []string) int {
	n := 0
	for _, s := range want {
		if !slices.Contains(have, s) {
			n++
		}
	}
	return n
}
