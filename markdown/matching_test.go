package markdown

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestUnchangedPairsTheLinesThatStay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, a, b string
		want       []int
	}{
		{"equal", "a\nb\n", "a\nb\n", []int{0, 1}},
		{"from nothing", "", "a\nb\n", []int{-1, -1}},
		{"to nothing", "a\n", "", []int{}},
		{"one line put in", "a\nb\n", "a\nx\nb\n", []int{0, -1, 1}},
		{"first line gone, last line new", "a\nb\nc\n", "b\nc\nd\n", []int{1, 2, -1}},
		{"a final newline makes another line", "a\nb", "a\nb\n", []int{0, -1}},
	} {
		if got := Unchanged([]byte(c.a), []byte(c.b)); !slices.Equal(got, c.want) {
			t.Errorf("%s: Unchanged(%q, %q) = %v, want %v", c.name, c.a, c.b, got, c.want)
		}
	}
}

// Whatever the texts are, a pair is a pair of equal lines, in order.
func TestUnchangedLinesAreEqualAndInOrder(t *testing.T) {
	t.Parallel()
	text := rapid.Custom(func(rt *rapid.T) []byte {
		var b []byte
		for _, l := range rapid.SliceOfN(rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "\n"}), 0, 12).Draw(rt, "lines") {
			b = append(b, l...)
		}
		return b
	})
	rapid.Check(t, func(rt *rapid.T) {
		a, b := text.Draw(rt, "a"), text.Draw(rt, "b")
		before, after, last := Lines(a), Lines(b), -1
		for j, i := range Unchanged(a, b) {
			if i < 0 {
				continue
			}
			if i <= last || string(before[i]) != string(after[j]) {
				rt.Fatalf("line %d of %q paired with line %d of %q", j, b, i, a)
			}
			last = i
		}
	})
}
