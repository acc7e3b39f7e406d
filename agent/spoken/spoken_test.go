package spoken_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"stet/agent/spoken"
)

func TestLines(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ turn, want string }{
		{"One.\r\nTwo.\n\nThree.", "One.|Two.||Three."},
		{"Mine.\n```go\ntheirs\n~~~\n```\nMine again.", "Mine.||Mine again."},
		{"Mine.\n~~~~\ntheirs\n~~~\nstill\n~~~~\nMine again.", "Mine.||Mine again."},
		{"Mine.\n```\nnever closed", "Mine.|"},
		{"Code `x` in a line.\n    code\n\tcode\nMine.", "Code `x` in a line.|Mine."},
		{"Mine.\n\n> theirs\nwhat goes on with it\n\nMine again.", "Mine.|||Mine again."},
		{"Mine.\nLook at **this**:\ntheirs", "Mine.|Look at **this**:"},
		{"Mine.\nLook at **this:**\ntheirs", "Mine.|Look at **this:**"},
		{"请看这个：\ntheirs", "请看这个："},
		{"看**这个：**\ntheirs", "看**这个：**"},
		{"Mine﹕\ntheirs", "Mine﹕"},
		{"Mine.\n  \tcode\n \t code\n  Mine.", "Mine.|Mine."},
		{"<stet-context>\ntheirs\n</stet-context>\nMine.", "Mine."},
		{"Mine.\n<stet-context\ntheirs", "Mine.|"},
		{"She wrote \"Hi,\nthe gate code is 4712 now.\nBye\"\nMine.", "Mine."},
		{"She wrote “Hi,\n\nthe gate code is 4712 now.\n\nBye”\nMine.", "||Mine."},
		{"She wrote 'Hi,\nit's the gate code.\nBye'.\nMine.", "Mine."},
		{"A 5\" pipe.\nIt's mine.\nA 6\" one.", "A 5\" pipe.|It's mine.|A 6\" one."},
		{"First.\n\nTheirs\nand theirs.\" Mine.\nMine again.", "First.||Mine again."},
		{"Never closed: \"he said.\nMine.", "Never closed: \"he said.|Mine."},
		{"Do that 'cause I like it.\nMy parents' house.\nMine.", "Do that 'cause I like it.|My parents' house.|Mine."},
		{"", ""},
	} {
		if got := strings.Join(spoken.Lines(c.turn), "|"); got != c.want {
			t.Errorf("%q: %q, want %q", c.turn, got, c.want)
		}
	}
}

// A turn of many marks is read in one go: nothing is looked for again and again.
func TestLinesOfAHugeTurn(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"'a\n", "a\" b\n", "a \"b\n", "«a\n", "'a «b \"c\n\n", "\"a\n b\"\n"} {
		began := time.Now()
		spoken.Lines(strings.Repeat(line, 1<<20/len(line)))
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%q: %v", line, took)
		}
	}
}

// So is one of many full stops that end nothing, whatever stands before, between and behind them.
func TestSentencesOfAHugeLine(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"https://h.example/ ", ".", "a.", "a. b ", "a!)", "a. "} {
		text := strings.Repeat(line, 1<<19/len(line))
		began := time.Now()
		spoken.Sentences(text + strings.Repeat(" ", 1<<19))
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%q: %v", line, took)
		}
	}
}

func TestUnquoted(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`He said "no" to "me".`:      `He said Q to Q .`,
		`He said 'it's no' and left`: `He said Q and left`,
		`A 5" pipe and a 6" one.`:    `A 5" pipe and a 6" one.`,
		`He wrote "I go and`:         `He wrote Q`,
		`„Nein“, »ja« and «oui» 「は」`: `Q , Q and Q Q`,
		"Run `x y` now":              `Run Q now`,
		`the '90s, 'til then`:        `the '90s, 'til then`,
		`a "5" b "c`:                 `a Q b Q`,
	} {
		if got := strings.Join(strings.Fields(spoken.Unquoted(line, "Q")), " "); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestSentences(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"One. Two! Three? Four":            {"One.", "Two!", "Three?", "Four"},
		"Dr. Smith came, e.g. today. Yes.": {"Dr. Smith came, e.g. today.", "Yes."},
		"Fine :) Yes. :)\nNext":            {"Fine :) Yes. :)", "Next"},
		"He left (late.) She stayed.":      {"He left (late.)", "She stayed."},
		"門は赤い。番号は4711。":                    {"門は赤い。", "番号は4711。"},
		"4711\n-\n\n":                      {"4711", "-"},
		"":                                 nil,
	} {
		if got := spoken.Sentences(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add("a \"b\n'c\n> d\n```\n“e\n\nf” g\"", "a")
	f.Fuzz(func(t *testing.T, turn, mark string) {
		for _, l := range spoken.Lines(turn) {
			if strings.Contains(l, "\n") {
				t.Errorf("%q is no line", l)
			}
			spoken.Unquoted(l, mark)
		}
		if got := strings.Join(spoken.Sentences(turn), ""); len(got) > len(turn) {
			t.Errorf("%q: %q is more", turn, got)
		}
	})
}
