package console_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"stet/cmd/stet/console"
	"stet/templates"
)

func TestCleanDropsWhatATerminalWouldObey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"plain\ttext\n", "plain\ttext\n"},
		{"\x1b[2J\x1b]0;title\x07gone", "[2J]0;titlegone"},
		{"a\rb\x00c\x7fd\u0085e", "abcde"},
		{"user\u202etxt.exe", "usertxt.exe"},
		{"żółć 知识库 🎈", "żółć 知识库 🎈"},
		{"bad\xffbyte", "bad\ufffdbyte"},
		{"a\u200bb\u200e\u180e\u034f\u3164\u206a\ufff9\ufe00\U000e0041\U000e0042c", "abc"},
		{"\U0001f469\u200d\U0001f4bb \u2764\ufe0f", "\U0001f469\u200d\U0001f4bb \u2764\ufe0f"},
	} {
		if got := console.Clean(c.in); got != c.want {
			t.Errorf("Clean(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	if got := console.Line1("two\r\nlines\tand\x1b[31m red\n"); got != "two lines and[31m red" {
		t.Errorf("Line1 = %q", got)
	}
}

// What is printed to be pasted names what it says: a screen drops nothing of it.
func TestCleanLeavesQuotedNamesAsTheyAre(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		line := templates.Quote("a" + string(r) + "b.md")
		if got := console.Line1(line); got != line {
			t.Fatalf("%U: %q is shown as %q", r, line, got)
		}
	}
}

func TestSplitWordsReadsQuotes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"  vim  ", []string{"vim"}},
		{"code --wait", []string{"code", "--wait"}},
		{`"/opt/my editor/ed" -x '' a\ b`, []string{"/opt/my editor/ed", "-x", "", "a b"}},
		{`emacs -nw --eval='(x "y")'`, []string{"emacs", "-nw", `--eval=(x "y")`}},
	} {
		got, err := console.SplitWords(c.in)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("SplitWords(%q) = %q, %v; want %q", c.in, got, err, c.want)
		}
	}
	if _, err := console.SplitWords(`ed "x`); err == nil {
		t.Error("an open quote must be an error")
	}
}

func env(out *bytes.Buffer, terminal bool, vars map[string]string) *console.Env {
	return console.New(console.Host{
		Stdio:  console.Stdio{In: strings.NewReader(""), Out: out, Err: out, OutTerminal: terminal},
		Getenv: func(k string) string { return vars[k] },
		Now:    func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) },
	})
}

func TestColourOnlyWhereItIsWelcome(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		terminal bool
		vars     map[string]string
		want     bool
	}{
		{"terminal", true, nil, true},
		{"pipe", false, nil, false},
		{"NO_COLOR", true, map[string]string{"NO_COLOR": "1"}, false},
		{"dumb", true, map[string]string{"TERM": "dumb"}, false},
	} {
		var out bytes.Buffer
		e := env(&out, c.terminal, c.vars)
		if err := e.Show(nil,
			func(p *console.Printer) { p.Diff("--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\x07\n") }); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "\x1b["); got != c.want {
			t.Errorf("%s: coloured %v, want %v: %q", c.name, got, c.want, out.String())
		}
		if bell := strings.Contains(out.String(), "\x07"); bell == c.terminal {
			t.Errorf("%s: control character printed: %v", c.name, bell)
		}
	}
}

func TestTimeReadsWhatPeopleWrite(t *testing.T) {
	t.Parallel()
	e := env(&bytes.Buffer{}, false, nil)
	for in, want := range map[string]time.Time{
		"":                     {},
		"2026-01-31":           time.Date(2026, 1, 31, 0, 0, 0, 0, time.Local),
		"2026-01":              time.Date(2026, 1, 1, 0, 0, 0, 0, time.Local),
		"2026-01-31T14:00:00Z": time.Date(2026, 1, 31, 14, 0, 0, 0, time.UTC),
		"yesterday":            time.Date(2026, 11, 20, 0, 0, 0, 0, time.Local),
		"Today":                time.Date(2026, 11, 21, 0, 0, 0, 0, time.Local),
		"7d":                   time.Date(2026, 11, 14, 12, 0, 0, 0, time.UTC),
		"2h ago":               time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC),
		"6m":                   time.Date(2026, 5, 21, 12, 0, 0, 0, time.UTC),
	} {
		if got, err := e.Time(in); err != nil || !got.Equal(want) {
			t.Errorf("Time(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"soon", "31.1.2026", "-3d", "99999999999w", "d", "m", "90x"} {
		if got, err := e.Time(in); err == nil {
			t.Errorf("Time(%q) = %v, want an error", in, got)
		}
	}
}

func TestEveryQuestionTakesItsOwnLine(t *testing.T) {
	t.Parallel()
	var talk bytes.Buffer
	e := console.New(console.Host{Stdio: console.Stdio{In: strings.NewReader("y\nno\nYES \nlast\n"), Err: &talk}})
	for i, want := range []bool{true, false, true} {
		if got, err := e.Confirm("Sure?"); err != nil || got != want {
			t.Errorf("answer %d: %v, %v; want %v", i+1, got, err, want)
		}
	}
	if got, err := e.Ask("Who?"); err != nil || got != "last" {
		t.Errorf("Ask = %q, %v", got, err)
	}
	if got, err := e.Confirm("Sure?"); err != nil || got {
		t.Errorf("nobody's answer: %v, %v; want no", got, err)
	}
	if want := strings.Repeat("Sure? [y/N] ", 3) + "Who? Sure? [y/N] "; talk.String() != want {
		t.Errorf("asked %q, want %q", talk.String(), want)
	}
}
