package markdown

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// seeds are files of every shape that once made a Markdown tool lose bytes.
func seeds() []string {
	return []string{
		"", "\n", "text", "---\n---\n", "---", "---\n", "---\r\nid: 1\r\n---\r\nbody\r\n",
		"\xEF\xBB\xBF---\ntitle: BOM\n---\n# Head\n", "\xEF\xBB\xBFno front matter",
		"---\nid: 007\nversion: 1.10\nwhen: 2024-01-02\n# why\ntags: [a, 'b',\"c\"] # here\nlist:\n- x\n  # in between\n- y\n---\n\n# T\n\nsee [[x]]",
		"---\ntitle: |+\n  kept\n\n\nnext: ~\n...\nbody without newline", "---\nnever: closed\n# x\n",
		"---\n{a: 1, b: [2, 3]}\n---\nflow\n", "---\na: 1\na: 2\n---\nduplicate\n", "---\n- list\n---\nno mapping\n",
		"---\nbase: &b {x: 1}\nuse: *b\n\"quoted key\": 'it''s'\n? odd\n: key\n--- \nbody\n",
		"# 知识库\n\n数据库在 [[服务器|那里]]。#标签 和 #2026-01\n\n小节\n----\n", "# العربية\n\nنص #وسم [رابط](ملف%20جديد.md#قسم)\n",
		"🎉 party #🎉 [[🎉]] ![[img.png]]\n", "- a\n  - # inner\n    - [[deep]]\n1. x\n   > # quoted\n",
		"| a | b |\n|---|---|\n| [[t\\|x]] | [l](a.md) |\n", "```\n---\n# no [[no]] #no\n```\n~~~~\n[no](no.md)\n~~~~\n",
		"<!-- [[no]] #no -->\n`[[no]]` https://example.com/[[no]]#no <https://e.org/#no>\n[r][d] ![i](<a b.png> \"t\")\n\n[d]: ../d.md#f 'title'\n",
		"a \x00 b \xff\xfe [[\xff]]\n===\n", "[[a `b]] c` [[d|`e`]] [[]] [[ ]] \\[[f]] [[1]](u.md)\n", "> [q](\n> r.md)\n",
		"---\ntags: a, b\ncategories:\n  - one # c\n\n  - \"two\"\nupdated: 2026-01-09T14:02:11Z\n---\nx\ny\nz\n",
	}
}

func FuzzParse(f *testing.F) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	for range 200 {
		f.Add([]byte(hostile(random, 1<<8)))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		d := Parse(src)
		if !bytes.Equal(d.Bytes(), src) {
			t.Fatalf("Bytes() = %q, want the input %q", d.Bytes(), src)
		}
		if !bytes.HasSuffix(src, d.Body()) {
			t.Fatalf("body %q is no suffix of the file", d.Body())
		}
		if v, ok := d.Meta("title"); !ok || v.isNull() || strings.TrimSpace(v.Text()) == "" {
			if want := Parse(src).topHeading(); d.Title() != want {
				t.Fatalf("the title of %q is %q, and %q when the whole file is read", src, d.Title(), want)
			}
		}
		checkSections(t, d)
		checkLinks(t, d)
		for _, key := range d.Keys() {
			v, ok := d.Meta(key)
			if !ok {
				t.Fatalf("key %q is listed and has no value", key)
			}
			_, _, _ = v.Text(), v.List(), v.IsList()
		}
		for _, tag := range d.Tags() {
			if tag == "" || strings.HasPrefix(tag, "#") && !strings.HasPrefix(tag, "##") {
				t.Fatalf("tag %q", tag)
			}
		}
		_, _, _ = d.Title(), d.Warnings(), FirstWords(d.Body(), 8)
	})
}

func checkSections(t *testing.T, d *Document) {
	t.Helper()
	at := len(d.Bytes()) - len(d.Body())
	for _, s := range d.Sections() {
		if s.Start != at || s.End <= s.Start {
			t.Fatalf("section %+v does not continue at %d", s, at)
		}
		if s.Heading.Level > 0 && (s.Heading.Start != s.Start || s.Heading.End > s.End || s.Heading.End <= s.Heading.Start) {
			t.Fatalf("heading %+v lies outside its section %+v", s.Heading, s)
		}
		at = s.End
	}
	if at != len(d.Bytes()) {
		t.Fatalf("sections end at %d of %d", at, len(d.Bytes()))
	}
}

func checkLinks(t *testing.T, d *Document) {
	t.Helper()
	for _, l := range d.Links() {
		if l.Start < 0 || l.End > len(d.Bytes()) || l.TargetStart < l.Start || l.TargetEnd > l.End || l.TargetStart > l.TargetEnd {
			t.Fatalf("link %+v has no sound place in %q", l, d.Bytes())
		}
		if l.Line != 1+bytes.Count(d.Bytes()[:l.Start], []byte("\n")) {
			t.Fatalf("link %+v is on another line", l)
		}
	}
}

func FuzzSetMeta(f *testing.F) {
	for i, s := range seeds() {
		f.Add([]byte(s), []string{"title", "tags", "list", "new key", "id"}[i%5], "wert: #1", i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, src []byte, key, text string, asList bool) {
		d := Parse(src)
		v := String(text)
		if asList {
			v = Strings(strings.Split(text, ","))
		}
		keys, body := d.Keys(), bytes.Clone(d.Body())
		had := slices.Contains(keys, key)
		if err := d.SetMeta(key, v); err != nil {
			if !bytes.Equal(d.Bytes(), src) {
				t.Fatalf("SetMeta failed with %v and changed %q to %q", err, src, d.Bytes())
			}
			return
		}
		if got, ok := d.Meta(key); !ok || !got.Equal(v) {
			t.Fatalf("set %q, read back %q", v.Text(), got.Text())
		}
		if !bytes.Equal(d.Body(), body) {
			t.Fatalf("the body changed from %q to %q", body, d.Body())
		}
		if !had {
			keys = append(keys, key)
		}
		if got := d.Keys(); !slices.Equal(got, keys) {
			t.Fatalf("keys are %q, want %q", got, keys)
		}
		once := bytes.Clone(d.Bytes())
		if err := d.SetMeta(key, v); err != nil || !bytes.Equal(d.Bytes(), once) {
			t.Fatalf("a second time is not nothing: %v, %q to %q", err, once, d.Bytes())
		}
		if !had {
			if Parse(src).HasFrontMatter() {
				if err := d.RemoveMeta(key); err != nil || !bytes.Equal(d.Bytes(), src) {
					t.Fatalf("adding and removing %q: %v, %q to %q", key, err, src, d.Bytes())
				}
			}
		}
	})
}

func FuzzSlug(f *testing.F) {
	for _, s := range []string{"Hello, World!", "知识库 数据库", "Über uns", "مرحبا بالعالم", "🎉", "e\u0301\u0301a", "İstanbul", "a\u0300\u0301\u0302", "\xff-x", "ǅ ﬁ Σς"} {
		f.Add(s, 60)
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		got := Slug(s, limit)
		if again := Slug(got, limit); again != got {
			t.Fatalf("Slug(%q) = %q, and of that %q", s, got, again)
		}
		if !norm.NFC.IsNormalString(got) || !utf8.ValidString(got) {
			t.Fatalf("Slug(%q) = %q is not NFC", s, got)
		}
		if limit >= 1 && utf8.RuneCountInString(got) > limit {
			t.Fatalf("Slug(%q, %d) = %q is too long", s, limit, got)
		}
		if strings.HasPrefix(got, "-") || strings.HasSuffix(got, "-") || strings.Contains(got, "--") {
			t.Fatalf("Slug(%q) = %q has loose hyphens", s, got)
		}
		has := strings.ContainsFunc(s, func(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) })
		if has == (got == "") {
			t.Fatalf("Slug(%q) = %q", s, got)
		}
	})
}

func FuzzLinks(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s), "neu/ziel 2.md")
	}
	f.Fuzz(func(t *testing.T, src []byte, target string) {
		d := Parse(src)
		old := d.Links()
		err := d.RewriteLinks(func(Link) (string, bool) { return target, true })
		if err != nil {
			if !bytes.Equal(d.Bytes(), src) {
				t.Fatalf("RewriteLinks failed with %v and changed %q to %q", err, src, d.Bytes())
			}
			return
		}
		now := d.Links()
		if len(now) != len(old) {
			t.Fatalf("%d links became %d", len(old), len(now))
		}
		for i := range old {
			if want := old[i].Target != ""; want && now[i].Target != target {
				t.Fatalf("link %d points to %q, want %q", i, now[i].Target, target)
			}
		}
		if a, b := withoutTargets(src, old), withoutTargets(d.Bytes(), now); !bytes.Equal(a, b) {
			t.Fatalf("more than targets changed: %q to %q", a, b)
		}
	})
}

func withoutTargets(src []byte, links []Link) []byte {
	links = slices.Clone(links)
	slices.SortFunc(links, func(a, b Link) int { return a.TargetStart - b.TargetStart })
	var out []byte
	at := 0
	for _, l := range links {
		if l.TargetStart >= at {
			out = append(out, src[at:l.TargetStart]...)
			out = append(out, 0)
			at = l.TargetEnd
		}
	}
	return append(out, src[at:]...)
}

func FuzzMerge(f *testing.F) {
	all := seeds()
	for i := range all {
		f.Add([]byte(all[i]), []byte(all[i]+"\nmore"), []byte("first\n"+all[i]))
		f.Add([]byte(all[i]), []byte(all[(i+1)%len(all)]), []byte(all[(i+2)%len(all)]))
	}
	f.Fuzz(func(t *testing.T, base, ours, theirs []byte) {
		mustMerge(t, base, base, theirs, theirs)
		mustMerge(t, base, ours, base, ours)
		mustMerge(t, base, theirs, theirs, theirs)
		merged, conflicts := merge(base, ours, theirs)
		if len(conflicts) > 0 && merged != nil {
			t.Fatalf("conflicts %v and a result %q", conflicts, merged)
		}
		if len(conflicts) > 0 {
			return
		}
		text := (*Document).Body
		for _, b := range [][]byte{base, ours, theirs} {
			if Parse(b).FrontMatterError() != nil { // then whole files are merged by lines
				text = func(d *Document) []byte { return bytes.TrimPrefix(d.Bytes(), []byte(byteOrderMark)) }
			}
		}
		checkAdded(t, text(Parse(base)), text(Parse(ours)), merged, "ours")
		checkAdded(t, text(Parse(base)), text(Parse(theirs)), merged, "theirs")
		if Diff(base, merged, "a", "b", 3) == "" && !bytes.Equal(base, merged) {
			t.Fatalf("no diff between %q and %q", base, merged)
		}
	})
}

func mustMerge(t *testing.T, base, ours, theirs, want []byte) {
	t.Helper()
	got, conflicts := merge(base, ours, theirs)
	if len(conflicts) > 0 || !bytes.Equal(got, want) {
		t.Fatalf("Merge(%q, %q, %q) = %q, %v, want %q", base, ours, theirs, got, conflicts, want)
	}
}

// checkAdded demands that each line that side has and base lacks stands in the
// result, as it is or with other line endings.
func checkAdded(t *testing.T, base, side, merged []byte, name string) {
	t.Helper()
	lines := func(b []byte) map[string]bool {
		out := map[string]bool{}
		for _, l := range splitLines(b) {
			out[strings.TrimRight(string(l), "\r\n")] = true
		}
		return out
	}
	was, is := lines(base), lines(bytes.TrimPrefix(merged, []byte(byteOrderMark)))
	for text := range lines(side) {
		if text != "" && !was[text] && !is[text] {
			t.Fatalf("line %q of %s is not in %q", text, name, merged)
		}
	}
}
