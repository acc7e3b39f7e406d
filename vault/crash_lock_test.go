package vault_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stet/vault"
	"stet/vault/durable"
	"stet/vault/durable/durabletest"
	"stet/vault/vaulttest"
)

// The lock tests let somebody else act exactly between two steps of a write,
// at every step in turn. With its locks the write never loses anything; with
// any one of them left out, some step shows the damage: so the tests can fail.

// An intruder acts once, before step n of a write; it returns what must hold
// afterwards.
type intruder func(t *testing.T, repo string) (holds func() error)

// between calls act before step n.
func between(n int, act func(), next durable.Hook) durable.Hook {
	seen := 0
	return func(s durable.Step) error {
		seen++
		if seen-1 == n {
			act()
		}
		if next == nil {
			return nil
		}
		return next(s)
	}
}

// sabotaged skips one lock, "" none.
func sabotaged(label string) durable.Hook {
	switch label {
	case "":
		return nil
	case "lock":
		return durabletest.Skip(label, durable.OpLock, nil)
	}
	return durabletest.Skip(label, durable.OpLink, nil)
}

// intrude runs a write with an intruder before step n and reports what is wrong
// afterwards.
func (p *prepared) intrude(t *testing.T, n int, label string, in intruder) error {
	t.Helper()
	repo := filepath.Join(crashDir(t), "repo")
	p.copyTo(t, repo)
	defer os.RemoveAll(repo)
	holds := func() error { return nil }
	o := crashOptions(between(n, func() { holds = in(t, repo) }, sabotaged(label)))
	v, err := vault.Open(ctxb(), repo, o)
	if err != nil {
		return err
	}
	defer v.Close()
	if err := p.op.run(v); err != nil {
		return fmt.Errorf("the write failed: %w", err)
	}
	if err := holds(); err != nil {
		return err
	}
	now, err := trySnapshot(repo)
	if err != nil {
		return err
	}
	for k, want := range p.after {
		if strings.HasPrefix(k, "HEAD:") && k != "HEAD:notes.md" && now[k] != want {
			return fmt.Errorf("the acknowledged write is not in HEAD: %s is %q, want %q", k, cut(now[k]), cut(want))
		}
	}
	if problems := vaulttest.Problems(repo); len(problems) > 0 {
		return errors.New(strings.Join(problems, "; "))
	}
	return nil
}

func testLock(t *testing.T, label string, in intruder) {
	t.Helper()
	p := prepareOp(t, crashOps()[0])
	for _, n := range p.points(t, len(p.steps), 14, 2) {
		if err := p.intrude(t, n, "", in); err != nil {
			t.Errorf("all locks held, intruder before step %d (%v): %v", n, p.steps[n], err)
		}
	}
	caught := 0
	for n := len(p.steps) - 1; n >= 0 && caught == 0; n-- {
		if err := p.intrude(t, n, label, in); err != nil {
			caught++
			t.Logf("without %s, intruder before step %d (%v): %v", label, n, p.steps[n], err)
		}
	}
	if caught == 0 {
		t.Errorf("leaving out %s was not noticed", label)
	}
}

// TestVaultLockKeepsWritersApart: the intruder is another stet.
func TestVaultLockKeepsWritersApart(t *testing.T) {
	t.Parallel()
	testLock(t, "lock", func(t *testing.T, repo string) func() error {
		o := crashOptions(nil)
		o.LockWait = time.Millisecond
		v, err := vault.Open(ctxb(), repo, o)
		if errors.Is(err, vault.ErrBusy) {
			return func() error { return nil }
		}
		if err != nil {
			return func() error { return fmt.Errorf("open between: %w", err) }
		}
		defer v.Close()
		_, err = v.Remember(ctxb(), []vault.Note{{Text: "From another process."}}, vault.Write{})
		if errors.Is(err, vault.ErrBusy) {
			return func() error { return nil }
		}
		return func() error {
			now, serr := trySnapshot(repo)
			if _, there := now["HEAD:memories/from-another-process.md"]; err == nil && !there {
				return errors.New("the other process's acknowledged write is not in HEAD")
			}
			return errors.Join(err, serr)
		}
	})
}

// TestIndexLockKeepsGitCommitOut: the intruder is a person's "git commit".
func TestIndexLockKeepsGitCommitOut(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	testLock(t, "index.lock", func(_ *testing.T, repo string) func() error {
		must(os.WriteFile(filepath.Join(repo, "notes.md"), []byte("edited by hand\n"), 0o644))
		_, err := vaulttest.Git(repo, "commit", "-q", "-m", "x", "notes.md")
		return func() error {
			if err != nil { // refused by our lock: the person does it again
				if out, err := vaulttest.Git(repo, "commit", "-q", "-m", "x", "notes.md"); err != nil {
					return fmt.Errorf("git commit after the write: %w: %s", err, out)
				}
			}
			if now, err := trySnapshot(repo); err != nil || now["HEAD:notes.md"] != "edited by hand\n" {
				return fmt.Errorf("the person's commit is gone: %q, %w", now["HEAD:notes.md"], err)
			}
			return nil
		}
	})
}

// TestRefLockKeepsGitUpdateRefOut: the intruder is plumbing that moves the
// branch and knows no index.lock.
func TestRefLockKeepsGitUpdateRefOut(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	testLock(t, "main.lock", func(_ *testing.T, repo string) func() error {
		other, err := vaulttest.Git(repo, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "other")
		must(err)
		other = strings.TrimSpace(other)
		if _, err := vaulttest.Git(repo, "update-ref", "refs/heads/main", other); err != nil {
			return func() error { return nil } // refused: nothing was promised
		}
		return func() error {
			_, err := vaulttest.Git(repo, "merge-base", "--is-ancestor", other, "HEAD")
			if err != nil {
				return errors.New("a commit that git had published is no longer on the branch")
			}
			return nil
		}
	})
}
