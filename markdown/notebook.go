package markdown

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"golang.org/x/text/unicode/norm"
)

// An Entry is one thing a notebook says: a list item that stands in the document
// itself, with its continuation lines, paragraphs, sub-items and code.
//
//   - [x] [fact] Wife's birthday:     box, kind, first line
//     March 15th                      continuation
//
//     ```
//
//   - no entry: code
//     ```
type Entry struct {
	// Text is the entry without marker and indent, lines joined by "\n", without
	// blank lines and blanks at its ends. It may be empty.
	Text string
	// Kind is the word in brackets that Text begins with, lower case; "" = none.
	Kind string
	// Task reports that Text begins with a task box.
	Task bool
	// Under are the headings that the entry stands below, outermost first.
	Under []string
	// Start and End are offsets in the file, of whole lines: from the marker's
	// line to the last one that is not blank, line ending included.
	Start, End int
	Line       int // of Start, from 1

	item
	list int // entries with the same number stand in one list
	body int // offset in Text behind box and kind
}

// An item is how a list item is written.
type item struct {
	prefix  string // indent, marker, blanks
	marker  byte   // - * + . )
	number  int    // of an ordered item
	columns int    // where the text starts, from 0
}

func (it item) bulleted() bool { return it.marker != '.' && it.marker != ')' }

// pinnedHeading is the heading, in the form of a slug, below which nothing is
// moved away by itself.
const pinnedHeading = "pinned"

// hashDigits is the length of an entry's address: 32 bits tell the few hundred
// entries of a notebook apart, and a person can still copy them.
const hashDigits = 8

// Hash is the entry's address within its file: the first eight hex digits of the
// SHA-256 of Text in NFC, so that two clones and two editors agree on it.
func (e Entry) Hash() string {
	sum := sha256.Sum256([]byte(norm.NFC.String(e.Text)))
	return hex.EncodeToString(sum[:])[:hashDigits]
}

// Characters counts the code points of Text: what a limit looks at.
func (e Entry) Characters() int { return utf8.RuneCountInString(e.Text) }

// Body is Text without task box and kind.
func (e Entry) Body() string { return e.Text[e.body:] }

// Box is the task box of Text as it is written anew, "[x] ", or "".
func (e Entry) Box() string {
	if !e.Task {
		return ""
	}
	return e.Text[:len("[x]")] + " "
}

// KindMark is the kind of Text as it is written anew, "[fact] ", or "".
func (e Entry) KindMark() string {
	if e.Kind == "" {
		return ""
	}
	mark, _, _ := strings.Cut(strings.TrimLeft(e.Text[len(strings.TrimRight(e.Box(), " ")):e.body], " "), "]")
	return mark + "] "
}

// ReadEntry is an entry of that text which stands nowhere yet.
func ReadEntry(text string) Entry {
	e := Entry{Text: EntryText(text)}
	e.readHead()
	return e
}

// Pinned reports whether the entry stands below a heading "Pinned", in any case
// and with any decoration ("📌 Pinned:").
func (e Entry) Pinned() bool { return slices.ContainsFunc(e.Under, isPinned) }

func isPinned(heading string) bool { return Slug(heading, 0) == pinnedHeading }

// EntryText is the form that text takes as an entry: "\n" between lines, no
// blanks at its ends or on lines that hold nothing else.
func EntryText(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	return cleanLines(strings.Split(strings.TrimLeftFunc(text, unicode.IsSpace), "\n"))
}

func cleanLines(lines []string) string {
	for i, l := range lines {
		if strings.Trim(l, " \t") == "" {
			lines[i] = ""
		}
	}
	return strings.TrimRight(strings.Trim(strings.Join(lines, "\n"), "\n"), " \t\r\n")
}

// Entries lists the entries of the file in order. Lists inside other things, a
// quotation, code or HTML, hold none.
func (d *Document) Entries() []Entry {
	o := d.outline()
	out := make([]Entry, 0, len(o.items))
	for _, it := range o.items {
		out = append(out, d.entry(it))
	}
	return out
}

// listItem is where the outline found an item: lines start … end of the file.
type listItem struct {
	start, end int
	columns    int
	list       int
}

// listItems places the items of a list at the top of the document; end is where
// what follows the list begins.
func (d *Document) listItems(l *ast.List, number, end int, body []byte) []listItem {
	var out []listItem
	for n := l.FirstChild(); n != nil; n = n.NextSibling() {
		start := lineStart(body, n.Pos())
		if len(out) > 0 {
			out[len(out)-1].end = start
		}
		it := listItem{start: start, end: end, list: number}
		if li, ok := n.(*ast.ListItem); ok {
			it.columns = li.Offset
		}
		out = append(out, it)
	}
	for i := range out {
		it := &out[i]
		it.end = it.start + len(bytes.TrimRight(body[it.start:it.end], " \t\r\n"))
		it.end = lineEnd(body, it.end)
		it.start, it.end = it.start+d.split.body, it.end+d.split.body
	}
	return out
}

// blockAfter is the offset at which the first block behind n begins, or the end.
func blockAfter(n ast.Node, body []byte) int {
	for s := n.NextSibling(); s != nil; s = s.NextSibling() {
		if p := s.Pos(); p > n.Pos() {
			return lineStart(body, p)
		}
	}
	return len(body)
}

func lineStart(b []byte, at int) int {
	at = min(max(at, 0), len(b))
	return 1 + bytes.LastIndexByte(b[:at], '\n')
}

// entry reads an item.
func (d *Document) entry(it listItem) Entry {
	e := Entry{Start: it.start, End: it.end, Line: d.lineOf(it.start), list: it.list}
	e.Under = d.under(it.start)
	lines := strings.Split(strings.ReplaceAll(string(d.src[it.start:it.end]), "\r\n", "\n"), "\n")
	e.item = readItem(lines[0], it.columns)
	lines[0] = lines[0][len(e.prefix):]
	for i, l := range lines[1:] {
		lines[i+1] = stripColumns(l, 0, it.columns)
	}
	e.Text = cleanLines(lines)
	e.readHead()
	return e
}

// under lists the headings that hold the byte at `at`.
func (d *Document) under(at int) []string {
	var open []Heading
	for _, h := range d.outline().headings {
		if h.Start >= at {
			break
		}
		for len(open) > 0 && open[len(open)-1].Level >= h.Level {
			open = open[:len(open)-1]
		}
		open = append(open, h)
	}
	var out []string
	for _, h := range open {
		out = append(out, h.Text)
	}
	return out
}

// readItem takes a marker line apart. columns is where the item's text stands.
func readItem(line string, columns int) item {
	it := item{columns: columns}
	i := len(line) - len(strings.TrimLeft(line, " "))
	for ; i < len(line) && line[i] >= '0' && line[i] <= '9'; i++ {
		it.number = it.number*10 + int(line[i]-'0')
	}
	if i >= len(line) {
		it.prefix = line
		return it
	}
	it.marker = line[i]
	i++
	rest := stripColumns(line[i:], i, columns-i)
	if len(rest) > len(line)-i || !strings.HasSuffix(line, rest) {
		rest = strings.TrimLeft(line[i:], " \t") // a tab only a part of which is indent
	}
	it.prefix = line[:len(line)-len(rest)]
	return it
}

// stripColumns takes up to n columns of blanks from a line that starts in column
// at; of a tab that reaches further, blanks are left.
func stripColumns(line string, at, n int) string {
	end := at + n
	for i := range len(line) {
		if at >= end {
			return strings.Repeat(" ", at-end) + line[i:]
		}
		switch line[i] {
		case ' ':
			at++
		case '\t':
			at += tabWidth - at%tabWidth
		default:
			return line[i:]
		}
	}
	return ""
}

const tabWidth = 4

// readHead finds the task box and the kind at the start of the text.
func (e *Entry) readHead() {
	rest := e.Text
	if word, after, ok := bracketed(rest); ok && isBox(word) {
		e.Task, rest = true, after
	}
	if word, after, ok := bracketed(rest); ok && IsKind(word) && after != "" {
		e.Kind, rest = strings.ToLower(word), after
	}
	e.body = len(e.Text) - len(rest)
}

// bracketed cuts "[word] rest". A link or a footnote mark has no blank behind
// its bracket.
func bracketed(s string) (word, rest string, ok bool) {
	if !strings.HasPrefix(s, "[") {
		return "", s, false
	}
	word, rest, ok = strings.Cut(s[1:], "]")
	if !ok || rest != "" && !strings.HasPrefix(rest, " ") || strings.ContainsAny(word, "[\n") {
		return "", s, false
	}
	return word, strings.TrimLeft(rest, " "), true
}

func isBox(word string) bool {
	return len(word) == 1 && strings.Contains(" xX-/", word)
}

// IsKind reports whether word can be the kind of an entry: two or more letters.
func IsKind(word string) bool {
	letters := 0
	for _, r := range word {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) {
			return false
		}
		letters++
	}
	return letters > 1
}
