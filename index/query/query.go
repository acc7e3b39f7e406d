package query

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"stet/index/document"
)

// isSpace is unicode.IsSpace for the query parser.
func isSpace(r rune) bool { return unicode.IsSpace(r) }

// Text is what of the query may have a meaning: no filter and nothing excluded.
func (q *Query) Text() string {
	var parts []string
	for i := range q.clauses {
		if c := &q.clauses[i]; c.occur != mustNot && c.kind != literal {
			parts = append(parts, c.raw)
		}
	}
	return strings.Join(parts, " ")
}

// The bounds of a query. More than these words add nothing to a ranking, and
// a pasted book must not cost minutes.
const (
	maxQuery   = 16 << 10 // bytes
	maxClauses = 128
)

// How a clause takes part.
type occur uint8

const (
	should occur = iota
	must
	mustNot
)

type clauseKind uint8

const (
	word    clauseKind = iota // any word of it, best first
	phrase                    // its words side by side
	prefix                    // words that begin with it
	literal                   // bytes, for text without a single word
	named                     // a composite name, whole
)

// A clause is one unit of a query.
type clause struct {
	occur  occur
	kind   clauseKind
	raw    string
	exact  []document.Token // its words with their positions
	stems  []string         // the stems of exact
	name   string           // its form as an identifier, "" for plain words
	quoted bool             // required by its quotation marks alone
	joined string           // the stem of its parts written as one word: wifi, where Wi-Fi is asked for
	split  []string         // the names that are it with a hyphen: the other way round
}

// A Query is a parsed text. Every text is one: what is no operator is a word.
type Query struct {
	clauses  []clause
	filters  []filter
	required []filter // given beside the text: each must hold
	when     bool     // asks when something was
	may      bool     // means the month where it says so
	AsSpelt  bool     // words are not guessed at
	lang     *document.Language
	Warnings []string // what was not read as it may have been meant

	// Operators are the parts of the text that were not read as words.
	Operators []string
	said      string // the text without its filters and what it excludes
	minus     bool   // a word has a bare minus before it
	sentence  bool   // has words that every text has, as questions do
	narrows   bool   // a filter or an exclusion may leave out a text that holds all of the query
	Pasted    bool   // one of them has words on both sides, as those that people type have not
}

// Parse reads a query asked at time now. Bare words are alternatives, best first;
// "…" is a phrase and required; +x is required; x* is a prefix; kind: and its like
// filter, see filterKey; -kind:x, -"…", NOT kind:x and NOT "…" exclude. A quotation mark
// without a partner, a lone sign, a word behind a minus, an unknown key and an impossible
// value are text.
func Parse(text string, now time.Time, lang *document.Language) Query {
	return parse(queryParser{text: text, now: now, out: Query{lang: lang}})
}

func parse(p queryParser) Query {
	p.text = Clip(p.text)
	p.clipped = p.text
	for p.next() {
		if len(p.out.clauses) >= maxClauses {
			break
		}
	}
	if len(p.out.clauses) == 1 && p.out.clauses[0].kind == phrase {
		p.out.said = p.out.clauses[0].raw // the quotation marks are not what is looked for
	}
	p.out.finish()
	p.out.reads(p.clipped)
	return p.out
}

// Clip cuts a text to the length of the longest query, between characters.
func Clip(s string) string {
	if len(s) > maxQuery {
		s = s[:maxQuery]
		for len(s) > 0 && !utf8.ValidString(s[max(0, len(s)-utf8.UTFMax):]) && !utf8.RuneStart(s[len(s)-1]) {
			s = s[:len(s)-1]
		}
	}
	return s
}

type queryParser struct {
	text    string
	clipped string // the whole
	now     time.Time
	minus   bool // a bare minus excludes
	behind  bool // words, and then a filter or an exclusion, were read
	out     Query
}

// next reads one unit from the front of the text.
func (p *queryParser) next() bool {
	p.text = strings.TrimLeftFunc(p.text, isSpace)
	if p.text == "" {
		return false
	}
	whole := p.text
	how, signed := should, p.sign()
	switch {
	case signed && p.negated(whole):
		how = mustNot
	case signed && whole[0] == '+':
		how = must
	case signed:
		p.text, signed, p.out.minus = whole, false, true // "-rf" is a word
	}
	operator := func() { p.out.Operators = append(p.out.Operators, strings.TrimSpace(whole[:len(whole)-len(p.text)])) }
	if quoted, rest, ok := cutQuoted(p.text); ok {
		p.text = rest
		if how == should {
			how = must
		}
		operator()
		n := len(p.out.clauses)
		p.add(how, phrase, quoted)
		if !signed && len(p.out.clauses) > n {
			p.out.clauses[n].quoted = true
		}
		p.say(how, whole)
		return true
	}
	end := strings.IndexFunc(p.text, isSpace)
	if end < 0 {
		end = len(p.text)
	}
	unit := p.text[:end]
	if p.filters(unit, p.text[end:], how == mustNot) {
		operator()
		return true
	}
	p.text = p.text[end:]
	defer func() { p.say(how, whole) }()
	if how != should {
		operator()
	}
	if before, ok := strings.CutSuffix(unit, "*"); ok && !strings.HasSuffix(before, "*") {
		if p.add(how, prefix, before) {
			if how == should {
				operator()
			}
			return true
		}
	}
	kind := word
	if isHash(unit) {
		kind = prefix // abbreviated here, or there
	}
	p.add(how, kind, unit)
	return true
}

// add analyses a unit. It reports false when the unit has no words and is
// not kept; finish looks after queries that have none at all.
func (p *queryParser) add(how occur, kind clauseKind, raw string) bool {
	c := clause{occur: how, kind: kind, raw: raw}
	grams := map[int]bool{}
	document.Tokenize([]byte(raw), func(t document.Token) {
		if t.Gram {
			grams[t.Pos], grams[t.Pos+1] = true, true
		}
		c.exact = append(c.exact, t)
	})
	document.Identifiers([]byte(raw), func(name string, _, _ int) {
		if c.name == "" {
			c.name = name // the whole comes first
		}
	})
	if len(c.exact) == 0 {
		if strings.TrimFunc(raw, isSpace) != "" {
			c.kind = literal
			p.out.clauses = append(p.out.clauses, c)
		}
		return true
	}
	// A character inside a pair says nothing that the pair does not.
	kept := c.exact[:0]
	for _, t := range c.exact {
		if t.Gram || !grams[t.Pos] {
			kept = append(kept, t)
		}
	}
	c.exact = kept
	if kind == prefix && len(c.exact) > 1 && c.name == "" {
		return false
	}
	p.out.clauses = append(p.out.clauses, c)
	return true
}

// finish drops what adds nothing: stop words beside other words, texts without
// words beside any, and repetitions.
func (q *Query) finish() {
	words, other := false, false
	for _, c := range q.clauses {
		if c.kind == literal {
			continue
		}
		words = words || c.occur != mustNot
		if !c.isStop(q.lang) && c.occur != mustNot {
			other = true
		}
	}
	stems := document.NewStemmer(q.lang)
	seen := map[string]bool{}
	kept := q.clauses[:0]
	for _, c := range q.clauses {
		key := string([]byte{byte(c.occur), byte(c.kind)}) + strings.ToLower(c.raw)
		stop := other && c.isStop(q.lang)
		q.sentence = q.sentence || stop
		if seen[key] || c.kind == literal && words && c.occur == should || stop {
			continue
		}
		seen[key] = true
		for _, t := range c.exact {
			c.stems = append(c.stems, stems.Stem(t.Term))
		}
		c.hyphens(stems)
		kept = append(kept, c)
	}
	q.clauses = kept
}

// isStop reports a bare word that every text has.
func (c *clause) isStop(lang *document.Language) bool {
	if c.kind != word || c.occur != should || c.name != "" {
		return false
	}
	for _, t := range c.exact {
		if !lang.IsStop(t.Term) {
			return false
		}
	}
	return true
}

// idle reports that the word at i of a bare composite (the "of" of
// state-of-the-art) is a stop word beside others: every text has it.
func (c *clause) idle(i int, lang *document.Language) bool {
	if !lang.IsStop(c.exact[i].Term) {
		return false
	}
	for _, t := range c.exact {
		if !lang.IsStop(t.Term) {
			return true
		}
	}
	return false
}

// Loosened is q with the phrases that only quotation marks require read as
// words, nil where that makes no other query: quotation marks in a sentence
// name a title as often as they require its words. A query of nothing but
// phrases is meant as it stands.
func (q *Query) Loosened() *Query {
	out := *q
	out.clauses = slices.Clone(q.clauses)
	words, phrases := 0, 0
	for i := range out.clauses {
		c := &out.clauses[i]
		switch {
		case c.quoted:
			c.occur, c.kind = should, word
			phrases++
		case c.occur != mustNot:
			words++
		}
	}
	if words == 0 || phrases == 0 {
		return nil
	}
	return &out
}

// Require restricts the answer beside what the text says; "" restricts nothing.
func (q *Query) Require(scope, kind, category string) {
	for _, f := range []struct{ key, value string }{{keyScope, scope}, {keyKind, kind}, {keyCategory, category}} {
		if f, ok := newFilter(f.key, f.value, time.Time{}); ok {
			q.required = append(q.required, f)
		}
	}
}

// Filtered reports a query with filters.
func (q *Query) Filtered() bool { return len(q.filters) > 0 || len(q.required) > 0 }

// AsksForReports reports a filter for the kind of reports.
func (q *Query) AsksForReports() bool {
	asks := func(f filter) bool { return f.key == keyKind && f.value == KindReport && !f.not }
	return slices.ContainsFunc(q.filters, asks) || slices.ContainsFunc(q.required, asks)
}
