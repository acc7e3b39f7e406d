package match

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"stet/agent/encode"
)

// A token is what stands between two spaces, without the punctuation around it.
type token struct {
	from, to int    // bytes of the text, punctuation left out
	raw      string // NFKC, without invisible signs and a possessive 's
	fold     string
	stem     string // of fold, English only
	id       string // fold without separators, see [plainID]
	owns     bool   // it ended in a possessive 's
	breaks   bool   // punctuation follows
	closes   bool   // it is a bracket, which may stand inside a number
}

// capital reports whether it is written with a capital letter.
func (t token) capital() bool { return t.raw != t.fold && t.raw != "I" }

// digits reports whether it holds any.
func (t token) digits() bool { return strings.ContainsFunc(t.id, unicode.IsDigit) }

func tokens(text string) []token {
	var out []token
	caser := cases.Fold()
	for at := 0; at < len(text); {
		r, n := utf8.DecodeRuneInString(text[at:])
		if separates(r) {
			at += n
			continue
		}
		end := at
		for end < len(text) {
			r, n := utf8.DecodeRuneInString(text[end:])
			if separates(r) {
				break
			}
			end += n
		}
		if t, ok := newToken(caser, text, at, end); ok {
			out = append(out, t)
		}
		at = end
	}
	return out
}

func separates(r rune) bool {
	return unicode.IsSpace(r) || r == '—' || r == '–' || r == '、' || r == '，'
}

func newToken(caser cases.Caser, text string, from, to int) (token, bool) {
	word := text[from:to]
	inside := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }
	first, last := strings.IndexFunc(word, inside), strings.LastIndexFunc(word, inside)
	if first < 0 {
		return token{}, false
	}
	_, n := utf8.DecodeRuneInString(word[last:])
	end := last + n
	if strings.HasPrefix(word[end:], "++") || strings.HasPrefix(word[end:], "#") { // C++, F#
		for end < len(word) && strings.ContainsRune("+#", rune(word[end])) {
			end++
		}
	}
	t := token{from: from + first, to: from + end, breaks: strings.ContainsAny(word[end:], ".,;:!?)。")}
	t.closes = word[end:] == ")"
	t.raw = strings.Map(visible, norm.NFKC.String(word[first:end]))
	t.raw = strings.NewReplacer("’", "'", `"`, "").Replace(t.raw)
	t.fold = caser.String(t.raw)
	for _, tail := range []string{"'s", "s'"} {
		if short, ok := strings.CutSuffix(t.fold, tail); ok && short != "" {
			t.owns = true
			t.fold = short + strings.TrimSuffix(tail, "'s")
			t.fold = strings.TrimSuffix(t.fold, "'")
			t.raw = t.raw[:min(len(t.raw), len(t.fold))]
		}
	}
	t.stem, t.id = encode.Stem(t.fold), plainID(t.fold)
	return t, t.fold != ""
}

// visible drops what nobody sees: joiners, variation selectors, marks of direction.
func visible(r rune) rune {
	if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) {
		return -1
	}
	return r
}

// related reports whether two stems are of one family, of which the stemmer knows
// too little: prescription and prescribed, residence and resident.
func related(a, b string) bool {
	if a == b {
		return true
	}
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n >= familyRoot && len(a)-n <= familyTail && len(b)-n <= familyTail
}

// Of five letters "univers(ity)" and "univers(e)" are one family as well: a wrong one
// costs a place in the order, as it never suffices alone.
const (
	familyRoot = 5
	familyTail = 4
)
