package markdown

import (
	"testing"
	"unicode/utf8"
)

// What Obsidian follows in properties, and renames, is a quoted value that is one wiki link. In the targets, a is in
// double quotes and b in single ones.
func TestLinksInProperties(t *testing.T) {
	t.Parallel()
	const name, a, b = `New 'x" y`, `New 'x\" y`, `New ''x" y`
	for _, tc := range []struct{ front, want string }{
		{`k: "[[Old]]"`, `k: "[[` + a + `]]"`},
		{`k: '[[Old#H|it''s]]' # [[Old]]`, `k: '[[` + b + `#H|it''s]]' # [[Old]]`},
		{"k:\n  - \"[[Old]]\"\n  - x\n  - '[[ Old ]]'", "k:\n  - \"[[" + a + "]]\"\n  - x\n  - '[[ " + b + " ]]'"},
		{`k: ["[[Old|x]]", "[[Other]]"]`, `k: ["[[` + a + `|x]]", "[[Other]]"]`},
		{`{k: {l: "[[Old]]"}}`, `{k: {l: "[[` + a + `]]"}}`},
		{"ä: \"ü\"\r\nö:   \"[[Old]]\"  \r\nz: 1", "ä: \"ü\"\r\nö:   \"[[" + a + "]]\"  \r\nz: 1"},
		{`k: &x "[[Old]]"`, ""}, {`k: "\x5b[Old]]"`, ""}, {`k: [[Old]]`, ""}, {`k: "[[Old]] and [[Old]]"`, ""},
		{`k: "![[Old]]"`, ""}, {"k: |-\n  [[Old]]", ""}, {`"[[Old]]": x`, ""}, {`# "[[Old]]"`, ""},
		{`k: "[[Old]]`, ""}, {`k: "[Old](Old.md)"`, ""}, {`k: "[[Old]] "`, ""}, {`k: "[[]]"`, ""}, {`k: "[[ ]]"`, ""},
	} {
		const body = "\n---\n[[Old]]\n"
		src, want := "---\n"+tc.front+body, "---\n"+tc.want+"\n---\n[["+name+"]]\n"
		if tc.want == "" {
			want = "---\n" + tc.front + "\n---\n[[" + name + "]]\n"
		}
		d := Parse([]byte(src))
		checkLinks(t, d)
		err := d.RewriteLinks(func(l Link) (string, bool) { return name, l.Target == "Old" })
		if got := string(d.Bytes()); err != nil || got != want {
			t.Errorf("%s: %v\n%q, want\n%q", tc.front, err, got, want)
		}
		checkLinks(t, d)
	}
	// What a property could not say is left alone.
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if utf8.ValidRune(r) && (r < 0x2100 || r&0xfff0 == 0xfff0 || r == 0xfeff) {
			to, d := "a"+string(r)+"b", Parse([]byte("---\nk: \"[[Old]]\"\n---\n"))
			err := d.RewriteLinks(func(l Link) (string, bool) { return to, l.CanHold(to) })
			if links := d.Links(); err != nil || len(links) != 1 || links[0].Target != "Old" && links[0].Target != to {
				t.Fatalf("%U: %v, %v", r, err, links)
			}
		}
	}
}
