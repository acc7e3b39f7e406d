package markdown

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// nasty is what hostile Markdown is put together from.
func nasty() []string {
	return strings.Split("[ ] ( ) ![ [[ ]] ]( ](b) ](b\u00a0\" < > <a <a\u00a0b=\" <!-- --> <? ?> <![CDATA[ <div>\n "+
		"* ** _ __ ~~ ` `` ``` | \\| |-|\n "+
		"\n \n\n \u00a0 # #\u00a0 -\u00a0 *\u00a0 1.\u00a0 >\u00a0 \n>\u00a0 \n-\u00a0 \n\t-\u00a0 [a]:\u00a0b\n "+
		"[^1]:\u00a0b\n [a] {#a} \\ \\\\ &amp; &# "+
		"http:// www. a@b.c ===\n ---\n \r\n \u00a0\u00a0\n \" ' = a a.b é \x00 \xff", " ")
}

// hostile makes a document of about size bytes: a few pieces of nasty, repeated,
// nested, or one kind behind the other.
func hostile(r *rand.Rand, size int) string {
	all := nasty()
	pick := func() string {
		var b strings.Builder
		for range 1 + r.IntN(4) {
			b.WriteString(strings.ReplaceAll(all[r.IntN(len(all))], "\u00a0", " "))
		}
		return b.String()
	}
	unit := pick()
	switch r.IntN(3) {
	case 1:
		return strings.Repeat(unit, size/2/len(unit)) + pick() + strings.Repeat(pick(), size/8)
	case 2:
		n := 1 << r.IntN(12)
		unit = strings.Repeat(unit, n) + pick() + strings.Repeat(pick(), n)
	}
	return strings.Repeat(unit, size/len(unit)+1)
}

// readAll asks for all that is derived from a document.
func readAll(src []byte) *Document {
	d := Parse(src)
	_, _, _, _, _ = d.Links(), d.Tags(), d.Sections(), d.Entries(), FirstWords(d.Body(), 8)
	return d
}

// A quarter of a megabyte is read in a moment whatever it says. The bound is
// twenty times what these take, and a fifth of what the first of them took.
func TestHostileMarkdownIsReadInLinearTime(t *testing.T) {
	t.Parallel()
	const size = 1 << 18
	texts := map[string]string{
		"code": strings.Repeat(strings.Repeat("``1. |\n", 128)+")"+strings.Repeat("\\``: ", 128), size>>11),
		"wide table": "|" + strings.Repeat("a|", 2000) + "\n|" + strings.Repeat("-|", 2000) + "\n" +
			strings.Repeat("|\n", size/4),
	}
	for _, unit := range []string{
		"![a](", "[a](<", "[a](b(", "*a_", "a**b_", "[a]: b\n", "[a]\n", "[a](b \"", "~~", "[[[a](b)",
		"|`\\|`", "- a\n", "[", "#\n", "[^a]: b\n",
	} {
		texts[unit] = strings.Repeat(unit, size/len(unit))
	}
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 60 {
		texts[fmt.Sprintf("at random %d", i)] = hostile(random, size)
	}
	for name, text := range texts {
		began := time.Now()
		if d := readAll([]byte(text)); !bytes.Equal(d.Bytes(), []byte(text)) {
			t.Errorf("%q: the bytes changed", name)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%q: %d bytes took %s", name, len(text), took)
		}
	}
}

// What the budget does not cover is named, and what stands before it is read.
func TestWhatIsTooMuchIsNamed(t *testing.T) {
	t.Parallel()
	d := Parse([]byte("# Top\n\n[[first]]\n\n" + strings.Repeat("[a](", 1<<15)))
	if line, what := d.Unread(); line != 5 || what == "" || len(d.Links()) != 1 || d.Title() != "Top" {
		t.Errorf("unread %d %q, links %v, title %q", line, what, d.Links(), d.Title())
	}
	long := Parse([]byte("---\ntags: [" + strings.Repeat("a,", maxFrontMatter/2) + "]\n---\n# Top\n"))
	if err := long.FrontMatterError(); err == nil || long.Title() != "Top" || !long.Private() {
		t.Errorf("front matter of %d bytes: %v, title %q, private %v", len(long.Bytes()), err, long.Title(), long.Private())
	}
	plain := strings.Repeat("A paragraph with *two* **marks**, a [link](a.md \"title\"), and [[wiki]].\n\n"+
		"- item\n- item\n\n| a | b |\n|---|---|\n| c | d |\n\n", 8000)
	d = Parse([]byte(plain))
	if line, what := d.Unread(); line != 0 || len(d.Links()) != 16000 {
		t.Errorf("an ordinary megabyte: unread %d %q, %d links", line, what, len(d.Links()))
	}
}

// Wherever the budget ends, the reader only stops.
func FuzzBudget(f *testing.F) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, s := range seeds() {
		f.Add([]byte(s), uint16(random.IntN(1<<14)))
		f.Add([]byte(hostile(random, 1<<10)), uint16(random.IntN(1<<14)))
	}
	f.Fuzz(func(t *testing.T, body []byte, steps uint16) {
		root, found := markdownEngine().within(int(steps), body)
		_ = plainText(root, body)
		if found.blocks < 0 || found.marks < 0 {
			t.Errorf("the budget is overdrawn: %d, %d", found.blocks, found.marks)
		}
		full, _ := markdownEngine().within(1<<30, body)
		if steps == 1<<16-1 && len(body) < 64 && plainText(full, body) != plainText(root, body) {
			t.Errorf("a small text is read otherwise with a budget: %q", body)
		}
	})
}
