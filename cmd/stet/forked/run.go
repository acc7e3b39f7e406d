package forked

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"stet/cmd/stet/console"
	"stet/curator/fork"
)

const (
	maxMemory = 512 << 20       // bytes that the process may ask for
	maxResult = 64 << 20        // bytes
	maxSaid   = 64 << 10        // bytes of standard error
	maxLate   = time.Minute     // after the limit of the job
	maxEnd    = 5 * time.Second // that a process which was killed may hold its streams open
	maxNamed  = 300             // characters of what it said last
)

// runner runs each job of the curator in a process of its own.
type runner struct{}

// Runner has the model of the curator work. Where there is none it is nil, and the error says why.
func Runner(e *console.Env) (fork.Runner, error) {
	if _, err := e.CuratorOptions(); err != nil {
		return nil, err
	}
	return runner{}, nil
}

// Run implements [fork.Runner].
func (runner) Run(ctx context.Context, job fork.Job) (r fork.Result, err error) {
	in, err := json.Marshal(job)
	if err != nil {
		return r, err
	}
	limit := job.Bounds.Time() + maxLate
	ctx, end := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it was stopped, for it took longer than %s", limit))
	defer end()
	out, err := start(ctx, append(in, '\n'), name)
	if err == nil {
		if err = json.Unmarshal(out, &r); err == nil && r.Ended == "" {
			err = errors.New("it does not say how its work ended")
		}
	}
	if err != nil {
		return fork.Result{}, fmt.Errorf("process of the curator's model: %w", err)
	}
	return r, nil
}

// start starts this program once more, in a process group of its own, and returns what it writes. in is on its standard
// input, which stays open as long as this process lives. When ctx is over, or it writes without end, it is killed with
// all that it started.
func start(ctx context.Context, in []byte, args ...string) ([]byte, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	c := exec.CommandContext(ctx, exe, args...)
	apart(c)
	c.WaitDelay = maxEnd
	full := func() { end(errors.New("it wrote without end, and was stopped")) }
	out, said := bounded{most: maxResult, full: full}, bounded{most: maxSaid, full: full}
	c.Stdout, c.Stderr = &out, &said
	pipe, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return nil, err
	}
	go func() { _, _ = pipe.Write(in) }() // one that ends before it has read says why itself
	err = c.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	if err != nil {
		err = fmt.Errorf("it ended by itself: %w%s", err, said.why())
	}
	return out.kept.Bytes(), err
}

// bounded keeps what is written to it, up to a bound that full is told of.
type bounded struct {
	kept bytes.Buffer // not embedded: it would read for itself, without a bound
	most int
	full func()
}

// Write implements [io.Writer].
func (b *bounded) Write(p []byte) (int, error) {
	if b.kept.Len()+len(p) > b.most {
		b.full()
		return len(p), nil // it is killed, and must not wait for a reader meanwhile
	}
	return b.kept.Write(p)
}

// why is the line of standard error that says most of why a process ended.
func (b *bounded) why() string {
	if strings.Contains(b.kept.String(), "out of memory") {
		return fmt.Sprintf(": it needed more than %d MB of memory", maxMemory>>20)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(b.kept.String()), "\n")
	if line == "" {
		return ""
	}
	return fmt.Sprintf(": %.*s", maxNamed, console.Line1(line))
}
