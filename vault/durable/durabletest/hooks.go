package durabletest

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"stet/vault/durable"
)

// A StepInfo is a step without its data.
type StepInfo struct {
	Op    durable.Op
	Label string
	Path  string
	To    string // of a rename, link or exchange
}

func (i StepInfo) String() string {
	if i.To != "" {
		return fmt.Sprintf("%s %s %q to %q", i.Label, i.Op, i.Path, i.To)
	}
	return fmt.Sprintf("%s %s %q", i.Label, i.Op, i.Path)
}

func infoOf(s durable.Step) StepInfo {
	return StepInfo{Op: s.Op, Label: s.Label, Path: s.Path, To: s.To}
}

// A Counter records the steps it sees. The zero value is ready; it is safe for
// concurrent use.
type Counter struct {
	mu    sync.Mutex
	steps []StepInfo
}

// Hook counts the step and lets it happen.
func (c *Counter) Hook(s durable.Step) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.steps = append(c.steps, infoOf(s))
	return nil
}

// Steps returns a copy of what was seen, in order.
func (c *Counter) Steps() []StepInfo {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]StepInfo(nil), c.steps...)
}

// Syncs is the number of fsyncs seen, of files and of folders: what a write
// costs on a disk.
func (c *Counter) Syncs() int {
	n := 0
	for _, s := range c.Steps() {
		if s.Op == durable.OpSync || s.Op == durable.OpSyncDir {
			n++
		}
	}
	return n
}

// Chain asks each hook in turn; the first that returns an error decides, and
// the later ones do not see the step.
func Chain(hooks ...durable.Hook) durable.Hook {
	return func(s durable.Step) error {
		for _, h := range hooks {
			if err := ask(h, s); err != nil {
				return err
			}
		}
		return nil
	}
}

// ask treats a missing hook as one that lets everything happen.
func ask(h durable.Hook, s durable.Step) error {
	if h == nil {
		return nil
	}
	return h(s)
}

// KillAt kills the whole process, as kill -9 does, instead of step n. next may
// be nil here and below; it sees the steps that this hook lets pass.
func KillAt(n int, next durable.Hook) durable.Hook {
	var seen atomic.Int64
	return func(s durable.Step) error {
		if seen.Add(1)-1 == int64(n) {
			kill()
		}
		return ask(next, s)
	}
}

// kill does not return. A process that cannot kill itself must not go on as if
// nothing was planned.
func kill() {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		panic(fmt.Sprintf("durabletest: kill own process: %v", err))
	}
	select {}
}

// FailAt makes step n alone fail with err. [durable.ErrShortWrite] at a step
// that is no write is a plain "no space left on device".
func FailAt(n int, err error, next durable.Hook) durable.Hook {
	var seen atomic.Int64
	return func(s durable.Step) error {
		if seen.Add(1)-1 == int64(n) {
			return failure(err, s.Op)
		}
		return ask(next, s)
	}
}

// FailFrom makes step n and all later ones fail with err until lift is called.
// With ENOSPC (or [durable.ErrShortWrite]) only steps that need room fail, as
// on a full disk: removing, cutting, changing permissions, locking and syncing
// a folder still work.
func FailFrom(n int, err error, next durable.Hook) (hook durable.Hook, lift func()) {
	var seen atomic.Int64
	var lifted atomic.Bool
	full := errors.Is(err, syscall.ENOSPC) || errors.Is(err, durable.ErrShortWrite)
	hook = func(s durable.Step) error {
		if seen.Add(1)-1 >= int64(n) && !lifted.Load() && (!full || needsRoom(s.Op)) {
			return failure(err, s.Op)
		}
		return ask(next, s)
	}
	return hook, func() { lifted.Store(true) }
}

func failure(err error, op durable.Op) error {
	if errors.Is(err, durable.ErrShortWrite) && op != durable.OpWrite {
		return syscall.ENOSPC
	}
	return err
}

func needsRoom(op durable.Op) bool {
	switch op {
	case durable.OpRemove, durable.OpTruncate, durable.OpChmod, durable.OpLock, durable.OpSyncDir:
		return false
	}
	return true
}

// Skip leaves out the steps with this label and op while reporting success, as
// if their line were deleted from the program. An empty label or op matches
// every one.
func Skip(label string, op durable.Op, next durable.Hook) durable.Hook {
	return func(s durable.Step) error {
		if (label == "" || label == s.Label) && (op == "" || op == s.Op) {
			return durable.ErrSkip
		}
		return ask(next, s)
	}
}
