package markdown

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestLinks(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, src string
		want      []string // kind|target|fragment|text|bytes of the target|bytes of the whole
	}{
		{"wiki", "a [[Note]] b", []string{"wiki|Note|||Note|[[Note]]"}},
		{"wiki shown", "[[ My Note | as *this* ]]", []string{"wiki|My Note||as *this*|My Note|[[ My Note | as *this* ]]"}},
		{"wiki heading", "[[Note#A b|x]]", []string{"wiki|Note|A b|x|Note|[[Note#A b|x]]"}},
		{"wiki block", "[[Note#^id1]]", []string{"wiki|Note|^id1||Note|[[Note#^id1]]"}},
		{"own heading", "[[#Here]]", []string{"wiki||Here|||[[#Here]]"}},
		{"embed", "![[img 1.png]]", []string{"embed|img 1.png|||img 1.png|![[img 1.png]]"}},
		{"table", "| a |\n|---|\n| [[t\\|x]] |", []string{`wiki|t||x|t|[[t\|x]]`}},
		{"link", "[x *y*](a%20b.md#c%20d \"t\")", []string{`link|a b.md|c d|x y|a%20b.md|[x *y*](a%20b.md#c%20d "t")`}},
		{"angle", "[x](<a (b).md>)", []string{"link|a (b).md||x|a (b).md|[x](<a (b).md>)"}},
		{"brackets", "[x](a(b).md)", []string{"link|a(b).md||x|a(b).md|[x](a(b).md)"}},
		{"image", "![x](../i.png)", []string{"image|../i.png||x|../i.png|![x](../i.png)"}},
		{"image in link", "[![i](a.png)](b.md)", []string{"link|b.md||i|b.md|[![i](a.png)](b.md)", "image|a.png||i|a.png|![i](a.png)"}},
		{"definition", "[x][d] [d]\n\n[d]: <b c.md> 't'\n", []string{"definition|b c.md||d|b c.md|[d]: <b c.md> 't'"}},
		{"same file twice", "[a](a) [a](a)", []string{"link|a||a|a|[a](a)", "link|a||a|a|[a](a)"}},
		{"over lines", "> [q](\n> r.md)\n", []string{"link|r.md||q|r.md|[q](\n> r.md)"}},
		{"text with brackets", "[[1]](u.md)", []string{"link|u.md||[1]|u.md|[[1]](u.md)"}},
		{"entity", "[x](a&amp;b.md)", []string{"link|a&b.md||x|a&amp;b.md|[x](a&amp;b.md)"}},
		{"in heading and list", "# [[h]]\n- [[l]]\n  > [[q]]", []string{"wiki|h|||h|[[h]]", "wiki|l|||l|[[l]]", "wiki|q|||q|[[q]]"}},
		{"code in text", "[[d|`e]]`]]", []string{"wiki|d||`e]]`|d|[[d|`e]]`]]"}},
		{"no links", "`[[a]]` <!-- [[b]] --> \\[[c]] https://e.org/[[d]] <https://e.org/[[e]]> [[]] [[ ]] [x](https://e.org) [x](mailto:a@b) [x](//h/p) [x]()", nil},
		{"no links in blocks", "```\n[[a]] [x](y.md)\n```\n\n    [[b]]\n\n<div>\n[[c]]\n</div>\n\n<!--\n[[d]]\n-->\n", nil},
		{"no links in footnotes", "a[^1] b[^n2] c[^3]\n\n[^1]: word\n\n[^n2]: several words.md\n\n[^3]:\n    word.md\n", nil},
		{"no link in a footnote behind a definition", "a[^1] [d]\n\n[d]: x.md\n[^1]: word\n", []string{"definition|x.md||d|x.md|[d]: x.md"}},
		{"links in footnotes", "a[^1]\n\n[^1]: [[note]]\n\n[^2]: [t](b.md)\n\n> [^3]: see ![[i.png]]\n", []string{"wiki|note|||note|[[note]]", "link|b.md||t|b.md|[t](b.md)", "embed|i.png|||i.png|![[i.png]]"}},
		{"link called like a footnote", "[^1](c.md)", []string{"link|c.md||^1|c.md|[^1](c.md)"}},
		{"code span wins", "[[a `b]] c`", nil},
		{"not over lines", "[[a\nb]]", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			src := "---\nrelated: \"see [[no]]\"\n---\n" + tc.src
			d := Parse([]byte(src))
			var got []string
			for _, l := range d.Links() {
				got = append(got, strings.Join([]string{string(l.Kind), l.Target, l.Fragment, l.Text, src[l.TargetStart:l.TargetEnd], src[l.Start:l.End]}, "|"))
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("links of %q:\n%q, want\n%q", tc.src, got, tc.want)
			}
			checkLinks(t, d)
		})
	}
}

func TestTags(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		src  string
		want []string
	}{
		{"---\ntags: a, b\ncategories: [C, a, '#f']\ntag: d\n---\n#e #A", []string{"a", "b", "d", "C", "f", "e"}},
		{"#x/y #2026-01 #123 #ünïcode #标签。#🎉 (#in) #trail/ a#no &#35;no \\#no #-", []string{"x/y", "2026-01", "ünïcode", "标签", "🎉", "in", "trail"}},
		{"# heading\n## #h\n`#no` [#no](x.md) [[a#no]] [[#no]] https://e.org/ #yes <b title=\" #no\">\n\n```\n#no\n```\n<!-- #no -->", []string{"h", "yes"}},
		{"- #item #snake_case_tag\n\n| #cell |\n|---|\n", []string{"item", "snake_case_tag", "cell"}},
		{"---\ntags:\n---\n", nil},
	} {
		if got := Parse([]byte(tc.src)).Tags(); !slices.Equal(got, tc.want) {
			t.Errorf("Tags(%q) = %q, want %q", tc.src, got, tc.want)
		}
	}
}

func TestRewriteLinks(t *testing.T) {
	t.Parallel()
	src := "---\nx: \"[[old]]\"\n---\r\n[[old]] ![[old#h|s]] [a](old#f 't') `[[old]]` [b](<old>) [[other]]\n\n| c |\n|---|\n| [[old\\|t]] |\n\n[d]: old\n"
	for _, tc := range []struct {
		target, wiki, link, angle string
		err                       error
	}{
		{"new", "new", "new", "new", nil},
		{"dir/näu 1", "dir/näu 1", "dir/näu%201", "dir/näu 1", nil},
		{"a(b)%20", "a(b)%20", "a%28b%29%2520", "a%28b%29%2520", nil},
		{"x|y", "", "", "", ErrInvalidTarget},
		{"x]]", "", "", "", ErrInvalidTarget},
		{"x\n", "", "", "", ErrInvalidTarget},
		{"", "", "", "", ErrInvalidTarget},
		{strings.Repeat("x", 2*maxWikiLink), "", "", "", ErrInvalidTarget},
	} {
		d := Parse([]byte(src))
		err := d.RewriteLinks(func(l Link) (string, bool) { return tc.target, l.Target == "old" })
		want := src
		if tc.err == nil {
			want = fmt.Sprintf("---\nx: \"[[%[1]s]]\"\n---\r\n[[%[1]s]] ![[%[1]s#h|s]] [a](%[2]s#f 't') `[[old]]` [b](<%[3]s>) [[other]]\n\n| c |\n|---|\n| [[%[1]s\\|t]] |\n\n[d]: %[2]s\n", tc.wiki, tc.link, tc.angle)
		}
		if !errors.Is(err, tc.err) || string(d.Bytes()) != want {
			t.Errorf("to %q: %v\n%q, want\n%q", tc.target, err, d.Bytes(), want)
		}
	}
}

func TestNestedInputIsFast(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		strings.Repeat(">", 5_000), strings.Repeat("[", 20_000), strings.Repeat("[[", 20_000), strings.Repeat("[[a`", 3_000),
		strings.Repeat("![[", 10_000), strings.Repeat("#a ", 10_000), strings.Repeat("[[a]] #b ", 3_000),
	} {
		d := Parse([]byte(s))
		checkLinks(t, d)
		_ = d.Tags()
	}
}
