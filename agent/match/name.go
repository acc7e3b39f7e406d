package match

import (
	"slices"
	"strings"
	"unicode"

	"github.com/mozillazg/go-unidecode"
	"golang.org/x/text/unicode/norm"
)

// A name is words with capital letters that stand together: "John Smith".
type name struct {
	words []string // folded
	// capital is whether it has to be written with a capital letter: Frank is not
	// frank. A name in a script that has none is not asked for one.
	capital bool
}

// joined divides names that no text has in one piece: "Professor Smith Harvard" is
// two, where texts know a Professor Smith.
func joined(names []name, texts []*reading) []name {
	some := func(n name) bool { return slices.ContainsFunc(texts, func(r *reading) bool { return n.in(r.words) }) }
	var out []name
	for _, n := range names {
		for len(n.words) > 0 {
			k := len(n.words)
			for k > 1 && !some(name{n.words[:k], n.capital}) {
				k--
			}
			out = append(out, name{n.words[:k], n.capital})
			n.words = n.words[k:]
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
	return n.read(words)
}

func (n name) at(words []token) bool {
	if len(words) < len(n.words) {
		return false
	}
	for i, w := range n.words {
		t := words[i]
		if t.fold != w && t.id != plainID(w) && bare(t.fold) != bare(w) || n.capital && !t.capital() && cased(t.raw) || i > 0 && words[i-1].breaks {
			return false
		}
	}
	return true
}

// read compares by how a name is read where the text has it in another script.
func (n name) read(words []token) bool {
	want := sounds(strings.Join(n.words, ""))
	if len(want) < minSounds {
		return n.spelt(words)
	}
	return n.foreign(words, func(s string) bool { return sounds(s) == want })
}

// spelt is read for a name too short to go without its vowels.
func (n name) spelt(words []token) bool {
	want := strings.Join(n.words, "")
	return n.foreign(words, func(s string) bool { return letters(s) == want })
}

func (n name) foreign(words []token, same func(string) bool) bool {
	for i := range words {
		joined := ""
		for j := i; j < min(len(words), i+maxNameWords); j++ {
			if ascii(words[j].fold) {
				break
			}
			joined += words[j].raw
			if same(joined) {
				return true
			}
		}
	}
	return false
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
