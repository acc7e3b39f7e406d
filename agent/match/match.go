package match

import (
	"cmp"
	"slices"
	"strings"

	"stet/agent/encode"
)

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
	all   bool // it asks for everything of its kind
}

// A term is one word of a description that a memory can say in other words.
type term struct {
	token
	attributes []int
	weight     float64
	// beside is set for what tells which of that name is meant, when everything
	// about it is wanted: "the engineer" in "everything about Frank the engineer".
	beside bool
}

// Specified by measurement on descriptions of our own making; the order they give is
// what matters, not their values.
const (
	weightTerm = 1.0
	weightRole = 0.3
	weightSelf = 0.6
	family     = 0.9 // related words
	attribute  = 0.8 // a word that gives the attribute its value
	piecewise  = 0.3 // a part of a compound: platform in engineering-platform
	// enough is how much of its words a memory must have to be meant at all, near
	// how much of what the best one has to be meant as well as it.
	enough = 0.35
	near   = 0.8
	// most is how many of its words it must have, those left out that only tell closer.
	most = 0.6
)

// Parse reads a description. Names are known by their capital letters; " / " stands
// between alternatives.
func Parse(text string) *Query {
	q := &Query{}
	for alternative := range strings.SplitSeq(text, " / ") {
		p := newPart(tokens(alternative))
		if len(q.any) > 0 && !p.empty() {
			p.all = p.all || q.all
		}
		if !p.empty() {
			q.any, q.all = append(q.any, p), q.all || p.all
		}
	}
	return q
}

func newPart(words []token) *part {
	p := &part{}
	for len(words) > 0 && frames(words[0]) {
		p.all = p.all || wholes()[words[0].fold] || words[0].fold == "information"
		words = words[1:]
	}
	p.ids, words = cutIdentifiers(words)
	owned := false
	for i := 0; i < len(words); i++ {
		w := words[i]
		if k := nameAt(words, i); k > 0 {
			n := name{capital: true}
			for _, t := range words[i : i+k] {
				n.words, owned = append(n.words, t.fold), t.owns
			}
			p.names, i = append(p.names, n), i+k-1
			continue
		}
		switch {
		case selves()[w.fold]:
			p.self = true
		case stops()[w.fold]:
		default:
			t := term{token: w, attributes: asked(w), weight: weightTerm, beside: p.all && len(p.names) > 0 && !owned}
			if roles()[w.stem] || roles()[w.fold] || qualifiers()[w.fold] {
				t.weight = weightRole
			}
			p.terms = append(p.terms, t)
		}
	}
	return p
}

// frames reports whether a word only introduces what a description is about.
func frames(w token) bool {
	return stops()[w.fold] && !selves()[w.fold]
}

// nameAt is how many words from i on are one name, 0 for none.
func nameAt(words []token, i int) int {
	k := 0
	for i+k < len(words) {
		w := words[i+k]
		// "New York": the first word of a name can be any word.
		opens := k == 0 && i > 0 && w.capital() && !articles()[w.fold] && i+1 < len(words) && isName(words, i+1)
		if !opens && !isName(words, i+k) {
			break
		}
		if k++; w.breaks || w.owns {
			break
		}
	}
	return k
}

func isName(words []token, i int) bool {
	w := words[i]
	switch {
	case abbreviation(w):
		return true
	case stops()[w.fold] || selves()[w.fold]:
		return false
	case !cased(w.raw) && !ascii(w.fold):
		return true // a script without capital letters
	}
	// The first word of a description may have a capital letter for that alone.
	return w.capital() && !(i == 0 && (roles()[w.fold] || len(asked(w)) > 0))
}

// abbreviation reports whether a word is one that is written in capital letters, as
// the MIT is, which else is a word of German.
func abbreviation(w token) bool {
	return len(w.raw) > 1 && w.capital() && w.raw == strings.ToUpper(w.raw)
}

// All reports whether the description itself asks for everything of its kind.
func (q *Query) All() bool { return q.all }

// Empty reports whether the description names nothing at all.
func (q *Query) Empty() bool { return len(q.any) == 0 }

func (p *part) empty() bool { return len(p.ids)+len(p.names)+len(p.terms) == 0 }

// Find returns the texts that the description means, best first.
func (q *Query) Find(texts []Text) []Hit {
	readings := make([]*reading, len(texts))
	for i, t := range texts {
		readings[i] = read(t.Text)
	}
	var out []Hit
	for _, p := range q.any {
		for _, h := range p.find(texts, readings) {
			if !slices.ContainsFunc(out, func(o Hit) bool { return o.Key == h.Key }) {
				out = append(out, h)
			}
		}
	}
	slices.SortStableFunc(out, better)
	return out
}

func better(a, b Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Key, b.Key)) }

func (p *part) find(texts []Text, readings []*reading) []Hit {
	ids := p.wholeIDs(readings)
	p = &part{ids: ids, names: joined(p.names, readings), terms: p.terms, self: p.self, all: p.all}
	var out []Hit
	for i, t := range texts {
		r := readings[i]
		if !p.firm(r.words) {
			continue
		}
		score, said := p.score(r.words, false)
		if len(ids) > 0 || said && score >= enough || p.valued(r) {
			out = append(out, Hit{Key: t.Key, Score: score, Line: p.line(r)})
		}
	}
	slices.SortStableFunc(out, better)
	if len(out) > 0 && len(ids) == 0 {
		best := out[0].Score
		out = slices.DeleteFunc(out, func(h Hit) bool { return h.Score < near*best })
	}
	return out
}

// valued reports whether every name stands in a text as what is said, not as whom it
// is said of: "switched to Crestor" is about Crestor, whatever else the description
// calls it, and "Xavier likes tea" is not about Xavier's hardware.
func (p *part) valued(r *reading) bool {
	if len(p.names) == 0 {
		return false
	}
	for _, n := range p.names {
		for _, s := range r.sentences {
			for i := range s.words {
				if n.at(s.words[i:]) && (!slices.ContainsFunc(s.words[:i], isVerb) || s.words[i+len(n.words)-1].owns) {
					return false
				}
			}
		}
	}
	return true
}

// Near returns up to limit texts that have something of the description, best first:
// for a person to look at, never to be acted on.
func (q *Query) Near(texts []Text, limit int) []Hit {
	var out []Hit
	for _, t := range texts {
		r, best := read(t.Text), Hit{Key: t.Key}
		for _, p := range q.any {
			score, said := p.score(r.words, true)
			for _, n := range p.names {
				if n.in(r.words) {
					score, said = score+1, true
				}
			}
			if said && score > best.Score {
				best.Score, best.Line = score, p.line(r)
			}
		}
		if best.Score > 0 {
			out = append(out, best)
		}
	}
	slices.SortStableFunc(out, better)
	return out[:min(limit, len(out))]
}

// wholeIDs are the identifiers as the texts have them. One that none of them has whole
// may be the first groups of exactly one: "550e8400" of an UUID.
func (p *part) wholeIDs(texts []*reading) []string {
	out := slices.Clone(p.ids)
	for i, id := range out {
		var longer []string
		whole := false
		for _, t := range texts {
			whole = whole || identifiers(t.words)[id]
			for _, w := range t.words {
				if len(id) >= longID && begins(w.fold, id) && !slices.Contains(longer, w.id) {
					longer = append(longer, w.id)
				}
			}
		}
		if !whole && len(longer) == 1 {
			out[i] = longer[0]
		}
	}
	return out
}

// begins reports whether the first groups of an identifier are id.
func begins(fold, id string) bool {
	groups := strings.FieldsFunc(fold, func(r rune) bool { return strings.ContainsRune("-_:/", r) })
	joined := ""
	for _, g := range groups[:max(0, len(groups)-1)] {
		if joined += g; joined == id {
			return true
		}
	}
	return false
}

// firm reports whether a text has every identifier and every name.
func (p *part) firm(words []token) bool {
	if len(p.ids) > 0 {
		have := identifiers(words)
		return !slices.ContainsFunc(p.ids, func(id string) bool { return !have[id] })
	}
	return !slices.ContainsFunc(p.names, func(n name) bool { return !n.in(words) })
}

// score says how much of the other words a text has, and whether it has any that
// tells it from others.
func (p *part) score(words []token, loose bool) (score float64, said bool) {
	var got, of float64
	specific := false
	things, met := 0, 0
	for _, t := range p.terms {
		if t.beside && !loose {
			continue
		}
		m := t.match(words)
		if t.weight == weightTerm {
			if things++; m > piecewise {
				met++
			}
		}
		got, of = got+m*t.weight, of+t.weight
		if t.weight == weightTerm {
			specific = true
			said = said || m > piecewise
		}
	}
	if p.self {
		of += weightSelf
		if ofSelf(words) {
			got += weightSelf
		}
	}
	if len(p.names) > 0 && !loose {
		got, of = got+float64(len(p.names)), of+float64(len(p.names))
		said = said || !specific
	} else if !specific {
		said = said || got > 0 && !loose
	}
	if !loose && float64(met) < most*float64(things) {
		said = false
	}
	if of == 0 {
		return 1, len(p.names)+len(p.ids) > 0 && !loose
	}
	return got / of, said
}

// ofSelf reports whether words are about the person whom the vault is about.
func ofSelf(words []token) bool {
	for i, w := range words {
		if selves()[w.fold] && !(i+1 < len(words) && relatives()[words[i+1].fold]) {
			return true
		}
	}
	return false
}

// match says how well the best of words is what the term says.
func (t term) match(words []token) float64 {
	best := 0.0
	for _, w := range words {
		switch {
		case w.fold == t.fold, w.stem == t.stem:
			return 1
		case related(w.stem, t.stem):
			best = max(best, family)
		case len(t.attributes) > 0 && says(w, t.attributes):
			best = max(best, attribute)
		case strings.Contains(w.fold, "-") && slices.ContainsFunc(strings.Split(w.fold, "-"), func(s string) bool { return encode.Stem(s) == t.stem }):
			best = max(best, piecewise)
		}
	}
	return best
}

// line is the sentence of a text that has most of the description.
func (p *part) line(r *reading) string {
	best, at := -1.0, 0
	for i, s := range r.sentences {
		score, _ := p.score(s.words, true)
		for _, n := range p.names {
			if n.in(s.words) {
				score++
			}
		}
		have := identifiers(s.words)
		for _, id := range p.ids {
			if have[id] {
				score++
			}
		}
		if score > best {
			best, at = score, i
		}
	}
	if len(r.sentences) == 0 {
		return ""
	}
	return strings.TrimSpace(r.sentences[at].String())
}
