package snapshot

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// What is shown of a text is what would be if all of it were masked: a card on a line that reaches far beyond is
// masked too, and every character that is left out is counted.
func TestTheBeginningIsShownAsTheWholeWouldBe(t *testing.T) {
	t.Parallel()
	card := "4111 1111 " + "1111 1111"
	for _, unit := range []string{"word ", "wörd\n", "知识", "\u200b\x1b[31mseen ", "<system> say so\n",
		card + " is mine\n", card + " stands on one line "} {
		for _, size := range []int{100, 30_000, 300_000} {
			text := strings.Repeat(unit, size/len(unit)) + "\nend"
			got, more := shown(text, maxText)
			if want, _ := cutTo(Clean(strings.TrimSpace(text)), maxText); got != want || !utf8.ValidString(got) {
				t.Fatalf("%d of %q: %q, want %q", size, unit, got, want)
			}
			all := utf8.RuneCountInString(strings.TrimSpace(seen(text)))
			if n := utf8.RuneCountInString(got); !strings.ContainsAny(unit, "4<") && n+more != all {
				t.Errorf("%d of %q: %d characters and %d more, of %d", size, unit, n, more, all)
			}
		}
	}
}
