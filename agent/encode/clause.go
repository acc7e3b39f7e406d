package encode

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"stet/templates/lexicon"
)

// A reading is a memory with its words and what its clauses say.
type reading struct {
	Memory
	lang    *language
	words   []word // of the title, then of the text
	clauses []*clause
	spans   []Span // of its sentences
	starts  []int  // the first word of each, and the end
	cues    []found
	all     cue // that any of them says
	// What is made of these when it is asked for the first time: see [reading.form], [reading.single], [reading.says].
	formed  *form
	singles []proposition
	whole   *proposition
	forms   map[string]bool // of the tokens of the whole
}

// A clause is one thing that a text says, with its place in it.
type clause struct {
	number   int // of the text
	from, to int // bytes, without the punctuation at its end
	a, b     int // its words
	verb     int // index of its first verb, b for none
	subject  []int
	lent     bool // the subject is that of the clause before
	sentence int
	question bool
	cues     cue
}

func (r *reading) string(c *clause) string { return strings.TrimSpace(r.Text[c.from:c.to]) }

// A Span is a part of a text: the bytes from From up to To.
type Span struct{ From, To int }

// Clauses are the parts of a text that each say one thing, in their order, without the
// punctuation and the conjunctions between them. Code blocks hold none.
func Clauses(text string) []Span {
	var out []Span
	for _, c := range read(Memory{Text: text}).clauses {
		out = append(out, Span{c.from, c.to})
	}
	return out
}

func read(m Memory) *reading {
	r := &reading{Memory: m}
	r.words = wordsOf(make([]word, 0, (len(m.Title)+len(m.Text))/4), m.Title, 0, len(m.Title))
	for i := range r.words {
		w := &r.words[i]
		w.title, w.from, w.to = true, 0, 0
	}
	title := len(r.words)
	spans := sentences(m.Text)
	starts := make([]int, len(spans)+1)
	r.spans, r.starts = spans, starts
	for i, s := range spans {
		starts[i] = len(r.words)
		r.words = append(r.words, wordsOf(r.words[len(r.words):], m.Text, s.From, s.To)...)
	}
	starts[len(spans)] = len(r.words)
	r.lang = languageOf(r.words)
	r.lang.classify(r.words, m.Author)
	r.cues = r.lang.cuesIn(r.words)
	before := r.about(indices(0, title))
	for i, s := range spans {
		question := asks(m.Text[s.From:s.To])
		for k, part := range r.parts(starts[i], starts[i+1]) {
			c := &clause{number: len(r.clauses), a: part.From, b: part.To, sentence: i, question: question}
			c.from, c.to = r.words[c.a].from, r.words[c.b-1].to
			r.readSubject(c, before, k)
			if about := r.about(c.subject); len(about) > 0 {
				before = about
			}
			r.clauses = append(r.clauses, c)
		}
	}
	for _, f := range r.cues {
		r.all |= f.cue
		k, _ := slices.BinarySearchFunc(r.clauses, f.from, func(c *clause, at int) int { return cmp.Compare(c.b, at+1) })
		if k < len(r.clauses) && f.from >= r.clauses[k].a {
			r.clauses[k].cues |= f.cue
		}
	}
	for _, c := range r.clauses {
		if c.question {
			c.cues |= cueAsk
			r.all |= cueAsk
		}
	}
	return r
}

func asks(text string) bool { return strings.Contains(text, "?") || strings.Contains(text, "？") }

func indices(a, b int) []int {
	out := make([]int, 0, max(0, b-a))
	for i := a; i < b; i++ {
		out = append(out, i)
	}
	return out
}

// about are the words of a subject that name somebody or something.
func (r *reading) about(ids []int) []int {
	var out []int
	for _, i := range ids {
		if w := &r.words[i]; w.weight > 0 || w.class&(self|userWord) != 0 {
			out = append(out, i)
		}
	}
	return out
}

// parts cuts the words of a sentence into clauses.
func (r *reading) parts(from, to int) []Span {
	var out []Span
	start := from
	for i := from + 1; i < to; i++ {
		if next := r.splits(start, i, to); next > 0 {
			out = append(out, Span{start, i})
			start = next
			i = max(i, next)
		}
	}
	if start < to {
		out = append(out, Span{start, to})
	}
	return out
}

// splits says at which word the next clause begins when one ends before word i, 0 when
// none ends there.
func (r *reading) splits(start, i, to int) int {
	w := &r.words[i]
	gap := r.Text[max(r.words[i-1].to, 0):max(w.from, r.words[i-1].to)]
	if strings.ContainsAny(gap, ";\n→") || strings.Contains(gap, " — ") || strings.Contains(gap, " – ") || strings.Contains(gap, " - ") {
		return i
	}
	comma := strings.Contains(gap, ",")
	next := i
	if w.class&and != 0 && (w.class&det == 0 || comma) && i+1 < to {
		next = i + 1
	} else if !comma {
		return 0
	}
	hasVerb := func(a, b int) bool {
		for k := a; k < min(b, to); k++ {
			if r.isVerb(a, k) {
				return true
			}
		}
		return false
	}
	n := &r.words[next]
	switch {
	case !hasVerb(start, i) && i-start < 3, next >= to-1:
		return 0
	case n.class&(be|aux) != 0 || n.class&verb != 0 && n.class&(prep|det) == 0 && !strings.HasSuffix(n.fold, "ing"):
		return next
	case n.class&(self|third|det) != 0 || n.owns || n.name:
		if hasVerb(next+1, next+6) && hasVerb(start, i) {
			return next
		}
	case comma && next > i:
		if hasVerb(next, next+6) {
			return next
		}
	}
	return 0
}

// isVerb reports whether word k is the finite verb of a clause that begins at word i.
func (r *reading) isVerb(i, k int) bool {
	w := &r.words[k]
	if w.class&(be|aux) != 0 {
		return true
	}
	if w.owns || k > 0 && r.words[k-1].class&(det|prep) != 0 && r.words[k-1].class&third == 0 {
		return false
	}
	if w.class&base != 0 && w.class&verb == 0 {
		before := &r.words[max(k-1, 0)]
		return k > i && (before.class&(self|third|lead) != 0 || strings.HasSuffix(before.fold, "s") && !before.owns)
	}
	return w.class&verb != 0 || len(w.fold) > 4 && strings.HasSuffix(w.fold, "ed") && w.stem != w.fold
}

// maxSubject bounds the words in front of a verb that are a subject.
const maxSubject = 8

// readSubject finds the words that a clause is about; before are those of the clause
// before it.
func (r *reading) readSubject(c *clause, before []int, place int) {
	i := r.opening(c)
	c.verb = c.b
	colon := c.b
	for k := i; k < c.b-1; k++ {
		if strings.Contains(r.Text[r.words[k].to:max(r.words[k].to, r.words[k+1].from)], ": ") || r.words[k+1].fold == "=" {
			colon = k + 1
			break
		}
	}
	var own []int
	for k := i; k < c.b; k++ {
		w := &r.words[k]
		if k == colon || k > i && r.isVerb(i, k) {
			c.verb = k
			break
		}
		if w.class&(be|aux) != 0 {
			c.verb = k
			break
		}
		own = append(own, k)
		if len(own) == maxSubject {
			break
		}
	}
	if c.verb == c.b && len(own) > 4 { // no verb is known
		own = own[:3]
		c.verb = own[2] + 1
	}
	for len(own) > 1 && r.words[own[len(own)-1]].class&(deny|lead|self) != 0 || len(own) > 2 && r.words[own[len(own)-1]].fold == "longer" {
		own = own[:len(own)-1] // "I no longer work", "she now lives"
	}
	if len(own) > 0 && own[0] == c.a && r.words[c.a].class&verb != 0 && r.words[c.a].class&(self|third) == 0 && place > 0 {
		own, c.verb = nil, c.a
	}
	c.subject = own
	switch {
	case len(r.about(own)) == 0:
		c.subject, c.lent = slices.Concat(before, own), len(own) == 0 && place > 0
	case r.words[own[0]].class&third != 0:
		c.subject = slices.Concat(before, own)
	}
}

// opening is the first word of what a clause says, behind a date, an adverb or what
// else stands in front of a comma.
func (r *reading) opening(c *clause) int {
	w := &r.words[c.a]
	if w.class&(lead|prep|day|timely) == 0 && !w.number {
		return c.a
	}
	for k := c.a; k < min(c.a+7, c.b-1); k++ {
		if r.words[k].comma {
			return k + 1
		}
	}
	i := c.a
	for i < c.b-2 && r.words[i].class&lead != 0 && r.words[i].class&(self|third|det) == 0 {
		i++
	}
	if i == c.a && w.class&self == 0 {
		for k := c.a + 1; k < min(c.a+8, c.b-1); k++ {
			if r.words[k].class&(self|third|det) != 0 && r.words[k-1].class&prep == 0 {
				return k
			}
		}
	}
	return i
}

// sentences finds the sentences of a text: ended by a mark, a blank line, a new
// list item or a heading.
func sentences(text string) []Span {
	var out []Span
	start, fence := 0, false
	flush := func(end int) {
		if strings.ContainsFunc(text[start:end], func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			out = append(out, Span{start, end})
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
	for _, m := range []string{"- ", "* ", "+ ", "• "} {
		if strings.HasPrefix(line, m) {
			return len(m)
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
	after := strings.TrimLeft(line[i+n:], `"')]”’»`+"`*_")
	if after != "" && !unicode.IsSpace(rune(after[0])) {
		return false
	}
	if r != '.' {
		return true
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimSpace(after))
	if unicode.IsLower(next) {
		return false // an abbreviation: a sentence begins with a capital letter
	}
	before := line[:i]
	last := before[strings.LastIndexAny(before, " \t(,/")+1:]
	first, _ := utf8.DecodeRuneInString(last)
	switch {
	case strings.TrimSpace(after) == "" && strings.HasSuffix(line, "\n"), last == "":
		return true
	case utf8.RuneCountInString(last) == 1 && unicode.IsLetter(first): // "J. Smith"
		return strings.TrimSpace(after) == ""
	case strings.Contains(last, ".") && len(last) <= 6 && number(last) == "" && !unicode.IsDigit(first): // "e.g. Berlin"
		return false
	case abbreviations()[strings.ToLower(last)]:
		return unicode.IsUpper(next) && closing()[strings.ToLower(last)]
	case strings.Trim(last, "0123456789") == "" && len(last) <= 2: // "am 3. Mai", "Lindenstr. 4. OG"
		return !ordinal(after)
	}
	return true
}

// ordinal reports whether what follows "3." is what is counted.
func ordinal(after string) bool {
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return false
	}
	w := strings.ToLower(strings.Trim(fields[0], ".,;:"))
	return len(languages()["de"]().months[w]) > 0 || counted()[w]
}

// articles are determiners that do not say whose.
var articles = sync.OnceValue(func() map[string]bool { return lexicon.Words("abbreviation", "articles") })

var abbreviations = sync.OnceValue(func() map[string]bool { return lexicon.Words("abbreviation", "inside", "closing") })
var closing = sync.OnceValue(func() map[string]bool { return lexicon.Words("abbreviation", "closing") })
var counted = sync.OnceValue(func() map[string]bool { return lexicon.Words("abbreviation", "counted") })
