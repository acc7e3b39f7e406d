package notebook

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stet/markdown"
)

// Whatever the file looks like, making room takes whole entries and nothing
// else, never a pinned one, never more than it must, the least valuable first.
func TestMakingRoomTakesEntriesAndNothingElse(t *testing.T) {
	t.Parallel()
	blocks := []string{
		"- a one\n", "- [fact] b two\n- [preference] c three\n", "* [instruction] d four\n", "1. e five\n2. f six\n", "- [ ] g seven\n",
		"- h eight\n  - nested\n\n  paragraph\n", "- i nine\n\n- j ten\n", "# Title\n", "## Pinned\n", "## Topic\n", "text\n", "> - quoted\n",
		"```\n- code\n```\n", "<!-- - hidden -->\n", "| x |\n|---|\n| - y |\n", "---\n", "- k\nlazy\n", "- ```\n  open\n", "text\n- l\n", "Head\n===\n", "\n",
	}
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 12).Draw(t, "blocks") {
			b.WriteString(rapid.SampledFrom(blocks).Draw(t, "block"))
			if rapid.Bool().Draw(t, "apart") {
				b.WriteString("\n")
			}
		}
		page := b.String()
		if rapid.Bool().Draw(t, "crlf") {
			page = strings.ReplaceAll(page, "\n", "\r\n")
		}
		before := markdown.Parse([]byte(page))
		origins := map[string]origin{}
		for i, e := range before.Entries() {
			if i%3 > 0 {
				origins[e.Text] = origin{when: time.Unix(int64(i*7%5), 0)}
			}
		}
		target := rapid.IntRange(0, characters(before.Entries())).Draw(t, "target")
		list := candidates(before.Entries(), origins, "e five", false, false)
		doc := markdown.Parse([]byte(page))
		gone, err := makeRoom(doc, list, target)
		if err != nil {
			t.Fatal(err)
		}
		checkRoom(t, before, doc, list, gone, target)
	})
}

func checkRoom(t *rapid.T, before, doc *markdown.Document, list, gone []candidate, target int) {
	t.Helper()
	left, taken := map[string]int{}, 0
	for _, e := range before.Entries() {
		left[strings.Join(e.Under, "/")+"\x00"+e.Text]++
	}
	for _, c := range gone {
		if c.entry.Pinned() || c.entry.Text == "e five" {
			t.Fatalf("%q went", c.entry.Text)
		}
		left[strings.Join(c.entry.Under, "/")+"\x00"+c.entry.Text]--
		taken += c.entry.Characters()
	}
	for _, e := range doc.Entries() {
		left[strings.Join(e.Under, "/")+"\x00"+e.Text]--
	}
	for key, n := range left {
		if n != 0 {
			t.Fatalf("%q: %d too many or few", key, n)
		}
	}
	if got, want := rest(doc), rest(before); got != want {
		t.Fatalf("other text is %q, was %q", got, want)
	}
	total := characters(doc.Entries())
	if total > target && len(gone) < len(list) {
		// Only what cannot be taken without harm may have stayed.
		for _, c := range list {
			if !slices.ContainsFunc(gone, func(x candidate) bool { return x.ordinal == c.ordinal }) && take(markdown.Parse(doc.Bytes()), c.entry) == nil {
				t.Fatalf("%d characters are left, the target is %d, and %q stayed", total, target, c.entry.Text)
			}
		}
	}
	for _, c := range gone {
		if total+c.entry.Characters() <= target {
			t.Fatalf("%q need not have gone", c.entry.Text)
		}
	}
}

// rest is everything but entries and blank lines.
func rest(d *markdown.Document) string {
	var b strings.Builder
	at := 0
	keep := func(part []byte) {
		for line := range strings.Lines(string(part)) {
			if text := strings.TrimSpace(line); text != "" {
				b.WriteString(text + "\n")
			}
		}
	}
	for _, e := range d.Entries() {
		keep(d.Bytes()[at:e.Start])
		at = e.End
	}
	keep(d.Bytes()[at:])
	return b.String()
}
