package document

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxTerm bounds a term in bytes. Longer runs (base64, hashes of hashes) are
// cut, in documents and queries alike, so they still find one another.
const maxTerm = 96

// A Token is one word of a text: folded (NFKC, lower case, accents of the
// alphabetic scripts dropped) with its place in the original bytes.
type Token struct {
	Term       string
	Start, End int
	Pos        int  // counts words, and characters in scripts without spaces
	Gram       bool // a pair of characters of a script without spaces
}

// Tokenize calls emit for every word of text in order. Scripts written without
// spaces yield each character and each pair of neighbours, both at the
// position of the first. Symbols such as emoji are words of their own;
// punctuation and invalid UTF-8 separate.
func Tokenize(text []byte, emit func(Token)) {
	t := tokenizer{text: text, emit: emit}
	t.run()
}

type tokenizer struct {
	text  []byte
	emit  func(Token)
	pos   int
	buf   []byte
	sieve *Sieve // nil where all words are looked for
}

func (t *tokenizer) run() {
	for i := 0; i < len(t.text); {
		c := t.text[i]
		if c < utf8.RuneSelf {
			if !isASCIIWord(c) {
				i++
				continue
			}
			i = t.word(i)
			continue
		}
		r, size := utf8.DecodeRune(t.text[i:])
		switch {
		case r == utf8.RuneError && size <= 1:
			i += size
		case IsUnspaced(r):
			i = t.unspaced(i)
		case IsWordRune(r):
			i = t.word(i)
		case unicode.Is(unicode.So, r):
			t.emit(Token{Term: string(r), Start: i, End: i + size, Pos: t.pos})
			t.pos++
			i += size
		default:
			i += size
		}
	}
}

// word emits the run of letters, digits and marks that begins at start.
func (t *tokenizer) word(start int) int {
	i, ascii, upper, humps := start, true, false, false
	for i < len(t.text) {
		c := t.text[i]
		if c < utf8.RuneSelf {
			if !isASCIIWord(c) {
				break
			}
			if 'A' <= c && c <= 'Z' {
				upper, humps = true, humps || i > start && isLower(t.text[i-1])
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(t.text[i:])
		if r == utf8.RuneError && size <= 1 || !IsWordRune(r) || IsUnspaced(r) {
			break
		}
		ascii = false
		i += size
	}
	raw := t.text[start:i]
	var term string
	switch {
	case ascii && t.sieve != nil && !t.sieve.passes(raw, humps):
		t.emit(Token{Start: start, End: i, Pos: t.pos})
		t.pos++
	case ascii && !upper:
		term = string(raw[:min(len(raw), maxTerm)])
	case ascii:
		t.buf = t.buf[:0]
		for _, c := range raw[:min(len(raw), maxTerm)] {
			t.buf = append(t.buf, lowerASCII(c))
		}
		term = string(t.buf)
	default:
		term = fold(string(raw))
	}
	if term != "" {
		t.emit(Token{Term: term, Start: start, End: i, Pos: t.pos})
		t.pos++
	}
	return i
}

// unspaced emits the characters and pairs of the run that begins at start.
func (t *tokenizer) unspaced(start int) int {
	var prev string
	var prevStart int
	i := start
	for i < len(t.text) {
		r, size := utf8.DecodeRune(t.text[i:])
		end := i + size
		if r == utf8.RuneError && size <= 1 || !IsUnspaced(r) {
			break
		}
		// Marks belong to the character before them: Thai vowels, and the
		// voicing marks of half-width kana.
		for end < len(t.text) {
			m, n := utf8.DecodeRune(t.text[end:])
			if !unicode.IsMark(m) && m != 'ﾞ' && m != 'ﾟ' {
				break
			}
			end += n
		}
		term := fold(string(t.text[i:end]))
		if term != "" {
			if prev != "" {
				t.emit(Token{Term: prev + term, Start: prevStart, End: end, Pos: t.pos - 1, Gram: true})
			}
			t.emit(Token{Term: term, Start: i, End: end, Pos: t.pos})
			prev, prevStart = term, i
			t.pos++
		}
		i = end
	}
	return i
}

func isASCIIWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

func lowerASCII(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// IsWordRune reports letters, digits and marks.
func IsWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// IsUnspaced reports the scripts whose words are not separated by spaces, and
// Hangul, whose particles cling to the word.
func IsUnspaced(r rune) bool {
	if r < 0x0e00 {
		return false
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) ||
		r == 'ー' || 0xff66 <= r && r <= 0xff9f
}

// fold brings a run of word characters to the form in which it is compared.
// Accents fall only where they are decoration: dropping every mark would take
// the vowels out of Devanagari.
func fold(s string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(s) {
		if isAccent(r) {
			continue
		}
		switch r = unicode.ToLower(r); {
		case r == 'ß':
			b.WriteString("ss")
		case r == 'æ':
			b.WriteString("ae")
		case r == 'œ':
			b.WriteString("oe")
		case r == 'ø':
			b.WriteByte('o')
		case r == 'ł':
			b.WriteByte('l')
		case r == 'đ':
			b.WriteByte('d')
		case r == 'ı':
			b.WriteByte('i')
		case r == 'ς':
			b.WriteRune('σ')
		case IsWordRune(r):
			b.WriteRune(r)
		}
	}
	return cut(norm.NFC.String(b.String()))
}

// isAccent reports combining marks that readers leave out when they type:
// those of Latin, Greek and Cyrillic, Hebrew points and Arabic vowel signs.
func isAccent(r rune) bool {
	return 0x0300 <= r && r <= 0x036f || 0x0591 <= r && r <= 0x05c7 ||
		0x064b <= r && r <= 0x065f || r == 0x0670
}

// cut shortens a term to maxTerm bytes without splitting a character.
func cut(s string) string {
	if len(s) <= maxTerm {
		return s
	}
	n := maxTerm
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// A Stemmer remembers the stems it has computed: the same few thousand words
// make up nearly all of a vault. It is not safe for concurrent use.
type Stemmer struct {
	lang *Language
	seen map[string]string
}

// maxStems bounds the memory of a stemmer (some 6 MB).
const maxStems = 1 << 16

// NewStemmer returns a stemmer of a language.
func NewStemmer(lang *Language) *Stemmer {
	return &Stemmer{lang: lang, seen: make(map[string]string, 1024)}
}

// Stem is the stem of a folded word in the language of the vault.
func (s *Stemmer) Stem(w string) string {
	if len(w) < 3 {
		return w
	}
	if v, ok := s.seen[w]; ok {
		return v
	}
	out := s.lang.stem(w)
	if len(s.seen) < maxStems {
		s.seen[w] = out
	}
	return out
}

func isPlainASCII(w string) bool {
	for i := range len(w) {
		if w[i] < 'a' || w[i] > 'z' {
			return false
		}
	}
	return true
}
