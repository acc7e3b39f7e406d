package markdown

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestSetMetaSplices(t *testing.T) {
	t.Parallel()
	ab := Strings([]string{"a", "b"})
	for _, tc := range []struct {
		name, src, key string
		v              Value
		want           string
	}{
		{"comment stays", "---\nk: old   # why\nz: 1\n---\n", "k", String("new"), "---\nk: new   # why\nz: 1\n---\n"},
		{"CRLF", "---\r\nk: old\r\n---\r\nx", "k", Number(0.7), "---\r\nk: 0.7\r\n---\r\nx"},
		{"appended with CRLF", "---\r\nk: 1\r\n---\r\nx", "m", Bool(true), "---\r\nk: 1\r\nm: true\r\n---\r\nx"},
		{"created", "text", "k", String("v"), "---\nk: v\n---\ntext"},
		{"created behind BOM", "\xEF\xBB\xBFa\r\n", "k", String("v"), "\xEF\xBB\xBF---\r\nk: v\r\n---\r\na\r\n"},
		{"created before an unclosed fence", "---\nx\n", "k", String("v"), "---\nk: v\n---\n---\nx\n"},
		{"empty value", "---\nk:   # later\n---\n", "k", String("v"), "---\nk: v   # later\n---\n"},
		{"folded block", "---\nk: >-\n  one\n  two\n\n# z\nz: 1\n---\n", "k", String("v"), "---\nk: v\n\n# z\nz: 1\n---\n"},
		{"plain over lines", "---\nk: one\n  two\nz: 1\n---\n", "k", String("v"), "---\nk: v\nz: 1\n---\n"},
		{"quoted over lines", "---\nk: \"one\n  two\" # c\nz: 1\n---\n", "k", String("v"), "---\nk: v # c\nz: 1\n---\n"},
		{"quoted key", "---\n'k': one\n---\n", "k", String("v"), "---\n'k': v\n---\n"},
		{"text that looks typed", "---\nk: x\n---\n", "k", String("007"), "---\nk: \"007\"\n---\n"},
		{"text with quotes", "---\nk: x\n---\n", "k", String(`a: "b"`), "---\nk: 'a: \"b\"'\n---\n"},
		{"text with lines", "---\nk: x\n---\n", "k", String("a\n\"b\""), "---\nk: \"a\\n\\\"b\\\"\"\n---\n"},
		{"date", "---\nk: x\n---\n", "k", Plain("2026-01-02"), "---\nk: 2026-01-02\n---\n"},
		{"time", "---\nk: x\n---\n", "k", Time(time.Date(2026, 1, 9, 15, 2, 11, 0, time.FixedZone("", 3600))), "---\nk: 2026-01-09T14:02:11Z\n---\n"},
		{"same number", "---\nk: 0.70\n---\n", "k", Number(0.7), "---\nk: 0.70\n---\n"},
		{"flow list grows", "---\nk: [\"a\"] # c\n---\n", "k", ab, "---\nk: [\"a\", b] # c\n---\n"},
		{"flow list shrinks", "---\nk: [x,  'a',b]\n---\n", "k", ab, "---\nk: ['a', b]\n---\n"},
		{"flow list over lines", "---\nk: [\n  x, # c\n]\n---\n", "k", ab, "---\nk: [a, b]\n---\n"},
		{"block list grows", "---\nk:\n  - 'a' # c\nz: 1\n---\n", "k", ab, "---\nk:\n  - 'a' # c\n  - b\nz: 1\n---\n"},
		{"block list keeps comments", "---\nk: # all\n- x\n# on a\n- a\n---\n", "k", ab, "---\nk: # all\n# on a\n- a\n- b\n---\n"},
		{"block list emptied", "---\nk: # all\n- x\n- y\nz: 1\n---\n", "k", Strings(nil), "---\nk: [] # all\nz: 1\n---\n"},
		{"text becomes a list", "---\nk: a, x\n---\n", "k", ab, "---\nk: [a, b]\n---\n"},
		{"list items need quotes", "---\n---\n", "k", Strings([]string{"a, b", "#c", "1"}), "---\nk: [\"a, b\", \"#c\", \"1\"]\n---\n"},
		{"indented keys", "---\n  a: 1\n---\n", "k", String("v"), "---\n  a: 1\n  k: v\n---\n"},
		{"before comments at the end no key moves", "---\na: 1\n# end\n---\n", "k", String("v"), "---\na: 1\n# end\nk: v\n---\n"},
		{"mapping replaced", "---\nk:\n  x: 1\n  y: 2\nz: 3\n---\n", "k", String("v"), "---\nk: v\nz: 3\n---\n"},
		{"tagged", "---\nk: !!str 12 # c\n---\n", "k", String("v"), "---\nk: v # c\n---\n"},
		{"wide columns", "---\n\"日本\": 値\n---\n", "日本", String("v"), "---\n\"日本\": v\n---\n"},
		{"odd key", "---\n---\n", "a: b", String("v"), "---\n\"a: b\": v\n---\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := Parse([]byte(tc.src))
			if err := d.SetMeta(tc.key, tc.v); err != nil {
				t.Fatal(err)
			}
			if string(d.Bytes()) != tc.want {
				t.Errorf("%q became %q, want %q", tc.src, d.Bytes(), tc.want)
			}
			if err := d.SetMeta(tc.key, tc.v); err != nil || string(d.Bytes()) != tc.want {
				t.Errorf("a second time: %v, %q", err, d.Bytes())
			}
		})
	}
}

func TestSetMetaRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, src, key string
		v              Value
		want           error
	}{
		{"flow front matter", "---\n{a: 1}\n---\n", "a", String("b"), ErrUnsupported},
		{"explicit key", "---\n? a\n: 1\n---\n", "a", String("b"), ErrUnsupported},
		{"anchor in use", "---\na: &x 1\nb: *x\n---\n", "a", String("b"), ErrUnsupported},
		{"not UTF-8", "", "a", String("\xff"), ErrInvalidValue},
		{"list not UTF-8", "", "a", Strings([]string{"\xff"}), ErrInvalidValue},
		{"not finite", "", "a", Number(math.Inf(1)), ErrInvalidValue},
		{"no number", "", "a", Number(math.NaN()), ErrInvalidValue},
		{"empty key", "", "", String("b"), ErrInvalidValue},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := Parse([]byte(tc.src))
			if err := d.SetMeta(tc.key, tc.v); !errors.Is(err, tc.want) {
				t.Errorf("error %v, want %v", err, tc.want)
			}
			if string(d.Bytes()) != tc.src {
				t.Errorf("%q became %q", tc.src, d.Bytes())
			}
		})
	}
}

func TestRemoveMeta(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ src, key, want string }{
		{"---\na: 1\nb: 2 # c\nz: 3\n---\nx", "b", "---\na: 1\nz: 3\n---\nx"},
		{"---\na:\n- x\n- y\n\n# z\nz: 3\n---\nx", "a", "---\n\n# z\nz: 3\n---\nx"},
		{"---\na: 1\n---\nx", "a", "---\n---\nx"},
		{"---\na: 1\n---\nx", "none", "---\na: 1\n---\nx"},
		{"no front matter", "a", "no front matter"},
	} {
		d := Parse([]byte(tc.src))
		if err := d.RemoveMeta(tc.key); err != nil || string(d.Bytes()) != tc.want {
			t.Errorf("RemoveMeta(%q) of %q: %v, %q, want %q", tc.key, tc.src, err, d.Bytes(), tc.want)
		}
	}
}

// An edit that would change what another key refers to is refused, even though
// the result could be read.
func TestEditsKeepWhatOtherKeysSay(t *testing.T) {
	t.Parallel()
	src := "---\na: &x 1\nb: &x 2\nc: *x\n---\n"
	d := Parse([]byte(src))
	if err := d.RemoveMeta("b"); !errors.Is(err, ErrUnsupported) || string(d.Bytes()) != src {
		t.Errorf("removed: %v, %q", err, d.Bytes())
	}
	if err := d.SetMeta("b", String("v")); !errors.Is(err, ErrUnsupported) || string(d.Bytes()) != src {
		t.Errorf("set: %v, %q", err, d.Bytes())
	}
}

// genFront draws front matter as people write it.
func genFront(t *rapid.T, label string) string {
	eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, label+" eol")
	out := "---" + eol
	for i := range rapid.IntRange(0, 6).Draw(t, label+" keys") {
		form := rapid.SampledFrom([]string{
			"%s: text", "%s: \"quo#ted\" # c", "%s: [a, 'b']", "%s:¶  - a¶  # on b¶  - b", "%s:¶- a¶- \"b\" # c", "%s: >-¶  folded¶  text",
			"# about %[1]s¶%[1]s: 0.70", "¶%s: |¶  kept¶¶  lines", "%s:", "%s: {x: 1,  y: 2}", "%s: 2026-01-02", "'%s': ~  # none", "%s: a, b",
		}).Draw(t, label+" form")
		text := fmt.Sprintf(form, fmt.Sprintf("k%d", i)) + "¶"
		out += string(bytes.ReplaceAll([]byte(text), []byte("¶"), []byte(eol)))
	}
	return out + "---" + eol
}

func genValue(t *rapid.T) Value {
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		return Strings(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c d", "e, f", "[g]", "7", "", "- h", "ü#"}), 0, 4).Draw(t, "items"))
	case 1:
		return Number(rapid.Float64Range(-1e9, 1e9).Draw(t, "number"))
	case 2:
		return Bool(rapid.Bool().Draw(t, "bool"))
	case 3:
		return Time(time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "seconds"), 0))
	}
	return String(rapid.String().Draw(t, "text"))
}

// Every edit changes its own key only, whatever stands around it, and the lines
// outside of the entry stay byte for byte.
func TestSetMetaProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		src := genFront(t, "front") + "body\n"
		d, was := Parse([]byte(src)), Parse([]byte(src))
		key := fmt.Sprintf("k%d", rapid.IntRange(0, 7).Draw(t, "key"))
		v := genValue(t)
		if err := d.SetMeta(key, v); err != nil {
			t.Fatalf("SetMeta(%q, %q) of %q: %v", key, v.Text(), src, err)
		}
		if got, ok := d.Meta(key); !ok || !got.Equal(v) {
			t.Fatalf("set %q, read %q", v.Text(), got.Text())
		}
		if !sameExcept(was.meta(), d.meta(), key) || string(d.Body()) != "body\n" {
			t.Fatalf("%q became %q", src, d.Bytes())
		}
		was.meta().layout()
		d.meta().layout()
		i := was.meta().find(key)
		if i < 0 {
			i = len(was.Keys())
		}
		for k, name := range was.Keys() {
			a, b := was.meta(), d.meta()
			ea, eb := a.entries[k], b.entries[b.find(name)]
			if k != i && !bytes.Equal(a.text[ea.start:ea.end], b.text[eb.start:eb.end]) {
				t.Fatalf("key %s changed in %q to %q", name, src, d.Bytes())
			}
		}
		if err := d.RemoveMeta(key); err != nil {
			t.Fatalf("RemoveMeta: %v", err)
		}
		want := slices.DeleteFunc(was.Keys(), func(k string) bool { return k == key })
		if got := d.Keys(); !slices.Equal(got, want) {
			t.Fatalf("keys %q, want %q", got, want)
		}
	})
}
