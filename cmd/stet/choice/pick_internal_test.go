package choice

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"stet/cmd/stet/cells"
	"stet/cmd/stet/console"
)

// typing is a terminal from which each read brings one of its parts.
type typing struct{ parts []string }

func (t *typing) Read(b []byte) (int, error) {
	if len(t.parts) == 0 {
		return 0, errors.New("nobody")
	}
	n := copy(b, t.parts[0])
	t.parts = t.parts[1:]
	return n, nil
}

func TestPickByKeys(t *testing.T) {
	t.Parallel()
	named := func(name, text, tail, hidden string) Choice {
		return Choice{cells.Row{Name: name, Text: text, Tail: tail}, hidden}
	}
	all := []Choice{named("c001", "The gate code", "/door", "memories/door/gate.md"), named("", "Öl", "öl.md", ""),
		named("", "知识库", "notes/z.md", ""), named("", "\x1b]0;owned\x07 evil", "memories/e.md", "")}
	for range 20 {
		all = append(all, named("", "filler "+strings.Repeat("x", 200), "/a/scope/that/is/longer/than/its/column", ""))
	}
	e := console.New(console.Host{Now: time.Now})
	lines := func(shown []Choice, columns int) []string { return linesOf(e, shown, columns) }
	for name, c := range map[string]struct {
		keys string
		want int
	}{
		"Enter takes the first": {"\r", 0}, "down": {"\x1b[B\r", 1}, "down and up": {"\x1b[B|\x1b[B|\x1b[A|\r", 1},
		"up stays at the top": {"\x1b[A\r", 0}, "a number": {"3\r", 2}, "a part": {"evil\r", 3},
		"a part in other letters": {"ö|l\r", 1}, "a letter in two reads": {"\xc3|\xb6\r", 1},
		"by the id": {"c001\r", 0}, "by the path": {"door/gate.md\r", 0}, "nothing has it": {"zzz\r|\x15\r", 0},
		"one letter less": {"code|q|\x7f\r", 0}, "words in any order": {"code gate\r", 0},
		"Escape": {"\x1b", -1}, "the end of the terminal": {"gate", -1}, "an unknown key": {"\x1b[15~\r", 0},
		"two digits": {"24\r", 23},
	} {
		var out bytes.Buffer
		p := &picker{all: all, question: "which one?", out: &out, width: 40, lines: lines}
		n, err := p.run(&typing{strings.Split(c.keys, "|")})
		if err != nil || n != c.want {
			t.Errorf("%s: %d, %v, want %d", name, n, err, c.want)
		}
		if !strings.Contains(out.String(), "\r\ntype to filter, ↑↓ and Enter to choose") {
			t.Errorf("%s: the keys are not named: %q", name, out.String())
		}
		if strings.Contains(out.String(), "\x1b]") {
			t.Errorf("%s: an escape sequence of a name reached the terminal", name)
		}
		for _, line := range strings.Split(out.String(), "\r\n") {
			text, _, _ := strings.Cut(line, "\x1b")
			if w := cells.Width(text); w > 39 {
				t.Errorf("%s: a line of %d columns: %q", name, w, text)
			}
		}
	}
	p := &picker{all: all, out: &bytes.Buffer{}, width: 40, lines: lines}
	if n, err := p.run(&typing{[]string{"\x03"}}); err == nil || n != -1 {
		t.Errorf("Ctrl-C: %d, %v", n, err)
	}
}
