package main

import (
	"context"
	"sync"
	"time"

	"stet/cmd/stet/console"
	"stet/vault/durable"
)

// An interrupter ends a command that does not hear Ctrl-C: reading a megabyte takes
// longer than anybody waits, and what only reads loses nothing. What writes is waited
// for while it takes steps, and from its commit on somewhat longer, until it has told of it.
type interrupter struct {
	mu        sync.Mutex
	steps     int  // that changed the file system
	committed bool // a branch was moved
}

const (
	// grace is how long an interrupted command may take for each step to its end.
	grace = 50 * time.Millisecond
	// telling is how many times that long it may take when it has moved a branch, or runs until it is interrupted. A
	// server may have told of its commit long ago, so that it is not for ever.
	telling = 100
)

// hook counts the steps that next sees.
func (i *interrupter) hook(next durable.Hook) durable.Hook {
	return func(s durable.Step) error {
		i.mu.Lock()
		i.steps++
		i.committed = i.committed || s.Label == "ref" && s.Op == durable.OpRename
		i.mu.Unlock()
		if next == nil {
			return nil
		}
		return next(s)
	}
}

// wait reports whether work ended; if not, ctx is over and the work did not take a step for a
// while. It can take none from then on.
func (i *interrupter) wait(ctx context.Context, e *console.Env, work <-chan struct{}) bool {
	select {
	case <-work:
		return true
	case <-ctx.Done():
	}
	for seen, still := -1, 0; ; still++ {
		i.mu.Lock()
		if i.steps != seen {
			seen, still = i.steps, 0
		}
		if still > 0 && (!i.committed && !e.Lasting.Load() || still > telling) && !e.Busy.Load() {
			return false // locked: the process ends before the next step
		}
		i.mu.Unlock()
		select {
		case <-work:
			return true
		case <-time.After(grace):
		}
	}
}
