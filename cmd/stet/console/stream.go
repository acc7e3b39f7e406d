package console

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"stet/cmd/stet/cells"
)

// A Stream prints the events of a command that goes on until it is ended: one JSON object a
// line, or lines of text, or one line on a terminal that is kept up to date.
type Stream struct{ *Env }

// Warn is [Env.Warn] for a command that goes on: it repeats itself and keeps nothing.
func (e Stream) Warn(format string, args ...any) { e.say("warning: " + fmt.Sprintf(format, args...)) }

// Object prints one object as a line of JSON.
func (e Stream) Object(v any) error { return e.encode(e.Out, v) }

// Line prints one line of text that stays.
func (e Stream) Line(text string) error {
	e.clearLine()
	if err := e.clearStatus(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(e.Out, e.shown(Line1(text)))
	return err
}

// Rewrites says whether standard output can show [Stream.Status].
func (e Stream) Rewrites() bool {
	return e.OutTerminal && !e.JSON && e.Getenv("TERM") != "dumb"
}

// Status replaces the line of status by text, cut to the terminal's width.
// It may be called only where [Stream.Rewrites] says so.
func (e Stream) Status(text string) error {
	e.clearLine()
	if err := e.clearStatus(); err != nil {
		return err
	}
	e.status = true
	line := Line1(text)
	if width := e.width(); width > 1 {
		line = cells.Cut(line, width-1) // the last column would begin a new line
	}
	_, err := io.WriteString(e.Out, line)
	return err
}

// clearStatus takes the line of status away.
func (e *Env) clearStatus() error {
	if !e.status {
		return nil
	}
	e.status = false
	_, err := io.WriteString(e.Out, "\r\x1b[K")
	return err
}

// width is that of standard output in columns, 80 where it cannot be had, 0 where it is no terminal.
func (e *Env) width() int {
	if !e.OutTerminal {
		return 0
	}
	columns, _ := sizeOf(e.Out)
	return columns
}

// sizeOf is the size of a terminal, 80 columns and 24 rows where it cannot be had.
func sizeOf(to io.Writer) (columns, rows int) {
	if f, ok := to.(*os.File); ok {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 && h > 0 {
			return w, h
		}
	}
	return pageWidth, pageHeight
}
