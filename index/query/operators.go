package query

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"stet/index/document"
)

// AsItStands is a query for the text of q word by word, nil where q has nothing that could leave out a text that holds
// all of it. What is pasted is no query, whatever signs it has.
func AsItStands(text string, q *Query) *Query {
	if !q.narrows {
		return nil
	}
	p := queryParser{out: Query{lang: q.lang, required: q.required, said: Clip(text)}}
	p.add(must, phrase, p.out.said)
	for _, f := range q.Operators {
		// The index knows which texts have "in:sessions" as it stands, so that not each that has both words is read.
		document.Identifiers([]byte(f), func(name string, start, end int) {
			if start == 0 && end == len(f) {
				p.out.clauses = append(p.out.clauses, clause{occur: must, kind: named, raw: f, name: name})
			}
		})
	}
	p.out.finish()
	return &p.out
}

// Excluding is the text of a query with each word behind a bare minus excluded, nil where it has none, and where
// nothing else would be looked for: "-lzstd" alone is no question for all that has it not.
func Excluding(text string, now time.Time, q *Query) *Query {
	if !q.minus {
		return nil
	}
	out := parse(queryParser{text: text, now: now, minus: true, out: Query{lang: q.lang, required: q.required}})
	if required, optional := out.Count(); required+optional == 0 && !out.Filtered() {
		return nil
	}
	return &out
}

// isHash reports what may be the beginning of a hash in hexadecimal digits, as people copy that of a commit.
func isHash(s string) bool {
	return len(s) >= 7 && strings.Trim(s, "0123456789abcdef") == "" && strings.ContainsAny(s, "0123456789") &&
		strings.ContainsAny(s, "abcdef")
}

// sign takes a plus, a minus or NOT off the front where something to require or exclude comes behind it.
func (p *queryParser) sign() bool {
	rest, not := strings.CutPrefix(p.text, "NOT ")
	if rest = strings.TrimLeftFunc(rest, isSpace); !not && len(p.text) > 1 && (p.text[0] == '+' || p.text[0] == '-') {
		rest = p.text[1:]
	}
	if len(rest) == len(p.text) || !opensOperand(rest) {
		return false
	}
	if not && !p.narrowing(rest) {
		if len(strings.Fields(rest)) == 1 { // what is pasted mostly goes on
			p.warn(fmt.Sprintf("NOT leaves something out before a phrase or a filter, as in NOT \"%s\" or NOT tag:x; "+
				"here it was searched as a word", Clip(strings.TrimSpace(rest))))
		}
		return false
	}
	p.text = rest
	return true
}

// negated reports whether what comes is excluded, by a sign that pasted text does not have: a minus alone stands
// before the flags of every command.
func (p *queryParser) negated(whole string) bool {
	return whole[0] != '+' && (p.minus || p.narrowing(p.text))
}

// narrowing reports a phrase or a filter at the front of a text.
func (p *queryParser) narrowing(text string) bool {
	if _, _, ok := cutQuoted(text); ok {
		return true
	}
	unit, _, _ := strings.Cut(text, " ")
	_, _, ok := p.filter(unit, "")
	return ok
}

// say takes down what of whole was read, unless it excludes.
func (p *queryParser) say(how occur, whole string) {
	if how == mustNot {
		p.narrowed()
		return
	}
	p.out.Pasted = p.out.Pasted || p.behind
	p.out.said += strings.TrimSpace(whole[:len(whole)-len(p.text)]) + " "
}

// filters takes a filter off the front of the text, whose first unit and rest are given.
func (p *queryParser) filters(unit, rest string, not bool) bool {
	f, rest, ok := p.filter(unit, rest)
	if ok {
		f.not, p.text = not, rest
		p.out.filters = append(p.out.filters, f)
		p.narrowed()
	}
	return ok
}

// narrowed takes down that a filter or an exclusion was read.
func (p *queryParser) narrowed() { p.out.narrows, p.behind = true, p.out.said != "" }

// filter reads a unit, and what follows it where its value is quoted, as a filter.
func (p *queryParser) filter(unit, rest string) (f filter, after string, ok bool) {
	key, value, ok := strings.Cut(unit, ":")
	if !ok || filterKey(key) == "" {
		return f, rest, false
	}
	if quoted, behind, ok := cutQuoted(unit[len(key)+1:] + rest); ok {
		value, rest = quoted, behind
	}
	f, ok = newFilter(filterKey(key), value, p.now)
	if !ok && f.value != "" {
		p.warn(fmt.Sprintf("%q: %s; it was searched as words", Clip(key+":"+value), meaning(f.key)))
	}
	return f, rest, ok
}

// warn takes down once what was not read as it may have been meant.
func (p *queryParser) warn(text string) {
	if !slices.Contains(p.out.Warnings, text) {
		p.out.Warnings = append(p.out.Warnings, text)
	}
}

// opensOperand reports that s, behind a sign, is something to require or
// exclude; else the sign is text (--flag, ->, a dash between words).
func opensOperand(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return document.IsWordRune(r) || unicode.Is(unicode.So, r) || strings.ContainsRune(`"./_#@$`, r)
}

// cutQuoted splits a leading "…" off. The words between must be closed.
func cutQuoted(s string) (quoted, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		return "", s, false
	}
	quoted, rest, ok = strings.Cut(s[1:], `"`)
	return quoted, rest, ok
}
