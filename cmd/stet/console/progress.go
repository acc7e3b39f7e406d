package console

import (
	"fmt"
	"io"
	"time"

	"stet/cmd/stet/cells"
)

// progressAfter is how long work may take before it is shown, and how often it is after that: a
// tenth of a second is felt as immediate.
const progressAfter = 100 * time.Millisecond

// ProgressLine returns a function that keeps one line on standard error up to date, nil when nobody
// is looking or the terminal cannot rewrite a line. The words are asked for only when they are
// shown; nil in place of them ends the work.
func (e *Env) ProgressLine() func(text func() string) {
	if !e.ErrTerminal || e.Quiet || e.JSON || e.Getenv("TERM") == "dumb" {
		return nil
	}
	var next time.Time
	return func(text func() string) {
		switch now := e.Now(); {
		case text == nil:
			e.clearLine()
			next = time.Time{}
		case next.IsZero():
			next = now.Add(progressAfter)
		case !now.Before(next):
			next = now.Add(progressAfter)
			e.clearLine()
			e.midLine = true
			_, _ = io.WriteString(e.Err, cells.Cut(Line1(text()), e.Columns()-1))
		}
	}
}

// ProgressCount is [Env.ProgressLine] for words that name a number and a total.
func (e *Env) ProgressCount(format string) func(done, total int) {
	show := e.ProgressLine()
	if show == nil {
		return nil
	}
	return func(done, total int) { show(func() string { return fmt.Sprintf(format, done, total) }) }
}

func (e *Env) progress() func(phase string, done, total int) {
	show := e.ProgressLine()
	if show == nil {
		return nil
	}
	return func(phase string, done, total int) {
		if total > 0 && done >= total {
			show(nil)
			return
		}
		show(func() string {
			if total > 0 {
				return fmt.Sprintf("%s %d of %d", phase, done, total)
			}
			return fmt.Sprintf("%s %d", phase, done)
		})
	}
}

// clearLine removes an unfinished line of progress, so that what is said next does not stand behind
// it. A broken standard error has nobody looking at it.
func (e *Env) clearLine() {
	if e.midLine {
		// "\r" and "erase to the end of the line".
		_, _ = io.WriteString(e.Err, "\r\x1b[K")
		e.midLine = false
	}
}
