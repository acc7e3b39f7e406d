package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// footnoteMark begins the label of a footnote: "[^1]: text" defines no link, and
// its text is text like any other, links included.
const footnoteMark = "^"

// definitionText keeps a paragraph that begins with a footnote from being read as
// the definition of a link to the footnote's first word, and charges definitions,
// each of which moves all lines of the paragraph when it is taken out.
type definitionText struct {
	parser.ParagraphTransformer
	found parser.ContextKey
}

func (t definitionText) Transform(p *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines, count := p.Lines(), 0
	for ; count < lines.Len(); count++ {
		at := lines.At(count)
		if line := bytes.TrimLeft(at.Value(reader.Source()), " \t"); !bytes.HasPrefix(line, []byte("[")) {
			break
		} else if count == 0 && bytes.HasPrefix(line, []byte("["+footnoteMark)) {
			return
		}
	}
	if f, ok := pc.Get(t.found).(*findings); ok && count > 0 && f.spend(&f.blocks, count*lines.Len(), lines.At(0).Start) {
		t.ParagraphTransformer.Transform(p, reader, pc)
	}
}

// paragraphTransformers are goldmark's, bounded, footnotes excepted.
func paragraphTransformers(found parser.ContextKey) []util.PrioritizedValue {
	all := parser.DefaultParagraphTransformers()
	for i, p := range all {
		if t, ok := p.Value.(parser.ParagraphTransformer); ok && t == parser.LinkReferenceParagraphTransformer {
			all[i].Value = definitionText{t, found}
		}
	}
	return all
}
