package encode

import "slices"

// Without is a text without some of its clauses: "" when they were all it said. It says
// no when what is left could not be read.
func Without(text string, gone []Span) (string, bool) {
	r := read(Memory{Text: text})
	var dead []*clause
	for _, c := range r.clauses {
		if slices.Contains(gone, Span{c.from, c.to}) {
			dead = append(dead, c)
		}
	}
	return without(r, dead)
}
