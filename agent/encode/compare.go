package encode

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// These compare what somebody else, a model, says of two texts with the texts
// themselves. They err on the side of no: then nothing is lost.

// Related reports whether a new text could have to do with a stored one: they give a
// value to the same attribute of the same, one tells of a change of what the other
// says, or they share half of the words of the shorter one.
func Related(text, stored string) bool {
	n, o := clausesOf(text), clausesOf(stored)
	if keyed(n, o) {
		return true
	}
	x, y := contents(n), contents(o)
	if len(x) > len(y) {
		x, y = y, x
	}
	both := len(x) - missing(x, y)
	return both >= 2 && 2*both >= len(x)
}

// Keyed is [Related] without the words: it is what no measure of likeness sees.
func Keyed(text, stored string) bool { return keyed(clausesOf(text), clausesOf(stored)) }

// SameKind reports whether two texts name things of one kind, as two databases.
func SameKind(a, b string) bool {
	kind := func(text string) string {
		for _, c := range clausesOf(text) {
			if class, _, _, _ := find(products(), c.words); class != "" {
				return class
			}
		}
		return ""
	}
	k := kind(a)
	return k != "" && k == kind(b)
}

func keyed(n, o []*clause) bool {
	for _, a := range n {
		for _, b := range o {
			if sharesSlot(a, b) || changes(a, b) || changes(b, a) {
				return true
			}
		}
	}
	return false
}

func sharesSlot(a, b *clause) bool {
	s, t := a.current(), b.current()
	return s != nil && t != nil && s.attribute == t.attribute && sameOwner(s.owner, t.owner)
}

// changes reports whether a tells of the end of something that b names.
func changes(a, b *clause) bool {
	ch := a.change()
	if ch == nil {
		return false
	}
	for _, words := range [][]word{ch.from, ch.what} {
		if s := stems(words); len(s) > 0 && subset(s, stems(b.words)) {
			return true
		}
	}
	return false
}

// SaysSame reports whether a stored text says everything that a new one says, so
// that the new one need not be stored.
func SaysSame(stored, text string) bool {
	n, o := read(Memory{Text: text}), read(Memory{Text: stored})
	if n.hasCode() || o.hasCode() {
		return n.norm == o.norm
	}
	named := names(n.clauses, o.clauses)
	return holds(o.clauses, n.clauses) && subsequence(fixed(n.clauses, named), fixed(o.clauses, named)) && denials(o.clauses) == denials(n.clauses) && !qualified(n, o) && asked(o.clauses) == asked(n.clauses)
}

// holds reports whether in has every word of what that says something, and every
// value.
func holds(in, what []*clause) bool {
	want := contents(what)
	return len(want) > 0 && subset(want, contents(in)) && subset(fixed(what, nil), fixed(in, nil))
}

// fixed are the words of some clauses that cannot be said otherwise, in order:
// numbers, addresses and names.
func fixed(clauses []*clause, names map[string]bool) []string {
	var out []string
	for _, c := range clauses {
		for _, w := range c.words {
			switch n := number(w.fold); {
			case n != "":
				out = append(out, n)
			case names[w.stem], w.value() && !capital(w):
				out = append(out, w.stem)
			}
		}
	}
	return out
}

// names are the stems that somewhere begin with a capital letter although they do
// not begin a sentence.
func names(texts ...[]*clause) map[string]bool {
	out := map[string]bool{}
	for _, clauses := range texts {
		for _, c := range clauses {
			for _, w := range c.words {
				if capital(w) && w.value() && w.content() {
					out[w.stem] = true
				}
			}
		}
	}
	return out
}

func capital(w word) bool {
	r, _ := utf8.DecodeRuneInString(w.raw)
	return unicode.IsUpper(r)
}

// contents are the different stems of what clauses say.
func contents(clauses []*clause) []string {
	var out []string
	for _, c := range clauses {
		for _, s := range stems(c.words) {
			if !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

func folded(clauses []*clause) []string {
	var out []string
	for _, c := range clauses {
		for _, w := range c.words {
			out = append(out, w.fold)
		}
	}
	return out
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

func denials(clauses []*clause) int {
	n := 0
	for _, c := range clauses {
		n += negations(c)
	}
	return n
}

func asked(clauses []*clause) int {
	n := 0
	for _, c := range clauses {
		if c.question {
			n++
		}
	}
	return n
}
