package markdown

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// propertyLinks are the links in the front matter, as Obsidian has them: a quoted value, or a quoted item of a list,
// that is one wiki link and nothing else.
func (d *Document) propertyLinks() (out []Link) {
	if !bytes.Contains(d.src[d.split.yamlStart:d.split.yamlEnd], []byte("[[")) {
		return nil
	}
	f := d.meta()
	if f.starts == nil {
		f.starts = yamlLineStarts(f.text)
	}
	line, column, at := 0, 0, 0 // of the last value: counting each column from the start of a long line takes minutes
	var look func(n *yaml.Node)
	look = func(n *yaml.Node) {
		if n.Line != line || n.Column < column {
			line, column, at = n.Line, 1, f.lineStart(n.Line)
		}
		for ; column < n.Column && at < len(f.text); column++ {
			_, size := utf8.DecodeRune(f.text[at:])
			at += size
		}
		if l, ok := f.link(n, at); ok {
			l.Line = d.lineOf(l.Start)
			out = append(out, l)
		}
		for i, c := range n.Content {
			if n.Kind != yaml.MappingNode || i%2 == 1 { // the other ones are keys
				look(c)
			}
		}
	}
	for _, v := range f.values {
		look(v)
	}
	return out
}

// link is the link that the value at an offset is. One that is quoted otherwise than by [inQuotes] is left out: nobody
// could change a part of it.
func (f *frontMatter) link(n *yaml.Node, at int) (Link, bool) {
	quote := byte(0)
	switch {
	case n.Kind != yaml.ScalarNode || !strings.HasPrefix(n.Value, "[["):
	case n.Style&yaml.DoubleQuotedStyle != 0:
		quote = '"'
	case n.Style&yaml.SingleQuotedStyle != 0:
		quote = '\''
	}
	const bracket = len("[[")
	if quote == 0 || wikiLength([]byte(n.Value[bracket:])) != len(n.Value)-2*bracket {
		return Link{}, false
	}
	written := string(quote) + inQuotes(n.Value, quote) + string(quote)
	if !strings.HasPrefix(string(f.text[at:min(at+len(written), len(f.text))]), written) {
		return Link{}, false
	}
	l := Link{Kind: WikiLink, quote: quote}
	l.setWiki([]byte(n.Value[bracket:len(n.Value)-bracket]), bracket)
	at += f.offset + 1
	l.Start, l.End = at, at+len(written)-2
	l.TargetStart = at + len(inQuotes(n.Value[:l.TargetStart], quote))
	l.TargetEnd = at + len(inQuotes(n.Value[:l.TargetEnd], quote))
	return l, true
}

// inQuotes is text as it stands between two marks of YAML.
func inQuotes(text string, mark byte) string {
	if mark == '\'' {
		return strings.ReplaceAll(text, "'", "''")
	}
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)
}
