package notebook_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"stet/vault"
	"stet/vault/durable"
	"stet/vault/durable/durabletest"
	"stet/vault/notebook"
	"stet/vault/vaulttest"
)

// The sweeps kill the process before each step of an edit, above all of an add
// that overflows, and fail each step with each error: the notebook and the memories are as before or
// as after, never between, and no text is lost.

// A crashOp is one write that is made to fail.
type crashOp struct {
	name string
	hand string // USER.md as a person left it, uncommitted; "" = clean
	run  func(*vault.Vault) error
}

// The first entries of the notebook, which the writes below push out.
const (
	first  = "- one......................................\n- [fact] two.............................\n"
	byHand = first + "- by hand\n"
)

func crashOps() []crashOp {
	overflow := func(v *vault.Vault) error {
		res, err := notebook.Profile(v, small()).Add(context.Background(), notebook.New{Text: sized("three", 70)}, vault.Write{})
		if err == nil && len(res.Moved) != 2 {
			err = fmt.Errorf("%d entries moved, want 2", len(res.Moved))
		}
		return err
	}
	return []crashOp{
		{name: "overflow", run: overflow},
		{name: "overflow-by-hand", hand: byHand, run: overflow},
		{name: "remove", run: func(v *vault.Vault) error {
			_, err := notebook.Profile(v, small()).Remove(context.Background(), "two", vault.Write{})
			return err
		}},
		{name: "too-long", run: func(v *vault.Vault) error {
			_, err := notebook.Profile(v, small()).Replace(context.Background(), "one", notebook.New{Text: sized("long", 300)}, vault.Write{})
			return err
		}},
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// crashOptions give every process the same clock.
func crashOptions(hook durable.Hook) vault.Options {
	var ticks atomic.Int64
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return vault.Options{
		Now: func() time.Time { return start.Add(time.Duration(ticks.Add(1)) * time.Second) },
		Env: vaulttest.Env, Hook: hook, SecondLook: time.Nanosecond, LockWait: 2 * time.Second,
	}
}

// A template is a vault before a write, and what the write makes of it.
type template struct {
	op            crashOp
	dir           string
	before, after map[string]string
	steps         []durabletest.StepInfo
}

func newTemplate(t *testing.T, op crashOp) *template {
	t.Helper()
	base := crashDir(t)
	p := &template{op: op, dir: filepath.Join(base, "template")}
	must(os.MkdirAll(p.dir, 0o755))
	file := filepath.Join(p.dir, "USER.md")
	must(os.WriteFile(file, []byte(first), 0o644))
	if _, err := vault.Init(t.Context(), p.dir, vault.InitOptions{}, crashOptions(nil)); err != nil {
		t.Fatal(err)
	}
	if op.hand != "" {
		must(os.WriteFile(file, []byte(op.hand), 0o644))
	}
	p.before = state(t, p.dir)
	done := p.copy(t)
	var count durabletest.Counter
	v, err := vault.Open(t.Context(), done, crashOptions(count.Hook))
	if err != nil {
		t.Fatal(err)
	}
	if err := op.run(v); err != nil {
		t.Fatalf("%s without any fault: %v", op.name, err)
	}
	must(v.Close())
	p.steps, p.after = count.Steps(), state(t, done)
	vaulttest.Check(t, done)
	if len(p.steps) < 20 || len(p.after) <= len(p.before) {
		t.Fatalf("%s took %d steps and made no file", op.name, len(p.steps))
	}
	return p
}

// crashDir is a temporary folder, in memory where the system has such a place.
func crashDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "stet-notebook-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { must(os.RemoveAll(dir)) })
	return dir
}

// copy makes a copy of the vault; locks are hard links of one file and stay so.
func (p *template) copy(t testing.TB) string {
	t.Helper()
	to := filepath.Join(crashDir(t), "vault")
	mark := ""
	must(filepath.WalkDir(p.dir, func(from string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := to + strings.TrimPrefix(from, p.dir)
		if d.IsDir() {
			return os.Mkdir(target, 0o755)
		}
		if filepath.Base(from) == "lockmark" {
			mark = target
		} else if strings.HasSuffix(from, ".lock") && mark != "" {
			return os.Link(mark, target)
		}
		data, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o644)
	}))
	return to
}

// state is every file on disk and in HEAD, without what differs between two runs
// of one write.
func state(t testing.TB, dir string) map[string]string {
	t.Helper()
	clean := func(data []byte) string {
		return regexp.MustCompile(`(?m)^(id|created|updated|at): .*$`).ReplaceAllString(string(data), "$1: X")
	}
	name := func(p string) string {
		return regexp.MustCompile(`tombstones/[0-9a-z]{26}\.yaml$`).ReplaceAllString(p, "tombstones/X")
	}
	out := map[string]string{}
	must(filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		data, err := os.ReadFile(p)
		out["disk:"+name(strings.TrimPrefix(p, dir))] = clean(data)
		return err
	}))
	v, err := vault.Open(context.Background(), dir, crashOptions(nil))
	must(err)
	defer v.Close()
	s, err := v.View(context.Background(), "HEAD")
	must(err)
	for p, err := range s.Files() {
		must(err)
		data, _, err := s.Read(p)
		must(err)
		out["HEAD:"+name(string(p))] = clean(data)
	}
	return out
}

// judge opens a vault after a fault and reports which state it is in.
func (p *template) judge(t *testing.T, where, dir string, acked bool) string {
	t.Helper()
	v, err := vault.Open(t.Context(), dir, crashOptions(nil))
	if err != nil {
		t.Errorf("%s: open: %v", where, err)
		return "torn"
	}
	defer v.Close()
	found := ""
	switch now := state(t, dir); {
	case maps.Equal(now, p.after):
		found = "new"
	case maps.Equal(now, p.before):
		found = "old"
	default:
		t.Errorf("%s: neither old nor new: %q", where, now)
		return "torn"
	}
	if acked && found == "old" {
		t.Errorf("%s: the write had been acknowledged and is gone", where)
	}
	if found == "new" || p.op.hand == "" {
		for _, problem := range vaulttest.Problems(dir) {
			t.Errorf("%s (%s): %s", where, found, problem)
		}
	}
	if found == "old" {
		if err := p.op.run(v); err != nil {
			t.Errorf("%s: the same write again: %v", where, err)
		}
		if now := state(t, dir); !maps.Equal(now, p.after) {
			t.Errorf("%s: after the same write again: %q", where, now)
		}
	}
	if p.op.hand != "" {
		// A person's bytes are a commit of their own, and the texts went on.
		s, err := v.View(t.Context(), "HEAD~1")
		if err != nil {
			t.Errorf("%s: the commit before: %v", where, err)
			return found
		}
		if data, _, err := s.Read(notebook.ProfilePath); err != nil || string(data) != p.op.hand {
			t.Errorf("%s: the hand edit is not the commit before: %q %v", where, data, err)
		}
	}
	res, err := notebook.Core(v, small()).Add(t.Context(), notebook.New{Text: "one more"}, vault.Write{})
	if err != nil || res.Unchanged {
		t.Errorf("%s: a following write: %v", where, err)
	}
	for _, problem := range vaulttest.Problems(dir) {
		t.Errorf("%s, after a following write: %s", where, problem)
	}
	return found
}

// points lists the steps to try of n, the last always.
func points(t testing.TB, n, short, normal int) []int {
	t.Helper()
	stride := normal
	if testing.Short() {
		stride = short
	}
	if os.Getenv("STET_FULL") == "1" {
		stride = 1
	}
	var out []int
	for i := 0; i < n; i += stride {
		out = append(out, i)
	}
	if stride > 1 {
		t.Logf("a sample: every %dth of %d points (STET_FULL=1 tries all)", stride, n)
		out = append(out, n-1)
	}
	return slices.Compact(out)
}

// The environment of a child process: what to do, where, and before which step
// to die.
const childOp, childDir, childStep = "STET_CRASH_OP", "STET_CRASH_DIR", "STET_CRASH_STEP"

func TestMain(m *testing.M) {
	name := os.Getenv(childOp)
	if name == "" {
		os.Exit(m.Run())
	}
	n, err := strconv.Atoi(os.Getenv(childStep))
	must(err)
	v, err := vault.Open(context.Background(), os.Getenv(childDir), crashOptions(durabletest.KillAt(n, nil)))
	must(err)
	for _, op := range crashOps() {
		if op.name == name {
			must(op.run(v))
		}
	}
	fmt.Println("ACK")
	must(v.Close())
	os.Exit(0)
}

func TestKilledAtEveryStepOfAnOverflow(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range crashOps() {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			p := newTemplate(t, op)
			old := 0
			for _, n := range points(t, len(p.steps)+1, 30, 5) {
				dir := p.copy(t)
				cmd := exec.Command(exe)
				cmd.Env = append(os.Environ(), childOp+"="+op.name, childDir+"="+dir, childStep+"="+strconv.Itoa(n), "GOMAXPROCS=1")
				out, err := cmd.CombinedOutput()
				var exit *exec.ExitError
				if err != nil && (!errors.As(err, &exit) || exit.Exited()) {
					t.Fatalf("step %d: the child failed by itself: %v\n%s", n, err, out)
				}
				if p.judge(t, fmt.Sprintf("killed before step %d of %d", n, len(p.steps)), dir, strings.Contains(string(out), "ACK\n")) == "old" {
					old++
				}
				must(os.RemoveAll(dir))
			}
			if old == 0 {
				t.Error("no crash left the old state: the sweep did not reach the steps before the commit")
			}
		})
	}
}

func TestFailedStepOfAnOverflowLeavesOldOrNew(t *testing.T) {
	t.Parallel()
	faults := map[string]struct{ with, is error }{
		"ENOSPC": {syscall.ENOSPC, syscall.ENOSPC}, "EIO": {syscall.EIO, syscall.EIO}, "EROFS": {syscall.EROFS, vault.ErrReadOnly},
	}
	for _, op := range crashOps() {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			p := newTemplate(t, op)
			failed := 0
			for name, fault := range faults {
				for _, n := range points(t, len(p.steps), 80, 13) {
					once := durabletest.FailAt(n, fault.with, nil)
					failed += p.fails(t, fmt.Sprintf("%s at step %d (%v)", name, n, p.steps[n]), once, func() {}, fault.is)
					stays, lift := durabletest.FailFrom(n, fault.with, nil)
					failed += p.fails(t, fmt.Sprintf("%s from step %d (%v) on", name, n, p.steps[n]), stays, lift, fault.is)
				}
			}
			if failed == 0 {
				t.Error("no write reported a fault: the sweep shows nothing")
			}
		})
	}
}

// fails runs the write with a fault and returns 1 when it was reported.
func (p *template) fails(t *testing.T, where string, hook durable.Hook, lift func(), is error) int {
	t.Helper()
	dir := p.copy(t)
	defer os.RemoveAll(dir)
	v, err := vault.Open(t.Context(), dir, crashOptions(hook))
	if err == nil {
		err = p.op.run(v)
		lift()
		if cerr := v.Close(); cerr != nil {
			t.Errorf("%s: close: %v", where, cerr)
		}
	}
	if err != nil && !errors.Is(err, is) {
		t.Errorf("%s: the error is not %v: %v", where, is, err)
	}
	found := p.judge(t, where, dir, err == nil)
	// The one error after which a write may be there: it is published, and the
	// disk would not say that it will last.
	if err != nil && found == "new" && !strings.Contains(err.Error(), "may not survive a power cut") {
		t.Errorf("%s: reported as failed and done all the same: %v", where, err)
	}
	if err != nil {
		return 1
	}
	return 0
}
