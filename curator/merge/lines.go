package merge

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"stet/markdown"
	"stet/templates/lexicon"
)

// A part is a line of a text, or what of it stands inside or outside of a comment, or a whole block of code.
type part struct {
	text string
	kind kind
	line int // in the file, from 1
}

type kind int

const (
	shown kind = iota
	hidden
	coded
)

// partsOf takes a Markdown file apart. A comment that is not closed goes on to the end.
func partsOf(data []byte) (out []part) {
	doc := markdown.Parse(data)
	var fence, quote string // what a block of code that is not closed began with, and what stood before it
	var code []string
	is, n := shown, doc.BodyLine()-1
	for line := range strings.Lines(string(doc.Body())) {
		n++
		line = strings.TrimRight(line, " \t\r\n")
		text := strings.TrimPrefix(line, quote)
		if fence == "" {
			text = strings.TrimLeft(line, " \t>") // in a list or a quotation
		}
		mark := markdown.FenceOf(strings.TrimLeft(text, " \t"))
		switch {
		case is == hidden:
		case fence == "" && mark != "":
			fence, quote, code = mark, strings.TrimRight(line[:len(line)-len(text)], " \t"), nil
			continue
		case fence != "" && strings.HasPrefix(mark, fence):
			fence, out = "", append(out, part{block(code), coded, n})
			continue
		case fence != "":
			code = append(code, text)
			continue
		}
		for {
			end := strings.Index(line, "-->")
			if is == shown {
				end = commentAt(line)
			}
			if end < 0 {
				break
			}
			out = append(out, part{line[:end], is, n})
			line, is = strings.TrimPrefix(line[end:], "-->"), hidden-is
		}
		out = append(out, part{line, is, n})
	}
	if fence != "" {
		out = append(out, part{block(code), coded, n})
	}
	return out
}

// commentAt is where a comment begins in a line, outside of code; -1 where none does.
func commentAt(line string) int {
	for at := 0; ; at++ {
		next := strings.Index(line[at:], comment[:4])
		if next < 0 {
			return -1
		}
		if at += next; strings.Count(line[:at], "`")%2 == 0 || !strings.Contains(line[at:], "`") {
			return at
		}
	}
}

// comment begins a plain line that is hidden.
const comment = "<!-- "

// plain is a part as it is compared, "" where it says nothing. What is hidden is never equal to what is shown.
func (p part) plain() string {
	text := plain(strings.TrimPrefix(p.text, comment[:4]))
	if p.kind == hidden && text != "" {
		return comment + text
	}
	return text
}

var heading = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ {0,3}#{1,6}(?:[ \t]|$)`) })

// A unit is a heading, a paragraph, an item, a row or a comment, without code.
type unit struct {
	text  string // plain
	raw   string
	heads bool
	line  int
}

// units are those of a Markdown file, in order.
func units(data []byte) (out []unit) {
	open := false // the last one goes on
	for _, p := range partsOf(data) {
		text := p.plain()
		begins := strings.TrimSpace(marks().FindString(p.text)) != "" || strings.HasPrefix(p.text, "|")
		switch {
		case text == "":
			open = false
		case open && !begins && p.kind == shown:
			last := &out[len(out)-1]
			last.text, last.raw = last.text+" "+text, last.raw+"\n"+p.text
		case p.kind != coded:
			out = append(out, unit{text, p.text, p.kind == shown && heading().MatchString(p.text), p.line})
			open = p.kind == shown && !out[len(out)-1].heads
		default:
			open = false
		}
	}
	return out
}

var sentence = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("[.!?][\"')\\]*_`]* ") })

// sentences are those of a plain text, without the mark at the end.
func sentences(text string) (out []string) {
	for at := []int{0, 0}; at != nil; text = text[at[1]:] {
		if at = sentence().FindStringIndex(text); at == nil {
			return append(out, strings.TrimRight(text, ".!?:;, "))
		}
		out = append(out, strings.TrimRight(text[:at[1]], ".!?:;, "))
	}
	return out
}

// shownUnits yields those units that are no comments.
func shownUnits(data []byte) func(yield func(unit) bool) {
	return func(yield func(unit) bool) {
		for _, one := range units(data) {
			if !strings.HasPrefix(one.text, comment) && !yield(one) {
				return
			}
		}
	}
}

// bounding are words that forbid, order or limit something.
var bounding = sync.OnceValue(func() map[string]bool {
	out := lexicon.Words("bound")
	maps.Copy(out, turning())
	return out
})

// bounds reports whether a plain sentence has one of them.
func bounds(sentence string) bool {
	return slices.ContainsFunc(words(sentence), func(w string) bool { return bounding()[w] }) ||
		strings.Contains(strings.ReplaceAll(sentence, "’", "'"), "n't")
}

// unbound is the first sentence of a Markdown file that forbids or bounds something and does not stand where it has to.
func (s stand) unbound(data []byte, titles []string) string {
	for one := range shownUnits(data) {
		for _, said := range sentences(one.text) {
			if bounds(said) && !slices.Contains(titles, one.text) && !s.own.said[said] &&
				!(s.common[said] && s.whole.said[said]) {
				return said
			}
		}
	}
	return ""
}
