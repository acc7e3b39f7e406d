package cells_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"stet/cmd/stet/cells"
)

func TestWidth(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"": 0, "gate": 4, "门禁代码": 8, "ｆｕｌｌ": 8, "각": 2, "가": 2, "café": 4, "שָׁלוֹם": 4, "مَرْحَبًا": 5, "…": 1,
		"🦊": 2, "❤️": 2, "👩‍🚒": 4, "🇩🇪": 2, "ﾊﾝ": 2, "\x1b[1mab" + "\x1b[0m": 2, "a\u200bb": 2, "–": 1,
	} {
		if got := cells.Width(text); got != want {
			t.Errorf("%q takes %d cells, want %d", text, got, want)
		}
	}
}

func TestCutFitsAndLeavesLettersWhole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"gate code", 9, "gate code"}, {"gate code", 8, "gate co…"}, {"gate code", 6, "gate…"}, {"gate", 1, "…"},
		{"gate", 0, ""}, {"门禁代码", 8, "门禁代码"}, {"门禁代码", 7, "门禁代…"}, {"门禁代码", 6, "门禁…"},
		{"门禁", 2, "…"},
		{"cafe\u0301s", 4, "caf…"}, {"cafe\u0301s", 5, "cafe\u0301s"},
		{"e\u0301cole", 2, "e\u0301…"}, {"a❤️b", 3, "a…"},
		{"👩‍🚒x", 4, "👩…"}, {"שָׁלוֹם", 3, "שָׁל…"},
	} {
		if got := cells.Cut(c.text, c.most); got != c.want {
			t.Errorf("Cut(%q, %d) is %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add("门禁 e\u0301 👩‍🚒 ❤️ שָׁלוֹם", 5)
	f.Fuzz(func(t *testing.T, text string, most int) {
		text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x1b", ""), "")
		got := cells.Cut(text, most)
		if n := cells.Width(got); n > max(most, 0) && got != text {
			t.Errorf("Cut(%q, %d) takes %d", text, most, n)
		}
		if !utf8.ValidString(got) || !strings.HasPrefix(text, strings.TrimSuffix(got, "…")) && got != text {
			t.Errorf("Cut(%q, %d) is %q", text, most, got)
		}
	})
}
