package markdown

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

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

func TestFirstWordsOfPlainTextAreThoseOfParsedText(t *testing.T) {
	t.Parallel()
	parts := append(strings.Split("a Gate 知识 é 1 - = === : . 1. + ! ( ) \" ' @ a@b.cd https://a.bc www.a.bc % ^ {"+
		" } / ; * # | \\ --- %% ... -- `` < &amp; [ ~~", " "), " ", "  ", "    ", "- ", ": x", "\t", "\n",
		"\n\n", "\r\n", "\u00a0", "\u2028")
	rapid.Check(t, func(t *rapid.T) {
		body := []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 12).Draw(t, "parts"), ""))
		got, plain := plainStart(body)
		if !plain {
			return
		}
		root, _ := markdownEngine().parse(body)
		want := firstText(root, body)
		if takeWords(got, len(body)) != takeWords(want, len(body)) {
			t.Fatalf("%q reads as %q, parsed as %q", body, got, want)
		}
	})
}
