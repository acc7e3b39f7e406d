package console

import (
	"fmt"
	"time"

	"stet/index"
	"stet/vault"
)

// progressAfter is how long work may take before it is talked about, and how
// often it is after that: a tenth of a second is felt as immediate.
const progressAfter = 100 * time.Millisecond

func (e *Env) vaultProgress() func(vault.Event) {
	show := e.progress()
	if show == nil {
		return nil
	}
	return func(ev vault.Event) { show(ev.Phase, ev.Done, ev.Total) }
}

func (e *Env) indexProgress() func(index.Event) {
	show := e.progress()
	if show == nil {
		return nil
	}
	return func(ev index.Event) { show(ev.Phase, ev.Done, ev.Total) }
}

// progress returns a function that keeps one line on standard error up to date,
// nil when nobody is looking.
func (e *Env) progress() func(phase string, done, total int) {
	if !e.ErrTerminal || e.Quiet || e.JSON {
		return nil
	}
	next, shown := e.Now().Add(progressAfter), false
	return func(phase string, done, total int) {
		finished := total > 0 && done >= total
		now := e.Now()
		if now.Before(next) && !(shown && finished) {
			return
		}
		next = now.Add(progressAfter)
		// "\r" and "erase to the end of the line": the next message starts clean.
		if finished {
			_, _ = fmt.Fprint(e.Err, "\r\x1b[K")
			shown = false
			return
		}
		shown = true
		if total > 0 {
			_, _ = fmt.Fprintf(e.Err, "\r\x1b[K%s %d of %d", Line1(phase), done, total)
			return
		}
		_, _ = fmt.Fprintf(e.Err, "\r\x1b[K%s %d", Line1(phase), done)
	}
}
