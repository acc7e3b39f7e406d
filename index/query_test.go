package index

import (
	"strings"
	"testing"
	"time"
)

func TestEveryTextIsAQuery(t *testing.T) {
	t.Parallel()
	x := open(t, newFolder(t, smallVault()))
	for _, text := range []string{
		"", " ", `"`, `""`, `"unclosed phrase`, "+", "-", "*", "**", "+-", "--help", "a:b:c", "kind:", "scope:", `kind:"a b"`,
		"(a OR b) AND NOT c", "a^2 b~1 [x TO y]", "{}", "\\", "\x00\x01", "\xff\xfe", "the of and", "-the", "+the", "🎉🎉🎉", "数",
		strings.Repeat("word ", 5000), strings.Repeat("x", 100000), strings.Repeat("\"", 9999), "NEAR/3", "col:val*", "'; DROP TABLE notes; --",
	} {
		res := ask(t, x, Query{Text: text})
		if res.Degraded != "" {
			t.Errorf("%.30q: degraded: %s", text, res.Degraded)
		}
	}
}

func FuzzQuery(f *testing.F) {
	for _, s := range []string{"which database?", `"a b" +c -d e*`, "kind:fact scope:/a/b tag:x", "数据库", "\xff", `-"`, "C++ foo_bar.baz"} {
		f.Add(s)
	}
	src := newFolder(f, smallVault())
	x, err := Open(src, Options{Now: time.Now})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { x.Close() })
	f.Fuzz(func(t *testing.T, text string) {
		got := ask(t, x, Query{Text: text, Limit: -1})
		if got.Degraded != "" {
			t.Fatalf("degraded: %s", got.Degraded)
		}
		sameAnswer(t, text, got, fromFiles(t, src, Query{Text: text, Limit: -1}))
		for _, h := range got.Hits {
			for _, r := range h.Highlights {
				if r.Start < 0 || r.End > len(h.Snippet) || r.Start >= r.End {
					t.Fatalf("highlight %v of %q", r, h.Snippet)
				}
			}
		}
	})
}
