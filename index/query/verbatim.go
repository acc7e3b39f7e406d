package query

import (
	"bytes"
	"strings"

	"stet/index/document"
)

// spread is within how many words for each word of the query its words stand together.
const spread = 3

// typed is the query as it was typed, with the words that a text must have before it can have all of it. It is "" for
// a word in small letters, of which the index knows as much.
func (q *Query) typed() (text string, every uint64) {
	bits, words := q.bits(), 0
	document.Tokenize([]byte(q.said), func(document.Token) { words++ })
	if words == 0 || words == 1 && q.said == strings.ToLower(q.said) {
		return "", 0
	}
	for i := range q.clauses {
		c := &q.clauses[i]
		if c.occur == mustNot || c.kind == prefix || c.kind == literal {
			continue
		}
		for j, stem := range c.stems {
			if !c.idle(j, q.lang) {
				every |= bits[stem]
			}
		}
	}
	return strings.Join(strings.Fields(q.said), " "), every
}

// standsIn tells how a message has the query as it was typed: as it is, or but for capitals and white space; nil where
// it has not. What a tool calls an argument is not looked at: who pastes "old_string" looks for the message that says it.
func (l *looker) standsIn(file *Transcript, m *document.Message) *distance {
	span := file.Message(m)
	if span == nil {
		return nil
	}
	how := some
	for _, p := range document.Spoken(file.Data, span, file.attached) {
		switch {
		case bytes.Contains(p.Text, []byte(l.typed)) && bytes.Contains(p.Said(), []byte(l.typed)):
			how = verbatim
		case how == some && containsFolded(p.Text, l.typed) && containsFolded(p.Said(), l.typed):
			how = folded
		}
	}
	if how == some {
		return nil
	}
	return &how
}

// containsFolded reports whether text has pattern, whose words have one space between them; letters of ASCII are equal
// to their capitals and any white space to a space.
func containsFolded(text []byte, pattern string) bool {
	begin, _, _ := strings.Cut(pattern, " ")
	rare := 0 // where in the first word the byte stands that a text has least
	for i := range len(begin) {
		if strings.IndexByte(byRarity, lower(begin[i])) < strings.IndexByte(byRarity, lower(begin[rare])) {
			rare = i
		}
	}
	small := lower(begin[rare])
	large := small
	if 'a' <= small && small <= 'z' {
		large -= 'a' - 'A'
	}
	next := func(c byte, from int) int {
		if i := bytes.IndexByte(text[from:], c); i >= 0 {
			return from + i
		}
		return len(text)
	}
	s, l := next(small, 0), len(text)
	if large != small {
		l = next(large, 0)
	}
	for at := min(s, l); at < len(text); at = min(s, l) {
		if at >= rare && beginsFolded(text[at-rare:], pattern) {
			return true
		}
		if s == at {
			s = next(small, at+1)
		}
		if l == at {
			l = next(large, at+1)
		}
	}
	return false
}

// byRarity are the letters of texts, rarest first; any other byte is rarer.
const byRarity = "zqjxkvbywgpfmucdlhrsnioate"

// beginsFolded is containsFolded for the beginning of text.
func beginsFolded(text []byte, pattern string) bool {
	at := 0
	for i := range len(pattern) {
		if at == len(text) {
			return false
		}
		if pattern[i] != ' ' {
			if lower(text[at]) != lower(pattern[i]) {
				return false
			}
			at++
			continue
		}
		if !isBlank(text[at]) {
			return false
		}
		for at < len(text) && isBlank(text[at]) {
			at++
		}
	}
	return true
}

func isBlank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// parts are the bits of the words of composite names.
func (q *Query) parts() (out uint64) {
	bits := q.bits()
	for i := range q.clauses {
		if c := &q.clauses[i]; c.occur != mustNot && c.kind == word && len(c.stems) > 1 {
			for j, stem := range c.stems {
				if !c.idle(j, q.lang) {
					out |= bits[stem]
				}
			}
		}
	}
	return out
}

// A wholes counts in which files all words of a composite name stand: somebody who pastes a path has not found it where
// one of its folders is named. nil for what has one word; what messages have of it says [Ranking.distance].
type wholes struct {
	had  []uint16 // by document: words, as long as none was missing
	n    uint16
	last string
}

func (e *Evaluation) partsOf(c *clause) *wholes {
	if e.Conversations != nil || c.kind != word || c.occur != should || len(c.stems) < 2 {
		return nil
	}
	return &wholes{had: make([]uint16, len(e.scores))}
}

// add counts a word, whose fields come one after the other, or the name itself.
func (w *wholes) add(k leafKey, name bool, list []document.Posting) {
	if w == nil {
		return
	}
	if !name && (w.n == 0 || k.term != w.last) {
		w.last, w.n = k.term, w.n+1
	}
	for _, p := range list {
		if name || w.had[p.Doc] == w.n-1 {
			w.had[p.Doc] = w.n
		}
	}
}

func (w *wholes) mark(found, partly []bool) {
	if w != nil {
		each(found, func(d int32) { partly[d] = partly[d] || w.had[d] < w.n })
	}
}
