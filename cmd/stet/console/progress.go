package console

import (
	"fmt"
	"io"
	"time"
)

// progressAfter is how long work may take before it is talked about, and how
// often it is after that: a tenth of a second is felt as immediate.
const progressAfter = 100 * time.Millisecond

// ProgressLine returns a function that keeps one line of the caller's own words on
// standard error up to date, nil when nobody is looking; the words are asked for
// only when they are shown.
func (e *Env) ProgressLine() func(text func() string) {
	if !e.looking() {
		return nil
	}
	next := e.Now().Add(progressAfter)
	return func(text func() string) {
		now := e.Now()
		if now.Before(next) {
			return
		}
		next = now.Add(progressAfter)
		e.clearLine()
		e.midLine = true
		_, _ = io.WriteString(e.Err, Line1(text()))
	}
}

// looking says whether somebody sees a line that is rewritten on standard error.
func (e *Env) looking() bool {
	return e.ErrTerminal && !e.Quiet && !e.JSON && e.Getenv("TERM") != "dumb"
}

// progress returns a function that keeps one line on standard error up to date,
// nil when nobody is looking or the terminal cannot rewrite a line.
func (e *Env) progress() func(phase string, done, total int) {
	if !e.looking() {
		return nil
	}
	var next time.Time
	return func(phase string, done, total int) {
		now := e.Now()
		switch {
		case total > 0 && done >= total:
			e.clearLine()
			next = time.Time{}
			return
		case next.IsZero():
			next = now.Add(progressAfter)
			return
		case now.Before(next):
			return
		}
		next = now.Add(progressAfter)
		e.clearLine()
		e.midLine = true
		text := fmt.Sprintf("%s %d", Line1(phase), done)
		if total > 0 {
			text += fmt.Sprintf(" of %d", total)
		}
		_, _ = io.WriteString(e.Err, text)
	}
}

// clearLine takes an unfinished line of progress away, so that what is said next
// does not stand behind it. A broken standard error has nobody looking at it.
func (e *Env) clearLine() {
	if e.midLine {
		// "\r" and "erase to the end of the line".
		_, _ = io.WriteString(e.Err, "\r\x1b[K")
		e.midLine = false
	}
}
