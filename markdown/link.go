package markdown

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// LinkKind says how a link is written.
type LinkKind string

const (
	WikiLink       LinkKind = "wiki"       // [[Note]], [[Note|shown]], [[Note#Heading]]
	WikiEmbed      LinkKind = "embed"      // ![[Note]]
	RelativeLink   LinkKind = "link"       // [shown](note.md)
	RelativeImage  LinkKind = "image"      // ![shown](image.png)
	LinkDefinition LinkKind = "definition" // [label]: note.md
)

// A Link points from this file to another one, or with an empty Target to a
// place in this file. Links with a scheme or a host are none.
type Link struct {
	Kind     LinkKind
	Target   string // decoded: what names the file, without fragment
	Fragment string // decoded, behind "#"; for Obsidian blocks it begins with "^"
	Text     string // shown text as written; empty if the link has none of its own

	Start, End             int // of the whole link in the file
	TargetStart, TargetEnd int // of the target in the file, without brackets
	Line                   int // from 1

	quote byte // of the value in the front matter that the link is, 0 in the body
}

// Links lists the links of the front matter, where a quoted value is a wiki link as in "[[Note]]", and of the body, in
// order of their start. Nothing inside code spans, fences, HTML comments and URLs is a link.
func (d *Document) Links() []Link {
	properties := d.propertyLinks()
	if d.body == nil && !mayLink(d.Body()) {
		return properties
	}
	return slices.Concat(properties, d.outline().links)
}

// mayLink is false where nothing can be a link: most texts have none of what every link has, and looking for it takes
// a hundredth of the time of reading them.
func mayLink(body []byte) bool {
	for rest := body; ; {
		i := bytes.IndexAny(rest, "[]")
		if i < 0 || i+1 == len(rest) {
			return false
		}
		if next := rest[i+1]; rest[i] == '[' && next == '[' || rest[i] == ']' && (next == '(' || next == ':') {
			return true
		}
		rest = rest[i+1:]
	}
}

// maxWikiLink bounds the inside of a wiki link in bytes. File names end at 255
// bytes; without a bound, a line of a million unclosed brackets would be read
// from each of them to its end.
const maxWikiLink = 2000

// wikiParser reads [[…]] and ![[…]].
type wikiParser struct{ found parser.ContextKey }

func (wikiParser) Trigger() []byte { return []byte{'[', '!'} }

func (p wikiParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	open := 0
	if line[0] == '!' {
		open = 1
	}
	if segment.Padding > 0 || !bytes.HasPrefix(line[open:], []byte("[[")) {
		return nil
	}
	inner := open + 2
	n := wikiLength(line[inner:])
	if n <= 0 {
		return nil
	}
	end := inner + n + 2
	if end < len(line) && line[end] == '(' && open == 0 {
		return nil // [[1]](url) is a link whose text has brackets
	}
	l := Link{Kind: WikiLink, Start: segment.Start, End: segment.Start + end}
	if open == 1 {
		l.Kind = WikiEmbed
	}
	shown := l.setWiki(line[inner:inner+n], segment.Start+inner)
	if f, ok := pc.Get(p.found).(*findings); ok && f.spend(&f.marks, linkSteps, l.Start) {
		f.links = append(f.links, l)
	}
	block.Advance(end)
	return ast.NewTextSegment(shown)
}

// wikiLength returns how far the inside of a wiki link reaches, or -1. The
// closing brackets must stand on the same line and not in a code span or comment.
func wikiLength(line []byte) int {
	line = line[:min(len(line), maxWikiLink)]
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\n', '\r':
			return -1
		case '[':
			if i+1 < len(line) && line[i+1] == '[' {
				return -1
			}
		case ']':
			if i+1 < len(line) && line[i+1] == ']' {
				if len(bytes.TrimSpace(line[:i])) == 0 {
					return -1
				}
				return i
			}
		case '<':
			if bytes.HasPrefix(line[i:], []byte("<!--")) {
				return -1
			}
		case '`':
			run := len(line[i:]) - len(bytes.TrimLeft(line[i:], "`"))
			end := codeSpanEnd(line[i+run:], run)
			if end < 0 {
				return -1
			}
			i += run + end - 1
		}
	}
	return -1
}

// codeSpanEnd returns the offset behind the closing run of exactly n backticks.
func codeSpanEnd(line []byte, n int) int {
	for i := 0; i < len(line); {
		if line[i] != '`' {
			i++
			continue
		}
		run := len(line[i:]) - len(bytes.TrimLeft(line[i:], "`"))
		i += run
		if run == n {
			return i
		}
	}
	return -1
}

// setWiki fills the parts from inside the brackets, which start at offset, and
// returns the segment that a reader sees. In a table the bar is written "\|".
func (l *Link) setWiki(inside []byte, offset int) text.Segment {
	target := inside
	shown := text.NewSegment(offset, offset+len(inside))
	if bar := bytes.IndexByte(inside, '|'); bar >= 0 {
		l.Text = string(bytes.TrimSpace(inside[bar+1:]))
		shown = text.NewSegment(offset+bar+1, offset+len(inside))
		target = bytes.TrimSuffix(inside[:bar], []byte(`\`))
	}
	if hash := bytes.IndexByte(target, '#'); hash >= 0 {
		l.Fragment = string(bytes.TrimSpace(target[hash+1:]))
		target = target[:hash]
	}
	blanks := len(target) - len(bytes.TrimLeft(target, " \t"))
	target = bytes.TrimSpace(target)
	l.Target = string(target)
	l.TargetStart = offset + blanks
	if l.Target == "" {
		l.TargetStart = offset
	}
	l.TargetEnd = l.TargetStart + len(target)
	return shown
}

// linkParser wraps the reader of Markdown links to learn where they stand.
type linkParser struct {
	parser.InlineParser
	found parser.ContextKey
}

// CloseBlock implements parser.CloseBlocker, which wrapping would hide.
func (p linkParser) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if c, ok := p.InlineParser.(parser.CloseBlocker); ok {
		c.CloseBlock(parent, block, pc)
	}
}

func (p linkParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	_, before := block.Position()
	if f, ok := pc.Get(p.found).(*findings); ok && !f.bracket(parent, block) {
		return nil
	}
	n := p.InlineParser.Parse(parent, block, pc)
	switch n := n.(type) {
	case *ast.Link:
		if n.Reference == nil {
			p.note(RelativeLink, n, n.Destination, before.Start, block, pc)
		}
	case *ast.Image:
		if n.Reference == nil {
			p.note(RelativeImage, n, n.Destination, before.Start, block, pc)
		}
	}
	return n
}

// note records an inline link whose text ends at closing.
func (p linkParser) note(kind LinkKind, n ast.Node, dest []byte, closing int, block text.Reader, pc parser.Context) {
	f, ok := pc.Get(p.found).(*findings)
	if !ok {
		return
	}
	src := block.Source()
	_, after := block.Position()
	end := after.Start
	if end <= closing || end > len(src) { // the link ended its block
		end = closing + 1 + lastParen(src[closing+1:])
	}
	l := Link{Kind: kind, Start: n.Pos(), End: end, Text: plainText(n, src)}
	if l.setDestination(src, dest, closing+2, end) && f.spend(&f.marks, linkSteps, l.Start) {
		f.links = append(f.links, l)
	}
}

// lastParen returns the offset behind the last ")" of the current line.
func lastParen(b []byte) int {
	line, _ := cutLine(b)
	return bytes.LastIndexByte(line, ')') + 1
}

// setDestination fills the parts from dest, which stands in src between from and
// to. It is false for a destination that is no path.
func (l *Link) setDestination(src, dest []byte, from, to int) bool {
	at := locate(src, dest, from, to)
	if at < 0 || hasScheme(dest) || bytes.HasPrefix(dest, []byte("//")) || bytes.HasPrefix(dest, []byte(`\\`)) {
		return false
	}
	path := dest
	if i := bytes.IndexByte(dest, '#'); i >= 0 {
		path = dest[:i]
		l.Fragment = decodeDestination(dest[i+1:])
	}
	if i := bytes.IndexByte(path, '?'); i >= 0 {
		path = path[:i]
	}
	if len(dest) == 0 {
		return false
	}
	l.Target = decodeDestination(path)
	l.TargetStart, l.TargetEnd = at, at+len(path)
	return true
}

// locate returns where dest stands in src. The reader hands out parts of src
// itself, so the capacity tells the offset; the search covers copies.
func locate(src, dest []byte, from, to int) int {
	if at := cap(src) - cap(dest); at >= from && at+len(dest) <= to && bytes.Equal(src[at:at+len(dest)], dest) {
		return at
	}
	if from > to || from < 0 || to > len(src) {
		return -1
	}
	if i := bytes.Index(src[from:to], dest); i >= 0 {
		return from + i
	}
	return -1
}

// hasScheme reports whether dest begins like "https:" or "mailto:".
func hasScheme(dest []byte) bool {
	for i, c := range dest {
		switch {
		case c == ':':
			return i > 0
		case 'a' <= c|0x20 && c|0x20 <= 'z':
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '.' || c == '-'):
		default:
			return false
		}
	}
	return false
}

// decodeDestination undoes backslashes, entities and percent-encoding.
func decodeDestination(b []byte) string {
	b = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(b)))
	if s, err := url.PathUnescape(string(b)); err == nil {
		return s
	}
	return string(b)
}

// definitions finds [label]: target lines anywhere below n.
func definitions(n ast.Node, body []byte) []Link {
	var out []Link
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.Type() != ast.TypeBlock {
			continue
		}
		def, ok := c.(*ast.LinkReferenceDefinition)
		if !ok {
			out = append(out, definitions(c, body)...)
			continue
		}
		lines := def.Lines()
		if lines.Len() == 0 {
			continue
		}
		start, end := lines.At(0).Start, lines.At(lines.Len()-1).Stop
		start += len(body[start:end]) - len(bytes.TrimLeft(body[start:end], " \t"))
		label := bytes.Index(body[start:end], []byte("]:"))
		if label < 0 || bytes.HasPrefix(def.Label, []byte(footnoteMark)) {
			continue
		}
		l := Link{Kind: LinkDefinition, Start: start, End: end, Text: strings.TrimSpace(string(def.Label))}
		if l.setDestination(body, def.Destination, start+label+2, end) {
			out = append(out, l)
		}
	}
	return out
}
