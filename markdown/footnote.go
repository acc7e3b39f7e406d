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

// footnoteText keeps a paragraph that begins with a footnote from being read as
// the definition of a link to the footnote's first word.
type footnoteText struct{ parser.ParagraphTransformer }

func (t footnoteText) Transform(p *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines := p.Lines()
	if lines.Len() > 0 {
		first := lines.At(0)
		if bytes.HasPrefix(bytes.TrimLeft(first.Value(reader.Source()), " \t"), []byte("["+footnoteMark)) {
			return
		}
	}
	t.ParagraphTransformer.Transform(p, reader, pc)
}

// paragraphTransformers are goldmark's, footnotes excepted.
func paragraphTransformers() []util.PrioritizedValue {
	all := parser.DefaultParagraphTransformers()
	for i, p := range all {
		if t, ok := p.Value.(parser.ParagraphTransformer); ok && t == parser.ParagraphTransformer(parser.LinkReferenceParagraphTransformer) {
			all[i].Value = footnoteText{t}
		}
	}
	return all
}
