package query

import (
	"math/rand/v2"
	"testing"
)

func TestIsSimilar(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		word, term string
		want       bool
	}{
		{"databse", "database", true}, {"dtaabase", "database", true}, {"dtabse", "database", false}, {"datbaes", "database", false},
		{"migratoin", "migration", true}, {"migartoin", "migration", true}, {"word", "ward", true}, {"word", "wade", false},
		{"ostgres", "postgres", false}, {"naive", "native", true}, {"word", "wo", false}, {"über", "uber", false},
	} {
		if got := isSimilar(tc.word, tc.term); got != tc.want {
			t.Errorf("isSimilar(%q, %q) = %v", tc.word, tc.term, got)
		}
	}
}

// The automaton that steers through the dictionary lets everything pass that
// isSimilar accepts.
func TestTheAutomatonMissesNothingSimilar(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 9))
	letters := []rune("abcdé")
	draw := func() string {
		out := []rune{'a'}
		for range 3 + r.IntN(7) {
			out = append(out, letters[r.IntN(len(letters))])
		}
		return string(out)
	}
	similar := 0
	for range 300 {
		word := draw()
		dfa := similarAutomaton(word)
		for range 200 {
			term := draw()
			if r.IntN(2) == 0 { // a near one
				runes := []rune(word)
				i := 1 + r.IntN(len(runes)-1)
				runes[i], runes[i-1+r.IntN(2)] = letters[r.IntN(len(letters))], runes[i]
				term = "a" + string(runes[1:])
			}
			if !isSimilar(word, term) {
				continue
			}
			similar++
			at := dfa.Start()
			for i := range len(term) {
				at = dfa.Accept(at, term[i])
			}
			if !dfa.IsMatch(at) {
				t.Fatalf("%q is similar to %q, but the automaton refuses it", term, word)
			}
		}
	}
	if similar < 1000 {
		t.Errorf("only %d similar pairs were drawn", similar)
	}
}
