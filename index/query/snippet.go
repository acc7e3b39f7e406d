package query

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"stet/index/document"
	"stet/markdown"
)

// A Range is a half-open range of bytes.
type Range struct{ Start, End int }

// snippetBytes bounds a snippet: two or three lines of a terminal.
const snippetBytes = 240

// A Liner finds the line of a text that earned its rank.
type Liner struct {
	stems    *document.Stemmer
	byStem   map[string]float64
	prefixes map[string]float64
	names    map[string]float64
	apart    bool // a name has no word of the query in it
	phrases  []linePhrase
	literals []string
	sieve    document.Sieve   // lets the words of all these pass
	toks     []document.Token // scratch
	seen     []string         // likewise
}

// A linePhrase is a clause whose words stand side by side.
type linePhrase struct {
	*clause
	weight float64
}

// NewLiner prepares a query with the weights that its terms had in e.
func NewLiner(q *Query, e *Evaluation) *Liner {
	weights := e.weights
	l := &Liner{stems: document.NewStemmer(q.lang), byStem: map[string]float64{}, prefixes: map[string]float64{}, names: map[string]float64{}}
	for i := range q.clauses {
		c := &q.clauses[i]
		if c.occur == mustNot {
			continue
		}
		switch c.kind {
		case literal:
			l.literals = append(l.literals, strings.ToLower(c.raw))
		case prefix:
			if len(c.exact) == 1 {
				l.prefixes[c.exact[0].Term] = 1 + weights[c.exact[0].Term+"*"]
				continue
			}
			l.names[c.name] = 1
		default:
			l.words(c, weights)
		}
	}
	for w, terms := range e.similar {
		for _, t := range terms {
			l.byStem[l.stems.Stem(t)] = 0.01 + weights[w+"~"]
		}
	}
	for name := range l.names {
		has := false
		document.Tokenize([]byte(name), func(t document.Token) {
			_, is := l.byStem[l.stems.Stem(t.Term)]
			has = has || is
		})
		l.apart = l.apart || !has
	}
	l.sieve.Humps = true
	for _, words := range []map[string]float64{l.byStem, l.prefixes} {
		for w := range words {
			l.sieve.Add(w)
		}
	}
	for _, p := range l.phrases {
		for _, t := range p.exact {
			l.sieve.Add(t.Term)
		}
	}
	return l
}

func (l *Liner) words(c *clause, weights map[string]float64) {
	for _, s := range c.stems {
		l.byStem[s] = max(l.byStem[s], 0.01+weights[s])
	}
	for _, name := range slices.Concat(c.split, []string{c.name}) {
		if name != "" {
			l.names[name] = 0.01 + weights[name]
		}
	}
	if c.joined != "" {
		l.byStem[c.joined] = 0.01 + weights[c.joined]
	}
	if c.kind == phrase || len(c.exact) > 1 {
		l.phrases = append(l.phrases, linePhrase{c, 1 + weights[strings.ToLower(c.raw)]})
	}
}

// A line is one line of a file with what the query finds in it.
type line struct {
	Number int // from 1
	text   []byte
	ranges []Range
	weight float64
}

// frontWeight makes a line of front matter lose against the text itself.
const frontWeight = 0.25

// Best is the line with the most weight, the first of equals; front is the
// length of the front matter. A file that matches by its path alone shows its
// first line of text. A row of a table of contents gives way to the section that it leads to.
func (l *Liner) Best(data []byte, front int) line {
	best := l.BestIn(data, 0, len(data), front)
	if row := contentsRow().FindSubmatch(best.text); row != nil {
		start, end := section(data, string(row[1]))
		if in := l.BestIn(data, start, end, 0); in.weight > 0 {
			return in
		}
	}
	return best
}

// contentsRow is a line that begins with a link to a heading of its own file, in a list or a table.
var contentsRow = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[\s|*+-]*(?:\d+[.)]\s+)?\[[^\[\]]*\]\(#([^()\s]+)\)`)
})

// section is what stands below a heading up to the next one of its level or above, by its anchor; 0, 0 without one.
func section(data []byte, anchor string) (start, end int) {
	level := 0
	for _, s := range markdown.Parse(data).Sections() {
		switch {
		case level > 0 && s.Heading.Level <= level:
			return start, end
		case level > 0:
			end = s.End
		case s.Heading.Level > 0 && markdown.Slug(s.Heading.Text, 0) == anchor:
			start, end, level = s.Heading.End, s.End, s.Heading.Level
		}
	}
	return start, end
}

// BestIn is best for data[start:end]; what stands before text is worth less.
func (l *Liner) BestIn(data []byte, start, end, text int) line {
	var out, first line
	at, number := start, bytes.Count(data[:start], []byte("\n"))
	for raw := range bytes.Lines(data[start:end]) {
		number++
		cur := line{Number: number, text: bytes.TrimRight(raw, "\r\n")}
		l.look(&cur)
		if at < text {
			cur.weight *= frontWeight
		} else if first.Number == 0 && len(bytes.TrimSpace(cur.text)) > 0 {
			first = cur
		}
		if cur.weight > out.weight {
			out = cur
		}
		at += len(raw)
	}
	if out.Number == 0 {
		out = first
	}
	return out
}

// BestOf is the best line of a message: of what was said, or of the arguments of a call as they were given, numbered
// as the line of the transcript that has it, or that holds or names what has it. To a heading it adds the line below.
func (l *Liner) BestOf(file *Transcript, m *markdown.MessageSpan) line {
	var best line
	for i, part := range document.Spoken(file.Data, m, file.attached) {
		if i%2 == 1 {
			continue // the name of a tool
		}
		text, at, here := part.Text, part.At, i == 0 && m.Attached == ""
		if here {
			text = markdown.BlankInjected(m.Text(file.Data))
		}
		cur := l.BestIn(text, 0, len(text), 0)
		if cur.Number == 0 || best.Number > 0 && cur.weight <= best.weight {
			continue
		}
		if here && m.Role != "tool" {
			l.belowHeading(&cur, text)
		}
		if before := bytes.Count(file.Data[:at], []byte("\n")); here {
			cur.Number += before
		} else {
			cur.Number = before + 1
		}
		best = cur
	}
	return best
}

// belowHeading puts the text below a heading behind it.
func (l *Liner) belowHeading(cur *line, text []byte) {
	head := bytes.TrimSpace(cur.text)
	words := bytes.TrimLeft(head, "#")
	if marks := len(head) - len(words); marks == 0 || marks > 6 || !bytes.HasPrefix(words, []byte(" ")) {
		return
	}
	cur.text = bytes.TrimSpace(words)
	number := 0
	for raw := range bytes.Lines(text) {
		raw = bytes.TrimSpace(raw)
		if number++; number > cur.Number && len(raw) > 0 && raw[0] != '#' {
			cur.text = bytes.Join([][]byte{cur.text, raw}, []byte(": "))
			break
		}
	}
	weight := cur.weight
	cur.ranges, cur.weight = nil, 0
	l.look(cur)
	cur.weight = weight
}

// look fills in weight and ranges.
func (l *Liner) look(cur *line) {
	toks, seen := l.toks[:0], l.seen[:0]
	l.sieve.Tokenize(cur.text, func(t document.Token) {
		if t.Term != "" {
			toks = append(toks, t)
		}
	})
	for _, t := range toks {
		stem := l.stems.Stem(t.Term)
		w, ok := l.byStem[stem]
		if !ok {
			document.CamelParts(cur.text[t.Start:t.End], func(part []byte) {
				s := l.stems.Stem(string(bytes.ToLower(part)))
				if v, is := l.byStem[s]; is {
					w, ok, stem = max(w, v), true, s
				}
			})
		}
		for p, v := range l.prefixes {
			if strings.HasPrefix(t.Term, p) {
				w, ok = max(w, v), true
			}
		}
		if !ok {
			continue
		}
		cur.ranges = append(cur.ranges, Range{t.Start, t.End})
		if !slices.Contains(seen, stem) {
			seen = append(seen, stem)
			cur.weight += w
		}
	}
	l.toks, l.seen = toks, seen
	if (l.apart || len(cur.ranges) > 0) && l.mayName(cur.text) {
		document.Identifiers(cur.text, func(name string, start, end int) {
			if w, ok := l.names[name]; ok {
				cur.weight += w
				cur.ranges = append(cur.ranges, Range{start, end})
			}
		})
	}
	for _, p := range l.phrases {
		if p.inOrder(toks) {
			cur.weight += p.weight
		}
	}
	for _, s := range l.literals {
		if at := bytes.Index(bytes.ToLower(cur.text), []byte(s)); at >= 0 && at+len(s) <= len(cur.text) {
			cur.weight++
			cur.ranges = append(cur.ranges, Range{at, at + len(s)})
		}
	}
	cur.ranges = joinRanges(cur.ranges)
}

// mayName reports whether a composite name of the query may stand in a line: in one of ASCII they are looked for as they
// are, which takes a fraction of the time.
func (l *Liner) mayName(text []byte) bool {
	for name := range l.names {
		if containsFolded(text, name) {
			return true
		}
	}
	return len(l.names) > 0 && bytes.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0
}

// joinRanges sorts ranges and joins those that overlap or touch.
func joinRanges(in []Range) []Range {
	slices.SortFunc(in, func(a, b Range) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	out := in[:0]
	for _, r := range in {
		if n := len(out); n > 0 && r.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, r.End)
			continue
		}
		out = append(out, r)
	}
	return out
}

// Snippet cuts the line down to what can be shown, with the highlights in it.
// Cuts fall between characters and, where one is near, at a space.
func (cur *line) Snippet() (string, []Range) {
	start := len(cur.text) - len(bytes.TrimLeft(cur.text, " \t"))
	end := len(bytes.TrimRight(cur.text, " \t"))
	end = max(start, end)
	if end-start > snippetBytes {
		start, end = cur.window(start, end)
	}
	var out []Range
	for _, r := range cur.ranges {
		if r.Start >= start && r.End <= end {
			out = append(out, Range{r.Start - start, r.End - start})
		}
	}
	return strings.ToValidUTF8(string(cur.text[start:end]), "\uFFFD"), validRanges(cur.text[start:end], out)
}

// window chooses the part of a long line that shows the most highlights.
func (cur *line) window(start, end int) (int, int) {
	from, most, near := start, 0, 0 // ranges before near end close to where the one looked at starts
	for i, r := range cur.ranges {
		for near < len(cur.ranges) && cur.ranges[near].End-r.Start <= snippetBytes-40 {
			near++
		}
		if near-i > most {
			from, most = max(start, r.Start-40), near-i
		}
	}
	to := min(end, from+snippetBytes)
	from = max(start, min(from, to-snippetBytes))
	for from > start && !utf8.RuneStart(cur.text[from]) {
		from--
	}
	if i := bytes.IndexByte(cur.text[from:min(from+20, to)], ' '); from > start && i >= 0 {
		from += i + 1
	}
	for to < end && to > from && !utf8.RuneStart(cur.text[to]) {
		to--
	}
	return from, to
}

// validRanges drops highlights when the text had to be repaired: its bytes
// have moved.
func validRanges(text []byte, r []Range) []Range {
	if !utf8.Valid(text) {
		return nil
	}
	return r
}
