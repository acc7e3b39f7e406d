package match

import (
	"slices"
	"strings"
)

// A Query is a description that was read: alternatives, of which each will do.
type Query struct {
	any []*part
	all bool
}

// A part is one alternative.
type part struct {
	ids   []string
	names []name
	terms []term
	self  bool // it is about the person whom the vault is about
}

// A term is one word of a description that a memory can say in other words.
type term struct {
	token
	weight float64
	// beside is set for what tells which of that name is meant, when everything
	// about it is wanted: "the engineer" in "everything about Frank the engineer".
	beside bool
}

// What a word of a description counts: one that only says more closely what is asked for
// less than another. Specified by measurement on descriptions of our own making; the order
// they give is what matters, not their values.
const (
	weightTerm = 1.0
	weightRole = 0.3
	weightSelf = 0.6
	attribute  = 0.8 // a word that gives the attribute its value, beside the word itself
)

// Parse reads a description. Names are known by their capital letters; " / " stands
// between alternatives.
func Parse(text string) *Query {
	q := &Query{}
	for alternative := range strings.SplitSeq(text, " / ") {
		if p, all := newPart(tokens(alternative)); len(p.ids)+len(p.names)+len(p.terms) > 0 {
			q.any, q.all = append(q.any, p), q.all || all
		}
	}
	return q
}

// All reports whether the description itself asks for everything of its kind.
func (q *Query) All() bool { return q.all }

// Empty reports whether the description names nothing at all.
func (q *Query) Empty() bool { return len(q.any) == 0 }

func newPart(words []token) (p *part, all bool) {
	p = &part{}
	for len(words) > 0 && is(words[0], "stop") && !is(words[0], "self") {
		all = all || is(words[0], "whole")
		words = words[1:]
	}
	p.ids, words = cutIdentifiers(words)
	owned := false
	for len(words) > 0 {
		w := words[0]
		if k := nameLength(words, len(p.names)+len(p.terms) == 0 && !p.self); k > 0 {
			p.names, owned = append(p.names, newName(words[:k])), words[k-1].owns
			words = words[k:]
			continue
		}
		words = words[1:]
		switch {
		case is(w, "self"):
			p.self = true
		case is(w, "stop"):
		default:
			t := term{w, weightTerm, all && len(p.names) > 0 && !owned}
			if is(w, "role") || is(token{fold: w.stem}, "role") || is(w, "qualifier") {
				t.weight = weightRole
			}
			p.terms = append(p.terms, t)
		}
	}
	return p, all
}

// nameLength is how many words from the first on are one name, 0 for none. The first
// word of a description may have a capital letter for that alone.
func nameLength(words []token, opens bool) int {
	k := 0
	for k < len(words) {
		w := words[k]
		// "New York": the first word of a name can be any word.
		any := k == 0 && !opens && w.capital() && !is(w, "article") && len(words) > 1 && isName(words[1], false)
		if !any && !isName(w, opens && k == 0) {
			break
		}
		if k++; w.breaks || w.owns {
			break
		}
	}
	return k
}

func isName(w token, opens bool) bool {
	switch {
	case len(w.raw) > 1 && w.capital() && w.raw == strings.ToUpper(w.raw):
		return true // the MIT, which else is a word of German
	case is(w, "stop") || is(w, "self"):
		return false
	case !cased(w.raw) && !ascii(w.fold):
		return true // a script without capital letters
	}
	return w.capital() && !(opens && (is(w, "role") || len(asked()[w.stem]) > 0))
}

// match says how well the best of words is what the term says.
func (t term) match(words []token) float64 {
	best := 0.0
	for _, w := range words {
		if w.fold == t.fold || w.stem == t.stem {
			return 1
		}
		if slices.ContainsFunc(asked()[t.stem], func(a string) bool { return slices.Contains(said()[w.stem], a) }) {
			best = attribute
		}
	}
	return best
}
