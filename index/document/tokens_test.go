package document

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func terms(text string) []string {
	out := []string{}
	Tokenize([]byte(text), func(t Token) { out = append(out, t.Term) })
	return out
}

func TestTokenize(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, want string }{
		{"Hello, World!", "hello world"},
		{"don’t it's", "don t it s"},
		{"Café CAFÉ cafe\u0301", "cafe cafe cafe"},
		{"Straße STRASSE", "strasse strasse"},
		{"ﬁne Ⅳ ①", "fine iv 1"},
		{"Ёлка ёлка", "елка елка"},
		{"Ångström ørsted Łódź", "angstrom orsted lodz"},
		{"हिन्दी", "हिन्दी"},
		{"数据", "数 数据 据"},
		{"ﾃﾞｰﾀ データ", "デ デー ー ータ タ デ デー ー ータ タ"},
		{"한국어", "한 한국 국 국어 어"},
		{"a数b", "a 数 b"},
		{"🎉party", "🎉 party"},
		{"a\xff\xfeb", "a b"},
		{"snake_case kebab-case", "snake case kebab case"},
		{"", ""},
	} {
		got := strings.Join(terms(tc.in), " ")
		if tc.in == "数据" {
			// The pair stands at the position of its first character.
			got2 := terms(tc.in)
			slices.Sort(got2)
			want2 := strings.Fields(tc.want)
			slices.Sort(want2)
			if !slices.Equal(got2, want2) {
				t.Errorf("%q gave %v", tc.in, got2)
			}
			continue
		}
		if strings.ContainsAny(tc.in, "ー한") {
			a, b := terms(tc.in), strings.Fields(tc.want)
			slices.Sort(a)
			slices.Sort(b)
			if !slices.Equal(a, b) {
				t.Errorf("%q gave %q, want %q", tc.in, a, b)
			}
			continue
		}
		if got != tc.want {
			t.Errorf("%q gave %q, want %q", tc.in, got, tc.want)
		}
	}
}

func TestIdentifiers(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, want string }{
		{"foo_bar.baz", "foo_bar.baz foo_bar"},
		{"see `app.config.yaml`.", "app.config.yaml"},
		{"/etc/app/config.yaml", "/etc/app/config.yaml config.yaml"},
		{"User@Example.com:", "user@example.com example.com"},
		{"C++ and C#, not C", "c++ c#"},
		{"state-of-the-art", "state-of-the-art"},
		{"--dry-run", "--dry-run"},
		{"plain words, only.", ""},
		{"- * + ->", ""},
	} {
		var got []string
		Identifiers([]byte(tc.in), func(name string, start, end int) {
			got = append(got, name)
			if start < 0 || end > len(tc.in) || start >= end {
				t.Errorf("%q: range %d-%d", tc.in, start, end)
			}
		})
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%q gave %q, want %q", tc.in, got, tc.want)
		}
	}
}

func TestCamelParts(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"getUserName": "get User Name", "parseHTTPRequest": "parse HTTP Request", "plain": "", "HTTP": "", "utf8String": "utf8 String",
	} {
		var got []string
		CamelParts([]byte(in), func(p []byte) { got = append(got, string(p)) })
		if strings.Join(got, " ") != want {
			t.Errorf("%q gave %q, want %q", in, got, want)
		}
	}
}

func FuzzTokenize(f *testing.F) {
	for _, s := range []string{"Hello", "数据库 café ﾃﾞ", "a\xffb", "foo_bar.baz/x@y:z++", strings.Repeat("é", 200)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		last := 0
		Tokenize(text, func(tok Token) {
			if tok.Start < 0 || tok.End > len(text) || tok.Start >= tok.End || tok.Pos < 0 {
				t.Fatalf("token %+v of %d bytes", tok, len(text))
			}
			if tok.Term == "" || len(tok.Term) > 2*maxTerm || !utf8.ValidString(tok.Term) {
				t.Fatalf("term %q", tok.Term)
			}
			if tok.Pos < last-1 {
				t.Fatalf("position falls from %d to %d", last, tok.Pos)
			}
			last = tok.Pos
		})
		Identifiers(text, func(name string, start, end int) {
			if name == "" || len(name) > maxTerm || start < 0 || end > len(text) || start >= end {
				t.Fatalf("name %q %d-%d", name, start, end)
			}
		})
	})
}
