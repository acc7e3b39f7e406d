package vault_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stet/vault"
	"stet/vault/durable"
	"stet/vault/filelock"
	"stet/vault/vaulttest"
)

// The kill sweep: a real process dies by SIGKILL before each of its mutating
// steps. Whoever comes next finds all of the old state or all of the new.

func TestKilledAtEveryStepLeavesOldOrNew(t *testing.T) {
	t.Parallel()
	for _, op := range crashOps() {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			p := prepareOp(t, op)
			old := 0
			for _, n := range p.points(t, len(p.steps)+1, 30, 4) {
				if p.killedAt(t, n) == "old" {
					old++
				}
			}
			t.Logf("%d steps, old state %d times", len(p.steps), old)
			if old == 0 {
				t.Error("no crash left the old state: the sweep did not reach the steps before the commit")
			}
		})
	}
}

// killedAt checks one point and reports which state it left.
func (p *prepared) killedAt(t *testing.T, n int) string {
	t.Helper()
	dir := filepath.Join(crashDir(t), "repo")
	p.copyTo(t, dir)
	defer os.RemoveAll(dir)
	acked, ended := child(t, p.op.name, p.vaultIn(dir), n)
	// The number of steps varies by the folders of objects that exist already.
	if slack := 20; ended && n < len(p.steps)-slack {
		t.Fatalf("step %d of %d: the child was not killed", n, len(p.steps))
	}
	where := "killed after everything"
	if n < len(p.steps) {
		where = fmt.Sprintf("killed before step %d (%v)", n, p.steps[n])
	}
	return p.judge(t, where, dir, acked)
}

// judge opens a vault after a crash and demands that it is whole, old or new,
// and new when the write had been acknowledged; that the same write can then
// be done, and another one. It reports which state was found.
func (p *prepared) judge(t *testing.T, where, repo string, acked bool) string {
	t.Helper()
	v, err := vault.Open(ctxb(), p.vaultIn(repo), crashOptions(nil))
	if err != nil {
		t.Errorf("%s: open: %v", where, err)
		return "torn"
	}
	defer v.Close()
	now, err := trySnapshot(p.treeIn(repo))
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return "torn"
	}
	state, diff := p.which(now)
	switch {
	case state == "torn":
		t.Errorf("%s: %s", where, diff)
		return state
	case acked && state == "old":
		t.Errorf("%s: the write had been acknowledged and is gone", where)
	}
	for _, problem := range vaulttest.Problems(p.vaultIn(repo)) {
		if strings.HasPrefix(problem, "left over") || state == "new" || len(p.op.byHand) == 0 {
			t.Errorf("%s (%s): %s", where, state, problem)
		}
	}
	for _, content := range p.op.byHand {
		if !isKept(p.treeIn(repo), content) {
			t.Errorf("%s: a person's bytes are lost: %q", where, content)
		}
	}
	if state == "old" {
		if err := p.op.run(v); err != nil {
			t.Errorf("%s: the same write again: %v", where, err)
		}
		now = snapshot(t, p.treeIn(repo))
		if again, diff := p.which(now); again != "new" {
			t.Errorf("%s: after the same write again: %s", where, diff)
		}
	}
	for k := range now {
		if _, want := p.after[k]; !want && strings.HasPrefix(k, "empty:") {
			t.Errorf("%s: an empty folder is left: %s", where, k)
		}
	}
	if _, err := v.Remember(ctxb(), []vault.Note{{Text: "One more."}}, vault.Write{}); err != nil {
		t.Errorf("%s: a following write: %v", where, err)
	}
	for _, problem := range vaulttest.Problems(p.vaultIn(repo)) {
		t.Errorf("%s, after a following write: %s", where, problem)
	}
	return state
}

// TestACopyOfAKilledVaultIsWhole copies what a killed process left as most programs do:
// without its hard links. Readers see all at once and wait for nobody.
func TestACopyOfAKilledVaultIsWhole(t *testing.T) {
	t.Parallel()
	for _, op := range crashOps() {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			p := prepareOp(t, op)
			for _, n := range p.points(t, len(p.steps), 30, 6) {
				killed, dir := filepath.Join(crashDir(t), "killed"), filepath.Join(crashDir(t), "repo")
				p.copyTo(t, killed)
				acked, _ := child(t, op.name, p.vaultIn(killed), n)
				must(os.CopyFS(dir, os.DirFS(killed)))
				where := fmt.Sprintf("copied after a kill before step %d (%v)", n, p.steps[n])
				p.read(t, where, dir)
				p.judge(t, where, dir, acked)
				must(os.RemoveAll(killed))
				must(os.RemoveAll(dir))
			}
		})
	}
}

// read opens a vault to read it while another process holds its lock.
func (p *prepared) read(t *testing.T, where, repo string) {
	t.Helper()
	common := filepath.Join(repo, ".git")
	root, err := durable.OpenRoot(common, nil)
	must(err)
	defer root.Close()
	must(os.MkdirAll(filepath.Join(common, "stet"), 0o755))
	lock, err := filelock.Acquire(ctxb(), root, "stet/lock", filelock.Options{})
	must(err)
	defer lock.Release()
	o := crashOptions(nil)
	o.ReadOnly, o.LockWait = true, time.Hour
	v, err := vault.Open(ctxb(), p.vaultIn(repo), o)
	if err != nil {
		t.Errorf("%s: read: %v", where, err)
		return
	}
	defer v.Close()
	if _, err := v.Files(ctxb(), vault.WalkOptions{}); err != nil {
		t.Errorf("%s: list: %v", where, err)
	}
}

func TestKilledDuringRecoveryIsRecoveredAgain(t *testing.T) {
	t.Parallel()
	for _, op := range crashOps() {
		if op.name == "batch" || op.name == "each" || op.name == "subfolder" {
			continue // their recovery takes the same steps, more often
		}
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			p := prepareOp(t, op)
			killed := filepath.Join(crashDir(t), "killed")
			for _, n := range p.points(t, len(p.steps), 45, 19) {
				p.copyTo(t, killed)
				child(t, op.name, p.vaultIn(killed), n)
				for k := 0; ; k++ {
					dir := filepath.Join(crashDir(t), "repo")
					if err := copyTree(killed, dir); err != nil {
						t.Fatal(err)
					}
					_, ended := child(t, childOpen, p.vaultIn(dir), k)
					if ended {
						break
					}
					p.judge(t, fmt.Sprintf("killed before step %d (%v), and step %d of the recovery", n, p.steps[n], k), dir, false)
					must(os.RemoveAll(dir))
				}
				must(os.RemoveAll(killed))
			}
		})
	}
}

// TestGitCommitAfterKillKeepsWhatWasPublished plays a person who commits with
// the real git, and only then uses stet again.
func TestGitCommitAfterKillKeepsWhatWasPublished(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	for _, op := range crashOps() {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			p := prepareOp(t, op)
			committed := 0
			for _, n := range p.points(t, len(p.steps), 40, 7) {
				if p.gitAfterKill(t, n) {
					committed++
				}
			}
			t.Logf("git could commit at %d points", committed)
			if committed == 0 {
				t.Error("git could not commit at any point: the test shows nothing")
			}
		})
	}
}

func (p *prepared) gitAfterKill(t *testing.T, n int) (committed bool) {
	t.Helper()
	repo := filepath.Join(crashDir(t), "repo")
	p.copyTo(t, repo)
	defer os.RemoveAll(repo)
	dir := p.vaultIn(repo)
	acked, _ := child(t, p.op.name, dir, n)
	where := fmt.Sprintf("killed before step %d (%v), then git commit", n, p.steps[n])
	tip, err := vaulttest.Git(p.treeIn(repo), "rev-list", "--count", "HEAD")
	published := err == nil && strings.TrimSpace(tip) == p.after["commits"]
	if acked && !published {
		t.Errorf("%s: acknowledged and not in HEAD", where)
	}
	must(os.WriteFile(filepath.Join(dir, "notes.md"), []byte("edited by hand\n"), 0o644))
	_, err = vaulttest.Git(p.treeIn(repo), "commit", "-q", "-a", "-m", "x")
	committed = err == nil
	v, err := vault.Open(ctxb(), dir, crashOptions(nil))
	if err != nil {
		t.Errorf("%s: open: %v", where, err)
		return committed
	}
	defer v.Close()
	now := snapshot(t, p.treeIn(repo))
	if published {
		for k, want := range p.after {
			if strings.HasSuffix(k, "notes.md") || k == "commits" || strings.HasPrefix(k, "empty:") {
				continue
			}
			if have, ok := now[k]; !ok || have != want {
				t.Errorf("%s (committed=%v): %s is %q (%v), want %q", where, committed, k, cut(have), ok, cut(want))
			}
		}
	}
	for _, content := range p.op.byHand {
		// What is only staged is replaced by the person's own "commit -a".
		if content != gateIdx && !isKept(p.treeIn(repo), content) {
			t.Errorf("%s: a person's bytes are lost: %q", where, content)
		}
	}
	if kept, err := os.ReadFile(filepath.Join(dir, "notes.md")); string(kept) != "edited by hand\n" {
		t.Errorf("%s: the hand edit of another file is gone: %q, %v", where, kept, err)
	}
	return committed
}
