package match

import (
	"slices"
	"strings"
	"sync"
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
	// In another script the way it is read decides.
	want := sounds(strings.Join(n, ""))
	for i := range words {
		joined := ""
		for j := i; j < min(len(words), i+maxNameWords) && !ascii(words[j].fold); j++ {
			if joined += words[j].raw; len(want) >= minSounds && sounds(joined) == want {
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
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(s))
}

// sounds is what the ways to write a name in Latin letters have in common: its
// consonants, those that stand for one another made one, none of them twice.
func sounds(s string) string {
	s = digraphs().Replace(strings.ToLower(unidecode.Unidecode(s)))
	out := []byte(strings.Map(func(r rune) rune {
		if i := strings.IndexRune("bcdfgklmnpqrstvxz", r); i >= 0 {
			return rune("bktbkklmnbkrstbxs"[i])
		}
		return -1
	}, s))
	return string(slices.Compact(out))
}

var digraphs = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer("ph", "f", "sch", "s", "ts", "z", "tz", "z", "x", "ks", "mp", "b")
})
