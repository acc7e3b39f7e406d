package markdown

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseSplitsFrontMatter(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, src, body string
		has             bool
		line, warnings  int
	}{
		{"none", "text\n", "text\n", false, 1, 0},
		{"plain", "---\na: 1\n---\nbody\n", "body\n", true, 4, 0},
		{"dots close", "---\na: 1\n...\nbody", "body", true, 4, 0},
		{"CRLF", "---\r\na: 1\r\n---\r\nbody\r\n", "body\r\n", true, 4, 0},
		{"BOM", "\xEF\xBB\xBF---\na: 1\n---\nbody", "body", true, 4, 0},
		{"BOM without front matter", "\xEF\xBB\xBFbody", "body", false, 1, 0},
		{"blanks behind the closing fence", "---\na: 1\n--- \t\nbody", "body", true, 4, 0},
		{"blanks behind the opening fence", "--- \na: 1\n---\nbody", "--- \na: 1\n---\nbody", false, 1, 1},
		{"four hyphens", "----\na: 1\n----\n", "----\na: 1\n----\n", false, 1, 0},
		{"four hyphens do not close", "---\na: 1\n----\n---\nbody", "body", true, 5, 0},
		{"unclosed", "---\na: 1\n# Head\n", "---\na: 1\n# Head\n", false, 1, 1},
		{"indented fence does not close", "---\na: |\n  ---\n---\nbody", "body", true, 5, 0},
		{"empty", "---\n---\n", "", true, 3, 0},
		{"not UTF-8", "a\nb\xff\n", "a\nb\xff\n", false, 1, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := Parse([]byte(tc.src))
			if string(d.Body()) != tc.body || d.HasFrontMatter() != tc.has || d.BodyLine() != tc.line {
				t.Errorf("body %q line %d front matter %v, want %q %d %v", d.Body(), d.BodyLine(), d.HasFrontMatter(), tc.body, tc.line, tc.has)
			}
			if got := d.Warnings(); len(got) != tc.warnings {
				t.Errorf("warnings %v, want %d", got, tc.warnings)
			}
		})
	}
}

// bomb is front matter whose aliases stand for 9^9 values.
func bomb() string {
	var b strings.Builder
	b.WriteString("---\na0: &a0 [x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 9; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	return b.String() + "---\nbody\n"
}

func TestFrontMatterErrorNamesTheLine(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, src, reason string
		line              int
	}{
		{"bad indent", "---\na: 1\n b: 2\n---\nbody\n", "mapping values", 3},
		{"behind comments", "---\n# one\n# two\na: 1\nb: [x\nc: 3\n---\nbody\n", "',' or ']'", 5},
		{"tab", "---\na: 1\nb:\n\t- x\n---\nbody\n", "", 4},
		{"open quote", "---\na: 1\nb: \"x\n---\nbody\n", "unexpected end", 3},
		{"duplicate", "---\na: 1\nb: 2\na: 3\n---\nbody\n", `key "a" again (first on line 2)`, 4},
		{"nested duplicate", "---\na:\n  x: 1\n  x: 2\n---\nbody\n", `key "x" again`, 4},
		{"list", "---\n- a\n---\nbody\n", "a list", 2},
		{"text", "---\n\njust text\n---\nbody\n", "plain text", 3},
		{"second document", "---\na: 1\n--- b\n---\nbody\n", "second YAML document", 3},
		{"not UTF-8", "---\na: 1\nb: \xff\n---\nbody\n", "not UTF-8", 3},
		{"control character", "---\na: 1\nb: \x01\n---\nbody\n", "control characters", 2},
		{"alias of itself", "---\na: &x [*x]\n---\nbody\n", "contains itself", 2},
		{"alias bomb", bomb(), "stands for too much", 6},
		{"unknown alias", "---\na: *x\n---\nbody\n", "unknown anchor", 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := Parse([]byte(tc.src))
			var fail *FrontMatterError
			if !errors.As(d.FrontMatterError(), &fail) {
				t.Fatalf("error %v, want a *FrontMatterError", d.FrontMatterError())
			}
			if fail.Line != tc.line || !strings.Contains(fail.Reason, tc.reason) {
				t.Errorf("line %d: %s, want line %d: %s", fail.Line, fail.Reason, tc.line, tc.reason)
			}
			if string(d.Body()) != "body\n" {
				t.Errorf("body %q", d.Body())
			}
			if err := d.SetMeta("a", String("b")); !errors.As(err, &fail) || string(d.Bytes()) != tc.src {
				t.Errorf("an edit gave %v and %q", err, d.Bytes())
			}
			if err := d.RemoveMeta("a"); !errors.As(err, &fail) {
				t.Errorf("a removal gave %v", err)
			}
		})
	}
}

func TestLongFrontMatter(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("---\n")
	for i := range 10_000 {
		fmt.Fprintf(&b, "key%d: value %d # %d\n", i, i, i)
	}
	b.WriteString("---\nbody\n")
	d := Parse([]byte(b.String()))
	if n := len(d.Keys()); n != 10_000 {
		t.Fatalf("%d keys: %v", n, d.FrontMatterError())
	}
	if err := d.SetMeta("key5000", String("new")); err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(b.String(), "value 5000 ", "new ", 1); string(d.Bytes()) != want {
		t.Error("more than one value changed")
	}
}

func TestValuesAreTextAsWritten(t *testing.T) {
	t.Parallel()
	d := Parse([]byte("---\nzip: 007\nversion: 1.10\nday: 2024-01-02\nat: 2026-01-09T14:02:11Z\nyes: yes\nquoted: \"a: b\"\n" +
		"none:\ntilde: ~\nlist: [a, 'b c', [d]]\ncomma: x, y ,\nwiki: [[Note]]\nmap: {a: 1}\nblock: |\n  one\n  two\n---\n"))
	for key, want := range map[string]string{
		"zip": "007", "version": "1.10", "day": "2024-01-02", "quoted": "a: b", "none": "", "list": "a, b c, d", "wiki": "Note",
		"block": "one\ntwo\n", "map": "",
	} {
		if v, ok := d.Meta(key); !ok || v.Text() != want {
			t.Errorf("%s = %q, %v, want %q", key, v.Text(), ok, want)
		}
	}
	get := func(key string) Value { v, _ := d.Meta(key); return v }
	if got := get("list").List(); !slices.Equal(got, []string{"a", "b c", "d"}) || !get("list").IsList() {
		t.Errorf("list = %q", got)
	}
	if got := get("comma").List(); !slices.Equal(got, []string{"x", "y"}) || get("comma").IsList() {
		t.Errorf("comma = %q", got)
	}
	if got := get("tilde").List(); got != nil {
		t.Errorf("null list = %q", got)
	}
	if f, ok := get("version").Float(); !ok || f != 1.1 {
		t.Errorf("version = %v, %v", f, ok)
	}
	if _, ok := get("quoted").Float(); ok {
		t.Error("text is no number")
	}
	if b, ok := get("yes").Bool(); !ok || !b {
		t.Errorf("yes = %v, %v", b, ok)
	}
	if at, ok := get("at").Time(); !ok || !at.Equal(time.Date(2026, 1, 9, 14, 2, 11, 0, time.UTC)) {
		t.Errorf("at = %v, %v", at, ok)
	}
	if day, ok := get("day").Time(); !ok || day.Day() != 2 {
		t.Errorf("day = %v, %v", day, ok)
	}
}

func TestHeadingsAndSections(t *testing.T) {
	t.Parallel()
	src := "---\na: 1\n---\nbefore\n\n# One `code` *x* {#id}\r\ntext\n\nTwo\nlines\n-----\n> # quoted\n\n- # in a list\n\n```\n# code\n```\n###### Six ##\n#\nend"
	d := Parse([]byte(src))
	var got []string
	for _, h := range d.outline().headings {
		got = append(got, fmt.Sprintf("%d|%s|%q|%d", h.Level, h.Text, src[h.Start:h.End], h.Line))
	}
	want := []string{
		`1|One code x|"# One ` + "`code`" + ` *x* {#id}\r\n"|6`, `2|Two lines|"Two\nlines\n-----\n"|9`, `6|Six|"###### Six ##\n"|19`, `1||"#\n"|20`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("headings\n%q, want\n%q", got, want)
	}
	sections := d.Sections()
	if len(sections) != 5 || sections[0].Heading != (Heading{}) || sections[0].Line != 4 || sections[4].End != len(src) {
		t.Errorf("sections %+v", sections)
	}
	checkSections(t, d)
}

func TestTitle(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"---\ntitle: 'From: meta'\n---\n# Head": "From: meta", "---\ntitle:\n---\n## Two\n# Head": "Head",
		"## Two": "", "": "", "Under\n===\n": "Under", "# [[a|Shown]] & &amp; \\* <b>x</b>": "Shown & & * x",
	} {
		if got := Parse([]byte(src)).Title(); got != want {
			t.Errorf("Title(%q) = %q, want %q", src, got, want)
		}
	}
}

func TestSetBody(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ src, body, want string }{
		{"---\na: 1\n---\nold", "new\n", "---\na: 1\n---\nnew\n"},
		{"\xEF\xBB\xBFold", "new", "\xEF\xBB\xBFnew"},
		{"---\na: 1\n---", "new", "---\na: 1\n---\nnew"},
		{"old", "---\na: 1\n---\n", "---\n---\n---\na: 1\n---\n"},
	} {
		d := Parse([]byte(tc.src))
		d.SetBody([]byte(tc.body))
		if string(d.Bytes()) != tc.want || string(d.Body()) != tc.body {
			t.Errorf("SetBody(%q) on %q = %q with body %q, want %q", tc.body, tc.src, d.Bytes(), d.Body(), tc.want)
		}
	}
}

func TestSlug(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		in   string
		max  int
		want string
	}{
		{"Production runs on MySQL 8.4!", 60, "production-runs-on-mysql-8-4"},
		{"知识库 数据库", 60, "知识库-数据库"}, {"Über uns", 60, "über-uns"}, {"U\u0308ber", 60, "über"},
		{"مرحبا بالعالم", 60, "مرحبا-بالعالم"}, {"हिन्दी", 60, "हिन्दी"}, {"🎉 !", 60, ""}, {"", 60, ""},
		{"hello wonderful", 10, "hello"}, {"hello", 3, "hel"}, {"a wonderful day", 8, "a-wonder"}, {"one two", 3, "one"},
		{"a \u0301b", 60, "a-b"}, {"\u0301a", 60, "a"}, {"xy\u0300\u0301\u0302", 3, "x"}, {"no bound at all", 0, "no-bound-at-all"},
	} {
		if got := Slug(tc.in, tc.max); got != tc.want {
			t.Errorf("Slug(%q, %d) = %q, want %q", tc.in, tc.max, got, tc.want)
		}
	}
}

// A text may be a part of what is written back: nothing that reads it may write behind its end.
func TestReadingWritesNothingBehindAText(t *testing.T) {
	text := []byte("``` tea\n\nmilk and more of it")
	was, part := bytes.Clone(text), text[:len(text)-6]
	for name, read := range map[string]func() string{
		"FirstWords": func() string { return FirstWords(part, 40) },
		"Code":       func() string { blocks, _ := Code(part); return blocks[0] },
		"Sections":   func() string { return string(Parse(part).Body()[Parse(part).Sections()[0].Start:]) },
	} {
		if got := read(); !strings.Contains(got, "milk") || !bytes.Equal(text, was) {
			t.Errorf("%s read %q, and the text is %q now", name, got, text)
			copy(text, was)
		}
	}
}

func TestFirstWords(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		body string
		n    int
		want string
	}{
		{"\n\n# The *big* [link](x.md) `code`\n\ntext", 3, "The big link"},
		{"- [ ] call **Ada**\n- more", 9, "call Ada"}, {"> quoted [[a|shown]]", 9, "quoted shown"},
		{"```sh\n\nmake all\n```", 9, "make all"}, {"<!-- x -->\n\nafter", 9, "after"}, {"", 3, ""},
		{"one\ntwo three", 2, "one two"}, {"| a | b |\n|---|---|\n| c | d |", 2, "a b"},
		{"数据库在九月迁移到新的服务器上", 2, "数据库在九月迁移"},
	} {
		if got := FirstWords([]byte(tc.body), tc.n); got != tc.want {
			t.Errorf("FirstWords(%q, %d) = %q, want %q", tc.body, tc.n, got, tc.want)
		}
	}
}

// TestRealFiles reads and edits every Markdown file below STET_DATA, which this
// repository does not hold.
func TestRealFiles(t *testing.T) {
	t.Parallel()
	root := os.Getenv("STET_DATA")
	if root == "" {
		t.Skip("skip: STET_DATA is not set")
	}
	n := 0
	err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n++
		d := Parse(src)
		checkSections(t, d)
		checkLinks(t, d)
		if d.FrontMatterError() != nil {
			t.Logf("%s: %v", path, d.FrontMatterError())
			return nil
		}
		if err := d.SetMeta("stet-test", Strings([]string{"a", "b: c"})); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		return nil
	})
	if err != nil || n == 0 {
		t.Fatalf("%d files below STET_DATA: %v", n, err)
	}
	t.Logf("%d files", n)
}
