package encode

import (
	"slices"
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
	stem     string // of fold, English only; of a number its value
	owns     bool   // it ended in a possessive 's
	starts   bool   // it begins a sentence, where a capital letter says nothing
	comma    bool   // punctuation follows that separates
	number   bool   // or an identifier with digits
	shape    string // of a number: see [shapeOfNumber]

	class  class
	weight float64 // 0 for a word that says nothing, 1 for one that says much
	name   bool    // it is written as names are
	title  bool    // it is from the title
	who    string  // of "I" and "the user": "user", or the agent that writes
}

// wordsOf cuts text[from:to] into words, in the room behind out, which is empty. Scripts that are
// written without spaces are cut into their signs.
func wordsOf(out []word, text string, from, to int) []word {
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
		out[0].starts = true
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
	if lead > 0 && len(out) > 0 && strings.Contains(text[from:from+lead], "(") {
		out[len(out)-1].comma = true
	}
	if sign := signBefore(text[from:from+lead], raw); sign > 0 {
		lead -= sign
		raw = text[from+lead:from+lead+sign] + raw
	}
	at := from + lead
	tail := text[at+len(raw) : to]
	for _, part := range signs(raw) {
		out = appendPart(out, caser, part, at)
		at += len(part)
	}
	if strings.ContainsAny(tail, ",;:)") {
		out[len(out)-1].comma = true
	}
	return out
}

// appendPart adds one word, or two where one is written: "isn't", "l'heure".
func appendPart(out []word, caser cases.Caser, part string, at int) []word {
	w := word{from: at, to: at + len(part), raw: part}
	if w.fold = strings.ToLower(part); !isASCII(part) {
		w.fold = strings.ReplaceAll(caser.String(norm.NFKC.String(part)), "’", "'")
	}
	head, tail, cut := strings.Cut(w.fold, "'")
	switch {
	case !cut:
	case tail == "s" && shortIs(head):
		w.fold = head
		return append(out, w.done(), word{from: w.to, to: w.to, raw: "is", fold: "is", stem: "is"})
	case tail == "s" && head != "":
		w.fold, w.owns = head, true
	case tail == "" && strings.HasSuffix(head, "s"):
		w.fold, w.owns = head, true
	case tail == "t" && strings.HasSuffix(head, "n"):
		w.fold = map[string]string{"can": "can", "won": "will", "shan": "shall"}[head]
		if w.fold == "" {
			w.fold = head[:len(head)-1]
		}
		return append(out, w.done(), word{from: w.to, to: w.to, raw: "not", fold: "not", stem: "not"})
	case contracted(tail) != "":
		w.fold = head
		return append(out, w.done(), word{from: w.to, to: w.to, raw: tail, fold: contracted(tail), stem: contracted(tail)})
	case elided(head) && len(tail) > 1:
		n := strings.IndexAny(part, "'’")
		_, size := utf8.DecodeRuneInString(part[n:])
		out = append(out, word{from: at, to: at + n, raw: part[:n], fold: head, stem: head})
		w.from, w.raw, w.fold = at+n+size, part[n+size:], tail
	}
	return append(out, w.done())
}

// shortIs reports words behind which 's stands for "is".
func shortIs(head string) bool {
	return slices.Contains([]string{"it", "he", "she", "that", "there", "here", "what", "who", "where", "let", "how"}, head)
}

func contracted(tail string) string {
	switch tail {
	case "m":
		return "am"
	case "re":
		return "are"
	case "ve":
		return "have"
	case "ll":
		return "will"
	case "d":
		return "would"
	}
	return ""
}

// elided reports the short words that French and Italian write together with the next.
func elided(head string) bool {
	return slices.Contains([]string{"l", "d", "j", "n", "s", "c", "m", "t", "qu", "jusqu", "lorsqu", "puisqu", "dell", "all", "nell", "sull", "dall", "un", "quell"}, head)
}

func (w word) done() word {
	w.stem = Stem(w.fold)
	if n := number(w.fold); n != "" {
		w.stem, w.number = n, true
	} else if hasDigit(w.fold) {
		w.number = true
	}
	return w
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func hasDigit(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return '0' <= r && r <= '9' })
}

// signBefore is the length of a sign that makes another number of the one behind
// it: "-5" is not "5".
func signBefore(lead, raw string) int {
	if r, _ := utf8.DecodeRuneInString(raw); !unicode.IsDigit(r) {
		return 0
	}
	r, n := utf8.DecodeLastRuneInString(lead)
	if strings.ContainsRune("-−<>±≤≥#", r) {
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

// classify says what the words of one text are, in its language. A person's "I" and "the
// user" are one, an agent's "I" is another.
func (l *language) classify(words []word, author string) {
	for i := range words {
		w := &words[i]
		w.class = l.classes[w.fold]
		switch {
		case w.class&userWord != 0, w.class&self != 0 && author == "":
			w.who = "user"
		case w.class&self != 0:
			w.who = "agent " + author
		}
		if n := l.numerals[w.fold]; len(n) > 0 {
			w.stem, w.number = n[0], true
		}
		if w.number {
			w.shape = shapeOfNumber(w.stem)
		}
		w.weight = wordWeight(w)
		w.name = l.isName(words, i)
	}
}

// commonWeight is what a word of texts of every subject counts beside another.
const commonWeight = 0.4

func wordWeight(w *word) float64 {
	switch {
	case w.number, len(w.raw) == 1 && unicode.IsUpper(rune(w.raw[0])) && !w.starts && w.fold != "i": // "bulb B"
		return 1
	case w.class&(stop|self|userWord|third|det|be|aux) != 0, utf8.RuneCountInString(w.fold) < 2 && !strings.ContainsFunc(w.fold, unspaced):
		return 0
	case w.class&(common|day) != 0:
		return commonWeight
	}
	return 1
}

// isName reports a word that is written as a name or an identifier: with a capital
// letter inside a sentence, with digits among letters, with signs inside.
func (l *language) isName(words []word, i int) bool {
	w := words[i]
	if w.class&stop != 0 && !w.number {
		return false
	}
	letters, digits, upper, inner := 0, 0, 0, 0
	for k, r := range w.raw {
		switch {
		case unicode.IsUpper(r):
			upper++
			letters++
			if k > 0 {
				inner++
			}
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r):
			digits++
		case k > 0 && strings.ContainsRune("_./@\\", r):
			inner++
		}
	}
	first, _ := utf8.DecodeRuneInString(w.raw)
	switch {
	case letters > 0 && (digits > 0 && number(w.fold) == "" || inner > 0 && letters > 1):
		return true
	case !unicode.IsUpper(first):
		return false
	case l.name == "de": // every noun has a capital
		return i > 0 && !w.starts && (words[i-1].name || words[i-1].class&(prep|verb|be|aux|and|kin|self) != 0 && words[i-1].class&det == 0)
	}
	return !w.starts && l.months[w.fold] == nil && w.class&day == 0
}
