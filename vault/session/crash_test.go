package session_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"stet/markdown"
	"stet/vault"
	"stet/vault/durable"
	"stet/vault/durable/durabletest"
	"stet/vault/session"
	"stet/vault/settings"
	"stet/vault/vaulttest"
)

// The sweeps kill the process before each step of adding a turn and of sealing,
// and fail each step: every turn that was acknowledged stands in the transcript
// once, and one that was not at most once.

// A crashOp is what is made to fail. Before it "first" and "second" were
// acknowledged, with sealed before another one, and "fresh" is said after it.
type crashOp struct {
	name   string
	sealed bool // there is a transcript, with "early" in it
	hidden bool // transcripts are kept out of git
	run    func(*vault.Vault) error
}

const crashKey = "01k0000000000000000000chat"

func crashOps() []crashOp {
	add := func(v *vault.Vault) error { return tell(v, "third", 3) }
	end := func(v *vault.Vault) error {
		_, err := session.Seal(context.Background(), v, crashKey, session.Options{Wait: true})
		return err
	}
	return []crashOp{
		{name: "append", run: add},
		{name: "seal", run: end},
		{name: "seal-again", sealed: true, run: end},
		{name: "seal-hidden", hidden: true, run: end},
		{name: "seal-hidden-again", hidden: true, sealed: true, run: end},
	}
}

func tell(v *vault.Vault, text string, n int) error {
	return session.Append(context.Background(), v, session.Turn{Session: crashKey, Role: "user", Time: moment(n), Text: []byte("turn " + text + ".")})
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func crashOptions(op crashOp, hook durable.Hook) vault.Options {
	o := vault.Options{Now: func() time.Time { return moment(10) }, Env: vaulttest.Env, Hook: hook, SecondLook: time.Nanosecond, LockWait: 10 * time.Second}
	if op.hidden {
		o.Settings = []settings.Layer{settings.Layer{Source: settings.Flag}.With(settings.SessionsTrack, "false", "test")}
	}
	return o
}

// prepared is a vault before the operation and the steps that it takes.
func prepared(t *testing.T, op crashOp) (dir string, steps []durabletest.StepInfo) {
	t.Helper()
	dir = filepath.Join(crashDir(t), "template")
	must(os.MkdirAll(dir, 0o755))
	if _, err := vault.Init(t.Context(), dir, vault.InitOptions{}, crashOptions(op, nil)); err != nil {
		t.Fatal(err)
	}
	v, err := vault.Open(t.Context(), dir, crashOptions(op, nil))
	must(err)
	if op.sealed {
		must(tell(v, "early", 0))
		_, err := session.Seal(t.Context(), v, crashKey, session.Options{Wait: true})
		must(err)
	}
	must(tell(v, "first", 1))
	must(tell(v, "second", 2))
	must(v.Close())
	var count durabletest.Counter
	done := copyOf(t, dir)
	v, err = vault.Open(t.Context(), done, crashOptions(op, count.Hook))
	must(err)
	if err := op.run(v); err != nil {
		t.Fatalf("%s without any fault: %v", op.name, err)
	}
	must(v.Close())
	return dir, count.Steps()
}

func crashDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "stet-session-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { must(os.RemoveAll(dir)) })
	return dir
}

func copyOf(t testing.TB, from string) string {
	t.Helper()
	to := filepath.Join(crashDir(t), "vault")
	must(filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := to + strings.TrimPrefix(p, from)
		if d.IsDir() {
			return os.Mkdir(target, 0o755)
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o644)
	}))
	return to
}

// judge is what comes after a fault: another turn, and a writer that seals.
func judge(t *testing.T, op crashOp, where, dir string, acked bool) {
	t.Helper()
	v, err := vault.Open(t.Context(), dir, crashOptions(op, nil))
	if err != nil {
		t.Errorf("%s: open: %v", where, err)
		return
	}
	defer v.Close()
	if err := tell(v, "fresh", 5); err != nil {
		t.Errorf("%s: another turn: %v", where, err)
		return
	}
	late := moment(0).Add(time.Hour)
	if _, err := session.SealEnded(t.Context(), v, late, session.Options{}); err != nil {
		t.Errorf("%s: the next writer: %v", where, err)
	}
	_, data, err := session.Find(t.Context(), v, crashKey)
	if err != nil {
		t.Errorf("%s: no transcript: %v", where, err)
		return
	}
	var said []string
	for _, m := range markdown.ParseTranscript(data).Messages {
		said = append(said, strings.TrimSuffix(strings.TrimPrefix(string(m.Content), "turn "), "."))
	}
	want := []string{"first", "second", "fresh"}
	if op.sealed {
		want = append([]string{"early"}, want...)
	}
	more := slices.Insert(slices.Clone(want), len(want)-1, "third")
	whole := slices.Equal(said, want)
	if op.name == "append" {
		whole = slices.Equal(said, more) || whole && !acked
	}
	if !whole {
		t.Errorf("%s (acknowledged: %v): the transcript has %q", where, acked, said)
	}
	if open, err := session.AllOpen(v); err != nil || len(open) != 0 {
		t.Errorf("%s: still open: %v %v", where, open, err)
	}
	// What nobody reviewed is asked for and queued before it is dropped, and counted as it stands.
	marks, _, err := session.MarksOf(v, crashKey)
	jobs, jerr := v.State().Jobs(session.Reviews)
	if err != nil || jerr != nil || marks.Sealed != len(said) || marks.Memory.Asked != len(said) || !marks.Waits() ||
		!marks.Whole || len(jobs) == 0 {
		t.Errorf("%s: of %d messages the marks are %+v and the queue is %q: %v, %v", where, len(said), marks, jobs, err, jerr)
	}
	for _, problem := range vaulttest.Problems(dir) {
		t.Errorf("%s: %s", where, problem)
	}
	if err := filepath.WalkDir(filepath.Join(dir, "sessions"), func(p string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), ".stet-tmp") {
			t.Errorf("%s: left over: %s", where, p)
		}
		return err
	}); err != nil {
		t.Errorf("%s: %v", where, err)
	}
}

// points lists the steps to try of n, the last always.
func points(n, short, normal int) (out []int) {
	stride := normal
	if testing.Short() {
		stride = short
	}
	if os.Getenv("STET_FULL") == "1" {
		stride = 1
	}
	for i := 0; i < n; i += stride {
		out = append(out, i)
	}
	return slices.Compact(append(out, n-1))
}

const childOp, childDir, childStep = "STET_CRASH_OP", "STET_CRASH_DIR", "STET_CRASH_STEP"

func TestMain(m *testing.M) {
	name := os.Getenv(childOp)
	if name == "" {
		os.Exit(m.Run())
	}
	n, err := strconv.Atoi(os.Getenv(childStep))
	must(err)
	for _, op := range slices.Concat(crashOps(), hookOps()) {
		if op.name != name {
			continue
		}
		v, err := vault.Open(context.Background(), os.Getenv(childDir), crashOptions(op, durabletest.KillAt(n, nil)))
		must(err)
		must(op.run(v))
		fmt.Println("ACK")
	}
	os.Exit(0)
}

func TestKilledAtEveryStepOfATurnAndOfSealing(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	must(err)
	for _, op := range crashOps() {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			dir, steps := prepared(t, op)
			short, normal := 20, 1
			if op.name == "append" {
				short, normal = 1, 1
			}
			killed := 0
			for _, n := range points(len(steps)+1, short, normal) {
				at := copyOf(t, dir)
				cmd := exec.Command(exe)
				cmd.Env = append(os.Environ(), childOp+"="+op.name, childDir+"="+at, childStep+"="+strconv.Itoa(n), "GOMAXPROCS=1")
				out, err := cmd.CombinedOutput()
				var exit *exec.ExitError
				if err != nil && (!errors.As(err, &exit) || exit.Exited()) {
					t.Fatalf("step %d: the child failed by itself: %v\n%s", n, err, out)
				}
				acked := strings.Contains(string(out), "ACK\n")
				if !acked {
					killed++
				}
				judge(t, op, fmt.Sprintf("killed before step %d of %d", n, len(steps)), at, acked)
				must(os.RemoveAll(at))
			}
			if killed == 0 {
				t.Error("no child was killed: the sweep shows nothing")
			}
		})
	}
}

func TestAFailedStepLosesNoTurn(t *testing.T) {
	t.Parallel()
	for _, op := range crashOps() {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			dir, steps := prepared(t, op)
			short, normal := 20, 5
			if op.name == "append" {
				short, normal = 2, 1
			}
			failed := 0
			for _, n := range points(len(steps), short, normal) {
				once := durabletest.FailAt(n, syscall.EIO, nil)
				stays, lift := durabletest.FailFrom(n, syscall.ENOSPC, nil)
				for kind, hook := range map[string]durable.Hook{"EIO at": once, "ENOSPC from": stays} {
					at := copyOf(t, dir)
					v, err := vault.Open(t.Context(), at, crashOptions(op, hook))
					if err == nil {
						err = op.run(v)
						lift()
						must(v.Close())
					}
					if err != nil {
						failed++
					}
					judge(t, op, fmt.Sprintf("%s step %d (%v)", kind, n, steps[n]), at, err == nil)
					must(os.RemoveAll(at))
				}
			}
			if failed == 0 {
				t.Error("no operation reported a fault: the sweep shows nothing")
			}
		})
	}
}
