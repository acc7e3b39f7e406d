package markdown

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Tags lists the tags and categories of the front matter (lists or text with
// commas, plural or singular key), then the #tags of the body, without "#", each
// once; two that differ only in case are one, spelt as the first. Code and links have none. Cost: a body without
// anything that looks like one is not parsed.
func (d *Document) Tags() []string {
	var out []string
	seen := map[string]bool{}
	add := func(tag string) {
		tag = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(tag), "#"))
		if folded := strings.ToLower(tag); tag != "" && !seen[folded] {
			seen[folded] = true
			out = append(out, tag)
		}
	}
	for _, key := range []string{"tags", "tag", "categories", "category"} {
		if v, ok := d.Meta(key); ok {
			for _, tag := range v.List() {
				add(tag)
			}
		}
	}
	if !mayHaveTag(d.Body()) {
		return out
	}
	o := d.outline()
	next, covered := 0, 0 // links before next have begun; they reach to covered
	for _, t := range o.tags {
		for ; next < len(o.links) && o.links[next].Start <= t.start; next++ {
			covered = max(covered, o.links[next].End)
		}
		if t.start >= covered {
			add(t.text)
		}
	}
	return out
}

// mayHaveTag reports whether a tag stands in a body, if it is neither in code nor in a link.
func mayHaveTag(body []byte) bool {
	for at := 0; ; at++ {
		i := bytes.IndexByte(body[at:], '#')
		if i < 0 {
			return false
		}
		at += i
		before, _ := utf8.DecodeLastRune(body[:at])
		if (at == 0 || opensTag(before)) && tagLength(body[at+1:]) > 0 {
			return true
		}
	}
}

// tagParser reads #tag. The parsers before it have taken code and HTML.
type tagParser struct{ found parser.ContextKey }

func (tagParser) Trigger() []byte { return []byte{'#'} }

func (p tagParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	if segment.Padding > 0 || !opensTag(block.PrecendingCharacter()) {
		return nil
	}
	n := tagLength(line[1:])
	if n == 0 {
		return nil
	}
	if f, ok := pc.Get(p.found).(*findings); ok {
		f.tags = append(f.tags, span{string(line[1 : 1+n]), segment.Start, segment.Start + 1 + n})
	}
	block.Advance(1 + n)
	return ast.NewTextSegment(text.NewSegment(segment.Start, segment.Start+1+n))
}

// opensTag reports whether a tag may stand behind r: at the start of a line, after
// a blank, an opening bracket or quote, or punctuation of scripts without blanks.
func opensTag(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("([{*_~\"'", r) || r >= 0x2010 && unicode.IsPunct(r)
}

// tagLength returns the length of the tag at the start of b, 0 if there is none:
// letters, marks, digits, symbols such as emoji, "_", "-" and "/" as separator,
// with at least one character that is no digit and one that is no separator.
func tagLength(b []byte) int {
	n, nonDigit, content := 0, false, false
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		separator := r == '_' || r == '-' || r == '/'
		if !separator && !unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.So) &&
			r != '\u200d' && !(r >= 0x1F3FB && r <= 0x1F3FF) {
			break
		}
		i += size
		if r != '/' {
			n = i
		}
		nonDigit = nonDigit || !unicode.IsDigit(r) && r != '/'
		content = content || !separator
	}
	if !nonDigit || !content {
		return 0
	}
	return n
}
