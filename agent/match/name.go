package match

import (
	"slices"
	"strings"
	"unicode"

	"github.com/mozillazg/go-unidecode"
	"golang.org/x/text/unicode/norm"
)

// A name is words with capital letters that stand together: "John Smith".
// Frank is not frank; in a script without capital letters nothing is asked of them.
type name []string // folded

func newName(words []token) name {
	var n name
	for _, w := range words {
		n = append(n, w.fold)
	}
	return n
}

// known divides names that no text has in one piece: "Professor Smith Harvard" is
// two, where texts know a Professor Smith.
func known(names []name, texts [][]token) []name {
	var out []name
	for _, n := range names {
		for len(n) > 0 {
			k := len(n)
			for k > 1 && !slices.ContainsFunc(texts, n[:k].in) {
				k--
			}
			out, n = append(out, n[:k]), n[k:]
		}
	}
	return out
}

// in reports whether a text holds the name whole, in any script.
func (n name) in(words []token) bool {
	for i := range words {
		if n.at(words[i:]) {
			return true
		}
	}
	// Where the text has it in another script, how it is read decides; a name too short to
	// go without its vowels is spelt.
	whole, read := strings.Join(n, ""), sounds
	if len(sounds(whole)) < minSounds {
		read = letters
		if whole != letters(whole) {
			return false
		}
	}
	want := read(whole)
	for i := range words {
		joined := ""
		for j := i; j < min(len(words), i+maxNameWords) && !ascii(words[j].fold); j++ {
			if joined += words[j].raw; read(joined) == want {
				return true
			}
		}
	}
	return false
}

func (n name) at(words []token) bool {
	if len(words) < len(n) {
		return false
	}
	for i, w := range n {
		t := words[i]
		same := t.fold == w || t.id == plainID(w) || bare(t.fold) == bare(w)
		if !same || !t.capital() && cased(t.raw) || i > 0 && words[i-1].breaks {
			return false
		}
	}
	return true
}

const (
	maxNameWords = 4
	minSounds    = 3
)

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) < 0
}

// cased reports whether a word is in a script with capital letters.
func cased(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsUpper(r) || unicode.IsLower(r) })
}

// bare is a word without the marks on its letters: josé is jose.
func bare(s string) string {
	if ascii(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(s))
}

// letters is a word of any script in Latin letters.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, strings.ToLower(unidecode.Unidecode(s)))
}

// sounds is what the ways to write a name in Latin letters have in common: its
// consonants, those that stand for one another made one, none of them twice.
func sounds(s string) string {
	w := letters(s)
	for _, pair := range [][2]string{{"ph", "f"}, {"sch", "s"}, {"ts", "z"}, {"tz", "z"}, {"x", "ks"}, {"mp", "b"}} {
		w = strings.ReplaceAll(w, pair[0], pair[1])
	}
	var out []byte
	for i := range len(w) {
		c := w[i]
		switch c {
		case 'a', 'e', 'i', 'o', 'u', 'y', 'w', 'j', 'h':
			continue
		case 'c', 'q', 'g':
			c = 'k'
		case 'v', 'f':
			c = 'b'
		case 'z':
			c = 's'
		case 'd':
			c = 't'
		}
		if c == 'p' {
			c = 'b'
		}
		if len(out) == 0 || out[len(out)-1] != c {
			out = append(out, c)
		}
	}
	return string(out)
}
