package console

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"stet/agent"
	"stet/cmd/stet/cells"
)

// A Printer prints an answer as text. Its first error ends all output, and is that of the
// command: what prints need not look at it.
type Printer struct {
	*Env
	out *bufio.Writer
	err error
}

// Printf prints a formatted text.
func (p *Printer) Printf(format string, args ...any) { _, _ = fmt.Fprintf(p.out, format, args...) }

// Write implements [io.Writer].
func (p *Printer) Write(b []byte) (int, error) { return p.out.Write(b) }

// Fail ends the answer with an error.
func (p *Printer) Fail(err error) { p.err = errors.Join(p.err, err) }

// Broken reports whether the reader has left, so that the rest need not be computed.
func (p *Printer) Broken() bool {
	_, err := p.out.Write(nil)
	return err != nil || p.err != nil
}

// Diff prints a unified diff, coloured on a terminal.
func (p *Printer) Diff(diff string) {
	diff = p.Stored(diff)
	for line := range strings.Lines(diff) {
		body := strings.TrimSuffix(line, "\n")
		p.Printf("%s\n", p.Paint(diffColour(body), body))
	}
}

// blanks matches more of them in a row than a screen has columns.
var blanks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\t\p{Zs}]{100,}`) })

// Head prints a diff as [Printer.Diff] does, as far as room has lines, which it lowers: below 0 it counts lines that
// were left out. A long line counts as several; nil has room for all. Of many blanks in a row it says how many: what
// stands behind them would be pushed off the screen.
func (p *Printer) Head(room *int, diff string) {
	const width = 100 // of a line that counts as one, in bytes
	diff = blanks().ReplaceAllStringFunc(diff, func(gap string) string {
		return fmt.Sprintf(" [%s] ", agent.Plural(utf8.RuneCountInString(gap), "blank"))
	})
	end := 0
	for line := range strings.Lines(diff) {
		if room != nil {
			cost := 1 + len(line)/width
			if *room < cost {
				*room = min(*room, 0) - strings.Count(strings.TrimSuffix(diff[end:], "\n"), "\n") - 1
				break
			}
			*room -= cost
		}
		end += len(line)
	}
	p.Diff(diff[:end])
}

// Lines prints text with every line indented.
func (p *Printer) Lines(indent, text string) {
	for line := range strings.Lines(text) {
		p.Printf("%s%s\n", indent, Line1(strings.TrimRight(line, "\r\n")))
	}
}

// Folded prints a text. On a terminal a line that is too long for it is broken at spaces, and goes on below that many.
func (p *Printer) Folded(text string, indent int) {
	for line := range strings.Lines(text) {
		p.Printf("%s\n", fold(strings.TrimSuffix(line, "\n"), p.width(), indent))
	}
}

// quoted is a command in a sentence.
var quoted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"(?:stet|git) [^"]*"`) })

// fold breaks a line that is longer than width; what goes on stands below, behind so many blanks. A command that is
// quoted stays whole where it can, so that it can be copied.
func fold(line string, width, indent int) string {
	if width == 0 || cells.Width(line) <= width {
		return line
	}
	const joint = "\ufdd0" // no character, so that nobody writes it; it takes a column as a blank does
	line = quoted().ReplaceAllStringFunc(line, func(command string) string {
		if cells.Width(command)+indent > width {
			return command
		}
		return strings.ReplaceAll(command, " ", joint)
	})
	return strings.ReplaceAll(broken(line, width, indent), joint, " ")
}

func broken(line string, width, indent int) string {
	var b strings.Builder
	for width > 2*indent {
		cut := breakAt(line, width, indent)
		if cut < 0 {
			break
		}
		b.WriteString(strings.TrimRight(line[:cut], " ") + "\n")
		line = strings.Repeat(" ", indent) + strings.TrimLeft(line[cut:], " ")
	}
	return b.String() + line
}

// breakAt is where a line is broken that is longer than width: at a space, or before a wide letter, which stand without
// spaces. It is -1 where the line fits or has no such place beyond its indent.
func breakAt(line string, width, indent int) int {
	cut, column, colour := -1, 0, false
	for i, r := range strings.TrimRight(line, " ") {
		if r == '\x1b' || colour {
			colour = r != 'm'
			continue
		}
		n := cells.Of(r)
		over, may := column+n > width, r == ' ' || n == 2 && !unicode.IsPunct(r)
		switch {
		case over && may && column > indent:
			return i
		case over && cut > 0:
			return cut
		case may && column > indent:
			cut = i
		}
		column += n
	}
	return -1
}

// Rows prints a list in columns that fit the terminal's width. Below prints what follows row i.
func (p *Printer) Rows(rows []cells.Row, below ...func(i int)) {
	for i, r := range rows {
		rows[i].Name, rows[i].Who = Line1(r.Name), Line1(r.Who)
		rows[i].Text, rows[i].Tail = Line1(r.Text), Line1(r.Tail)
	}
	for i, line := range cells.Lines(rows, p.width(), p.Now()) {
		p.Printf("%s%s\n", p.Paint(Cyan, line[0]), line[1])
		for _, print := range below {
			print(i)
		}
	}
}

// Beside prints to the right of what rows have beside their texts what text makes for each of them in a column of so
// many cells. Text is asked for less, down to a line of that column for each row, until all fit into the window beside
// so many rows that are taken. Below prints what follows row i.
func (p *Printer) Beside(rows []cells.Row, taken int, text func(i, most, room int) string, below func(i int)) {
	width, height := sizeOf(p.Out)
	heads, indent := cells.Lines(rows, width, p.Now()), 0
	for _, head := range heads {
		indent = max(indent, cells.Width(head[0]+head[1])+len("  "))
	}
	room := max(width-indent, leastRoom)
	texts := make([]string, len(rows))
	for most, used := 4*room, height; used+taken > height && most >= room; most -= room / 2 {
		used = 0
		for i := range rows {
			texts[i] = ""
			for line := range strings.Lines(text(i, most, room)) {
				texts[i] += fold(strings.Repeat(" ", indent)+strings.TrimSuffix(line, "\n"), width, indent) + "\n"
			}
			used += strings.Count(texts[i], "\n")
		}
	}
	for i, head := range heads {
		line := cells.Pad(head[0]+head[1], indent)
		p.Printf("%s%s%s", p.Paint(Cyan, head[0]), line[len(head[0]):], texts[i][indent:])
		below(i)
	}
}

// Around is a line in at most so many columns of which the byte at can be seen, and how many bytes it lost at its
// beginning, in whose place an ellipsis stands.
func (p *Printer) Around(line string, at, most int) (shown string, from int) {
	const before = 12
	for p.Cells(line[from:at]) > before && p.Cells(line[from:]) > most-1 {
		_, size := utf8.DecodeRuneInString(line[from:])
		from += size
	}
	if shown = line[from:]; from > 0 {
		shown = "…" + shown
	}
	return p.Cut(shown, most), from
}

// Cells is [cells.Width] on a terminal. Elsewhere it counts letters, as other programs do.
func (p *Printer) Cells(line string) int {
	if p.OutTerminal {
		return cells.Width(line)
	}
	return utf8.RuneCountInString(line)
}

// Cut is [cells.Cut] on a terminal. Elsewhere it counts letters, as other programs do.
func (p *Printer) Cut(line string, most int) string {
	if p.OutTerminal {
		return cells.Cut(line, most)
	}
	if text := []rune(line); len(text) > most {
		return strings.TrimRight(string(text[:most-1]), " ") + "…"
	}
	return line
}

// CutPath is a path behind so many columns, on a terminal the end of it that fits, which tells more.
func (p *Printer) CutPath(path string, columns int) string {
	for width := p.width() - columns; width > leastRoom && cells.Width(path) > width; {
		_, size := utf8.DecodeRuneInString(strings.TrimPrefix(path, "…"))
		path = "…" + strings.TrimPrefix(path, "…")[size:]
	}
	return path
}

// leastRoom is what a title gets of a line, however long the rest is.
const leastRoom = 20

// Room is how many columns of a line a title may take beside the rest of it: 20 at least, and not more than most.
func (p *Printer) Room(rest string, most int) int {
	if width := p.width(); width > 0 {
		most = min(most, max(leastRoom, width-cells.Width(rest)))
	}
	return most
}

// Show prints a result: as JSON, or as text.
func (e *Env) Show(result any, text func(p *Printer)) error {
	if e.JSON {
		return e.encode(e.Out, envelope{Schema: Schema, Vault: e.root, Command: e.Command, Result: result,
			Warnings: append([]string{}, e.warnings...)})
	}
	e.clearLine()
	return e.print(e.Out, text)
}

// ShowPaged is [Env.Show] through the user's pager when standard output is a terminal, unless when is
// false: a line that says what was done needs none.
func (e *Env) ShowPaged(ctx context.Context, result any, text func(p *Printer), when ...bool) error {
	if e.JSON || !e.OutTerminal || e.NoPager || slices.Contains(when, false) {
		return e.Show(result, text)
	}
	return e.page(ctx, text)
}

func (e *Env) print(w io.Writer, text func(p *Printer)) error {
	told := &telling{e: e, to: w}
	p := &Printer{Env: e, out: bufio.NewWriter(told)}
	text(p)
	return errors.Join(p.err, p.out.Flush(), told.end())
}

// A telling hands on whole lines, to an agent without what it is not told.
type telling struct {
	e    *Env
	to   io.Writer
	rest []byte // of a line
}

func (t *telling) Write(b []byte) (int, error) {
	if t.e.actor == "" {
		return t.to.Write(b)
	}
	end := bytes.LastIndexByte(b, '\n') + 1
	if end == 0 {
		t.rest = append(t.rest, b...)
		return len(b), nil
	}
	_, err := io.WriteString(t.to, t.e.shown(string(t.rest)+string(b[:end])))
	t.rest = append(t.rest[:0], b[end:]...)
	return len(b), err
}

func (t *telling) end() error {
	_, err := io.WriteString(t.to, t.e.shown(string(t.rest)))
	return err
}

// shown is a text as whoever acts may read it.
func (e *Env) shown(text string) string {
	if e.actor+e.via == "" || text == "" {
		return text
	}
	var a *agent.App
	if len(e.opened) > 0 {
		a = e.opened[0]
	}
	return a.Shown(text)
}
