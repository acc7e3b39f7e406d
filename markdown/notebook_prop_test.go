package markdown

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A page is made of blocks that people write in notebooks, put together without
// regard for what that makes of them: a paragraph right behind a list, a list
// below an underline, a fence that is never closed.
func drawPage(t *rapid.T) []byte {
	blocks := []string{
		"- plain\n", "- [fact] Wife's birthday: March 15th\n", "- [ ] open\n- [x] done\n", "* star\n* star two\n", "+ plus\n",
		"1. one\n2. two\n", "9) nine\n", "- parent\n  - child\n    - grandchild\n", "- loose\n\n- looser\n\n  second paragraph\n",
		"- code:\n\n  ```go\n  - not an entry\n  # not a heading\n  ```\n", "-\n", "-\ttabbed\n\tagain\n", "- lazy\ncontinuation\n",
		"   - indented\n", "- | a | b |\n  |---|---|\n  | - | * |\n", "> - quoted\n", "| t | u |\n|---|---|\n| - x | 1. y |\n",
		"# Title\n", "## Pinned\n", "### Deeper ###\n", "Underlined\n===\n", "Also\n---\n", "text\n", "text that\ngoes on\n", "---\n", "***\n",
		"```\n- in a fence\n```\n", "~~~\n# in a fence\n~~~\n", "<!-- - hidden -->\n", "<div>\n- in html\n</div>\n", "    - indented code\n",
		"[ref]: memories/a.md\n", "[^1]: footnote\n", "- [[link]] and [text](a.md)\n", "- 🎉 emoji, café, 知识库\n", "- trailing  \n  hard break\n",
		"\n", "\n\n", " \t\n", "<!-- never closed\n", "```\nnever closed\n", "- ```\n  never closed\n", "- ---\n", "\\- escaped\n", "&amp; - x\n",
	}
	head := rapid.SampledFrom([]string{"", "", "---\ntitle: x\ntags: [a]\n---\n", "---\nnever: closed\n"}).Draw(t, "front")
	var b strings.Builder
	b.WriteString(head)
	for range rapid.IntRange(0, 9).Draw(t, "blocks") {
		b.WriteString(rapid.SampledFrom(blocks).Draw(t, "block"))
		if rapid.Bool().Draw(t, "apart") {
			b.WriteString("\n")
		}
	}
	page := b.String()
	if rapid.Bool().Draw(t, "cut") {
		page = strings.TrimRight(page, "\n")
	}
	if rapid.IntRange(0, 3).Draw(t, "crlf") == 0 {
		page = strings.ReplaceAll(page, "\n", "\r\n")
	}
	if rapid.IntRange(0, 5).Draw(t, "bom") == 0 {
		page = byteOrderMark + page
	}
	return []byte(page)
}

func drawText(t *rapid.T) string {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"new", "[fact] new", "[ ] new task", "new\nsecond line", "new\n\n    code\n\nlast", "new:\n- sub\n  - subsub\n- sub", "# heading?",
			"1. number?", "> quote", "```\nx\n\ny\n```", "```\nnever closed", "<!-- c", "| a |\n|---|\n| b |", "[x]: y", "a\n---", "a\n===\nb", "知识库\n在那里", "\ttab", "a  \nb",
		}),
		rapid.StringMatching(`[a-zA-Z#>*_\-+\[\]()!|:.~`+"`"+`<1 \n]{1,40}`),
	).Draw(t, "text")
}

// around is what must hold of an edit that replaces bytes at … end of old.
func around(t rapid.TB, old, now []byte, at, end int) {
	t.Helper()
	if !bytes.HasPrefix(now, old[:at]) || !bytes.HasSuffix(now, old[end:]) || len(now) < at+len(old)-end {
		t.Fatalf("bytes outside %d … %d changed:\n%q\n%q", at, end, old, now)
	}
}

func texts(entries []Entry) []string {
	out := make([]string, 0, len(entries))
	for _, e := range entries {
		out = append(out, fmt.Sprint(e.Under)+e.Text)
	}
	return out
}

func TestEveryNotebookEditChangesOnlyTheLinesItIsAbout(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		src := drawPage(t)
		d := Parse(src)
		entries := d.Entries()
		checkEntries(t, d)
		before := texts(entries)
		pick := func() int { return rapid.IntRange(0, len(entries)-1).Draw(t, "entry") }
		switch op := rapid.IntRange(0, 2).Draw(t, "op"); {
		case op == 1 && len(entries) > 0:
			i, text := pick(), drawText(t)
			got, err := d.ReplaceEntry(entries[i], text)
			if err != nil {
				checkUntouched(t, d, src)
				return
			}
			around(t, src, d.Bytes(), entries[i].Start, entries[i].End)
			want := slices.Clone(before)
			want[i] = fmt.Sprint(entries[i].Under) + EntryText(text)
			if now := texts(d.Entries()); !slices.Equal(now, want) || got.Text != EntryText(text) {
				t.Fatalf("entries are %q, want %q", now, want)
			}
		case op == 2 && len(entries) > 0:
			i := pick()
			if err := d.RemoveEntry(entries[i]); err != nil {
				t.Fatalf("remove %q from %q: %v", entries[i].Text, src, err)
			}
			checkRemoved(t, src, d.Bytes(), entries[i])
			if now, want := texts(d.Entries()), slices.Delete(slices.Clone(before), i, i+1); !slices.Equal(now, want) {
				t.Fatalf("entries are %q, want %q", now, want)
			}
		default:
			checkAdd(t, d, src, before)
		}
	})
}

func checkUntouched(t rapid.TB, d *Document, src []byte) {
	t.Helper()
	if !bytes.Equal(d.Bytes(), src) {
		t.Fatalf("the edit failed and changed %q to %q", src, d.Bytes())
	}
}

// checkEntries is what holds of any file: entries are whole lines, in order, and
// do not overlap.
func checkEntries(t rapid.TB, d *Document) {
	t.Helper()
	at := len(d.Bytes()) - len(d.Body())
	for _, e := range d.Entries() {
		src := d.Bytes()
		if e.Start < at || e.End <= e.Start || e.Start > 0 && src[e.Start-1] != '\n' && e.Start != len(src)-len(d.Body()) ||
			e.End < len(src) && src[e.End-1] != '\n' {
			t.Fatalf("entry %q has no sound place %d … %d in %q", e.Text, e.Start, e.End, src)
		}
		if e.Line != 1+bytes.Count(src[:e.Start], []byte("\n")) || !strings.HasSuffix(e.Text, e.Body()) || len(e.Hash()) != hashDigits {
			t.Fatalf("entry %+v of %q", e, src)
		}
		at = e.End
	}
}

// checkRemoved wants every line of the entry gone, and of other lines at most
// blank ones; a blank one or a divider may have come instead.
func checkRemoved(t rapid.TB, old, now []byte, e Entry) {
	t.Helper()
	rest := bytes.TrimRight(old[:e.Start], " \t\r\n")
	tail := bytes.TrimLeft(old[e.End:], " \t\r\n")
	if len(tail) > 0 {
		tail = old[e.End+lineStart(old[e.End:], len(old)-e.End-len(tail)):] // with the indent of its line
	}
	if !bytes.HasPrefix(now, rest) || !bytes.HasSuffix(now, tail) || len(now) < len(rest)+len(tail) ||
		len(bytes.TrimSpace(bytes.Replace(now[len(rest):len(now)-len(tail)], []byte(divider), nil, 1))) > 0 {
		t.Fatalf("removing %q made %q of %q", e.Text, now, old)
	}
}

func checkAdd(t *rapid.T, d *Document, src []byte, before []string) {
	t.Helper()
	text := drawText(t)
	under := rapid.SampledFrom([]string{"", "", "Title", "pinned", "New *place*", "Underlined"}).Draw(t, "under")
	got, err := d.AddEntry(text, under)
	if err != nil {
		checkUntouched(t, d, src)
		// "-" is an empty item at the end of a file, and text before CRLF.
		if words := EntryText(text); words == "new" && !bytes.HasSuffix(src, []byte("\r\n-")) {
			t.Fatalf("add %q below %q to %q: %v", text, under, src, err)
		}
		return
	}
	if under == "" && got.Pinned() || under == "pinned" && !got.Pinned() {
		t.Fatalf("the new entry is %+v in %q", got, d.Bytes())
	}
	checkOneMore(t, d, src, before, got, text)
}

// checkOneMore wants everything that was there, and one run of lines more.
func checkOneMore(t rapid.TB, d *Document, src []byte, before []string, got Entry, text string) {
	t.Helper()
	now := d.Bytes()
	head, tail := 0, 0
	for head < len(src) && head < len(now) && src[head] == now[head] {
		head++
	}
	for tail < len(src)-head && src[len(src)-1-tail] == now[len(now)-1-tail] {
		tail++
	}
	if head+tail != len(src) {
		t.Fatalf("adding %q made %q of %q", text, now, src)
	}
	after := d.Entries()
	i := slices.IndexFunc(after, func(e Entry) bool { return e.Start == got.Start })
	if i < 0 || got.Text != EntryText(text) {
		t.Fatalf("the new entry is %+v in %q", got, now)
	}
	if rest := texts(slices.Delete(after, i, i+1)); !slices.Equal(rest, before) {
		t.Fatalf("other entries are %q, want %q; the file %q became %q", rest, before, src, now)
	}
	if bytes.Contains(src, []byte("\n")) && bytes.Count(src, []byte("\n")) == bytes.Count(src, []byte("\r\n")) && bytes.Count(now, []byte("\n")) != bytes.Count(now, []byte("\r\n")) {
		t.Fatalf("line endings are mixed in %q", now)
	}
}

// TestNotebookEditsOfRealFiles edits every Markdown file below STET_DATA, which
// this repository does not hold: some entries of each, and below some headings.
func TestNotebookEditsOfRealFiles(t *testing.T) {
	t.Parallel()
	root := os.Getenv("STET_DATA")
	if root == "" {
		t.Skip("skip: STET_DATA is not set")
	}
	files, entries := 0, 0
	err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		t.Run(path, func(t *testing.T) { entries += editReal(t, src) })
		return nil
	})
	if err != nil || files == 0 || entries < files/10 {
		t.Fatalf("%d entries in %d files below STET_DATA: %v", entries, files, err)
	}
	t.Logf("%d entries edited in %d files", entries, files)
}

// editReal edits a file in many ways, each time as it was, and returns how many
// of its entries were edited.
func editReal(t *testing.T, src []byte) int {
	t.Helper()
	const most = 12 // of each kind, spread over the file
	d := Parse(src)
	checkEntries(t, d)
	all, headings := d.Entries(), d.outline().headings
	before := texts(all)
	for i := 0; i < len(all); i += 1 + len(all)/most {
		d := Parse(src)
		if err := d.RemoveEntry(all[i]); err != nil {
			t.Errorf("remove %q: %v", all[i].Text, err)
		} else if checkRemoved(t, src, d.Bytes(), all[i]); !slices.Equal(texts(d.Entries()), slices.Delete(slices.Clone(before), i, i+1)) {
			t.Errorf("removing %q changed other entries", all[i].Text)
		}
		d = Parse(src)
		if _, err := d.ReplaceEntry(all[i], "[fact] new\n\n- line"); err != nil {
			t.Errorf("replace %q: %v", all[i].Text, err)
		} else {
			around(t, src, d.Bytes(), all[i].Start, all[i].End)
		}
	}
	under := []string{"", "A new heading"}
	for i := 0; i < len(headings); i += 1 + len(headings)/most {
		under = append(under, headings[i].Text)
	}
	for _, u := range under {
		d := Parse(src)
		e, err := d.AddEntry("[fact] new\n\n- line", u)
		if err != nil {
			t.Errorf("add below %q: %v", u, err)
			continue
		}
		checkOneMore(t, d, src, before, e, "[fact] new\n\n- line")
	}
	return (len(all) + most - 1) / most
}

func FuzzNotebook(f *testing.F) {
	for _, s := range append(seeds(), "- a\n\n- [fact] b\n", "1. a\r\n2. b", "- ```\n  x\n", "# Pinned\n- a\n", "-\ta\n\t\tb\n- \n") {
		f.Add([]byte(s), "new\nline", "Head", uint8(0))
		f.Add([]byte(s), "[x] [fact] y", "", uint8(1))
	}
	f.Fuzz(func(t *testing.T, src []byte, text, under string, which uint8) {
		d := Parse(src)
		checkEntries(t, d)
		before := texts(d.Entries())
		if _, err := d.AddEntry(text, under); err == nil {
			if got := len(d.Entries()); got != len(before)+1 {
				t.Fatalf("%d entries became %d", len(before), got)
			}
		} else if !bytes.Equal(d.Bytes(), src) {
			t.Fatalf("add failed with %v and changed %q to %q", err, src, d.Bytes())
		}
		d = Parse(src)
		entries := d.Entries()
		if len(entries) == 0 {
			return
		}
		i := int(which) % len(entries)
		if _, err := d.ReplaceEntry(entries[i], text); err != nil && !bytes.Equal(d.Bytes(), src) {
			t.Fatalf("replace failed with %v and changed %q to %q", err, src, d.Bytes())
		}
		d = Parse(src)
		if err := d.RemoveEntry(entries[i]); err == nil {
			if now := texts(d.Entries()); !slices.Equal(now, slices.Delete(before, i, i+1)) {
				t.Fatalf("removing %d of %q left %q", i, src, now)
			}
		} else if !bytes.Equal(d.Bytes(), src) {
			t.Fatalf("remove failed with %v and changed %q to %q", err, src, d.Bytes())
		}
	})
}
