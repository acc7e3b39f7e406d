package markdown

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// A Heading is an ATX or underlined heading that stands in the document itself,
// not in a list or a quotation.
type Heading struct {
	Level      int    // 1 to 6
	Text       string // plain text, without markup and without a trailing {#id}
	Start, End int    // of its lines in the file, line ending and underline included
	Line       int    // from 1
}

// A Section is a heading and what follows up to the next heading of any level.
// What stands before the first heading is a section with the zero Heading.
type Section struct {
	Heading    Heading
	Start, End int // in the file
	Line       int // of Start, from 1
}

// outline is what one pass over the body found; offsets are in the file.
type outline struct {
	headings []Heading
	items    []listItem
	links    []Link
	tags     []span
	unread   unread
}

type span struct {
	text       string
	start, end int
}

// engine is the Markdown reader of this process. Building it costs as much as
// reading a page, so it is built once, and only when a body is first read.
type engine struct {
	parser parser.Parser
	found  parser.ContextKey // of *findings
}

// findings collects what the inline parsers saw, as offsets in the body.
type findings struct {
	links []Link
	tags  []span
	unread
	blocks, marks int   // steps that may still be made; see budget
	escaped       int   // bars in cells
	open          []int // where the brackets of this block opened that are not closed yet
	delims        int   // marks of emphasis of this block
	unclosed      []int // how many backticks begin code of this block that does not end
}

// unread is where the first Markdown stands that is read as text for what it
// would cost; why is empty when there is none.
type unread struct {
	at  int
	why string
}

func (u *unread) note(at int, why string) {
	if u.why == "" {
		u.at, u.why = at, why
	}
}

var markdownEngine = sync.OnceValue(func() *engine {
	e := &engine{found: parser.NewContextKey()}
	e.parser = parser.NewParser(
		parser.WithBlockParsers(blockParsers(e.found)...),
		parser.WithInlineParsers(
			e.inline(codeParser{parser.NewCodeSpanParser(), e.found}, 100),
			e.inline(wikiParser{e.found}, 150),
			e.inline(linkParser{parser.NewLinkParser(), e.found}, 200),
			e.inline(parser.NewAutoLinkParser(), 300),
			e.inline(parser.NewRawHTMLParser(), 400),
			e.inline(parser.NewEmphasisParser(), 500),
			e.inline(strikeParser{extension.NewStrikethroughParser()}, 500),
			e.inline(extension.NewTaskCheckBoxParser(), 0),
			e.inline(extension.NewLinkifyParser(), 999),
			e.inline(tagParser{e.found}, 1000),
		),
		parser.WithParagraphTransformers(
			append(paragraphTransformers(e.found),
				util.Prioritized(boundedTable{extension.NewTableParagraphTransformer(), e.found}, 200))...,
		),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
	return e
})

func (e *engine) inline(p parser.InlineParser, priority int) util.PrioritizedValue {
	return util.Prioritized(boundedInline{p, e.found}, priority)
}

func (e *engine) parse(body []byte) (ast.Node, *findings) { return e.within(budget(body), body) }

// within reads a body with a budget of so many steps.
func (e *engine) within(steps int, body []byte) (ast.Node, *findings) {
	pc, f := e.context(steps)
	return e.parser.Parse(text.NewReader(body), parser.WithContext(pc)), f
}

func (e *engine) context(steps int) (parser.Context, *findings) {
	pc, f := parser.NewContext(), &findings{blocks: steps, marks: steps}
	pc.Set(e.found, f)
	return pc, f
}

// outline reads the body once.
func (d *Document) outline() *outline {
	if d.body != nil {
		return d.body
	}
	body, base := d.Body(), d.split.body
	root, found := markdownEngine().parse(body)
	o := &outline{unread: unread{found.at + base, found.why}}
	lists := 0
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			o.headings = append(o.headings, d.heading(n, body))
		case *ast.List:
			lists++
			o.items = append(o.items, d.listItems(n, lists, blockAfter(n, body), body)...)
		}
	}
	o.links = append(found.links, definitions(root, body)...)
	slices.SortStableFunc(o.links, func(a, b Link) int { return cmp.Compare(a.Start, b.Start) })
	for i := range o.links {
		l := &o.links[i]
		l.Start, l.End = l.Start+base, l.End+base
		l.TargetStart, l.TargetEnd = l.TargetStart+base, l.TargetEnd+base
		l.Line = d.lineOf(l.Start)
	}
	for _, t := range found.tags {
		t.start, t.end = t.start+base, t.end+base
		o.tags = append(o.tags, t)
	}
	slices.SortFunc(o.tags, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	d.body = o
	return o
}

// heading places a heading node: its segment starts behind the hashes, and that
// of an underlined one ends before the underline.
func (d *Document) heading(h *ast.Heading, body []byte) Heading {
	at := min(max(h.Pos(), 0), len(body))
	start := 1 + bytes.LastIndexByte(body[:at], '\n')
	end := at
	lines := h.Lines()
	for i := range lines.Len() {
		end = max(end, lines.At(i).Stop-1)
	}
	end = lineEnd(body, end)
	if isUnderlined(h, body, start) {
		end = lineEnd(body, end)
	}
	base := d.split.body
	return Heading{
		Level: h.Level, Text: trimHeadingID(plainText(h, body)),
		Start: start + base, End: end + base, Line: d.lineOf(start + base),
	}
}

// isUnderlined tells the two kinds apart: only an ATX heading begins with as
// many hashes as its level, and text that begins so is never underlined text.
func isUnderlined(h *ast.Heading, body []byte, start int) bool {
	if h.Lines().Len() == 0 {
		return false
	}
	line, _ := cutLine(body[start:])
	line = bytes.TrimLeft(line, " ")
	hashes := len(line) - len(bytes.TrimLeft(line, "#"))
	if hashes != h.Level {
		return true
	}
	return hashes < len(line) && !bytes.ContainsRune([]byte(" \t\r\n"), rune(line[hashes]))
}

// lineEnd returns the offset behind the line that holds the byte at `at`.
func lineEnd(b []byte, at int) int {
	if at >= len(b) {
		return len(b)
	}
	if i := bytes.IndexByte(b[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(b)
}

// trimHeadingID removes the {#id} that some writers put behind a heading.
func trimHeadingID(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.LastIndex(s, "{#"); i > 0 && strings.HasSuffix(s, "}") && !strings.ContainsAny(s[i+2:len(s)-1], " {}") {
		return strings.TrimSpace(s[:i])
	}
	return s
}

// Code is the code of the body of a file, wherever it stands: blocks, without the marks of the quotations and lists
// that hold them, and what stands between backticks.
func Code(data []byte) (blocks, spans []string) {
	body := Parse(data).Body()
	root, _ := markdownEngine().parse(body)
	_ = ast.Walk(root, func(n ast.Node, enters bool) (ast.WalkStatus, error) { // it fails for nothing
		switch n.Kind() {
		case ast.KindFencedCodeBlock, ast.KindCodeBlock:
			if enters {
				blocks = append(blocks, string(n.Lines().Value(body)))
			}
		case ast.KindCodeSpan:
			if enters {
				spans = append(spans, plainText(n, body))
			}
		}
		return ast.WalkContinue, nil
	})
	return blocks, spans
}

// plainText is the text of a node as a reader sees it.
func plainText(n ast.Node, body []byte) string {
	var b strings.Builder
	writePlain(&b, n, body)
	return strings.Join(strings.Fields(b.String()), " ")
}

func writePlain(b *strings.Builder, n ast.Node, body []byte) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			value := c.Segment.Value(body)
			if !c.IsRaw() {
				value = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(value)))
			}
			b.Write(value)
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(c.Value)
		case *ast.AutoLink:
			b.Write(c.Label(body))
		case *ast.RawHTML, *extast.TaskCheckBox:
		case *extast.TableCell:
			writePlain(b, c, body)
			b.WriteByte(' ')
		default:
			writePlain(b, c, body)
		}
	}
}

// Sections tiles the body: they follow each other without a gap, from the first
// byte of the body to the last. An empty body has none.
func (d *Document) Sections() []Section {
	var out []Section
	at := d.split.body
	add := func(h Heading, end int) {
		if end > at {
			out = append(out, Section{Heading: h, Start: at, End: end, Line: d.lineOf(at)})
		}
		at = end
	}
	var current Heading
	for _, h := range d.outline().headings {
		add(current, h.Start)
		current = h
	}
	add(current, len(d.src))
	return out
}

// Title is the title of the front matter, else the first level-one heading, else
// "".
func (d *Document) Title() string {
	if v, ok := d.Meta("title"); ok && !v.isNull() {
		if t := strings.TrimSpace(v.Text()); t != "" {
			return t
		}
	}
	body := d.Body()
	end := firstTitle(body)
	if d.body == nil && end < len(body) {
		part := &Document{src: body[:end]}
		if t := part.topHeading(); t != "" && part.body.unread.why == "" {
			return t
		}
	}
	if end == 0 {
		return ""
	}
	return d.topHeading()
}

// firstTitle returns how far a body has to be read for its first level-one heading: behind the
// first line that can be one or underline one; 0 when there is none. What follows can change only
// what brackets mean, so with one of them it is the whole body.
func firstTitle(body []byte) int {
	brackets := false
	for rest := body; len(rest) > 0; {
		line, after := cutLine(rest)
		rest = after
		brackets = brackets || bytes.IndexByte(line, '[') >= 0
		line = bytes.TrimLeft(line, " \t\r\v\f")
		if bytes.HasPrefix(line, []byte("=")) || bytes.HasPrefix(line, []byte("#")) && !bytes.HasPrefix(line, []byte("##")) {
			if brackets {
				return len(body)
			}
			return len(body) - len(rest)
		}
	}
	return 0
}

func (d *Document) topHeading() string {
	for _, h := range d.outline().headings {
		if h.Level == 1 && h.Text != "" {
			return h.Text
		}
	}
	return ""
}
