package llm

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

var (
	errWhole = errors.New("the whole call took too long")
	errSlow  = errors.New("the answer comes too slowly")
)

// slowest is how many bytes of what it says an answer has to bring in each second that it takes beyond the time in which
// it has to begin: four tokens. A server that sends a byte now and then holds nobody for longer.
const slowest = 16

// A pace ends a call, with its retries, that takes too long for what it brings.
type pace struct {
	earned atomic.Int64 // bytes since the timer was set
	stop   func()
}

// bounded ends a call that goes on for too long. Its pace has to be told what the answer says, and stopped.
func (c *call) bounded(ctx context.Context) (context.Context, *pace) {
	ctx, over := context.WithTimeoutCause(ctx, c.whole, fmt.Errorf("%w (%s)", errWhole, c.whole))
	ctx, cancel := context.WithCancelCause(ctx)
	p := &pace{}
	// An answer that does not begin in time is told from one that comes slowly.
	timer := time.AfterFunc(c.firstByte+max(c.firstByte/4, time.Second), func() { p.look(ctx, cancel) })
	p.stop = func() {
		timer.Stop()
		cancel(nil)
		over()
	}
	return ctx, p
}

// look ends the call unless it has earned more time.
func (p *pace) look(ctx context.Context, cancel context.CancelCauseFunc) {
	n := p.earned.Swap(0)
	if n == 0 {
		cancel(fmt.Errorf("%w: fewer than %d characters a second", errSlow, slowest))
		return
	}
	more := time.AfterFunc(time.Duration(n)*time.Second/slowest, func() { p.look(ctx, cancel) })
	context.AfterFunc(ctx, func() { more.Stop() })
}

// earn lets a call take longer for so many bytes that the answer says.
func (p *pace) earn(bytes int) { p.earned.Add(int64(bytes)) }
