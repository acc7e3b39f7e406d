package markdown

import (
	"bytes"
	"slices"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// The Markdown reader takes time that grows with the square of a block for links
// that are not closed, marks of emphasis without a partner, lists of definitions
// and wide tables (100 KB of "![a](" took four seconds), and up to 500 bytes of
// memory for one of text. So what it reads is charged with about the bytes and
// nanoseconds that it takes. Blocks have one budget, what stands in them another.
// What follows the place where one is used up is not read as Markdown.
func budget(body []byte) int { return 1<<24 + 64*len(body) }

const (
	blockSteps = 640 // of a paragraph, a heading, an item
	lineSteps  = 256 // of a line of a paragraph
	markSteps  = 320 // of a mark of emphasis, a piece of code, a cell
	linkSteps  = 512 // of a link, besides
)

// spend takes steps from one of the budgets, and is false when it is used up.
func (f *findings) spend(left *int, steps, at int) bool {
	if *left < steps {
		f.note(at, "more marks than can be read")
		steps = *left
	}
	*left -= steps
	return *left > 0
}

// boundedBlock charges what a reader of blocks opens; lists and quotations open
// up to [maxDepth].
type boundedBlock struct {
	parser.BlockParser
	found parser.ContextKey
	nests bool
}

func (p boundedBlock) Open(parent ast.Node, block text.Reader, pc parser.Context) (ast.Node, parser.State) {
	_, at := block.Position()
	f, ok := pc.Get(p.found).(*findings)
	list, item := parent.(*ast.List)
	item = item && !list.HasChildren() // goldmark fails on a list without any
	if !ok || !item && !f.spend(&f.blocks, 0, at.Start) || p.nests && f.tooDeep(parent, at.Start) {
		return nil, parser.NoChildren
	}
	n, state := p.BlockParser.Open(parent, block, pc)
	if n != nil {
		f.spend(&f.blocks, blockSteps, at.Start)
	}
	return n, state
}

func (p boundedBlock) Continue(n ast.Node, block text.Reader, pc parser.Context) parser.State {
	if f, ok := pc.Get(p.found).(*findings); ok && n.Kind() == ast.KindParagraph {
		if _, at := block.Position(); !f.spend(&f.blocks, lineSteps, at.Start) {
			return parser.Close
		}
	}
	return p.BlockParser.Continue(n, block, pc)
}

// blockParsers are goldmark's, bounded.
func blockParsers(found parser.ContextKey) []util.PrioritizedValue {
	all := parser.DefaultBlockParsers()
	list, quote := parser.NewListParser(), parser.NewBlockquoteParser()
	for i, p := range all {
		if b, ok := p.Value.(parser.BlockParser); ok {
			all[i].Value = boundedBlock{b, found, b == list || b == quote}
		}
	}
	return all
}

// boundedTable charges a table, whose rows are all as wide as its head.
type boundedTable struct {
	parser.ParagraphTransformer
	found parser.ContextKey
}

func (p boundedTable) Transform(n *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines, wide, escaped := n.Lines(), 0, 0
	for i := range lines.Len() {
		at := lines.At(i)
		line := bytes.TrimSpace(at.Value(reader.Source()))
		if len(bytes.Trim(line, "|:- \t")) == 0 {
			wide = max(wide, bytes.Count(line, []byte("|"))+1)
		}
		escaped += bytes.Count(line, []byte(`\|`))
	}
	if f, ok := pc.Get(p.found).(*findings); ok && wide > 0 {
		f.escaped += escaped
		if f.spend(&f.blocks, wide*markSteps*lines.Len()+escaped*f.escaped, lines.At(0).Start) {
			p.ParagraphTransformer.Transform(n, reader, pc)
		}
	}
}

// boundedInline charges what a reader of marks makes; a mark of emphasis is
// compared with all that are open before it.
type boundedInline struct {
	parser.InlineParser
	found parser.ContextKey
}

func (p boundedInline) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	_, at := block.Position()
	f, ok := pc.Get(p.found).(*findings)
	if !ok || !f.spend(&f.marks, 0, at.Start) {
		return nil
	}
	n := p.InlineParser.Parse(parent, block, pc)
	if _, mark := n.(*parser.Delimiter); mark {
		f.delims++
		f.spend(&f.marks, markSteps+8*f.delims, at.Start)
	} else if n != nil {
		f.spend(&f.marks, markSteps, at.Start)
	}
	return n
}

// CloseBlock implements parser.CloseBlocker, which wrapping would hide.
func (p boundedInline) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if c, ok := p.InlineParser.(parser.CloseBlocker); ok {
		c.CloseBlock(parent, block, pc)
	}
	if f, ok := pc.Get(p.found).(*findings); ok {
		f.open, f.delims, f.unclosed = f.open[:0], 0, nil
	}
}

// codeParser wraps the reader of code in backticks, which looks for the end of
// each to the end of its block: it looks once for each length.
type codeParser struct {
	parser.InlineParser
	found parser.ContextKey
}

func (p codeParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	run := len(line) - len(bytes.TrimLeft(line, "`"))
	f, ok := pc.Get(p.found).(*findings)
	if !ok || slices.Contains(f.unclosed, run) {
		block.Advance(run)
		return ast.NewTextSegment(segment.WithStop(segment.Start + run))
	}
	n := p.InlineParser.Parse(parent, block, pc)
	if n.Kind() == ast.KindText {
		f.unclosed = append(f.unclosed, run)
		lines := parent.Lines()
		f.spend(&f.marks, lines.At(lines.Len()-1).Stop-segment.Start+lines.Len()*markSteps, segment.Start)
	}
	return n
}

// strikeParser wraps the reader of "~~", which counts a run of them from each.
type strikeParser struct{ parser.InlineParser }

func (p strikeParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if block.PrecendingCharacter() == '~' {
		return nil
	}
	return p.InlineParser.Parse(parent, block, pc)
}

// bracket charges a closing bracket with the text between it and its partner, the
// lines that follow and, where a destination begins, all that may belong to it.
func (f *findings) bracket(parent ast.Node, block text.Reader) bool {
	line, segment := block.PeekLine()
	if line[0] != ']' {
		if line[0] == '[' || len(line) > 1 && line[1] == '[' {
			f.open = append(f.open, segment.Start)
		}
		return f.spend(&f.marks, len(f.open)/16, segment.Start)
	}
	if len(f.open) == 0 {
		return true
	}
	last := len(f.open) - 1
	number, _ := block.Position()
	lines := parent.Lines()
	steps := segment.Start - f.open[last] + lines.Len() - number
	f.open = f.open[:last]
	if bytes.HasPrefix(line, []byte("](")) {
		steps += destination(block.Source()[segment.Start+2 : lines.At(lines.Len()-1).Stop])
	}
	return f.spend(&f.marks, steps, segment.Start)
}

// destination is how far a link is read behind its "](": to the end of the
// target, and where a title begins, to where it ends.
func destination(link []byte) int {
	n := 0
	if bytes.HasPrefix(link, []byte("<")) {
		line, _ := cutLine(link)
		n = len(line)
		if i := bytes.IndexByte(line, '>'); i >= 0 {
			n = i + 1
		}
	}
	for depth := 0; n < len(link) && link[n] > ' ' && depth >= 0; n++ {
		switch link[n] {
		case '\\':
			n++
		case '(':
			depth++
		case ')':
			depth--
		}
	}
	title := bytes.TrimLeft(link[min(n, len(link)):], " \t\r\n")
	if len(title) == 0 || bytes.IndexByte([]byte(`"'(`), title[0]) < 0 {
		return n
	}
	closer := title[0]
	if closer == '(' {
		closer = ')'
	}
	if i := bytes.IndexByte(title[1:], closer); i >= 0 {
		return len(link) - len(title) + i
	}
	return len(link)
}
