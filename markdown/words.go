package markdown

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// firstWordsWindow is how much of a body FirstWords reads: the first words of a
// file of 50 MB stand in its first kilobytes.
const firstWordsWindow = 8 << 10

// lettersPerWord is how many letters of a script without blanks between words
// count as one word: Chinese words have about two letters, a Thai or Japanese
// phrase more.
const lettersPerWord = 4

// FirstWords returns at most n words of the first heading, paragraph, list item
// or, failing these, code line that has text, without markup, on one line.
func FirstWords(body []byte, n int) string {
	if len(body) > firstWordsWindow {
		body = body[:firstWordsWindow]
		if i := bytes.LastIndexByte(body, '\n'); i > 0 {
			body = body[:i+1]
		}
	}
	root, _ := markdownEngine().parse(body)
	text := firstText(root, body)
	if text == "" {
		text = strings.Join(strings.Fields(string(bytes.ToValidUTF8(body, []byte(" ")))), " ")
	}
	return takeWords(text, n)
}

// firstText returns the text of the first block below n that shows any.
func firstText(n ast.Node, body []byte) string {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		var s string
		switch c.(type) {
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			for i := range c.Lines().Len() {
				line := c.Lines().At(i)
				if s = strings.TrimSpace(string(line.Value(body))); s != "" {
					break
				}
			}
		case *ast.HTMLBlock, *ast.LinkReferenceDefinition:
		default:
			if c.FirstChild() != nil && c.FirstChild().Type() == ast.TypeBlock && c.Kind() != extast.KindTableHeader {
				s = firstText(c, body)
			} else {
				s = plainText(c, body)
			}
		}
		if s = strings.TrimSpace(strings.ToValidUTF8(s, " ")); s != "" {
			return s
		}
	}
	return ""
}

// takeWords keeps n words of text.
func takeWords(text string, n int) string {
	var out []string
	left := n * lettersPerWord
	for word := range strings.FieldsSeq(text) {
		if left <= 0 {
			break
		}
		cost, end := 0, len(word)
		for i, r := range word {
			if !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) {
				continue
			}
			if cost == left {
				end = i
				break
			}
			cost++
		}
		out = append(out, word[:end])
		left -= max(lettersPerWord, cost)
	}
	return strings.Join(out, " ")
}
