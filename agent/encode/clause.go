package encode

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A clause is one thing that a text says, with its place in it.
type clause struct {
	text     string // the whole text it is from
	from, to int    // its bytes, without the punctuation at its end
	words    []word
	verb     int // index of its first verb, -1 for none
	subject  []word
	// lent is set when the subject is that of the clause before, which shares the
	// sentence: "Ann lives in Bern and works at Acme".
	lent     bool
	sentence span
	place    int // among the clauses of its sentence
	question bool

	// What is read once, since a new clause is compared with those of many texts.
	changed    *change
	changeRead bool
	row        []string
}

type span struct{ from, to int }

// A Span is a part of a text: the bytes from From up to To.
type Span struct{ From, To int }

// Clauses are the parts of a text that each say one thing, in their order, without the
// punctuation and the conjunctions between them. Code blocks hold none.
func Clauses(text string) []Span {
	var out []Span
	for _, c := range clausesOf(text) {
		out = append(out, Span{c.from, c.to})
	}
	return out
}

func (c *clause) String() string { return strings.TrimSpace(c.text[c.from:c.to]) }

// rest is what follows the verb.
func (c *clause) rest() []word {
	if c.verb < 0 {
		return c.words
	}
	return c.words[c.verb+1:]
}

// clausesOf reads a text. Code blocks say nothing to the rules.
func clausesOf(text string) []*clause {
	var out []*clause
	for _, s := range sentences(text) {
		words := wordsOf(text, s.from, s.to)
		if len(words) == 0 {
			continue
		}
		question := strings.ContainsAny(text[s.from:s.to], "?？")
		start, place := 0, 0
		var before *clause
		add := func(end int) {
			if start >= end {
				return
			}
			c := newClause(text, words[start:end], s, before)
			c.place, c.question = place, question
			out, before, place = append(out, c), c, place+1
		}
		for i := 1; i < len(words)-1; i++ {
			if next := splits(text, words, start, i); next > 0 {
				add(i)
				start = next
			}
		}
		add(len(words))
	}
	return out
}

// splits says at which word the next clause begins when one ends before word i.
func splits(text string, words []word, start, i int) int {
	hasVerb := func(from, to int) bool {
		for _, w := range words[from:to] {
			if isVerb(w) {
				return true
			}
		}
		return false
	}
	if strings.Contains(text[words[i-1].to:words[i].from], ";") {
		return i
	}
	next := i + 1
	if !conjunctions()[words[i].fold] || next >= len(words) || !hasVerb(start, i) {
		return 0
	}
	switch {
	case isVerb(words[next]):
		return next
	case pronouns()[words[next].fold] || words[next].owns || words[next].value():
		if hasVerb(next+1, min(next+6, len(words))) {
			return next
		}
	}
	return 0
}

func newClause(text string, words []word, s span, before *clause) *clause {
	c := &clause{text: text, words: words, from: words[0].from, to: words[len(words)-1].to, sentence: s, verb: -1}
	lead := leadIn(words)
	c.verb = mainVerb(words, lead)
	if c.verb > lead {
		c.subject = words[lead:c.verb]
	} else if c.verb == lead && before != nil && lead == 0 {
		c.subject, c.lent = before.subject, true
	}
	return c
}

// mainVerb finds the first verb, -1 for none. What follows an article or a
// preposition is no verb: "the report", "for use".
func mainVerb(words []word, lead int) int {
	for i := lead; i < len(words); i++ {
		if isVerb(words[i]) && (i == lead || !beforeNoun(words[i-1])) {
			return i
		}
	}
	if i := slices.IndexFunc(words[min(lead, len(words)):], func(w word) bool { return strings.HasSuffix(w.fold, "n't") }); i >= 0 {
		return lead + i // "doesn't swim"
	}
	// "Alice smokes."
	if len(words) > lead+1 && words[lead].raw != words[lead].fold && !words[lead].owns && !isStop(words[lead].fold) {
		if w := words[lead+1]; w.fold == w.raw && len(w.fold) > 3 && strings.HasSuffix(w.fold, "s") {
			return lead + 1
		}
	}
	return -1
}

func beforeNoun(w word) bool {
	if w.owns {
		return true
	}
	switch w.fold {
	case "the", "a", "an", "my", "our", "your", "his", "her", "their", "this", "that", "for", "of", "in", "on", "at", "to", "with", "by":
		return true
	}
	return false
}

// leadIn counts the words in front of a sentence that are not part of what it says.
func leadIn(words []word) int {
	for i := min(len(words)-1, 6); i > 0; i-- {
		if words[i-1].comma && leads(words[:i]) {
			return i
		}
	}
	i := 0
	if len(words) > 3 && words[0].fold == "on" && weekdays()[words[1].fold] {
		i = 2
	}
	for i < len(words)-2 && leadWords()[words[i].fold] {
		i++
	}
	return i
}

// leads reports whether words are an opening: a correction, a date, an adverb.
func leads(words []word) bool {
	switch words[0].fold {
	case "correction", "update", "updated", "actually", "now", "today", "currently", "recently", "finally", "since", "from", "starting", "effective", "as", "on", "in",
		"also", "note", "fyi", "btw", "sorry", "yes", "no", "ok", "well", "ab", "seit", "jetzt", "nun", "korrektur", "depuis", "désormais", "maintenant",
		"correction:", "desde", "ahora", "corrección", "correzione", "da", "ora", "starts":
		for _, w := range words {
			if isVerb(w) && w.fold != "starts" {
				return false
			}
		}
		return true
	}
	return false
}

// sentences finds the sentences of a text: ended by a mark, a blank line, a new
// list item or a heading.
func sentences(text string) []span {
	var out []span
	start, fence := 0, false
	flush := func(end int) {
		if strings.ContainsFunc(text[start:end], func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			out = append(out, span{start, end})
		}
		start = end
	}
	at := 0
	for line := range strings.Lines(text) {
		trimmed := strings.TrimLeft(line, " \t>")
		if strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~") {
			flush(at)
			fence = !fence
			at += len(line)
			start = at
			continue
		}
		if fence {
			at += len(line)
			start = at
			continue
		}
		if mark := listMark(trimmed); mark > 0 || strings.TrimSpace(line) == "" {
			flush(at)
			start = at + len(line) - len(trimmed) + mark
		}
		for i := max(start-at, 0); i < len(line); {
			r, n := utf8.DecodeRuneInString(line[i:])
			if ends(line, i, n, r) {
				flush(at + i + n)
			}
			i += n
		}
		if strings.HasPrefix(trimmed, "#") {
			flush(at + len(line))
		}
		at += len(line)
	}
	if !fence {
		flush(len(text))
	}
	return out
}

// listMark is the length of a list mark or heading mark in front of a line.
func listMark(line string) int {
	rest := strings.TrimLeft(line, "#")
	if n := len(line) - len(rest); n > 0 && n < 7 && strings.HasPrefix(rest, " ") {
		return n + 1
	}
	for _, m := range []string{"- ", "* ", "+ "} {
		if strings.HasPrefix(line, m) {
			return 2
		}
	}
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	if digits > 0 && digits < 4 && (strings.HasPrefix(line[digits:], ". ") || strings.HasPrefix(line[digits:], ") ")) {
		return digits + 2
	}
	return 0
}

// ends reports whether the mark at line[i:i+n] ends a sentence.
func ends(line string, i, n int, r rune) bool {
	switch r {
	case '。', '！', '？':
		return true
	case '!', '?', '.':
	default:
		return false
	}
	after := strings.TrimLeft(line[i+n:], `"')]”’`)
	if after != "" && !unicode.IsSpace(rune(after[0])) {
		return false
	}
	before := line[:i]
	last := before[strings.LastIndexAny(before, " \t(")+1:]
	// An initial or an abbreviation: "J. Smith", "e.g. this".
	return !(r == '.' && (utf8.RuneCountInString(last) == 1 && strings.TrimSpace(after) != "" && unicode.IsUpper([]rune(last)[0]) || strings.Contains(last, ".") && len(last) <= 4 && number(last) == "" || abbreviations()[strings.ToLower(last)]))
}
