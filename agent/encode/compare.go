package encode

import (
	"slices"
	"unicode"
)

// These compare what somebody else, a model, says of two texts with the texts
// themselves. They err on the side of no: then nothing is lost.

// Related reports whether a new text could have to do with a stored one: they give a
// value to the same attribute of the same, one tells of a change of what the other
// says, or they share half of the words of the shorter one.
func Related(text, stored string) bool {
	n, o := clausesOf(text), clausesOf(stored)
	for _, a := range n {
		for _, b := range o {
			if sharesSlot(a, b) || changes(a, b) || changes(b, a) {
				return true
			}
		}
	}
	x, y := contents(n), contents(o)
	if len(x) > len(y) {
		x, y = y, x
	}
	both := len(x) - missing(x, y)
	return both >= 2 && 2*both >= len(x)
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
	return holds(o.clauses, n.clauses) && denials(o.clauses) == denials(n.clauses) && !qualified(n, o) && asked(o.clauses) == asked(n.clauses)
}

// SaysBoth reports whether a text says what two others say and nothing else, so that
// it can stand in their place.
func SaysBoth(merged, a, b string) bool {
	x, y, m := read(Memory{Text: a}), read(Memory{Text: b}), read(Memory{Text: merged})
	if x.hasCode() || y.hasCode() || m.hasCode() {
		return false
	}
	both := slices.Concat(x.clauses, y.clauses)
	return holds(m.clauses, x.clauses) && holds(m.clauses, y.clauses) && holds(both, m.clauses) &&
		(denials(m.clauses) > 0) == (denials(both) > 0) && (asked(m.clauses) > 0) == (asked(both) > 0)
}

// IsRest reports whether rest is what remains of a text from which something was
// taken out: its own words in their order, fewer of them.
func IsRest(text, rest string) bool {
	x, y := folded(clausesOf(rest)), folded(clausesOf(text))
	return len(contents(clausesOf(rest))) >= 2 && len(x) < len(y) && subsequence(x, y)
}

// holds reports whether in has every value and name of what, and nearly all of its
// words: less than a quarter may be said otherwise.
func holds(in, what []*clause) bool {
	have, want := contents(in), contents(what)
	if 4*missing(want, have) >= len(want) {
		return false
	}
	var values1, values2 []string
	for _, c := range in {
		values1 = append(values1, values(c.words)...)
		for _, w := range c.words {
			// What begins a sentence here may stand within one there.
			values1 = append(values1, w.fold)
		}
	}
	for _, c := range what {
		values2 = append(values2, values(c.words)...)
	}
	return subset(values2, values1) && subset(capitals(what), have)
}

// capitals are the stems of words with a capital letter, which may be names even
// where they begin a sentence.
func capitals(clauses []*clause) []string {
	var out []string
	for _, c := range clauses {
		for _, w := range c.words {
			for _, r := range w.raw {
				if unicode.IsUpper(r) && w.content() {
					out = append(out, w.stem)
				}
				break
			}
		}
	}
	return out
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
