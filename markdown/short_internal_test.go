package markdown

import (
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

// What is read the short way is what the YAML reader makes of it, and what stet writes is read the short way.
func TestPlainFrontMatterIsWhatTheYAMLReaderReads(t *testing.T) {
	t.Parallel()
	short := 0
	same := func(t interface{ Fatalf(string, ...any) }, text string) {
		got := plainFrontMatter([]byte(text))
		if got == nil {
			return
		}
		short++
		var doc yaml.Node
		err := yaml.Unmarshal([]byte(text), &doc)
		if err != nil || len(doc.Content) != 1 || !reflect.DeepEqual(got, doc.Content[0]) {
			t.Fatalf("%q: %+v instead of %+v, %v", text, got, doc.Content, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.StringMatching(`[a-z0-9:/.+_ -]{0,12}`),
			rapid.StringMatching(`[\[\]"'#&*!|>%@{}:, \tax1~?-]{0,8}`),
			rapid.StringMatching(`\[[a-z0-9 ,.:-]{0,12}\]`), rapid.StringMatching(`"[ -~é]{0,6}"`),
			rapid.SampledFrom(strings.Split("null|~|true|yes|1|0x1f|0o7|1e3|-1|.5|1_000|12:30:45|2025-01-09|"+
				"2025-01-09T00:12:11Z|.inf|a: b|a #b|a:|---|[]|[a, b]|[1, null, 2025-01-09]||é", "|")))
		key := rapid.OneOf(rapid.StringMatching(`[a-z_]{1,4}`),
			rapid.SampledFrom([]string{"null", "true", "y", "1", "- a", "? a", "<<", " a", "a b"}))
		var b strings.Builder
		for range rapid.IntRange(0, 3).Draw(t, "lines") {
			b.WriteString(key.Draw(t, "key"))
			b.WriteString(rapid.SampledFrom([]string{": ", ": ", ": ", ":", ":  "}).Draw(t, "colon"))
			b.WriteString(value.Draw(t, "value"))
			b.WriteString(rapid.SampledFrom([]string{"\n", "\n", "\n", "\r\n", "\n  ", ""}).Draw(t, "end"))
		}
		same(t, b.String())
	})
	if short == 0 {
		t.Error("nothing was read the short way: the test says nothing")
	}
	written := "id: 01jd7q8r5t9v3x6y2z4a7c0e1f\nkind: fact\ncategories: [mysql, data migration]\nimportance: 0.7\n" +
		"created: 2026-01-09T14:02:11Z\nsource: \"session:01jd7q8r#14\"\npinned: true\ntitle: The gate - code/4711\n"
	same(t, written)
	if plainFrontMatter([]byte(written)) == nil {
		t.Error("what stet writes is read the long way")
	}
}

// A text of which mayLink says that it has no link has none.
func TestWhatMayNotLinkHasNoLinks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := strings.Split("[ ] [[ ]] ( ) : ![ < > a b.md ` \\ ^ [a]:", " ")
		parts = append(parts, " ", "\n", "\n\n", "[a]: b.md\n")
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 20).Draw(t, "parts"), "")
		if links := Parse([]byte(text)).outline().links; len(links) > 0 && !mayLink([]byte(text)) {
			t.Fatalf("%q has %+v", text, links)
		}
	})
}
