package query

import (
	"slices"
	"strings"

	"stet/index/document"
)

type leafKey struct {
	field int
	term  string
}

// wanted is what a query can ask a source for.
type wanted struct {
	terms    map[leafKey]bool
	prefixes []leafKey
	guesses  []string // words that may be misspelt
	words    int      // the field in which they and prefixes are looked up
}

// Wants lists what the query can ask a source of files or of messages for.
func (q *Query) Wants(byMessage bool) *wanted {
	w := &wanted{terms: map[leafKey]bool{}, words: wordsField(byMessage)}
	for i := range q.clauses {
		c := &q.clauses[i]
		if c.kind == literal {
			continue
		}
		for _, f := range wordFields() {
			for _, s := range c.stems {
				w.terms[leafKey{f, s}] = true
			}
		}
		for _, t := range c.exact {
			w.terms[leafKey{document.FieldExact, t.Term}] = true
		}
		if c.joined != "" {
			w.terms[leafKey{document.FieldBody, c.joined}] = true
		}
		for _, name := range c.split {
			w.terms[leafKey{document.FieldIdent, name}] = true
		}
		if c.name != "" {
			w.terms[leafKey{document.FieldIdent, c.name}] = true
		}
		if c.mayBeMisspelt() {
			w.guesses = append(w.guesses, c.first(byMessage))
		}
		if c.kind == prefix && len(c.exact) == 1 {
			w.prefixes = append(w.prefixes, leafKey{w.words, c.first(byMessage)})
		} else if c.kind == prefix {
			w.prefixes = append(w.prefixes, leafKey{document.FieldIdent, c.name})
		}
	}
	return w
}

// Has reports whether the query can ask for a term.
func (w *wanted) Has(field int, term string) bool {
	return w.terms[leafKey{field, term}] ||
		slices.ContainsFunc(w.prefixes, func(p leafKey) bool { return p.field == field && strings.HasPrefix(term, p.term) }) ||
		field == w.words && slices.ContainsFunc(w.guesses, func(g string) bool {
			return isSimilar(g, term) || term == "l"+g || term == "lib"+g
		})
}
