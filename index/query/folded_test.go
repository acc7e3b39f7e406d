package query

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestContainsFolded compares with the plain way: both in small letters, with one space for any white space.
func TestContainsFolded(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	draw := func(n int, from string) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = from[r.IntN(len(from))]
		}
		return string(b)
	}
	found := 0
	for range 50_000 {
		text := draw(r.IntN(30), "aAzZ- e\n\t")
		pattern := strings.Join(strings.Fields(draw(1+r.IntN(5), "aAzZ- e")), " ")
		if pattern == "" {
			continue
		}
		folded := strings.NewReplacer("\n", " ", "\t", " ").Replace(strings.ToLower(text))
		for strings.Contains(folded, "  ") {
			folded = strings.ReplaceAll(folded, "  ", " ")
		}
		want := strings.Contains(folded, strings.ToLower(pattern))
		if got := containsFolded([]byte(text), pattern); got != want {
			t.Fatalf("%q in %q: %v", pattern, text, got)
		}
		if want {
			found++
		}
	}
	if found < 1000 {
		t.Errorf("%d of the patterns stand in their texts", found)
	}
}
