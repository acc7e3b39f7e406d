package markdown

import "testing"

func TestFill(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ src, want string }{
		{"# {{title}}\n{{date}} {{other}} {{ title }}\n", "# A: \"b\" {{date}}\n2026-01-09 {{other}} {{ title }}\n"},
		{"---\ntitle: '{{title}}' # t\ntags: [x, \"{{date}}\"]\nimportance: 0.70\n---\n`{{date}}`",
			"---\ntitle: 'A: \"b\" {{date}}' # t\ntags: [x, \"2026-01-09\"]\nimportance: 0.70\n---\n`2026-01-09`"},
		{"plain\r\n", "plain\r\n"},
	} {
		d := Parse([]byte(c.src))
		if err := d.Fill(map[string]string{"title": `A: "b" {{date}}`, "date": "2026-01-09"}); err != nil {
			t.Errorf("%q: %v", c.src, err)
		}
		if got := string(d.Bytes()); got != c.want {
			t.Errorf("%q:\n%q, want\n%q", c.src, got, c.want)
		}
	}
	if d := Parse([]byte("---\n{title: '{{title}}'}\n---\n")); d.Fill(map[string]string{"title": "x"}) == nil {
		t.Errorf("front matter that cannot be edited was: %q", d.Bytes())
	}
}
