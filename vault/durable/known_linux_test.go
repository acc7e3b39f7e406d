package durable

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// asked lists folders through known names as [Root.Entries] does, with the memory of
// the last listing, and counts how often the names were read.
type asked struct {
	t     *testing.T
	known knownFolders
	buf   dirBuffer
	reads int
	read  func() // called between the reading of names and what follows
}

// ask is a file system whose clock is ahead of the files' by that many seconds.
func ask(t *testing.T, ahead int64) *asked {
	a := &asked{t: t, buf: dirBuffer{dents: make([]byte, dentsSize)}, read: func() {}}
	a.known.stamps = func(int) bool { return true }
	a.known.now = func() (unix.Timespec, error) {
		now, err := fileClock()
		return unix.NsecToTimespec(now.Nano() + ahead*1e9), err
	}
	return a
}

// list returns the names in dir.
func (a *asked) list(dir string) []string {
	a.t.Helper()
	d, err := os.Open(dir)
	if err != nil {
		a.t.Fatal(err)
	}
	got, err := a.known.names(dir, int(d.Fd()), a.buf.names, func(fd int) ([]string, error) {
		a.reads++
		names, err := a.buf.readNames(fd)
		a.read()
		return names, err
	})
	if err := errors.Join(err, d.Close()); err != nil {
		a.t.Fatal(err)
	}
	a.buf.names = got
	return got
}

// same checks that the names are those that the system lists, and how often they
// were read for it.
func (a *asked) same(dir string, reads int) {
	a.t.Helper()
	before := a.reads
	got := a.list(dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		a.t.Fatal(err)
	}
	want := []string{}
	for _, e := range entries {
		want = append(want, e.Name())
	}
	if !slices.Equal(got, want) || a.reads-before != reads {
		a.t.Fatalf("the names are %q, read %d times; want %q, %d times", got, a.reads-before, want, reads)
	}
}

// tick waits for the next step of the clock that the times of files come from.
func tick(t *testing.T) {
	before, err := fileClock()
	for now := before; now == before && err == nil; now, err = fileClock() {
		runtime.Gosched()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestNamesAreReadAgainWhenTheirFolderChanged(t *testing.T) {
	t.Parallel()
	a, dir, other := ask(t, knownAge+2), t.TempDir(), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string) error { return os.WriteFile(at(name), nil, 0o600) }
	if err := os.WriteFile(filepath.Join(other, "other.md"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, change := range []func() error{
		func() error { return errors.Join(write("b.md"), write("a.md"), write("c.md")) },
		func() error { return os.Rename(at("b.md"), at("B.md")) },
		func() error { return os.Remove(at("a.md")) },
		func() error { return os.Mkdir(at("folder"), 0o700) },
		func() error {
			return errors.Join(os.Remove(at("B.md")), os.Remove(at("c.md")), os.Remove(at("folder")))
		},
	} {
		tick(t)
		if err := change(); err != nil {
			t.Fatal(err)
		}
		for range knownFrom {
			a.same(dir, 1)
		}
		a.list(other) // into the same memory
		for range 3 {
			a.same(dir, 0)
		}
	}
	a.known.forget(dir)
	a.same(dir, 1)
	if len(a.known.at) != 2 {
		t.Errorf("%d folders are known, want 2", len(a.known.at))
	}
}

// Where a change could leave the times as they are, nothing is known.
func TestNamesAreNotKeptWhereTimesSayNothing(t *testing.T) {
	t.Parallel()
	young, foreign, dir := ask(t, 0), ask(t, knownAge+2), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.md"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	asks := 0
	foreign.known.stamps = func(int) bool {
		asks++
		return false
	}
	for range knownFrom + 2 {
		young.same(dir, 1)
		foreign.same(dir, 1)
	}
	if asks != 1 {
		t.Errorf("the device was asked for %d times, want once", asks)
	}
}

// A process that was stopped while it listed a young folder finds it old afterwards,
// but what it read may be what stood there before a change of the same moment.
func TestNamesReadInAYoungFolderAreNotKeptWhenItIsOld(t *testing.T) {
	t.Parallel()
	a, dir, ahead := ask(t, 0), t.TempDir(), false
	late := ask(t, knownAge+2).known.now
	a.known.now = func() (unix.Timespec, error) {
		if ahead {
			return late()
		}
		return fileClock()
	}
	for range knownFrom - 1 {
		a.same(dir, 1)
	}
	a.read = func() { ahead = true }
	a.same(dir, 1)
	a.read = func() {}
	a.same(dir, 1)
	a.same(dir, 0)
}

// Changes follow on one another within a step of the clock.
func TestNamesAreNeverThoseOfAMomentAgo(t *testing.T) {
	t.Parallel()
	a, dir := ask(t, 0), t.TempDir()
	for i := range 500 {
		name := filepath.Join(dir, fmt.Sprintf("%d.md", i%7))
		err := os.WriteFile(name, nil, 0o600)
		if i%3 == 0 {
			err = os.Remove(name)
		}
		if err != nil {
			t.Fatal(err)
		}
		a.same(dir, 1)
	}
}
