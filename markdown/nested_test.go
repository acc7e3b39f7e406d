package markdown_test

import (
	"errors"
	"maps"
	"testing"

	"stet/markdown"
)

func TestATextOfAMappingIsSetAndTakenAwayAndNothingElseChanges(t *testing.T) {
	t.Parallel()
	const nested = "    a: 'b'  # why\n    h:\n      tags: [a, b]\n      t: |\n        x\n\n        y\n"
	tests := []struct{ before, set string }{
		{"---\nname: x\n---\nBody\n", "---\nname: x\nmetadata:\n  k: \"true\"\n---\nBody\n"},
		{"---\r\nname: x\r\n---\r\n", "---\r\nname: x\r\nmetadata:\r\n  k: \"true\"\r\n---\r\n"},
		{"---\nmetadata:\n" + nested + "# end\nlicense: M\n---\n",
			"---\nmetadata:\n" + nested + "    k: \"true\"\n# end\nlicense: M\n---\n"},
		{"---\nmetadata:\n  k: false\n  z: 1\n---\n", "---\nmetadata:\n  k: \"true\"\n  z: 1\n---\n"},
	}
	for _, test := range tests {
		d := markdown.Parse([]byte(test.before))
		if err := d.SetMetaText("metadata", "k", "true"); err != nil || string(d.Bytes()) != test.set {
			t.Errorf("%q became %q, %v", test.before, d.Bytes(), err)
			continue
		}
		if got, _ := d.Meta("metadata"); got.Texts()["k"] != "true" {
			t.Errorf("%q reads as %q", d.Bytes(), got.Texts())
		}
		if err := d.SetMetaText("metadata", "k", "true"); err != nil || string(d.Bytes()) != test.set {
			t.Errorf("again: %q, %v", d.Bytes(), err)
		}
		want := test.before
		if want == tests[3].before {
			want = "---\nmetadata:\n  z: 1\n---\n"
		}
		if err := d.SetMetaText("metadata", "k", ""); err != nil || string(d.Bytes()) != want {
			t.Errorf("taken away it is %q, not %q: %v", d.Bytes(), want, err)
		}
	}
	for _, bad := range []string{"---\nmetadata: {a: b}\n---\n", "---\nmetadata: x\n---\n", "---\nmetadata: [a]\n---\n",
		"---\n{metadata: {}}\n---\n"} {
		d := markdown.Parse([]byte(bad))
		err := d.SetMetaText("metadata", "k", "v")
		if !errors.Is(err, markdown.ErrUnsupported) || string(d.Bytes()) != bad {
			t.Errorf("%q: %q, %v", bad, d.Bytes(), err)
		}
	}
	got, _ := markdown.Parse([]byte("---\nm: {a: 1, b: [x], c: {d: e}}\n---\n")).Meta("m")
	if !maps.Equal(got.Texts(), map[string]string{"a": "1"}) {
		t.Errorf("%v", got.Texts())
	}
}
