package encode

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/go-porterstemmer"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// A word is one word of a text with its place in it.
type word struct {
	from, to int    // bytes of the text
	raw      string // as it stands there, without the punctuation around it
	fold     string // NFKC, folded, without a possessive 's
	stem     string // of fold, English only
	owns     bool   // it ended in a possessive 's
	first    bool   // of its sentence, where a capital letter says nothing
	comma    bool   // punctuation follows that separates
}

// wordsOf cuts text[from:to] into words. Scripts that are written without spaces
// are cut into their signs.
func wordsOf(text string, from, to int) []word {
	var out []word
	caser := cases.Fold()
	for at := from; at < to; {
		r, n := utf8.DecodeRuneInString(text[at:to])
		if unicode.IsSpace(r) {
			at += n
			continue
		}
		end := at
		for end < to {
			r, n := utf8.DecodeRuneInString(text[end:to])
			if unicode.IsSpace(r) {
				break
			}
			end += n
		}
		out = appendWord(out, caser, text, at, end)
		at = end
	}
	if len(out) > 0 {
		out[0].first = true
	}
	return out
}

// appendWord adds what stands between two spaces.
func appendWord(out []word, caser cases.Caser, text string, from, to int) []word {
	raw := strings.TrimFunc(text[from:to], func(r rune) bool { return !partOfWord(r) })
	if raw == "" {
		if len(out) > 0 && strings.ContainsAny(text[from:to], ",;:()=—–-→") {
			out[len(out)-1].comma = true
		}
		if s := text[from:to]; s == "=" || s == "->" || s == "→" {
			return append(out, word{from: from, to: to, raw: s, fold: s, stem: s})
		}
		return out
	}
	lead := strings.Index(text[from:to], raw)
	if lead > 0 && len(out) > 0 && strings.ContainsAny(text[from:from+lead], "(") {
		out[len(out)-1].comma = true
	}
	if sign := signBefore(text[from:from+lead], raw); sign > 0 {
		lead -= sign
		raw = text[from+lead:from+lead+sign] + raw
	}
	at := from + lead
	tail := text[at+len(raw) : to]
	for _, part := range signs(raw) {
		w := word{from: at, to: at + len(part), raw: part}
		at += len(part)
		w.fold = strings.ReplaceAll(caser.String(norm.NFKC.String(part)), "’", "'")
		if short, ok := strings.CutSuffix(w.fold, "'s"); ok {
			w.fold, w.owns = short, true
		} else if short, ok := strings.CutSuffix(w.fold, "s'"); ok {
			w.fold, w.owns = short+"s", true
		}
		w.stem = Stem(w.fold)
		out = append(out, w)
	}
	if strings.ContainsAny(tail, ",;:)") {
		out[len(out)-1].comma = true
	}
	return expandContraction(out)
}

// expandContraction turns the last word into two where English writes one.
func expandContraction(out []word) []word {
	w := &out[len(out)-1]
	head, tail, ok := strings.Cut(w.fold, "'")
	if !ok {
		return out
	}
	more := map[string]string{"m": "am", "re": "are", "ve": "have", "ll": "will", "d": "would"}[tail]
	if more == "" {
		return out
	}
	w.fold, w.stem = head, Stem(head)
	return append(out, word{from: w.to, to: w.to, raw: more, fold: more, stem: more, comma: w.comma})
}

// signBefore is the length of a sign that makes another number of the one behind
// it: "-5" is not "5".
func signBefore(lead, raw string) int {
	if r, _ := utf8.DecodeRuneInString(raw); !unicode.IsDigit(r) {
		return 0
	}
	r, n := utf8.DecodeLastRuneInString(lead)
	if strings.ContainsRune("-−<>±≤≥", r) {
		return n
	}
	return 0
}

func partOfWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune("+#%$€£¥/\\@_~", r)
}

// signs cuts scripts that are written without spaces into their signs.
func signs(s string) []string {
	if !strings.ContainsFunc(s, unspaced) {
		return []string{s}
	}
	var out []string
	start := 0
	for i, r := range s {
		switch {
		case unspaced(r):
			if start < i {
				out = append(out, s[start:i])
			}
			start = i + utf8.RuneLen(r)
			out = append(out, s[i:start])
		case !partOfWord(r) && i == start:
			start = i + utf8.RuneLen(r)
		}
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}

// firstUnspaced is the first letter of the scripts that are written without spaces.
const firstUnspaced = 'ก'

func unspaced(r rune) bool {
	return r >= firstUnspaced && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer)
}

// Stem is the English stem of a folded word; a word with other letters or digits
// is its own.
func Stem(w string) string {
	for i := range len(w) {
		if w[i] < 'a' || w[i] > 'z' {
			return w
		}
	}
	if len(w) < 4 {
		return w
	}
	return string(porterstemmer.StemWithoutLowerCasing([]rune(w)))
}

// content reports whether a word says something of its own.
func (w word) content() bool { return !isStop(w.fold) && !negator(w.fold) }

// value reports whether a word cannot be exchanged for another one: a number, a
// name, a path, an address.
func (w word) value() bool {
	for i, r := range w.raw {
		switch {
		case unicode.IsDigit(r), strings.ContainsRune("/@_.:\\=%+#$€£¥", r):
			return true
		case unicode.IsUpper(r) && !(w.first && i == 0) && w.fold != "i":
			return true
		}
	}
	return number(w.fold) != ""
}

// stems are those of the words that say something.
func stems(words []word) []string {
	var out []string
	for _, w := range words {
		if w.content() {
			out = append(out, w.stem)
		}
	}
	return out
}

func folds(words []word) string {
	var b strings.Builder
	for i, w := range words {
		// Signs that were written together stay together.
		if i > 0 && !(w.from == words[i-1].to && strings.ContainsFunc(w.fold+words[i-1].fold, unspaced)) {
			b.WriteByte(' ')
		}
		b.WriteString(w.fold)
	}
	return b.String()
}
