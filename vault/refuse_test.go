package vault_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"stet/vault"
	"stet/vault/vaulttest"
)

// diverged is a person's repository with a vault and a branch "side" whose
// change to plan.md conflicts with main's.
func diverged(t *testing.T) *vaulttest.Fixture {
	t.Helper()
	f := personRepo(t)
	initAt(t, f, f.Dir)
	remember(t, f.Open(), "before")
	f.Git("checkout", "-q", "-b", "side")
	f.Write("notes/plan.md", "# Plan\n\nside\n")
	commitAll(f, "on the side")
	f.Git("checkout", "-q", "main")
	f.Write("notes/plan.md", "# Plan\n\nmain\n")
	commitAll(f, "on main")
	f.LeaveDirty()
	return f
}

// stops runs git and wants it to stop in the middle.
func stops(t *testing.T, f *vaulttest.Fixture, args ...string) {
	t.Helper()
	if out, err := vaulttest.Git(f.Dir, args...); err == nil {
		t.Fatalf("git %v did not stop: %s", args, out)
	}
}

func TestNoWriteInTheMiddleOfAGitOperation(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(*testing.T, *vaulttest.Fixture){
		"merge":              func(t *testing.T, f *vaulttest.Fixture) { stops(t, f, "merge", "side") },
		"merge --no-commit":  func(_ *testing.T, f *vaulttest.Fixture) { f.Git("merge", "-q", "--no-commit", "-s", "ours", "side") },
		"rebase":             func(t *testing.T, f *vaulttest.Fixture) { stops(t, f, "rebase", "side") },
		"rebase --apply":     func(t *testing.T, f *vaulttest.Fixture) { stops(t, f, "rebase", "--apply", "side") },
		"cherry-pick":        func(t *testing.T, f *vaulttest.Fixture) { stops(t, f, "cherry-pick", "side") },
		"revert":             func(t *testing.T, f *vaulttest.Fixture) { stops(t, f, "revert", "--no-edit", "HEAD~1") },
		"bisect":             func(_ *testing.T, f *vaulttest.Fixture) { f.Git("bisect", "start", "HEAD", "HEAD~2") },
		"conflicts of stash": func(t *testing.T, f *vaulttest.Fixture) { stashConflict(t, f) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := diverged(t)
			v := f.Open()
			m, err := v.Resolve(t.Context(), "before")
			if err != nil {
				t.Fatal(err)
			}
			if name == "revert" { // of a change that main has built upon
				f.Write("notes/plan.md", "# Plan\n\nlater\n")
				commitAll(f, "later")
			}
			begin(t, f)
			before := vaulttest.Image(t, f.Dir, ".git/stet/lock")
			writes := map[string]func() error{
				"replace": func() error {
					data, _, err := v.ReadFile("notes/plan.md")
					if err != nil {
						return err
					}
					_, err = v.Replace(t.Context(), "notes/plan.md", vault.ReadMemory("notes/plan.md", data).Hash, []byte("mine\n"), vault.Write{})
					return err
				},
				"adopt": func() error { _, err := v.Adopt(t.Context(), vault.AdoptOptions{All: true}); return err },
			}
			if name != "conflicts of stash" { // other files may be written then
				writes["remember"] = func() error {
					_, err := v.Remember(t.Context(), []vault.Note{{Text: "x"}}, vault.Write{})
					return err
				}
				writes["forget"] = func() error { _, err := v.Forget(t.Context(), []string{m.ID}, vault.Write{}); return err }
				writes["undo"] = func() error { _, err := v.History().Undo(t.Context(), 1, vault.Write{}); return err }
			}
			for op, write := range writes {
				if err := write(); !errors.Is(err, vault.ErrInProgress) {
					t.Errorf("%s: %v, want ErrInProgress", op, err)
				}
			}
			vaulttest.SameImage(t, before, vaulttest.Image(t, f.Dir, ".git/stet/lock"))
			if _, _, err := f.Open().ReadFile(m.Path); err != nil {
				t.Errorf("reading is no writing: %v", err)
			}
		})
	}
}

// stashConflict leaves conflict stages in the git index and no merge.
func stashConflict(t *testing.T, f *vaulttest.Fixture) {
	t.Helper()
	f.Write("notes/plan.md", "# Plan\n\nstashed\n")
	f.Git("stash", "-q")
	f.Write("notes/plan.md", "# Plan\n\nnewer\n")
	f.Git("commit", "-q", "-am", "newer")
	stops(t, f, "stash", "pop")
}

func TestUnsupportedRepositoriesAreLeftAlone(t *testing.T) {
	t.Parallel()
	config := func(pairs ...string) func(*vaulttest.Fixture) {
		return func(f *vaulttest.Fixture) {
			f.Git("config", "core.repositoryformatversion", "1")
			for i := 0; i+1 < len(pairs); i += 2 {
				f.Git("config", pairs[i], pairs[i+1])
			}
		}
	}
	for name, c := range map[string]struct {
		args  []string
		shape func(*vaulttest.Fixture)
	}{
		"sha256":        {args: []string{"--object-format=sha256"}},
		"reftable":      {shape: config("extensions.refStorage", "reftable")},
		"partial clone": {shape: config("extensions.partialClone", "origin")},
		"unknown":       {shape: config("extensions.somethingNew", "true")},
		"later version": {shape: func(f *vaulttest.Fixture) { f.Git("config", "core.repositoryformatversion", "2") }},
		"bare":          {shape: func(f *vaulttest.Fixture) { f.Git("config", "core.bare", "true") }},
		"split index":   {shape: func(f *vaulttest.Fixture) { f.Git("update-index", "--split-index") }},
		"sparse index": {shape: func(f *vaulttest.Fixture) {
			f.Write("left/out/deep.md", "deep\n")
			commitAll(f, "deep")
			f.Git("sparse-checkout", "init", "--cone", "--sparse-index")
			f.Git("sparse-checkout", "set", "notes")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := personRepo(t, c.args...)
			f.LeaveDirty()
			if c.shape != nil {
				c.shape(f)
			}
			before := vaulttest.Image(t, f.Dir)
			if _, err := vault.Init(t.Context(), f.Dir, vault.InitOptions{}, f.Options()); !errors.Is(err, vault.ErrUnsupportedRepository) {
				t.Errorf("init: %v, want ErrUnsupportedRepository", err)
			}
			vaulttest.SameImage(t, before, vaulttest.Image(t, f.Dir))
		})
	}
}

// A vault in use whose repository is turned into something else.
func TestRepositoryThatBecameUnsupportedIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"split index":   {"update-index", "--split-index"},
		"sparse index":  {"sparse-checkout", "set", "--cone", "--sparse-index", "notes", ".stet"},
		"partial clone": {"config", "extensions.partialClone", "origin"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := personRepo(t)
			f.LeaveDirty()
			f.Write("left/out/deep.md", "deep\n")
			commitAll(f, "deep")
			initAt(t, f, f.Dir)
			remember(t, f.Open(), "before")
			f.Git("config", "core.repositoryformatversion", "1")
			f.Git(args...)
			before := vaulttest.Image(t, f.Dir, ".git/stet/lock")
			err := func() error {
				v, err := vault.Open(t.Context(), f.Dir, f.Options())
				if err != nil {
					return err
				}
				t.Cleanup(func() { _ = v.Close() })
				_, err = v.Remember(t.Context(), []vault.Note{{Text: "x"}}, vault.Write{})
				return err
			}()
			if !errors.Is(err, vault.ErrUnsupportedRepository) {
				t.Errorf("remember: %v, want ErrUnsupportedRepository", err)
			}
			vaulttest.SameImage(t, before, vaulttest.Image(t, f.Dir, ".git/stet/lock"))
		})
	}
}

// Locks of git's that somebody holds are waited for, then named, never broken.
func TestForeignLocksAreKept(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"index.lock", "refs/heads/main.lock"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			f := vaulttest.New(t)
			o := f.Options()
			o.LockWait = 1 // a nanosecond
			v := f.OpenWith(o)
			lock := filepath.Join(f.Dir, ".git", name)
			if err := os.WriteFile(lock, []byte("a person's git\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			// Objects nobody names, and an empty folder, may stay.
			before := vaulttest.Image(t, f.Dir, ".git/stet", ".git/objects", "memories")
			if _, err := v.Remember(t.Context(), []vault.Note{{Text: "x"}}, vault.Write{}); !errors.Is(err, vault.ErrBusy) {
				t.Errorf("remember: %v, want ErrBusy", err)
			}
			vaulttest.SameImage(t, before, vaulttest.Image(t, f.Dir, ".git/stet", ".git/objects", "memories"))
			if err := os.Remove(lock); err != nil {
				t.Fatal(err)
			}
			remember(t, v, "x")
		})
	}
}
