package choice

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"stet/cmd/stet/cells"
	"stet/cmd/stet/console"
)

// A Choice is one line to choose. What is typed finds it by its texts, and by what is not shown of it.
type Choice struct {
	cells.Row
	Hidden string
}

// linesOf lays choices out in so many columns.
func linesOf(e *console.Env, all []Choice, columns int) []string {
	rows := make([]cells.Row, 0, len(all))
	for _, c := range all {
		rows = append(rows, cells.Row{Name: console.Line1(c.Name), At: c.At, Text: console.Line1(c.Text),
			Tail: console.Line1(c.Tail)})
	}
	lines := make([]string, 0, len(all))
	for _, l := range cells.Lines(rows, columns, e.Now()) {
		lines = append(lines, l[0]+l[1])
	}
	return lines
}

// pickRows is how many choices a terminal is shown at once.
const pickRows = 10

// Pick lets the user choose one of several, by moving to it, by its number or by typing a part of it, -1 for none. It
// fails with [context.Canceled] at Ctrl-C. It may be called only when [console.Env.CanAsk] says so.
func Pick(e *console.Env, question string, all []Choice) (int, error) {
	in, ok := e.In.(*os.File)
	if !ok || e.Getenv("TERM") == "dumb" || e.Getenv("TERM") == "" {
		return pickByNumber(e, question, all)
	}
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return pickByNumber(e, question, all)
	}
	p := &picker{all: all, question: question, out: e.Err, width: e.Columns(), dim: e.Getenv("NO_COLOR") == ""}
	p.lines = func(shown []Choice, columns int) []string { return linesOf(e, shown, columns) }
	n, err := p.run(in)
	return n, errors.Join(err, term.Restore(int(in.Fd()), before))
}

// pickByNumber asks for a number where keys cannot be read one by one.
func pickByNumber(e *console.Env, question string, all []Choice) (int, error) {
	for shown := all; ; {
		for i, line := range linesOf(e, shown[:min(len(shown), pickRows)], e.Columns()-len("10  ")) {
			if _, err := fmt.Fprintf(e.Err, "%2d  %s\n", i+1, line); err != nil {
				return -1, err
			}
		}
		if more := len(shown) - pickRows; more > 0 {
			e.Note("and %d more: type a part of the name", more)
		}
		text, err := e.Ask(fmt.Sprintf("%s [1-%d, Enter for none]", question, min(len(shown), pickRows)))
		if errors.Is(err, io.EOF) || err == nil && text == "" {
			return -1, nil
		}
		if err != nil {
			return -1, err
		}
		n, bad := strconv.Atoi(text)
		if bad == nil && n >= 1 && n <= min(len(shown), pickRows) {
			return indexOf(all, shown[n-1]), nil
		}
		if found := filtered(all, text); bad != nil && len(found) > 0 {
			shown = nil
			for _, i := range found {
				shown = append(shown, all[i])
			}
			continue
		}
		e.Note("%q is neither a number from 1 to %d nor a part of a name", text, min(len(shown), pickRows))
	}
}

func indexOf(all []Choice, c Choice) int {
	for i := range all {
		if all[i] == c {
			return i
		}
	}
	return -1
}

// filtered are the places of the choices that have every word of a text.
func filtered(all []Choice, text string) (out []int) {
	words := strings.Fields(strings.ToLower(text))
	for i, c := range all {
		folded := strings.ToLower(strings.Join([]string{c.Name, c.Text, c.Tail, c.Hidden}, "  "))
		has := true
		for _, w := range words {
			has = has && strings.Contains(folded, w)
		}
		if has {
			out = append(out, i)
		}
	}
	return out
}

// A picker is a list on a terminal, of which one line is marked. It redraws itself in place.
type picker struct {
	all      []Choice
	question string
	out      io.Writer
	width    int
	dim      bool // the keys are shown in dim letters
	lines    func(shown []Choice, columns int) []string

	typed string
	shown []int // places in all
	at    int   // the marked one of shown
	top   int   // the first that is on the screen
}

func (p *picker) run(in io.Reader) (int, error) {
	p.filter()
	defer p.clear()
	buf := make([]byte, 64)
	held := ""
	for {
		p.draw()
		n, err := in.Read(buf)
		if n == 0 || err != nil {
			return -1, nil // nobody is there any more
		}
		held += string(buf[:n])
		for held != "" {
			key := nextKey(held)
			if key == "" {
				break // the rest of a letter is on its way
			}
			held = held[len(key):]
			switch done, n := p.press(key); {
			case key == "\x03":
				return -1, context.Canceled
			case done:
				return n, nil
			}
		}
	}
}

// nextKey is the first key of what was typed: a letter, or an escape sequence with what belongs to it; "" where it is
// not whole yet.
func nextKey(typed string) string {
	if strings.HasPrefix(typed, "\x1b[") || strings.HasPrefix(typed, "\x1bO") {
		for i := 2; i < len(typed); i++ {
			if typed[i] >= '@' && typed[i] <= '~' {
				return typed[:i+1]
			}
		}
		return ""
	}
	if !utf8.FullRuneInString(typed) {
		return ""
	}
	_, n := utf8.DecodeRuneInString(typed)
	return typed[:n]
}

// press does what a key asks for, and says whether the choice is made: its place in all, -1 for none.
func (p *picker) press(key string) (done bool, n int) {
	switch key {
	case "\r", "\n":
		if len(p.shown) == 0 {
			return false, 0
		}
		return true, p.shown[p.at]
	case "\x1b", "\x03", "\x04": // Escape, Ctrl-C, Ctrl-D
		return true, -1
	case "\x1b[A", "\x1bOA", "\x10", "\x0b": // up, Ctrl-P, Ctrl-K
		p.at = max(p.at-1, 0)
	case "\x1b[B", "\x1bOB", "\x0e", "\t": // down, Ctrl-N, Tab
		p.at = max(min(p.at+1, len(p.shown)-1), 0)
	case "\x7f", "\b":
		if p.typed != "" {
			_, size := utf8.DecodeLastRuneInString(p.typed)
			p.typed = p.typed[:len(p.typed)-size]
			p.filter()
		}
	case "\x15": // Ctrl-U
		p.typed = ""
		p.filter()
	default:
		r, size := utf8.DecodeRuneInString(key)
		if r != utf8.RuneError && unicode.IsPrint(r) && len(key) == size {
			p.typed += key
			p.filter()
		}
	}
	return false, 0
}

// filter shows what has the words that were typed. A number marks the choice of that number where nothing has it as
// text, and a digit in any case.
func (p *picker) filter() {
	p.at, p.top = 0, 0
	p.shown = filtered(p.all, p.typed)
	n, err := strconv.Atoi(p.typed)
	if err != nil || n < 1 || n > len(p.all) || len(p.typed) > 1 && len(p.shown) > 0 {
		return
	}
	p.shown = filtered(p.all, "")
	p.at = n - 1
}

// draw shows the list below the question, each line cut to the terminal.
func (p *picker) draw() {
	p.clear()
	if p.at < p.top {
		p.top = p.at
	}
	p.top = max(p.top, p.at-pickRows+1)
	var b strings.Builder
	end := min(p.top+pickRows, len(p.shown))
	var seen []Choice
	for _, n := range p.shown[p.top:end] {
		seen = append(seen, p.all[n])
	}
	for i, line := range p.lines(seen, p.width-len("> 10   ")) {
		mark := "  "
		if p.top+i == p.at {
			mark = "> "
		}
		line = fmt.Sprintf("%s%2d  %s", mark, p.shown[p.top+i]+1, line)
		b.WriteString("\r\n" + cells.Cut(line, max(p.width-1, 20)))
	}
	rows := end - p.top
	b.WriteString("\r\n" + p.keys())
	rest := ""
	if len(p.shown) > rows {
		rest = fmt.Sprintf(" (%d)", len(p.shown))
	}
	head := cells.Cut(p.question+rest+" "+console.Line1(p.typed), max(p.width-1, 20))
	fmt.Fprintf(&b, "\x1b[%dA\r%s", rows+1, head)
	_, _ = io.WriteString(p.out, b.String()) // nobody sees what a broken terminal is not shown
}

// keys is the line that names the keys.
func (p *picker) keys() string {
	line := cells.Cut("type to filter, ↑↓ and Enter to choose, Esc to leave", max(p.width-1, 20))
	if p.dim {
		line = "\x1b[2m" + line + "\x1b[0m"
	}
	return line
}

// clear takes the list off the screen, with the question.
func (p *picker) clear() { _, _ = io.WriteString(p.out, "\r\x1b[J") }
