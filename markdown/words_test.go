package markdown

import "testing"

func TestEditsCountUpToABound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		most int
		want int
	}{
		{"", "", 0, 0}, {"gate", "gate", 0, 0}, {"gate", "gaet", 3, 1}, {"gate", "gat", 3, 1}, {"gate", "gates", 3, 1},
		{"größe", "grösse", 3, 2}, {"kitten", "sitting", 3, 3}, {"ab", "ba", 1, 1},
	} {
		if got := Edits(c.a, c.b, c.most); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
		if got := Edits(c.b, c.a, c.most); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.b, c.a, got, c.want)
		}
	}
	for _, b := range []string{"", "x", "sitting down", "entirely another"} {
		if got := Edits("kitten", b, 2); got <= 2 {
			t.Errorf("kitten to %q: %d, want more than 2", b, got)
		}
	}
}
