// Package filelock takes an exclusive lock between processes on a file that is
// never unlinked: unlinking it would let two processes each hold "the" lock on
// two files of the same name. The kernel drops the lock when the holder dies.
//
// The file's contents say who holds it, for error messages only; they are not
// part of the protocol and may be stale or torn.
//
//	lock, err := filelock.Acquire(ctx, root, "lock", filelock.Options{Wait: 10 * time.Second})
//	defer lock.Release()
package filelock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"stet/vault/durable"
)

// ErrBusy reports that another process or goroutine kept the lock past the
// wait. Nothing was changed; trying again later is right.
var ErrBusy = errors.New("locked by another process")

// BusyError is the error behind [ErrBusy] with what the lock file says of its
// holder, which may be empty.
type BusyError struct {
	Path   string
	Holder string
}

func (e *BusyError) Error() string {
	if e.Holder == "" {
		return fmt.Sprintf("lock %q: %v", e.Path, ErrBusy)
	}
	return fmt.Sprintf("lock %q: %v (%s)", e.Path, ErrBusy, e.Holder)
}

// Unwrap makes errors.Is(err, ErrBusy) true.
func (e *BusyError) Unwrap() error { return ErrBusy }

// Options tune [Acquire].
type Options struct {
	// Wait bounds the waiting; 0 tries once.
	Wait time.Duration
	// Holder is one line naming this process, written into the file; empty
	// writes nothing.
	Holder string
}

// A Lock is held until Release or the death of the process.
type Lock struct{ file *os.File }

// pollFirst and pollMax bound the pause between tries: flock has no timed
// form, a commit takes a few milliseconds, and a fair share of eight writers
// must come in well under the default wait of ten seconds.
const (
	pollFirst = time.Millisecond
	pollMax   = 20 * time.Millisecond
)

// Acquire takes the lock on p, made when missing, waiting at most o.Wait or
// until ctx ends. It returns a [BusyError] or the context's cause.
func Acquire(ctx context.Context, root *durable.Root, p string, o Options) (*Lock, error) {
	abs := root.Abs(p)
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	info, err := root.Lstat(p)
	if err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "lock", Path: abs, Err: durable.ErrNotRegular}
	}
	skip, err := root.Announce(durable.OpLock, "lock", p)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(abs, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if skip {
		return &Lock{file: f}, nil
	}
	deadline := time.NewTimer(o.Wait)
	defer deadline.Stop()
	pause := pollFirst
	for {
		switch err := tryLock(f); {
		case err == nil:
			writeHolder(f, o.Holder)
			return &Lock{file: f}, nil
		case !errors.Is(err, errWouldBlock):
			return nil, errors.Join(&fs.PathError{Op: "lock", Path: abs, Err: err}, f.Close())
		}
		if o.Wait <= 0 {
			return nil, busy(f, abs)
		}
		wait := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-ctx.Done():
			wait.Stop()
			return nil, errors.Join(context.Cause(ctx), f.Close())
		case <-deadline.C:
			wait.Stop()
			return nil, busy(f, abs)
		case <-wait.C:
		}
		pause = min(2*pause, pollMax)
	}
}

func busy(f *os.File, abs string) error {
	return errors.Join(&BusyError{Path: abs, Holder: readHolder(f)}, f.Close())
}

// writeHolder is best effort: a full disk must not keep a lock from being
// taken, and the text is only for people.
func writeHolder(f *os.File, holder string) {
	if holder == "" {
		return
	}
	line := []byte(holder + "\n")
	if _, err := f.WriteAt(line, 0); err == nil {
		f.Truncate(int64(len(line))) // see above
	}
}

func readHolder(f *os.File) string {
	buf := make([]byte, 256)
	n, _ := f.ReadAt(buf, 0) // io.EOF is the normal end of a short file
	line, _, _ := strings.Cut(string(buf[:n]), "\n")
	return line
}

// Release gives the lock back. Calling it twice is an error of the caller and
// reports os.ErrClosed.
func (l *Lock) Release() error {
	// Closing alone would leave the lock to a child process that was forked
	// this moment and has not reached exec.
	return errors.Join(unlock(l.file), l.file.Close())
}
