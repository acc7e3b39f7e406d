package markdown

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// An entry is one top-level key with its value, as bytes of the front matter.
//
//	# about b            lead: blank lines and comments before the key
//	b: [x, "y"]  # why   start … end, line ending included
//
// The YAML reader tells where keys and values start, never where they end; ends
// are found by the scanners below, and every edit is checked by reading again.
type entry struct {
	lead, start, end int // offsets in frontMatter.text
}

// tailOf is where the blank lines and comments behind the last entry begin.
func (f *frontMatter) tailOf() int {
	if n := len(f.layout()); n > 0 {
		return f.entries[n-1].end
	}
	return 0
}

// layout finds the entries. It is empty for front matter in flow form.
func (f *frontMatter) layout() []entry {
	if f.entries != nil || len(f.keys) == 0 || f.flow {
		return f.entries
	}
	f.starts = yamlLineStarts(f.text)
	f.entries = make([]entry, len(f.keys))
	for i, k := range f.keys {
		f.entries[i].start = f.lineStart(k.Line)
	}
	lead := 0
	for i := range f.entries {
		e := &f.entries[i]
		e.lead = lead
		next := len(f.text)
		if i+1 < len(f.entries) {
			next = f.entries[i+1].start
		}
		if next < e.start {
			next = e.start
		}
		e.end = f.trimTrivia(e.start, next, f.keys[i].Column-1, f.values[i])
		lead = e.end
	}
	return f.entries
}

// trimTrivia moves end back over blank lines, and over comments that are not
// indented deeper than the key. Blank lines that a block scalar keeps ("|+")
// are part of its value.
func (f *frontMatter) trimTrivia(start, end, indent int, v *yaml.Node) int {
	if v.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 && strings.HasSuffix(v.Value, "\n\n") {
		return end
	}
	for end > start {
		at := start + 1 + bytes.LastIndexByte(f.text[start:end-1], '\n')
		line := f.text[at:end]
		text := bytes.TrimLeft(line, " \t\r\n")
		blank := len(text) == 0
		comment := !blank && text[0] == '#' && len(line)-len(text) <= indent
		if at == start || !blank && !comment {
			return end
		}
		end = at
	}
	return end
}

// yamlLineStarts counts lines as the YAML reader does, to which a lone carriage
// return, NEL and the Unicode separators end a line too.
func yamlLineStarts(b []byte) []int {
	starts := []int{0}
	for i := 0; i < len(b); {
		n := lineBreak(b[i:])
		if n == 0 {
			i++
			continue
		}
		i += n
		starts = append(starts, i)
	}
	return starts
}

// lineBreak returns the length of the YAML line break at the start of b, or 0.
func lineBreak(b []byte) int {
	switch {
	case b[0] == '\n':
		return 1
	case b[0] == '\r':
		if len(b) > 1 && b[1] == '\n' {
			return 2
		}
		return 1
	case b[0] == 0xC2 && len(b) > 1 && b[1] == 0x85:
		return 2
	case b[0] == 0xE2 && len(b) > 2 && b[1] == 0x80 && (b[2] == 0xA8 || b[2] == 0xA9):
		return 3
	}
	return 0
}

// lineStart returns the offset of a line counted from 1.
func (f *frontMatter) lineStart(line int) int {
	if line < 1 || line > len(f.starts) {
		return len(f.text)
	}
	return f.starts[line-1]
}

// position returns the offset of a line and a column in code points, both from 1.
func (f *frontMatter) position(line, column int) int {
	at := f.lineStart(line)
	for ; column > 1 && at < len(f.text); column-- {
		_, n := utf8.DecodeRune(f.text[at:])
		at += n
	}
	return at
}

// A slot is where the value of an entry stands.
type slot struct {
	colon      int // offset behind the colon
	start, end int // of the value's own text; equal if there is none on the key's line
	below      int // offset where lines that belong only to the value begin, or end of entry
}

// slotOf finds the value of entry i.
func (f *frontMatter) slotOf(i int) (slot, error) {
	e := f.layout()[i]
	after, err := f.afterColon(i)
	if err != nil {
		return slot{}, err
	}
	s := slot{colon: after, start: after, end: after, below: e.end}
	lineEnd := after
	for lineEnd < e.end && lineBreak(f.text[lineEnd:]) == 0 {
		lineEnd++
	}
	at := skipBlanks(f.text, after, lineEnd)
	if at == lineEnd || f.text[at] == '#' {
		// Nothing beside the key: the value is empty or stands below.
		if lineEnd < e.end {
			s.below = lineEnd + lineBreak(f.text[lineEnd:])
		}
		return s, nil
	}
	s.start = at
	s.end = f.valueEnd(at, lineEnd, e.end)
	return s, nil
}

// afterColon returns the offset behind the colon of entry i.
func (f *frontMatter) afterColon(i int) (int, error) {
	key, e := f.keys[i], f.layout()[i]
	at := f.position(key.Line, key.Column)
	switch {
	case strings.Trim(string(f.text[e.start:at]), " ") != "":
		return 0, fmt.Errorf("key %q: %w", key.Value, ErrUnsupported)
	case key.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		at = quotedEnd(f.text, at, e.end)
	case bytes.HasPrefix(f.text[at:e.end], []byte(key.Value)):
		at += len(key.Value)
	}
	at = skipBlanks(f.text, at, e.end)
	if at >= e.end || f.text[at] != ':' {
		return 0, fmt.Errorf("key %q: %w", key.Value, ErrUnsupported)
	}
	return at + 1, nil
}

// valueEnd returns the end of a value that starts at `at` on the key's line.
func (f *frontMatter) valueEnd(at, lineEnd, end int) int {
	for at < lineEnd && (f.text[at] == '&' || f.text[at] == '!') {
		for at < lineEnd && f.text[at] != ' ' && f.text[at] != '\t' {
			at++
		}
		at = skipBlanks(f.text, at, lineEnd)
	}
	whole := end - len(f.text[:end]) + len(bytes.TrimRight(f.text[:end], " \t\r\n"))
	if at >= lineEnd {
		return max(whole, at)
	}
	switch f.text[at] {
	case '"', '\'':
		return quotedEnd(f.text, at, end)
	case '[', '{':
		return flowEnd(f.text, at, end)
	case '|', '>', '#':
		return max(whole, at)
	}
	stop := lineEnd
	for i := at; i < lineEnd; i++ {
		if f.text[i] == '#' && i > at && (f.text[i-1] == ' ' || f.text[i-1] == '\t') {
			stop = i
			break
		}
	}
	if stop == lineEnd && hasContent(f.text[lineEnd:end]) {
		return max(whole, at) // a plain value that goes on below
	}
	return len(bytes.TrimRight(f.text[:stop], " \t"))
}

// hasContent reports whether any line is neither blank nor a comment.
func hasContent(b []byte) bool {
	for len(b) > 0 {
		var line []byte
		line, b = cutLine(b)
		if t := bytes.TrimLeft(line, " \t\r\n"); len(t) > 0 && t[0] != '#' {
			return true
		}
	}
	return false
}

func skipBlanks(b []byte, at, end int) int {
	for at < end && (b[at] == ' ' || b[at] == '\t') {
		at++
	}
	return at
}

// quotedEnd returns the offset behind the quoted scalar that starts at `at`.
func quotedEnd(b []byte, at, end int) int {
	if at >= end {
		return end
	}
	quote := b[at]
	for i := at + 1; i < end; i++ {
		switch {
		case b[i] == '\\' && quote == '"':
			i++
		case b[i] == quote && quote == '\'' && i+1 < end && b[i+1] == '\'':
			i++
		case b[i] == quote:
			return i + 1
		}
	}
	return end
}

// flowEnd returns the offset behind the [list] or {mapping} that starts at `at`.
func flowEnd(b []byte, at, end int) int {
	depth, fresh := 0, true // fresh: a quote here opens a quoted scalar
	for i := at; i < end; i++ {
		switch c := b[i]; c {
		case '[', '{':
			depth++
			fresh = true
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
			fresh = false
		case ',', ':':
			fresh = true
		case '"', '\'':
			if fresh {
				i = quotedEnd(b, i, end) - 1
				fresh = false
			}
		case '#':
			if i > at && (b[i-1] == ' ' || b[i-1] == '\t' || b[i-1] == '\n') {
				for i+1 < end && b[i+1] != '\n' {
					i++
				}
			}
		case ' ', '\t', '\r', '\n':
		default:
			fresh = false
		}
	}
	return end
}
