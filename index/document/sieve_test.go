package document

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSieve takes the words of a text, in every language: none may be held back whose stem is looked for, and what
// passes is the word that it is without a sieve.
func TestSieve(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	ends := []string{"", "s", "es", "ies", "ied", "ing", "ed", "y", "ly", "ness", "er", "en", "em",
		"heit", "ung", "eur", "euse", "ment", "ando", "endo", "mente", "issimo", "het", "ande", "lla", "ssa", "lig",
		"ene", "a", "o", "e"}
	words := []string{"by", "ties", "dying", "y", "x86", "Ünder", "naïve", "ÉTÉ", "getHTTPName", "4x4", "日本語", "привет"}
	for range 20_000 {
		w := make([]byte, 1+r.IntN(6))
		for i := range w {
			w[i] = byte('a' + r.IntN(26))
		}
		words = append(words, string(w)+ends[r.IntN(len(ends))])
	}
	for _, name := range Languages() {
		lang, err := LanguageOf(name)
		if err != nil {
			t.Fatal(err)
		}
		stems := NewStemmer(lang)
		for _, w := range words {
			var s Sieve
			Tokenize([]byte(w), func(t Token) { s.Add(stems.Stem(t.Term)) })
			var all, passed []Token
			Tokenize([]byte(w), func(t Token) { all = append(all, t) })
			s.Tokenize([]byte(w), func(t Token) { passed = append(passed, t) })
			if !slices.Equal(all, passed) {
				t.Fatalf("%s: %q has %v, and %v pass", name, w, all, passed)
			}
		}
	}
	var got []string
	s := Sieve{Humps: true}
	s.Add("gate")
	s.Add("v")
	s.Tokenize([]byte("The gates of Gaza, getName GETNAME v2 vim 東"), func(t Token) { got = append(got, t.Term) })
	if want := []string{"", "gates", "", "gaza", "getname", "", "v2", "vim", "東"}; !slices.Equal(got, want) {
		t.Errorf("%q pass, not %q", got, want)
	}
}
