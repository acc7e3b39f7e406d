package markdown

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestMerge(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, base, ours, theirs, want string }{
		{"keys and body", "---\nk: 1\nl: 2\n---\na\nb\n", "---\nk: 9\nl: 2\n---\na\nb\n", "---\nk: 1\nl: 8\n---\na\nB\n", "---\nk: 9\nl: 8\n---\na\nB\n"},
		{"sets", "---\ntags: [a, b]\n---\n", "---\ntags: [a, b, c]\n---\n", "---\ntags: [b, d]\n---\n", "---\ntags: [b, c, d]\n---\n"},
		{"set in two forms", "---\ntags: [a]\nk: 1\n---\n", "---\ntags:\n  - a\n  - 'b' # x\nk: 1\n---\n", "---\ntags: [a, c]\nk: 2\n---\n", "---\ntags:\n  - a\n  - 'b' # x\n  - c\nk: 2\n---\n"},
		{"set on both sides new", "---\nk: 1\n---\n", "---\nk: 1\naliases: [a]\n---\n", "---\nk: 1\naliases: [b]\n---\n", "---\nk: 1\naliases: [a, b]\n---\n"},
		{"later time", "---\nupdated: 2026-01-01\n---\n", "---\nupdated: 2026-03-01\n---\n", "---\nupdated: 2026-02-01\n---\n", "---\nupdated: 2026-03-01\n---\n"},
		{"a time and none", "---\nk: 1\nupdated: 2026-01-01\n---\n", "---\nk: 1\nupdated: 2026-03-01\n---\n", "---\nk: 2\n---\n", "---\nk: 2\nupdated: 2026-03-01\n---\n"},
		{"same change, other form", "---\nk: 1\nl: 1\n---\n", "---\nk: 'x'\nl: 1\n---\n", "---\nk: x\nl: 2\n---\n", "---\nk: 'x'\nl: 2\n---\n"},
		{"removed and added", "---\nk: 1\nl: 1\n---\n", "---\nl: 1\nm: 1\n---\n", "---\nk: 1\nl: 1\nn: 2\n---\n", "---\nl: 1\nn: 2\nm: 1\n---\n"},
		{"comments of both", "---\nk: 1\nl: 1\n---\n", "---\n# ours\nk: 2\nl: 1\n---\n", "---\n# theirs\nk: 1\nl: 2\n---\n", "---\n# ours\n# theirs\nk: 2\nl: 2\n---\n"},
		{"front matter added on one side", "x\n", "---\nk: 1\n---\nx\n", "x\ny\n", "---\nk: 1\n---\nx\ny\n"},
		{"front matter added on both", "x\n", "---\nk: 1\n---\nx\n", "---\nl: 1\n---\nx\n", "---\nl: 1\nk: 1\n---\nx\n"},
		{"line endings converted on one side", "---\nk: 1\nl: 1\n---\na\nb\n", "---\nk: 2\nl: 1\n---\nA\nb\n", "---\r\nk: 1\r\nl: 2\r\n---\r\na\r\nb\r\nc\r\n", "---\r\nk: 2\r\nl: 2\r\n---\r\nA\r\nb\r\nc\r\n"},
		{"BOM stays", "\xEF\xBB\xBFa\nb\nc\n", "\xEF\xBB\xBFA\nb\nc\n", "\xEF\xBB\xBFa\nb\nC", "\xEF\xBB\xBFA\nb\nC"},
		{"append without final newline", "a\nb", "A\nb", "a\nb\nc\n", "A\nb\nc\n"},
		{"neighbouring lines", "a\nb\nc\n", "A\nb\nc\n", "a\nB\nc\n", "A\nB\nc\n"},
		{"identical edits", "a\nb\nc\n", "a\nX\nc\n1\n", "0\na\nX\nc\n", "0\na\nX\nc\n1\n"},
		{"both delete, one edits elsewhere", "a\nb\nc\nd\n", "a\nc\nd\n", "a\nc\nD\n", "a\nc\nD\n"},
		{"unreadable front matter, by lines", "---\nk: [\n---\na\nb\n", "---\nk: [\n---\nA\nb\n", "---\nk: [\n---\na\nB\n", "---\nk: [\n---\nA\nB\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, conflicts := merge([]byte(tc.base), []byte(tc.ours), []byte(tc.theirs))
			if len(conflicts) > 0 || string(got) != tc.want {
				t.Errorf("%q %+v, want %q", got, conflicts, tc.want)
			}
		})
	}
}

// merge is Merge with a rule for the keys of the cases.
func merge(base, ours, theirs []byte) ([]byte, []Conflict) {
	return Merge(base, ours, theirs, func(key string) KeyMerge {
		switch key {
		case "categories", "tags", "aliases", "supersedes":
			return Union
		case "updated":
			return Later
		}
		return Refuse
	})
}

func TestMergeConflicts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, base, ours, theirs string
		want                     []Conflict
	}{
		{"scalar", "---\nkind: fact\n---\n", "---\nkind: event\n---\n", "---\nkind: routine\n---\n", []Conflict{{`front matter key "kind"`, "fact", "event", "routine"}}},
		{"removed and changed", "---\nk: 1\n---\n", "---\n---\n", "---\nk: 2\n---\n", []Conflict{{`front matter key "k"`, "1", "", "2"}}},
		{"ordered list", "---\nk: [a]\n---\n", "---\nk: [a, b]\n---\n", "---\nk: [a, c]\n---\n", []Conflict{{`front matter key "k"`, "a", "a, b", "a, c"}}},
		{"lines", "---\nk: 1\n---\na\nb\nc\n", "---\nk: 1\n---\na\nX\nY\nc\n", "---\nk: 1\n---\na\nZ\nc\n", []Conflict{{"lines 5-6", "b\n", "X\nY\n", "Z\n"}}},
		{"two appends", "a\n", "a\nb\n", "a\nc\n", []Conflict{{"line 2", "", "b\n", "c\n"}}},
		{"edited and deleted", "a\nb\nc\n", "a\nc\n", "a\nB\nc\n", []Conflict{{"before line 2", "b\n", "", "B\n"}}},
		{"key and line", "---\nk: 1\n---\na\n", "---\nk: 2\n---\nb\n", "---\nk: 3\n---\nc\n", []Conflict{{`front matter key "k"`, "1", "2", "3"}, {"line 4", "a\n", "b\n", "c\n"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, conflicts := merge([]byte(tc.base), []byte(tc.ours), []byte(tc.theirs))
			if got != nil || fmt.Sprint(conflicts) != fmt.Sprint(tc.want) {
				t.Errorf("%q %q, want %q", got, conflicts, tc.want)
			}
		})
	}
}

// Edits of different places always merge, whatever the two sides are called, and
// the result has both.
func TestMergeProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		n := rapid.IntRange(3, 20).Draw(t, "lines")
		cut := rapid.IntRange(1, n-2).Draw(t, "cut") // this line stays
		base, ours, theirs, both := []string{}, []string{}, []string{}, []string{}
		for i := range n {
			line := fmt.Sprintf("line %d", i)
			edited := rapid.SampledFrom([][]string{{line}, {}, {"x" + line}, {line, "y" + line}, {"z" + line, line}}).Draw(t, "edit")
			base = append(base, line)
			switch {
			case i < cut:
				ours, theirs, both = append(ours, edited...), append(theirs, line), append(both, edited...)
			case i > cut:
				ours, theirs, both = append(ours, line), append(theirs, edited...), append(both, edited...)
			default:
				ours, theirs, both = append(ours, line), append(theirs, line), append(both, line)
			}
		}
		final := rapid.SampledFrom([]string{"", eol}).Draw(t, "final")
		file := func(front string, lines []string) []byte {
			return []byte(strings.ReplaceAll(front, "\n", eol) + strings.Join(lines, eol) + final)
		}
		b, o := file("---\nk: 1\nl: 1\n---\n", base), file("---\nk: 2\nl: 1\n---\n", ours)
		th, want := file("---\nk: 1\nl: 2\n---\n", theirs), file("---\nk: 2\nl: 2\n---\n", both)
		if got, conflicts := merge(b, o, th); len(conflicts) > 0 || !bytes.Equal(got, want) {
			t.Fatalf("Merge(%q, %q, %q) = %q, %v, want %q", b, o, th, got, conflicts, want)
		}
		if got, conflicts := merge(b, th, o); len(conflicts) > 0 || !bytes.Equal(got, want) {
			t.Fatalf("the other way round: %q, %v, want %q", got, conflicts, want)
		}
	})
}

func benchFile() []byte {
	return []byte("---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1f\nkind: fact\ncategories: [mysql, migration]\nimportance: 0.7\n" +
		"created: 2026-01-09T14:02:11Z\nupdated: 2026-01-09T14:02:11Z\n---\n# MySQL\n\n" +
		strings.Repeat("Production runs on [[MySQL]] 8.4 since 9 January; see [notes](notes.md). #db\n\n", 12))
}

func BenchmarkParseFrontMatter(b *testing.B) {
	src := benchFile()
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if v, ok := Parse(src).Meta("kind"); !ok || v.Text() != "fact" {
			b.Fatal("kind is not read")
		}
	}
}

func BenchmarkParseFull(b *testing.B) {
	src := benchFile()
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if d := Parse(src); len(d.Links()) != 24 || len(d.Tags()) != 3 {
			b.Fatal("links or tags are not read")
		}
	}
}

func BenchmarkMerge(b *testing.B) {
	base := benchFile()
	ours := bytes.Replace(base, []byte("fact"), []byte("event"), 1)
	theirs := append(bytes.Clone(base), "more\n"...)
	b.SetBytes(int64(len(base)))
	for b.Loop() {
		if _, conflicts := merge(base, ours, theirs); len(conflicts) > 0 {
			b.Fatal(conflicts)
		}
	}
}
