package route

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"stet/markdown"
	"stet/templates/lexicon"
)

// A Routed sentence of a turn, as it was written.
type Routed struct {
	Sentence string `json:"sentence"`
	Route
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
	words := wordsOf(text)
	for _, l := range languages() {
		if has(l.vetoTurn, words) {
			return nil
		}
	}
	var out []Routed
	for _, line := range own(text) {
		for _, s := range sentences(line) {
			if r, ok := Of(s); ok {
				out = append(out, Routed{s, r})
			}
		}
	}
	return out
}

// own are the lines of a turn that its author speaks: none of code, of quotations, or of what stands behind a line
// that ends in a colon.
func own(text string) []string {
	var out []string
	items, code, pasted := 0, false, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			code = !code
			continue
		}
		switch first := strings.TrimLeft(line, "0123456789"); {
		case code || pasted || line == "" || strings.HasPrefix(line, ">"),
			foreign(line) && !strings.Contains(line, "?"):
		case strings.HasPrefix(line, "- "), strings.HasPrefix(line, "* "), strings.HasPrefix(line, "•"),
			first != line && (strings.HasPrefix(first, ".") || strings.HasPrefix(first, ")")):
			if items++; items > maxItems {
				return nil
			}
		default:
			out = append(out, line)
		}
		pasted = pasted || !code && strings.HasSuffix(line, ":")
	}
	return out
}

// sentences cuts a text where sentences end: at a full stop, a question or exclamation mark before a space, and at the
// end of a line.
func sentences(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		start, from := 0, 0 // of the last sentence, and of what comes behind it
		add := func(end int) {
			if strings.ContainsFunc(line[from:end], unicode.IsLetter) {
				start, out = from, append(out, strings.TrimSpace(line[from:end]))
			} else if from > 0 { // a mark or a face belongs to what stands before it
				out[len(out)-1] = strings.TrimSpace(line[start:end])
			}
			from = end
		}
		for i, r := range line {
			end := i + utf8.RuneLen(r)
			if strings.ContainsRune(".!?…", r) && end < len(line) && unicode.IsSpace(rune(line[end])) &&
				strings.ContainsFunc(line[:i], unicode.IsLetter) && (r != '.' || !short(line[from:i], line[end:])) {
				add(end)
			}
		}
		add(len(line))
	}
	return out
}

// short reports whether the full stop behind a text ends an abbreviation and no sentence.
func short(before, after string) bool {
	fields := strings.Fields(before)
	if len(fields) == 0 {
		return true
	}
	last := strings.ToLower(strings.Trim(fields[len(fields)-1], "(\"'"))
	next, _ := utf8.DecodeRuneInString(strings.TrimSpace(after))
	return titles()[last] || utf8.RuneCountInString(last) == 1 && last != "i" && !unicode.IsDigit(rune(last[0])) ||
		strings.Contains(last, ".") && !unicode.IsUpper(next)
}

var titles = sync.OnceValue(func() map[string]bool { return lexicon.Words("abbreviation", "titles") })
