package filelock_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"stet/vault/durable"
	"stet/vault/durable/durabletest"
	"stet/vault/filelock"
)

// These tell the re-executed test binary what to do in which folder.
const (
	childRole, childDir = "FILELOCK_ROLE", "FILELOCK_DIR"
	roleCount, roleHold = "count", "hold"
)

// patience is far above what a loaded machine needs, so that only a hang fails.
const patience = time.Minute

func TestMain(m *testing.M) {
	role, dir := os.Getenv(childRole), os.Getenv(childDir)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := child(role, dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func child(role, dir string) error {
	root, err := durable.OpenRoot(dir, nil)
	if err != nil {
		return err
	}
	defer root.Close()
	o := filelock.Options{Wait: patience, Holder: "process " + strconv.Itoa(os.Getpid())}
	if role == roleHold {
		if _, err := filelock.Acquire(context.Background(), root, "lock", o); err != nil {
			return err
		}
		fmt.Println("held")
		_, err := io.Copy(io.Discard, os.Stdin) // until killed
		return err
	}
	for range increments {
		if err := increment(root, o); err != nil {
			return err
		}
	}
	return nil
}

const processes, increments = 8, 100

// increment loses updates unless the lock excludes every other process.
func increment(root *durable.Root, o filelock.Options) (err error) {
	lock, err := filelock.Acquire(context.Background(), root, "lock", o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	name := filepath.Join(root.Abs("."), "counter")
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(string(data))
	if err != nil {
		return err
	}
	return os.WriteFile(name, []byte(strconv.Itoa(n+1)), 0o644)
}

func command(t *testing.T, role, dir string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childRole+"="+role, childDir+"="+dir)
	return cmd
}

func open(t *testing.T, hook durable.Hook) *durable.Root {
	t.Helper()
	r, err := durable.OpenRoot(t.TempDir(), hook)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func acquire(t *testing.T, r *durable.Root, o filelock.Options) *filelock.Lock {
	t.Helper()
	lock, err := filelock.Acquire(t.Context(), r, "lock", o)
	if err != nil {
		t.Fatal(err)
	}
	return lock
}

func TestProcessesExcludeEachOther(t *testing.T) {
	t.Parallel()
	r := open(t, nil)
	counter := filepath.Join(r.Abs("."), "counter")
	if err := os.WriteFile(counter, []byte("0"), 0o644); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range processes {
		all.Go(func() {
			if out, err := command(t, roleCount, r.Abs(".")).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	all.Wait()
	got, err := os.ReadFile(counter)
	if want := strconv.Itoa(processes * increments); err != nil || string(got) != want {
		t.Errorf("counter is %q, want %q (%v)", got, want, err)
	}
}

func TestGoroutinesExcludeEachOther(t *testing.T) {
	t.Parallel()
	r := open(t, nil)
	counter := filepath.Join(r.Abs("."), "counter")
	if err := os.WriteFile(counter, []byte("0"), 0o644); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 10 {
				if err := increment(r, filelock.Options{Wait: patience}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if got, err := os.ReadFile(counter); err != nil || string(got) != "80" {
		t.Errorf("counter is %q, want 80 (%v)", got, err)
	}
}

func TestKilledHolderReleases(t *testing.T) {
	t.Parallel()
	r := open(t, nil)
	cmd := command(t, roleHold, r.Abs("."))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("child said %q, %v", line, err)
	}
	_, err = filelock.Acquire(t.Context(), r, "lock", filelock.Options{})
	holder := "process " + strconv.Itoa(cmd.Process.Pid)
	busy, ok := errors.AsType[*filelock.BusyError](err)
	if !ok || busy.Holder != holder || !errors.Is(err, filelock.ErrBusy) || !strings.Contains(err.Error(), holder) {
		t.Errorf("got %v, want a BusyError that names %q", err, holder)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() // "signal: killed" is what was asked for
	lock := acquire(t, r, filelock.Options{})
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
}

func TestWaitingEnds(t *testing.T) {
	t.Parallel()
	r := open(t, nil)
	lock := acquire(t, r, filelock.Options{})

	if _, err := filelock.Acquire(t.Context(), r, "lock", filelock.Options{Wait: time.Millisecond}); !errors.Is(err, filelock.ErrBusy) {
		t.Errorf("after the wait: %v, want %v", err, filelock.ErrBusy)
	}
	cause := errors.New("the user went away")
	ctx, cancel := context.WithCancelCause(t.Context())
	result := make(chan error)
	go func() {
		_, err := filelock.Acquire(ctx, r, "lock", filelock.Options{Wait: patience})
		result <- err
	}()
	cancel(cause)
	if err := <-result; !errors.Is(err, cause) || errors.Is(err, filelock.ErrBusy) {
		t.Errorf("after cancelling: %v, want %v", err, cause)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
	if _, err := filelock.Acquire(ctx, r, "lock", filelock.Options{Wait: patience}); !errors.Is(err, cause) {
		t.Errorf("a free lock under a cancelled context: %v, want %v", err, cause)
	}
}

func TestWaiterGetsTheLockOnRelease(t *testing.T) {
	t.Parallel()
	r := open(t, nil)
	lock := acquire(t, r, filelock.Options{})
	result := make(chan error)
	go func() {
		second, err := filelock.Acquire(t.Context(), r, "lock", filelock.Options{Wait: patience})
		if err == nil {
			err = second.Release()
		}
		result <- err
	}()
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
	if err := <-result; err != nil {
		t.Error(err)
	}
	if err := lock.Release(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("second release: %v, want %v", err, os.ErrClosed)
	}
}

func TestFileIsNeverUnlinked(t *testing.T) {
	t.Parallel()
	r := open(t, nil)
	var first os.FileInfo
	for _, holder := range []string{"a long name of a holder", "short", ""} {
		lock := acquire(t, r, filelock.Options{Holder: holder})
		if err := lock.Release(); err != nil {
			t.Error(err)
		}
		info, err := r.Lstat("lock")
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = info
		}
		if !os.SameFile(first, info) {
			t.Error("the lock file was replaced")
		}
	}
	// The last one wrote nothing, so the one before still stands there, whole.
	if data, _, err := r.ReadFile("lock", 0); err != nil || string(data) != "short\n" {
		t.Errorf("lock file holds %q, %v", data, err)
	}
}

func TestOnlyARegularFileIsLocked(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside")
	r := open(t, nil)
	if err := os.Symlink(outside, filepath.Join(r.Abs("."), "lock")); err != nil {
		t.Fatal(err)
	}
	if _, err := filelock.Acquire(t.Context(), r, "lock", filelock.Options{}); !errors.Is(err, durable.ErrNotRegular) {
		t.Errorf("got %v, want %v", err, durable.ErrNotRegular)
	}
	if _, err := os.Lstat(outside); err == nil {
		t.Error("a file was made outside the root")
	}
}

func TestLockIsAnnounced(t *testing.T) {
	t.Parallel()
	var count durabletest.Counter
	boom := errors.New("boom")
	r := open(t, durabletest.Chain(count.Hook, durabletest.FailAt(0, boom, durabletest.Skip("", durable.OpLock, nil))))
	if _, err := filelock.Acquire(t.Context(), r, "lock", filelock.Options{}); !errors.Is(err, boom) {
		t.Errorf("got %v, want %v", err, boom)
	}
	// A skipped lock does not exclude: the sabotage that tests of users need.
	a, b := acquire(t, r, filelock.Options{}), acquire(t, r, filelock.Options{})
	if err := errors.Join(a.Release(), b.Release()); err != nil {
		t.Error(err)
	}
	if s := count.Steps(); len(s) != 3 || s[0].Op != durable.OpLock || s[0].Path != filepath.Join(r.Abs("."), "lock") {
		t.Errorf("announced %v", s)
	}
}
