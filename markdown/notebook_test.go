package markdown

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

// brief is an entry in one line: address aside, all that a reader sees of it.
func brief(e Entry) string {
	s := strings.ReplaceAll(e.Text, "\n", "⏎")
	if e.Kind != "" {
		s += " {" + e.Kind + "}"
	}
	if e.Task {
		s += " {task}"
	}
	if len(e.Under) > 0 {
		s += " @" + strings.Join(e.Under, "/")
	}
	return s
}

func briefs(d *Document) []string {
	var out []string
	for _, e := range d.Entries() {
		out = append(out, brief(e))
	}
	return out
}

func TestEntriesAreTheListItemsOfTheDocumentItself(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"markers", "- a\n* b\n+ c\n1. d\n2) e\n", []string{"a", "b", "c", "d", "e"}},
		{"empty file", "", nil},
		{"no list", "# T\n\ntext\n\n> - quoted\n\n```\n- code\n```\n<!--\n- hidden\n-->\n\n    - indented code\n", nil},
		{"continuation", "- a\n  b\nlazy\n\n  para\n\n  ```\n  - code\n\n  # code\n  ```\n- c", []string{"a⏎b⏎lazy⏎⏎para⏎⏎```⏎- code⏎⏎# code⏎```", "c"}},
		{"nested", "- a\n  - b\n    1. c\n- d\n", []string{"a⏎- b⏎  1. c", "d"}},
		{"sub-item by one blank is none", "- a\n - b\n", []string{"a", "b"}},
		{"text behind the list is not its", "- a\n\ntext\n", []string{"a"}},
		{"headings", "- 0\n# A\n- a\n### B\n- b\n## C\n- c\n\nD\n===\n- d\n", []string{"0", "a @A", "b @A/B", "c @A/C", "d @D"}},
		{"heading in an item is text", "- # x\n- y\n", []string{"# x", "y"}},
		{"kinds", "- [fact] a\n- [Präferenz] b\n- [OK] c\n- [a](u) d\n- [a][b] e\n- [^1] f\n- [[w]] g\n- [x] h\n- [ ] [fact] i\n- [-] j\n- [/] k\n- [two words] l\n- [fact]\n- [fact]: x\n",
			[]string{"[fact] a {fact}", "[Präferenz] b {präferenz}", "[OK] c {ok}", "[a](u) d", "[a][b] e", "[^1] f", "[[w]] g",
				"[x] h {task}", "[ ] [fact] i {fact} {task}", "[-] j {task}", "[/] k {task}", "[two words] l", "[fact]", "[fact]: x"}},
		{"CRLF and BOM", "\xEF\xBB\xBF---\r\nid: 1\r\n---\r\n- a\r\n  b\r\n\r\n- c\r\n", []string{"a⏎b", "c"}},
		{"tabs", "-\ta\n\tb\n\n\t\tcode\n-\tc\n", []string{"a⏎b⏎⏎\tcode", "c"}},
		{"wide gap", "-    a\n     b\n-     code\n", []string{"a⏎b", "    code"}},
		{"empty items", "-\n- a\n-\n\n  b\n", []string{"", "a", ""}},
		{"text on the second line", "-\n  b\n", []string{"b"}},
		{"table", "| a | b |\n|---|---|\n| - x | y |\n- z\n| q |\n", []string{"z⏎| q |"}},
		{"setext", "- a\n---\n- b\n", []string{"a", "b"}},
		{"definition", "- a\n\n[x]: y\n\n- b\n", []string{"a", "b"}},
		{"HTML between", "- a\n<div>\n- no\n</div>\n\n- b\n", []string{"a", "b"}},
		{"trailing blanks", "- a  \n  \n\t\n- b \t", []string{"a", "b"}},
		{"unclosed fence", "- ```\n  x\n\ny\n", []string{"```⏎x"}},
	} {
		if got := briefs(Parse([]byte(c.in))); !slices.Equal(got, c.want) {
			t.Errorf("%s: entries of %q are\n%q, want\n%q", c.name, c.in, got, c.want)
		}
	}
}

func TestEntryAddressIsTheHashOfItsTextInNFC(t *testing.T) {
	t.Parallel()
	composed, apart := Parse([]byte("- caf\u00e9\n")), Parse([]byte("3)   cafe\u0301\r\n"))
	a, b := composed.Entries()[0], apart.Entries()[0]
	// The first digits of: printf 'caf\xc3\xa9' | sha256sum
	if a.Hash() != "850f7dc4" || a.Hash() != b.Hash() {
		t.Errorf("hashes %s and %s", a.Hash(), b.Hash())
	}
	if a.Characters() != 4 || b.Characters() != 5 {
		t.Errorf("%d and %d characters, want the code points 4 and 5", a.Characters(), b.Characters())
	}
}

func TestPinnedIsAHeadingInAnyDress(t *testing.T) {
	t.Parallel()
	d := Parse([]byte("- a\n## 📌 Pinned:\n- b\n### deeper\n- c\n## Pinned down\n- d\n# **PINNED**\n- e\n"))
	var got []bool
	for _, e := range d.Entries() {
		got = append(got, e.Pinned())
	}
	if want := []bool{false, true, true, false, true}; !slices.Equal(got, want) {
		t.Errorf("pinned: %v, want %v", got, want)
	}
}

func TestAddKeepsTheWayTheFileIsWritten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, text, under, want string }{
		{"new file", "", "a", "", "- a\n"},
		{"behind the last", "- a\n", "b", "", "- a\n- b\n"},
		{"no final newline", "* a", "b", "", "* a\n* b"},
		{"CRLF", "+ a\r\n", "b\nc", "", "+ a\r\n+ b\r\n  c\r\n"},
		{"CRLF without the last", "# T\r\n\r\n- a", "b", "", "# T\r\n\r\n- a\r\n- b"},
		{"loose", "- a\n\n- b\n\ntext\n", "c", "", "- a\n\n- b\n\n- c\n\ntext\n"},
		{"numbers go on", "1. a\n2. b\n", "c", "", "1. a\n2. b\n3. c\n"},
		{"numbers all one", "1) a\n1) b\n", "c", "", "1) a\n1) b\n1) c\n"},
		{"ten", "9.  a\n", "b\nc", "", "9.  a\n10.  b\n     c\n"},
		{"gap", "-   a\n", "b\nc", "", "-   a\n-   b\n    c\n"},
		{"indent", "  - a\n", "b", "", "  - a\n  - b\n"},
		{"code is no gap", "-      code\n", "b", "", "-      code\n- b\n"},
		{"title only", "# Me\n", "a", "", "# Me\n\n- a\n"},
		{"title and text without newline", "# Me\ntext", "a", "", "# Me\ntext\n\n- a"},
		{"under a heading", "# A\n- a\n# B\n- b\n", "c", "a", "# A\n- a\n- c\n# B\n- b\n"},
		{"under an empty heading", "# A\n\n# B\n- b\n", "c", "A", "# A\n\n- c\n\n# B\n- b\n"},
		{"under a heading with text", "## A\ntext\n## B\n", "c", "A", "## A\ntext\n\n- c\n\n## B\n"},
		{"under a new heading", "- a\n", "b", "Work", "- a\n\n## Work\n\n- b\n"},
		{"under a new heading of an empty file", "", "b", "Work", "## Work\n\n- b\n"},
		{"under a new heading beside others", "# A\n- a\n# B\n- b", "c", "C # *x*", "# A\n- a\n# B\n- b\n\n# C \\# \\*x\\*\n\n- c"},
		{"by kind", "- [fact] a\n\n## P\n\n- [preference] b\n\n## Q\n\n- [fact] c\n", "[preference] d", "", "- [fact] a\n\n## P\n\n- [preference] b\n- [preference] d\n\n## Q\n\n- [fact] c\n"},
		{"not below what it is not about", "# Me\n- a\n\n## Work\n- [fact] b\n- c\n", "[fact] d", "", "# Me\n- a\n- [fact] d\n\n## Work\n- [fact] b\n- c\n"},
		{"a list of its own", "# Me\n\n## Work\n- b\n", "c", "", "# Me\n\n- c\n\n## Work\n- b\n"},
		{"above headings that are all topics", "# A\n- a\n# B\n- b\n", "c", "", "- c\n\n# A\n- a\n# B\n- b\n"},
		{"one heading is a title", "## Notes\n- a\n", "b", "", "## Notes\n- a\n- b\n"},
		{"not into tasks", "- a\n\n## Todo\n- [ ] t\n", "b", "", "- a\n- b\n\n## Todo\n- [ ] t\n"},
		{"not into numbers", "- a\n\n## Steps\n1. s\n", "b", "", "- a\n- b\n\n## Steps\n1. s\n"},
		{"a task to the tasks", "- [ ] t\n\n## F\n- a\n", "[ ] u", "", "- [ ] t\n- [ ] u\n\n## F\n- a\n"},
		{"never below pinned", "# Me\n\n## Pinned\n- a\n", "b", "", "# Me\n\n- b\n\n## Pinned\n- a\n"},
		{"all pinned", "# Pinned\n- a\n", "b", "", "- b\n\n# Pinned\n- a\n"},
		{"below pinned when asked", "# Pinned\n- a\n", "b", "pinned", "# Pinned\n- a\n- b\n"},
		{"a paragraph stays one", "- ```\n  x\n  ```\npara\n", "b", "", "- ```\n  x\n  ```\n- b\n\npara\n"},
		{"an open fence", "text\n\n```\ncode\n", "b", "", "- b\n\ntext\n\n```\ncode\n"},
		{"an open comment", "- a\n\n<!-- hidden\n", "b", "", "- a\n- b\n\n<!-- hidden\n"},
		{"code above and a comment that is open", "    code\n\n<!--\n", "a", "", "- a\n\n<!-- -->\n\n    code\n\n<!--\n"},
		{"front matter", "---\nid: 1\n---\n", "a", "", "---\nid: 1\n---\n- a\n"},
		{"front matter without newline", "---\nid: 1\n---", "a", "", "---\nid: 1\n---\n- a"},
		{"byte order mark", "\xEF\xBB\xBF", "a", "", "\xEF\xBB\xBF- a\n"},
		{"many lines", "- a\n", "b\n\n  c\r\n- d  \n\n```\n\n  x\n```\n\n", "", "- a\n- b\n\n    c\n  - d  \n\n  ```\n\n    x\n  ```\n"},
		{"blank lines at the end stay", "- a\n\n\n", "b", "", "- a\n- b\n\n\n"},
	} {
		d := Parse([]byte(c.in))
		e, err := d.AddEntry(c.text, c.under)
		if err != nil || string(d.Bytes()) != c.want {
			t.Errorf("%s: add %q to %q gives\n%q (%v), want\n%q", c.name, c.text, c.in, d.Bytes(), err, c.want)
			continue
		}
		if e.Text != EntryText(c.text) || !bytes.Contains(d.Bytes()[e.Start:e.End], []byte(strings.TrimSpace(strings.SplitN(c.text, "\n", 2)[0]))) {
			t.Errorf("%s: the entry that came back is %q at %d … %d", c.name, e.Text, e.Start, e.End)
		}
	}
}

func TestReplaceChangesOneEntry(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		at       int
		text     string
		want     string
	}{
		{"one line", "- a\n- b\n- c\n", 1, "x", "- a\n- x\n- c\n"},
		{"sub-items go", "1. a\n   - b\n2. c\n", 0, "x", "1. x\n2. c\n"},
		{"last without newline", "- a\r\n* b", 1, "x\ny", "- a\r\n* x\r\n  y"},
		{"number stays", "7) a\n9) b\n", 1, "x", "7) a\n9) x\n"},
		{"empty item", "-\n- b\n", 0, "x", "- x\n- b\n"},
		{"the same", "- a\n   lazy\n", 0, "a\n lazy", "- a\n   lazy\n"},
		{"a paragraph stays one", "- ```\n  ```\npara\n", 0, "x", "- x\n\npara\n"},
	} {
		d := Parse([]byte(c.in))
		e, err := d.ReplaceEntry(d.Entries()[c.at], c.text)
		if err != nil || string(d.Bytes()) != c.want || e.Text != EntryText(c.text) {
			t.Errorf("%s: %q becomes %q (%v, %q), want %q", c.name, c.in, d.Bytes(), err, e.Text, c.want)
		}
	}
}

func TestRemoveTakesTheBlankLinesThatWouldBeLeftOver(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		at       int
		want     string
	}{
		{"middle", "- a\n- b\n- c\n", 1, "- a\n- c\n"},
		{"only one", "- a\n", 0, ""},
		{"only one below a title", "# T\n\n- a\n", 0, "# T\n"},
		{"only one between", "text\n\n- a\n\nmore\n", 0, "text\n\nmore\n"},
		{"loose first", "- a\n\n- b\n\n- c\n", 0, "- b\n\n- c\n"},
		{"loose middle", "- a\n\n- b\n\n- c\n", 1, "- a\n\n- c\n"},
		{"loose last", "- a\n\n- b\n", 1, "- a\n"},
		{"last without newline", "- a\n- b", 1, "- a\n"},
		{"tight before text", "- a\n- b\n\ntext\n", 1, "- a\n\ntext\n"},
		{"first below text", "text\n- a\n- b\n", 0, "text\n- b\n"},
		{"with its lines", "- a\n\n  b\n\n      code\n- c\r\n", 0, "- c\r\n"},
		{"other numbers stay", "1. a\n2. b\n3. c\n", 1, "1. a\n3. c\n"},
		{"an indented paragraph is not taken either", "1. a\n  - ```\n    ```\n   para\n", 1, "1. a\n<!-- -->\n   para\n"},
		{"a paragraph is not taken by its neighbour", "- a\n- ```\n  ```\npara\n", 1, "- a\n\npara\n"},
	} {
		d := Parse([]byte(c.in))
		if err := d.RemoveEntry(d.Entries()[c.at]); err != nil || string(d.Bytes()) != c.want {
			t.Errorf("%s: %q becomes %q (%v), want %q", c.name, c.in, d.Bytes(), err, c.want)
		}
	}
}

func TestWhatCannotBeAnEntryIsRefusedAndChangesNothing(t *testing.T) {
	t.Parallel()
	src := "- a\n- b\n"
	for _, text := range []string{"", " \n\t", "---", "- -"} {
		d := Parse([]byte(src))
		_, added := d.AddEntry(text, "")
		_, below := d.AddEntry(text, "New")
		_, replaced := d.ReplaceEntry(d.Entries()[0], text)
		for _, err := range []error{added, below, replaced} {
			if !errors.Is(err, ErrInvalidEntry) || string(d.Bytes()) != src {
				t.Errorf("%q: %v, and the file is %q", text, err, d.Bytes())
			}
		}
	}
	d := Parse([]byte(src))
	gone := d.Entries()[0]
	if err := d.RemoveEntry(gone); err != nil {
		t.Fatal(err)
	}
	if err := d.RemoveEntry(gone); !errors.Is(err, ErrInvalidEntry) {
		t.Errorf("an entry of an older state was removed: %v", err)
	}
}
