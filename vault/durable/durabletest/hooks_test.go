package durabletest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"stet/vault/durable"
	"stet/vault/durable/durabletest"
)

// childDir and childStep tell the re-executed test binary what to do.
const childDir, childStep = "DURABLETEST_DIR", "DURABLETEST_STEP"

func TestMain(m *testing.M) {
	dir := os.Getenv(childDir)
	if dir == "" {
		os.Exit(m.Run())
	}
	n, err := strconv.Atoi(os.Getenv(childStep))
	if err != nil {
		panic(err)
	}
	r, err := durable.OpenRoot(dir, durabletest.KillAt(n, nil))
	if err == nil {
		err = protocol(r)
	}
	if err != nil {
		panic(err)
	}
	os.Exit(0)
}

func TestKillAtLeavesWhatHappenedBefore(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	must(t, err)
	var count durabletest.Counter
	dir := t.TempDir()
	must(t, os.Mkdir(dir+"/notes", 0o755), protocol(open(t, dir, count.Hook)))
	steps := count.Steps()
	if syncs := count.Syncs(); syncs != 5 || len(steps) != 10 || steps[9].Label != "tmp.dir" {
		t.Errorf("%d fsyncs in %d steps: %v", syncs, len(steps), steps)
	}
	renamed := 1 + slices.IndexFunc(steps, func(s durabletest.StepInfo) bool { return s.Op == durable.OpRename })
	for n := range len(steps) + 1 {
		dir := t.TempDir()
		put(t, dir+"/notes/note.md", oldText)
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), exe)
		cmd.Env = append(os.Environ(), childDir+"="+dir, childStep+"="+strconv.Itoa(n))
		out, err := cmd.CombinedOutput()
		if (err == nil) != (n == len(steps)) {
			t.Fatalf("step %d: %v\n%s", n, err, out)
		}
		want := oldText
		if n >= renamed {
			want = newText
		}
		if got := tree(t, dir)["notes/note.md"]; got != want {
			t.Errorf("killed at step %d: %q, want %q", n, got, want)
		}
	}
}

func TestFailFromIsAFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir+"/old", "old")
	var count durabletest.Counter
	hook, lift := durabletest.FailFrom(1, durable.ErrShortWrite, count.Hook)
	r := open(t, dir, hook)
	if err := r.CreateSync("l", "x", []byte("12345678"), 0o644); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v, want ENOSPC", err)
	}
	if err := r.Rename("l", "old", "new"); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v, want ENOSPC", err)
	}
	if got := tree(t, dir); len(got) != 1 || got["old"] != "old" {
		t.Errorf("left behind: %v", got)
	}
	lift()
	must(t, r.CreateSync("l", "x", []byte("12345678"), 0o644))
	if got := count.Steps(); len(got) != 5 {
		t.Errorf("the hook behind saw %v", got)
	}

	hook, _ = durabletest.FailFrom(0, syscall.EROFS, nil)
	if err := open(t, dir, hook).Remove("l", "x"); !errors.Is(err, syscall.EROFS) {
		t.Errorf("got %v, want EROFS", err)
	}
}

func TestChainAndFailAt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var before, after durabletest.Counter
	r := open(t, dir, durabletest.Chain(before.Hook, durabletest.FailAt(1, syscall.EIO, nil), after.Hook))
	must(t, r.MkdirAllLazy("l", "a", 0o755))
	if err := r.MkdirAllLazy("l", "b", 0o755); !errors.Is(err, syscall.EIO) {
		t.Errorf("got %v, want EIO", err)
	}
	must(t, r.MkdirAllLazy("l", "c", 0o755))
	if b, a := len(before.Steps()), len(after.Steps()); b != 3 || a != 2 {
		t.Errorf("%d and %d steps seen, want 3 and 2", b, a)
	}
}
