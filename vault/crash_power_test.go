package vault_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"stet/vault"
	"stet/vault/durable"
	"stet/vault/durable/durabletest"
	"stet/vault/gitstore"
	"stet/vault/vaulttest"
)

// The power sweep: one run of each write is recorded, and what the disk may
// hold after the power fails at any step, with unsynced effects dropped or
// torn, must be all of the old state or all of the new.

// A powerRun is one recorded write and a folder for the images of its disk.
type powerRun struct {
	*prepared
	disk *durabletest.Disk
	dir  string // the repository as the run left it
	into string
	good map[uint64]bool // images that were found whole
	// start is the step from which on images are asked for.
	start  int
	killed []*powerRun // see afterKills
}

// recordPower runs an operation once on a copy of its template.
func recordPower(t *testing.T, op crashOp) *powerRun {
	t.Helper()
	r := prepareOp(t, op).powerRun(t)
	r.run(t, nil)
	if err := r.disk.Check(nil); err != nil {
		t.Fatalf("something bypassed package durable: %v", err)
	}
	return r
}

// powerRun follows a copy of the template.
func (p *prepared) powerRun(t *testing.T) *powerRun {
	t.Helper()
	base := t.TempDir()
	r := &powerRun{prepared: p, dir: filepath.Join(base, "repo"), into: filepath.Join(base, "image"), good: map[uint64]bool{}}
	p.copyTo(t, r.dir)
	var err error
	if r.disk, err = durabletest.NewDisk(r.dir); err != nil {
		t.Fatal(err)
	}
	return r
}

// run does the operation. hook (nil for none) may end it early, as a kill does.
func (r *powerRun) run(t *testing.T, hook durable.Hook) {
	t.Helper()
	v, err := vault.Open(ctxb(), r.vaultIn(r.dir), crashOptions(r.disk.Wrap(hook)))
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if err := r.op.run(v); err != nil && hook == nil {
		t.Fatalf("%s without any fault: %v", r.op.name, err)
	}
}

// afterwards are the options of whoever comes after the power cut. That nobody
// waits for the disk then changes no outcome and makes the sweep ten times as
// fast.
func afterwards() vault.Options {
	o := crashOptions(durabletest.Skip("", durable.OpSync, durabletest.Skip("", durable.OpSyncDir, nil)))
	o.LockWait = 20 * time.Millisecond
	return o
}

// inspect writes an image and says what is wrong with it, and which state it
// holds. withGit lets the real git look, too.
func (r *powerRun) inspect(m *durabletest.Image, withGit bool) (state string, err error) {
	if err := m.Write(map[string]string{r.dir: r.into}); err != nil {
		return "", err
	}
	dir := r.vaultIn(r.into)
	v, err := vault.Open(ctxb(), dir, afterwards())
	if err != nil {
		return "", fmt.Errorf("open: %w", err)
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	now, err := trySnapshot(r.treeIn(r.into))
	if err != nil {
		return "", err
	}
	state, diff := r.which(now)
	switch {
	case state == "torn":
		return state, errors.New(diff)
	case state == "old" && m.N == r.disk.Len():
		return state, errors.New("the write had been acknowledged and is gone")
	}
	for _, content := range r.op.byHand {
		if !isKept(r.treeIn(r.into), content) {
			return state, fmt.Errorf("a person's bytes are lost: %q", content)
		}
	}
	if _, err := v.Remember(ctxb(), []vault.Note{{Text: "One more."}}, vault.Write{}); err != nil {
		return state, fmt.Errorf("a following write: %w", err)
	}
	want := r.after
	if state == "old" {
		want = r.before
	}
	if err := r.following(want); err != nil {
		return state, fmt.Errorf("after a following write: %w", err)
	}
	if withGit {
		return state, r.askGit(dir, state)
	}
	return state, nil
}

// following demands that everything of a state is there beside one new memory,
// and that nothing of ours is left lying about.
func (r *powerRun) following(want map[string]string) error {
	now, err := trySnapshot(r.treeIn(r.into))
	if err != nil {
		return err
	}
	for k, text := range withoutEmpty(want) {
		if have, ok := now[k]; k != "commits" && (!ok || have != text) {
			return fmt.Errorf("%s is %q (%v), want %q", k, cut(have), ok, cut(text))
		}
	}
	loc, err := gitstore.Locate(r.vaultIn(r.into))
	if err != nil {
		return err
	}
	if left := vaulttest.Leftovers(loc); len(left) > 0 {
		return errors.New(strings.Join(left, ", "))
	}
	return nil
}

// askGit lets the referee look at the same image. A person's uncommitted edits
// are a difference that git rightly tells of in the old state.
func (r *powerRun) askGit(dir, state string) error {
	if !vaulttest.HaveGit() {
		return nil
	}
	if out, err := vaulttest.Fsck(dir); err != nil || strings.TrimSpace(out) != "" {
		return fmt.Errorf("git fsck: %s", out)
	}
	if out, err := vaulttest.Git(dir, "status", "--porcelain", "--untracked-files=no"); state == "new" && (err != nil || out != "") {
		return fmt.Errorf("git status: %s", out)
	}
	return nil
}

// powerBudget is how many images of one operation are tried: all with
// STET_FULL=1.
func powerBudget() int {
	switch {
	case full():
		return 1 << 30
	case testing.Short():
		return 20
	}
	return 90
}

// gitEvery is the stride of the images that the real git looks at.
const gitEvery = 15

func powerRand() *rand.Rand { return rand.New(rand.NewPCG(0x57e7, 11)) }

func TestPowerLossLeavesOldOrNew(t *testing.T) {
	t.Parallel()
	for _, op := range crashOps() {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			recordPower(t, op).sweep(t)
		})
	}
}

// sweep tries the images at a fixed stride; those past the last step, which
// must hold what was acknowledged, always.
func (r *powerRun) sweep(t *testing.T) {
	t.Helper()
	images := slices.Collect(r.disk.Images(powerRand(), durabletest.Modes()...))
	stride := max(1, len(images)/powerBudget())
	states, tried := map[string]int{}, 0
	for n, m := range images {
		if n%stride != 0 && m.N < r.disk.Len() {
			continue
		}
		tried++
		state, err := r.inspect(m, tried%gitEvery == 1)
		if err != nil {
			t.Errorf("%v, before %s: %v", m, r.stepAt(m.N), err)
			continue
		}
		states[state]++
	}
	t.Logf("%d of %d images of %d steps tried (every %dth and all past the last step): %v", tried, len(images), r.disk.Len(), stride, states)
	if states["old"] == 0 || states["new"] == 0 {
		t.Errorf("the sweep saw %v: it must meet both states", slices.Collect(maps.Keys(states)))
	}
}

func (r *powerRun) stepAt(n int) string {
	if steps := r.disk.Steps(); n < len(steps) {
		return strings.ReplaceAll(steps[n].String(), r.dir, "")
	}
	return "nothing"
}

// TestPowerLossAfterKill cuts the power in or after a write that follows a
// killed one: what the dead process made and did not sync, such as a new folder,
// must not be taken for durable by the living.
func TestPowerLossAfterKill(t *testing.T) {
	t.Parallel()
	for _, op := range crashOps() {
		switch op.name {
		case "remember", "update", "forget", "first-use":
		default:
			continue
		}
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			p, tried := prepareOp(t, op), 0
			for _, n := range p.points(t, len(p.steps), 30, 4) {
				r := p.afterKill(t, n)
				stride := 0
				for m := range r.disk.Images(powerRand(), durabletest.Modes()...) {
					if stride++; m.N < r.start || m.N < r.disk.Len() && stride%25 != 0 && !full() {
						continue
					}
					tried++
					if _, err := r.inspect(m, false); err != nil {
						t.Errorf("killed before step %d (%v), %v of %d, before %s: %v", n, p.steps[n], m, r.disk.Len(), r.stepAt(m.N), err)
					}
				}
				must(os.RemoveAll(filepath.Dir(r.dir)))
			}
			t.Logf("%d images tried", tried)
		})
	}
}

// afterKill does the operation twice: once killed before step n, and then again
// unless it was published, from step start on.
func (p *prepared) afterKill(t *testing.T, n int) *powerRun {
	t.Helper()
	r := p.powerRun(t)
	dead, _ := durabletest.FailFrom(n, syscall.EIO, nil)
	r.run(t, dead)
	r.start = r.disk.Len()
	v, err := vault.Open(ctxb(), r.vaultIn(r.dir), crashOptions(r.disk.Wrap(nil)))
	if err != nil {
		t.Fatalf("killed before step %d (%v): %v", n, p.steps[n], err)
	}
	defer v.Close()
	if state, _ := p.which(snapshot(t, r.treeIn(r.dir))); state == "old" {
		if err := p.op.run(v); err != nil {
			t.Fatalf("killed before step %d (%v), then again: %v", n, p.steps[n], err)
		}
	}
	return r
}

// TestPowerLossAfterEnqueue loses no job and no line of a session, also where a
// write that had nothing to do made the state folder first and synced nothing.
func TestPowerLossAfterEnqueue(t *testing.T) {
	t.Parallel()
	op := crashOps()[0]
	prepare := op.prepare
	op.prepare = func(f *crashFixture) {
		prepare(f)
		must(os.RemoveAll(filepath.Join(f.dir, ".git/stet")))
	}
	p := prepareOp(t, op)
	r := p.powerRun(t)
	v, err := vault.Open(ctxb(), r.dir, crashOptions(r.disk.Wrap(nil)))
	must(err)
	_, err = v.Transact(ctxb(), vault.Why{}, false, func(*vault.Tx) error { return nil })
	must(err)
	must(v.State().AppendSession(ctxb(), "s", []byte("line")))
	_, err = v.State().Enqueue(ctxb(), "jobs", []byte("job"))
	must(errors.Join(err, v.Close()))
	holds := func(m *durabletest.Image) bool {
		must(m.Write(map[string]string{r.dir: r.into}))
		v, err := vault.Open(ctxb(), r.into, afterwards())
		must(err)
		defer v.Close()
		lines, err := v.State().Session("s")
		jobs, _ := filepath.Glob(filepath.Join(r.into, ".git/stet/*/queue/*.jobs"))
		return err == nil && len(lines) == 1 && len(jobs) == 1
	}
	for _, mode := range durabletest.Modes() {
		if m := r.disk.Image(r.disk.Len(), mode, powerRand()); !holds(m) {
			t.Errorf("%v: a session or a job is gone", m)
		}
	}
	r.disk.Sabotage(func(s durable.Step) bool { return s.Label == "state" && s.Path == filepath.Join(r.dir, ".git") })
	if holds(r.disk.Image(r.disk.Len(), durabletest.Strict, nil)) {
		t.Error("without the fsync of the git folder nothing was lost")
	}
}
