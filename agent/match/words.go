package match

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"stet/agent/encode"
	"stet/templates/lexicon"
)

// A token is what stands between two spaces, without the punctuation around it.
type token struct {
	from, to int    // bytes of the text, punctuation left out
	raw      string // NFKC, without invisible signs and a possessive 's
	fold     string
	stem     string // of fold, English only
	id       string // fold without separators, see [plainID]
	owns     bool   // it ended in a possessive 's
	breaks   bool   // punctuation follows, other than a bracket
}

// capital reports whether it is written with a capital letter.
func (t token) capital() bool { return t.raw != t.fold && t.raw != "I" }

func (t token) digits() bool { return strings.ContainsFunc(t.id, unicode.IsDigit) }

func tokens(text string) []token {
	var out []token
	caser := cases.Fold()
	for at := 0; at < len(text); {
		n := strings.IndexFunc(text[at:], separates)
		if n < 0 {
			n = len(text) - at
		}
		if t, ok := newToken(caser, text, at, at+n); ok {
			out = append(out, t)
		}
		_, size := utf8.DecodeRuneInString(text[at+n:])
		at += n + size
	}
	return out
}

func separates(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("—–、，", r) }

func newToken(caser cases.Caser, text string, from, to int) (token, bool) {
	word := strings.TrimLeftFunc(text[from:to], func(r rune) bool { return !inWord(r) })
	word = strings.TrimRightFunc(word, func(r rune) bool { return !inWord(r) && r != '+' && r != '#' }) // C++, F#
	from += strings.Index(text[from:to], word)
	t := token{from: from, to: from + len(word), breaks: strings.ContainsAny(text[from+len(word):to], ".,;:!?。")}
	t.raw = strings.NewReplacer("’", "'", `"`, "").Replace(strings.Map(visible, norm.NFKC.String(word)))
	t.raw, t.owns = strings.CutSuffix(t.raw, "'s")
	t.fold = caser.String(t.raw)
	t.stem, t.id = encode.Stem(t.fold), plainID(t.fold)
	return t, t.fold != ""
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// visible drops what nobody sees: joiners, variation selectors, marks of direction.
func visible(r rune) rune {
	if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) {
		return -1
	}
	return r
}

// A sentence is a part of a text with its words.
type sentence struct {
	from, to int // bytes
	words    []token
}

// sentences cuts the words of a text where a sentence, a list item or a paragraph ends.
func sentences(text string, words []token) []sentence {
	var out []sentence
	start := 0
	for i, w := range words {
		gap := text[w.to:]
		if i+1 < len(words) {
			if gap = text[w.to:words[i+1].from]; !endsSentence(gap, w, words[i+1]) {
				continue
			}
		}
		end := w.to + len(gap) - len(strings.TrimLeft(gap, ".!?。！？\"')]”’*_`"))
		out = append(out, sentence{words[start].from, end, words[start : i+1]})
		start = i + 1
	}
	return out
}

func endsSentence(gap string, w, next token) bool {
	ends := func(mark string) bool { return strings.Contains(gap, mark) }
	switch {
	case slices.ContainsFunc([]string{"\n\n", "\n- ", "\n* ", "\n#", "。", "！", "？"}, ends):
		return true
	case !strings.ContainsAny(gap, ".!?"):
		return false
	}
	// "J. Smith", "e.g. this", "Dr. Miller"
	short := ends(".") && (utf8.RuneCountInString(w.raw) == 1 || strings.Contains(w.raw, ".") ||
		w.capital() && titles()[w.fold])
	r, _ := utf8.DecodeRuneInString(next.raw)
	return !short && !unicode.IsLower(r)
}

// titles stand before a name: a sentence seldom ends in one, and what a sentence too long is cut out
// with would be lost.
var titles = sync.OnceValue(func() map[string]bool { return lexicon.Words("abbreviation", "titles") })

// is reports whether a word is of a class of the lists "description" and "class".
func is(t token, class string) bool { return slices.Contains(classes()[t.fold], class) }

var classes = sync.OnceValue(func() map[string][]string {
	out := lexicon.Groups("description")
	for w, heads := range lexicon.Groups("class", "en", "de", "fr", "es", "it") {
		out[w] = append(out[w], heads...)
	}
	return out
})

// asked maps stems to the attributes that they ask for, said to those they give a value.
var asked = sync.OnceValue(func() map[string][]string { return attributes("asked") })
var said = sync.OnceValue(func() map[string][]string { return attributes("asked", "said") })

func attributes(sections ...string) map[string][]string {
	out := map[string][]string{}
	for w, heads := range lexicon.Groups("attribute", sections...) {
		out[encode.Stem(w)] = append(out[encode.Stem(w)], heads...)
	}
	return out
}

func denies(t token) bool { return is(t, "deny") || strings.HasSuffix(t.fold, "n't") }

// isVerb reports whether a word says what somebody or something does.
func isVerb(t token) bool {
	return verbs()[t.stem] || strings.HasSuffix(t.fold, "n't") ||
		len(t.fold) > 4 && strings.HasSuffix(t.fold, "ed") && !t.capital()
}

var verbs = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for w := range lexicon.Words("verb") {
		out[encode.Stem(w)] = true
	}
	return out
})
