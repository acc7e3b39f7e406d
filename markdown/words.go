package markdown

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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
	text, plain := plainStart(body)
	if !plain {
		body = slices.Clip(body) // as in [Parse]: the caller may write what follows
		root, _ := markdownEngine().parse(body)
		text = firstText(root, body)
	}
	if text == "" {
		text = strings.Join(strings.Fields(string(bytes.ToValidUTF8(body, []byte(" ")))), " ")
	}
	return takeWords(text, n)
}

// plainStart returns the first paragraph where its lines begin with letters and hold nothing that can be markup: most
// memories do, and need not be parsed.
func plainStart(body []byte) (text string, plain bool) {
	var lines []string
	for len(body) > 0 {
		line, rest := cutLine(body)
		body = rest
		said := strings.Trim(string(line), " \t\r\n")
		if said == "" {
			if len(lines) > 0 {
				break
			}
			continue
		}
		first, _ := utf8.DecodeRune(line)
		if !unicode.IsLetter(first) || strings.ContainsAny(said, "*_`[]<>&\\|~#$\x00") || !utf8.Valid(line) {
			return "", false
		}
		lines = append(lines, said)
	}
	return strings.Join(lines, " "), len(lines) > 0
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

// Edits counts the letters to put in, leave out, replace or swap with their neighbour to make b of
// a (the optimal string alignment distance), or says some number above most.
func Edits(a, b string, most int) int {
	n, m := utf8.RuneCountInString(a), utf8.RuneCountInString(b)
	if apart := max(n-m, m-n); apart > most {
		return apart
	}
	x, y := []rune(a), []rune(b)
	before, prev, cur := make([]int, len(y)+1), make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(x); i++ {
		cur[0] = i
		least := i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
			least = min(least, cur[j])
		}
		if least > most {
			return least
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(y)]
}
