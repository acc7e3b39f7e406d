package route

import (
	"strings"
	"unicode/utf8"

	"stet/agent/spoken"
	"stet/markdown"
)

// A Routed sentence of a turn, as it was written.
type Routed struct {
	Sentence string `json:"sentence"`
	Route
	// Direct: the turn says nothing but to remember this, and nothing in it points at the talk it stands in.
	Direct bool `json:"direct,omitempty"`
}

const (
	// maxTurn bounds a turn, in bytes: a longer one is something pasted, with a question beside it.
	maxTurn = 4 << 10
	// maxItems is how many items of a list a turn may hold before it is taken for something pasted.
	maxItems = 3
)

// Turn lists the sentences of what a person said to an assistant that [Of] knows, in their order. Nothing is taken of
// what is code, quoted, pasted or handed over to be worked on, nor of what stet put there itself.
func Turn(text string) []Routed {
	text = string(markdown.StripInjected([]byte(text)))
	if len(text) > maxTurn || !utf8.ValidString(text) {
		return nil
	}
	var words []word
	for line := range strings.Lines(text) {
		words = append(words, wordsOf(line)...)
	}
	for _, l := range languages() {
		if has(l.vetoTurn, words) {
			return nil
		}
	}
	var out []Routed
	for _, line := range own(text) {
		for _, s := range spoken.Sentences(line) {
			if r, ok := Of(s); ok {
				out = append(out, Routed{Sentence: s, Route: r})
			}
		}
	}
	if len(out) == 1 && strings.TrimSpace(text) == out[0].Sentence {
		first := &out[0]
		first.Direct = first.Asked && first.Confidence >= Likely &&
			!has(languages()[0].moment, wordsOf(Bare(first.Sentence)))
	}
	return out
}

// own are the lines that a turn's author speaks, without lists and what looks like code.
func own(text string) []string {
	var out []string
	items := 0
	for _, line := range spoken.Lines(text) {
		_, asked := opened(line)
		switch first := strings.TrimLeft(line, "0123456789"); {
		case line == "", foreign(line) && !asked && !strings.Contains(line, "?"):
		case strings.HasPrefix(line, "- "), strings.HasPrefix(line, "* "), strings.HasPrefix(line, "•"),
			first != line && (strings.HasPrefix(first, ".") || strings.HasPrefix(first, ")")):
			if items++; items > maxItems {
				return nil
			}
		default:
			out = append(out, line)
		}
	}
	return out
}
