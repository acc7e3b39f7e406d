package markdown

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// A file of a few kilobytes must not keep a command busy. The bound is a hundred
// times what these take, and a hundredth of what they took.
func TestDeepNestingIsReadInNoTime(t *testing.T) {
	t.Parallel()
	deep := map[string]string{
		"bullets on a line":    strings.Repeat("- ", 2500) + "end\n",
		"numbers on a line":    strings.Repeat("1. ", 2500) + "end\n",
		"quotations on a line": strings.Repeat("> ", 2500) + "end\n",
		"mixed on a line":      strings.Repeat("> - 1. ", 800) + "end\n",
		"many lines of them":   strings.Repeat(strings.Repeat("- ", 300)+"end\n", 100),
	}
	var indented, quoted strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&indented, "%s- item %d\n", strings.Repeat("  ", i), i)
		fmt.Fprintf(&quoted, "%s item %d\n", strings.Repeat(">", i+1), i)
	}
	deep["indented"], deep["quoted"] = indented.String(), quoted.String()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 10 {
		var b strings.Builder
		for b.Len() < 5000 {
			b.WriteString([]string{"- ", "* ", "1. ", "> ", "  ", "+ ", "\n", "-\n", "x"}[random.IntN(9)])
		}
		deep[fmt.Sprintf("at random %d", i)] = b.String()
	}
	for name, text := range deep {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			doc := Parse([]byte(text + "\n\n# Behind\n\n[[link]]\n"))
			doc.Links()
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("%d bytes took %s", len(text), took)
			}
		})
	}
}

func TestWhatIsNestedTooDeeplyIsTextAndWarnedOf(t *testing.T) {
	t.Parallel()
	src := []byte("# Top\n\n" + strings.Repeat("- ", maxDepth+1) + "end\n\n# Behind\n\n[[link]]\n")
	doc := Parse(src)
	if !bytes.Equal(doc.Bytes(), src) || len(doc.outline().headings) != 2 || len(doc.Links()) != 1 {
		t.Errorf("headings %v, links %v, want two and one", doc.outline().headings, doc.Links())
	}
	if w := doc.Warnings(); len(w) != 1 || w[0].Line != 3 || !strings.Contains(w[0].Text, "read as text") {
		t.Errorf("warnings %v, want one about line 3", w)
	}
	fine := Parse([]byte(strings.Repeat("- ", maxDepth-1) + "end\n"))
	if w := fine.Warnings(); len(w) != 0 {
		t.Errorf("warnings %v, want none", w)
	}
	if items := Parse([]byte("- a\n- b\n  - c\n")).Entries(); len(items) != 2 {
		t.Errorf("entries %v, want two", items)
	}
}
