package match

import (
	"cmp"
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

// A Text is what is looked through: one memory.
type Text struct {
	Key  string // names it to the caller
	Text string
}

// A Hit is a text that a description means.
type Hit struct {
	Key   string
	Score float64 // of what the description says, how much the text has: 0 to 1
	Line  string  // the sentence of the text that has most of it
}

// Bounds of what is meant, measured as the weights of words are.
const (
	enough = 0.35 // how much of its words a memory must have to be meant at all
	near   = 0.8  // how much of what the best one has, to be meant as well as it
	most   = 0.6  // how many of its words, those left out that only tell closer
)

// Find returns the texts that the description means, best first.
func (q *Query) Find(texts []Text) []Hit {
	words := make([][]token, len(texts))
	for i, t := range texts {
		words[i] = tokens(t.Text)
	}
	var out []Hit
	for _, p := range q.any {
		for _, h := range p.find(texts, words) {
			if !slices.ContainsFunc(out, func(o Hit) bool { return o.Key == h.Key }) {
				out = append(out, h)
			}
		}
	}
	return ordered(out)
}

func (p *part) find(texts []Text, words [][]token) []Hit {
	p = &part{ids: wholeIDs(p.ids, words), names: known(p.names, words), terms: p.terms, self: p.self}
	var out []Hit
	for i, t := range texts {
		// It has every identifier, and where there is none every name.
		if ids, names := p.has(words[i]); ids < len(p.ids) || ids == 0 && names < len(p.names) {
			continue
		}
		score, says := p.score(words[i], false)
		if len(p.ids) > 0 || says && score >= enough || p.valued(t.Text, words[i]) {
			out = append(out, Hit{t.Key, score, p.line(t.Text, words[i])})
		}
	}
	ordered(out)
	if len(out) == 0 || len(p.ids) > 0 {
		return out
	}
	best := out[0].Score
	return slices.DeleteFunc(out, func(h Hit) bool { return h.Score < near*best })
}

// Near returns up to limit texts that have something of the description, best first:
// for a person to look at, never to be acted on.
func (q *Query) Near(texts []Text, limit int) []Hit {
	var out []Hit
	for _, t := range texts {
		words, best := tokens(t.Text), Hit{Key: t.Key}
		for _, p := range q.any {
			if score, says := p.loosely(words); says && score > best.Score {
				best.Score, best.Line = score, p.line(t.Text, words)
			}
		}
		if best.Score > 0 {
			out = append(out, best)
		}
	}
	return ordered(out)[:min(limit, len(out))]
}

func ordered(hits []Hit) []Hit {
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Key, b.Key)) })
	return hits
}

// has counts the identifiers and the names that words have.
func (p *part) has(words []token) (ids, names int) {
	have := identifiers(words)
	for _, id := range p.ids {
		if have[id] {
			ids++
		}
	}
	for _, n := range p.names {
		if n.in(words) {
			names++
		}
	}
	return ids, names
}

// loosely is how much of a description words have, names and identifiers counted alike.
func (p *part) loosely(words []token) (score float64, says bool) {
	score, says = p.score(words, true)
	ids, names := p.has(words)
	return score + float64(ids+names), says || ids+names > 0
}

// score says how much of the other words a text has, and whether it has what tells it
// from others. A loose one leaves names out.
func (p *part) score(words []token, loose bool) (score float64, says bool) {
	var got, of, things, met float64
	for _, t := range p.terms {
		if t.beside && !loose {
			continue
		}
		m := t.match(words)
		got, of = got+m*t.weight, of+t.weight
		if t.weight == weightTerm {
			if things++; m > 0 {
				met++
			}
		}
	}
	if p.self {
		if of += weightSelf; ofSelf(words) {
			got += weightSelf
		}
	}
	says = met > 0
	if !loose {
		names := float64(len(p.names))
		got, of = got+names, of+names
		says = things == 0 && got > 0 || says && met >= most*things
	}
	if of == 0 {
		return 1, !loose && len(p.ids) > 0
	}
	return got / of, says
}

// ofSelf reports whether words are about the person whom the vault is about: what "my
// sister" does is not.
func ofSelf(words []token) bool {
	for i, w := range words {
		if is(w, "self") && !(i+1 < len(words) && is(words[i+1], "kin")) {
			return true
		}
	}
	return false
}

// valued reports whether every name stands in a text as what is said, not as whom it
// is said of: "switched to Crestor" is about Crestor, whatever else the description
// calls it, and "Xavier likes tea" is not about Xavier's hardware.
func (p *part) valued(text string, words []token) bool {
	for _, n := range p.names {
		for _, s := range sentences(text, words) {
			for i := range s.words {
				if n.at(s.words[i:]) && (!slices.ContainsFunc(s.words[:i], isVerb) || s.words[i+len(n)-1].owns) {
					return false
				}
			}
		}
	}
	return len(p.names) > 0
}

// line is the sentence of a text that has most of the description.
func (p *part) line(text string, words []token) string {
	best, line := -1.0, ""
	for _, s := range sentences(text, words) {
		if score, _ := p.loosely(s.words); score > best {
			best, line = score, strings.TrimSpace(text[s.from:s.to])
		}
	}
	return line
}
