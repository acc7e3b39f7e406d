package vault_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"stet/vault"
	"stet/vault/vaulttest"
)

// TestRepackBesideWrites lets git throw away all that no ref leads to while
// commits are being published: their objects stand in the repository before the
// ref leads to them.
func TestRepackBesideWrites(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	f := vaulttest.New(t, "memories/a.md", "a\n")
	f.Git("config", "gc.auto", "0")
	v := f.Open()
	stop := make(chan struct{})
	var done sync.WaitGroup
	repacks := 0
	done.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			args := []string{"repack", "-a", "-d", "-q"}
			if repacks%4 == 3 {
				args = []string{"gc", "-q", "--prune=now"}
			}
			// It may fail: a pack that it is about to read may have been merged.
			_, _ = vaulttest.Git(f.Dir, args...)
			repacks++
		}
	})
	writes := 60
	if testing.Short() {
		writes = 25
	}
	for i := range writes {
		update(t, v, "memories/a.md", fmt.Sprint("text ", i, "\n"))
		if _, err := vaulttest.Git(f.Dir, "cat-file", "-e", "HEAD^{tree}"); err != nil {
			t.Fatalf("after %d writes and %d repacks HEAD is gone", i+1, repacks)
		}
	}
	close(stop)
	done.Wait()
	if repacks < 3 {
		t.Errorf("only %d repacks: the test shows nothing", repacks)
	}
	commits := 0
	for _, err := range v.History().Log(t.Context(), vault.LogOptions{}) {
		must(err)
		commits++
	}
	if commits < writes {
		t.Errorf("%d commits, want at least %d", commits, writes)
	}
}

// TestAFolderThatCannotBeWrittenIsFoundOutBeforeTheCommit: afterwards the file
// could not be placed.
func TestAFolderThatCannotBeWrittenIsFoundOutBeforeTheCommit(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("skip: root may write everywhere")
	}
	f := vaulttest.New(t, "memories/locked/a.md", "a\n", "memories/b.md", "b\n")
	v := f.Open()
	locked := filepath.Join(f.Dir, "memories/locked")
	must(os.Chmod(locked, 0o555))
	t.Cleanup(func() { must(os.Chmod(locked, 0o755)) })
	head, err := v.Head()
	if err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func(tx *vault.Tx) error{
		"create": func(tx *vault.Tx) error { return tx.Put("memories/locked/new.md", "", []byte("new\n")) },
		"change": func(tx *vault.Tx) error {
			_, was, err := tx.Read("memories/locked/a.md")
			if err != nil {
				return err
			}
			return tx.Put("memories/locked/a.md", was, []byte("changed\n"))
		},
		"move out": func(tx *vault.Tx) error { return tx.Move("memories/locked/a.md", "memories/a.md") },
	} {
		if _, err := v.Transact(t.Context(), vault.Why{Op: vault.OpUpdate, Subject: "x"}, false, write); err == nil {
			t.Errorf("%s: no error", name)
		}
		if now, err := v.Head(); err != nil || now != head {
			t.Errorf("%s: HEAD moved to %s, %v", name, now, err)
		}
	}
	update(t, v, "memories/b.md", "still works\n")
}

// TestDoctorDoesNotAdviseToRemoveOurOwnLock: it is what keeps a person's commit
// from taking an unfinished one out again.
func TestDoctorDoesNotAdviseToRemoveOurOwnLock(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/a.md", "a\n")
	f.LeaveDirty()
	v := f.Open()
	update(t, v, "memories/a.md", "b\n") // makes the lock mark
	must(os.Link(filepath.Join(f.Dir, ".git/stet/lockmark"), filepath.Join(f.Dir, ".git/index.lock")))
	problems, err := v.Check(t.Context())
	must(err)
	found := false
	for _, p := range problems {
		if p.ID == "stray-lock" {
			found = strings.Contains(p.Hint, "leave the lock")
		}
	}
	if !found {
		t.Errorf("problems: %+v", problems)
	}
}
