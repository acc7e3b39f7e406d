// Package markdown turns bytes into documents and documents into bytes, and
// promises that what it was not asked to change stays as it was, byte for byte:
// Parse(b).Bytes() equals b, and an edit splices only the bytes it is about.
// Unknown keys, comments, order, quoting, line endings, a byte order mark and a
// missing final newline survive.
//
// Parse never fails. Front matter that cannot be read leaves a Document whose
// FrontMatterError names the line, whose body is right and can be searched, and
// which refuses edits of its front matter. The package does no I/O, keeps no
// state between calls and panics on no input.
//
// One part is here for speed alone:
//
//   - plainfront.go: the YAML reader takes 1.9 s for the front matter of 100,000 memories, this
//     .6 s. A first search then takes 14.5 s of processor time in place of 16.1, and moving
//     2,000 of them 5.9 s in place of 7.9.
//
//     d := markdown.Parse(src)
//     if err := d.SetMeta("pinned", markdown.Bool(true)); err != nil { … }
//     for _, l := range d.Links() { … l.Target … }
//     write(d.Bytes())
package markdown

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"unicode/utf8"
)

// byteOrderMark is U+FEFF in UTF-8. Editors on Windows write it; it would hide
// the opening fence from a reader that looks at the first bytes.
const byteOrderMark = "\xEF\xBB\xBF"

// A Document is one Markdown file in memory. Front matter and Markdown are each
// read when first asked for, so a listing that needs only keys never pays for
// the body. A Document is not safe for concurrent use.
type Document struct {
	src   []byte
	split split

	front *frontMatter // nil until first needed
	body  *outline     // nil until first needed
	lines []int        // offsets of line starts, nil until first needed
}

// split says where the parts of a file begin. Without front matter yamlStart,
// yamlEnd and body are all the offset behind the byte order mark.
type split struct {
	has       bool
	start     int // behind the byte order mark
	yamlStart int // first byte behind the opening line
	yamlEnd   int // first byte of the closing line
	body      int // first byte behind the closing line
	warning   string
}

// Parse reads src, which it keeps and which must not be changed afterwards.
func Parse(src []byte) *Document {
	src = slices.Clip(src) // goldmark appends to code that no line end closes, where there is room
	return &Document{src: src, split: splitFrontMatter(src)}
}

// splitFrontMatter finds the two fences. The first line must be exactly three
// hyphens; the closing line is three hyphens or three dots at the start of a
// line, and blanks behind it are tolerated, because an invisible blank must not
// turn a whole file into front matter. What is opened and never closed is body.
func splitFrontMatter(src []byte) split {
	var s split
	if bytes.HasPrefix(src, []byte(byteOrderMark)) {
		s.start = len(byteOrderMark)
	}
	s.yamlStart, s.yamlEnd, s.body = s.start, s.start, s.start
	first, rest := cutLine(src[s.start:])
	switch string(trimEOL(first)) {
	case "---":
	default:
		if string(bytes.TrimRight(first, " \t\r\n")) == "---" {
			s.warning = "the opening line of the front matter has blanks behind the hyphens: it is read as text"
		}
		return s
	}
	at := len(src) - len(rest)
	begin := at
	for len(rest) > 0 {
		var line []byte
		line, rest = cutLine(rest)
		if isClosingFence(line) {
			s.has, s.yamlStart, s.yamlEnd, s.body = true, begin, at, at+len(line)
			return s
		}
		at += len(line)
	}
	s.warning = "the front matter opened here is never closed: it is read as text"
	return s
}

func isClosingFence(line []byte) bool {
	if len(line) < 3 || line[0] != '-' && line[0] != '.' {
		return false
	}
	text := string(bytes.TrimRight(line, " \t\r\n"))
	return text == "---" || text == "..."
}

// cutLine returns the first line of b with its line ending, and what follows.
func cutLine(b []byte) (line, rest []byte) {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return b[:i+1], b[i+1:]
	}
	return b, nil
}

func trimEOL(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r"))
}

// Bytes returns the file: what was given to Parse, with the edits made since.
// The caller must not change it.
func (d *Document) Bytes() []byte { return d.src }

// HasFrontMatter reports whether the file begins with a closed front matter
// block, readable or not, empty or not.
func (d *Document) HasFrontMatter() bool { return d.split.has }

// Body returns what stands behind the front matter, without a byte order mark.
// The caller must not change it.
func (d *Document) Body() []byte { return slices.Clip(d.src[d.split.body:]) }

// BodyLine returns the line of the file in which the body starts, from 1.
func (d *Document) BodyLine() int {
	return 1 + bytes.Count(d.src[:d.split.body], []byte("\n"))
}

// SetBody replaces everything behind the front matter. A body that would itself
// be taken for front matter gets an empty front matter block before it, so that
// Body always returns what was set.
func (d *Document) SetBody(body []byte) {
	head := d.src[:d.split.body]
	next := concat(head, body)
	if !d.split.has && splitFrontMatter(next).has {
		eol := d.eol()
		next = concat(head, []byte("---"+eol+"---"+eol), body)
	}
	if s := splitFrontMatter(next); !bytes.Equal(next[s.body:], body) {
		// The closing line had no line ending of its own; the body needs one.
		next = concat(head, []byte(d.eol()), body)
	}
	d.replace(next)
}

func (d *Document) replace(src []byte) { *d = *Parse(src) }

// eol is the line ending of the file: that of its first line, "\n" without one.
func (d *Document) eol() string {
	line, _ := cutLine(d.src)
	if bytes.HasSuffix(line, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// A Warning is something a person may want to mend; the file is usable as it is.
type Warning struct {
	Line int // from 1
	Text string
}

// Warnings lists what looks unintended: an opening fence that is never closed or
// has blanks behind it, bytes that are not UTF-8, NUL bytes, lists that are nested
// so deeply that they are read as text.
func (d *Document) Warnings() []Warning {
	var out []Warning
	if d.split.warning != "" {
		out = append(out, Warning{1, d.split.warning})
	}
	if i := invalidUTF8(d.src); i >= 0 {
		out = append(out, Warning{d.lineOf(i), "not UTF-8 from here"})
	}
	if i := bytes.IndexByte(d.src, 0); i >= 0 {
		out = append(out, Warning{d.lineOf(i), "NUL byte"})
	}
	if line, what := d.Unread(); line > 0 {
		out = append(out, Warning{line, what + " are read as text from here"})
	}
	return out
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	panic(fmt.Sprintf("markdown: these are neither valid nor invalid: %q", b))
}

// lineOf returns the line, from 1, of the byte at offset.
func (d *Document) lineOf(offset int) int {
	if d.lines == nil {
		d.lines = lineStarts(d.src)
	}
	return sort.Search(len(d.lines), func(i int) bool { return d.lines[i] > offset })
}

// lineStarts returns the offset of each line; lines end in "\n".
func lineStarts(b []byte) []int {
	starts := make([]int, 1, 1+bytes.Count(b, []byte("\n")))
	for i := 0; ; {
		n := bytes.IndexByte(b[i:], '\n')
		if n < 0 {
			return starts
		}
		i += n + 1
		starts = append(starts, i)
	}
}

func concat(parts ...[]byte) []byte { return slices.Concat(parts...) }
