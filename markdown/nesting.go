package markdown

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxDepth bounds how many lists and quotations stand inside each other. The
// reader goes through all that are open at every line and every marker: 2,500 of
// them in a file of 5 KB took 50 seconds. People do not go beyond ten.
const maxDepth = 64

// nestingParser opens lists or quotations up to [maxDepth]; the markers of
// deeper ones are text.
type nestingParser struct {
	parser.BlockParser
	found parser.ContextKey
}

func (p nestingParser) Open(parent ast.Node, block text.Reader, pc parser.Context) (ast.Node, parser.State) {
	if _, item := parent.(*ast.List); !item && nesting(parent) >= maxDepth {
		if f, ok := pc.Get(p.found).(*findings); ok && f.tooDeep < 0 {
			_, at := block.Position()
			f.tooDeep = at.Start
		}
		return nil, parser.NoChildren
	}
	return p.BlockParser.Open(parent, block, pc)
}

// nesting counts the lists and quotations that a node stands in, itself included.
func nesting(n ast.Node) int {
	depth := 0
	for ; n != nil; n = n.Parent() {
		switch n.(type) {
		case *ast.List, *ast.Blockquote:
			depth++
		}
	}
	return depth
}

// blockParsers are goldmark's, with the two that nest bounded.
func blockParsers(found parser.ContextKey) []util.PrioritizedValue {
	all := parser.DefaultBlockParsers()
	list, quote := parser.NewListParser(), parser.NewBlockquoteParser()
	for i, p := range all {
		if b, ok := p.Value.(parser.BlockParser); ok && (b == list || b == quote) {
			all[i].Value = nestingParser{b, found}
		}
	}
	return all
}

// TooDeep is the line, from 1, of the first list or quotation that is nested so
// deeply that it is read as text; 0: there is none.
func (d *Document) TooDeep() int {
	at := d.outline().tooDeep
	if at < 0 {
		return 0
	}
	return d.lineOf(at)
}
