package vault_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stet/vault"
	"stet/vault/vaulttest"
)

// personRepo is a repository that a person made with git, with two commits and
// no vault in it.
func personRepo(t *testing.T, args ...string) *vaulttest.Fixture {
	t.Helper()
	vaulttest.NeedGit(t)
	f := vaulttest.At(t, filepath.Join(t.TempDir(), "repo"))
	f.Write("code.go", "package main\n")
	f.Git(append([]string{"init", "-q", "-b", "main"}, args...)...)
	commitAll(f, "first")
	f.Write("notes/plan.md", "# Plan\n\none\n")
	commitAll(f, "second")
	return f
}

func commitAll(f *vaulttest.Fixture, message string) {
	f.Git("add", "-A")
	f.Git("commit", "-q", "-m", message)
}

func initAt(t *testing.T, f *vaulttest.Fixture, dir string) *vault.InitResult {
	t.Helper()
	res, err := vault.Init(t.Context(), dir, vault.InitOptions{}, f.Options())
	if err != nil {
		t.Fatalf("init %s: %v", dir, err)
	}
	return res
}

// work does one of each operation and leaves the vault with one memory more.
func work(t *testing.T, v *vault.Vault) vault.Memory {
	t.Helper()
	kept, gone := remember(t, v, "Kept through everything."), remember(t, v, "Forgotten again.")
	more := "And a second paragraph."
	if _, err := v.UpdateMemory(t.Context(), kept.ID, vault.Patch{Append: &more}, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Forget(t.Context(), []string{gone.ID}, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the forgetting, then the second paragraph
		if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := v.History().Redo(t.Context(), 1, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	data, _, err := v.ReadFile(kept.Path)
	if err != nil || !strings.Contains(string(data), more) {
		t.Fatalf("after the work %q, %v", data, err)
	}
	return kept
}

func TestExistingRepositoryKeepsStagedAndUnstagedWork(t *testing.T) {
	t.Parallel()
	f := personRepo(t)
	f.Write("gone.go", "package gone\n")
	f.Write("old.md", "old\n")
	commitAll(f, "third")
	f.Write("code.go", "package main // staged\n")
	f.Write("notes/plan.md", "# Plan\n\nstaged\n")
	f.Write("new.md", "staged new\n")
	f.Git("add", "code.go", "notes/plan.md", "new.md")
	f.Git("rm", "-q", "--cached", "gone.go")
	f.Git("mv", "old.md", "renamed.md")
	f.Write("code.go", "package main // unstaged\n")
	f.Write("notes/plan.md", "# Plan\n\nunstaged\n")
	f.Write("untracked.bin", "\x00")
	f.Git("add", "-N", "untracked.bin")
	f.LeaveDirty()
	look := func() string {
		return f.Git("status", "--porcelain") + f.Git("diff", "--cached") + f.Git("diff") + f.Git("ls-files", "-s", "--", "code.go", "notes", "new.md", "renamed.md", "gone.go")
	}
	before, disk := look(), vaulttest.Image(t, f.Dir, ".git", ".")
	initAt(t, f, f.Dir)
	if now := look(); now != before {
		t.Errorf("init changed the person's work from\n%s\nto\n%s", before, now)
	}
	work(t, f.Open())
	if now := look(); now != before {
		t.Errorf("the person's work was\n%s\nand is now\n%s", before, now)
	}
	vaulttest.SameImage(t, disk, vaulttest.Image(t, f.Dir, ".git", ".stet", "memories", "."))
	if out := f.Git("log", "--format=%an %s", "--", "notes/plan.md", "code.go", "new.md"); out != "Ada second\nAda first\n" {
		t.Errorf("commits touched the person's files: %s", out)
	}
}

func TestDetachedHeadMovesAndNoBranch(t *testing.T) {
	t.Parallel()
	f := personRepo(t)
	initAt(t, f, f.Dir)
	f.Git("checkout", "-q", "--detach")
	main := f.Git("rev-parse", "main")
	v := f.Open()
	work(t, v)
	if now := f.Git("rev-parse", "main"); now != main {
		t.Errorf("main moved from %s to %s", main, now)
	}
	if out, err := vaulttest.Git(f.Dir, "symbolic-ref", "-q", "HEAD"); err == nil {
		t.Errorf("HEAD became attached to %s", out)
	}
	head, err := v.Head()
	if want := strings.TrimSpace(f.Git("rev-parse", "HEAD")); err != nil || string(head) != want {
		t.Errorf("HEAD is %s (%v), git says %s", head, err, want)
	}
	if n := strings.Count(f.Git("reflog", "HEAD"), "stet: "); n != 8 {
		t.Errorf("the reflog of HEAD names %d stet commits, want 8", n)
	}
	if _, err := os.Stat(filepath.Join(f.Dir, ".git", "HEAD.lock")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("HEAD.lock: %v", err)
	}
}

func TestUnbornBranchGetsItsFirstCommit(t *testing.T) {
	t.Parallel()
	for _, branch := range []string{"main", "topic/deep/first"} {
		t.Run(strings.ReplaceAll(branch, "/", "-"), func(t *testing.T) {
			t.Parallel()
			vaulttest.NeedGit(t)
			f := vaulttest.At(t, t.TempDir())
			f.Git("init", "-q", "-b", "main")
			f.Git("symbolic-ref", "HEAD", "refs/heads/"+branch)
			initAt(t, f, f.Dir)
			work(t, f.Open())
			if got := strings.TrimSpace(f.Git("for-each-ref", "--format=%(refname)")); got != "refs/heads/"+branch {
				t.Errorf("refs are %q", got)
			}
		})
	}
}

func TestUnbornBranchKeepsWhatIsStaged(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	f := vaulttest.At(t, t.TempDir())
	f.Git("init", "-q", "-b", "main")
	f.Write("code.go", "package main\n")
	f.Write("note.md", "mine\n")
	f.Git("add", "-A")
	f.LeaveDirty()
	initAt(t, f, f.Dir)
	work(t, f.Open())
	if got := f.Git("diff", "--cached", "--name-status"); got != "A\tcode.go\nA\tnote.md\n" {
		t.Errorf("staged: %q", got)
	}
}

func TestPackedRefsAndObjects(t *testing.T) {
	t.Parallel()
	f := personRepo(t)
	initAt(t, f, f.Dir)
	v := f.Open()
	m := work(t, v)
	for i := range 3 {
		f.Git("pack-refs", "--all", "--prune")
		f.Git("gc", "-q", "--prune=now")
		if left, err := filepath.Glob(filepath.Join(f.Dir, ".git", "refs", "heads", "*")); err != nil || len(left) != 0 {
			t.Fatalf("refs are not packed: %v %v", left, err)
		}
		if i == 1 {
			v = f.Open() // one that finds everything packed from the start
		}
		more := strings.Repeat("again ", i+1)
		if _, err := v.UpdateMemory(t.Context(), m.ID, vault.Patch{Append: &more}, vault.Write{}); err != nil {
			t.Fatal(err)
		}
		if _, data, err := v.History().ReadAt(t.Context(), "HEAD~2", string(m.Path)); err != nil || len(data) == 0 {
			t.Errorf("read from the pack: %q, %v", data, err)
		}
	}
	if _, err := v.History().Undo(t.Context(), 3, vault.Write{}); err != nil {
		t.Error(err)
	}
}

func TestShallowClone(t *testing.T) {
	t.Parallel()
	origin := personRepo(t)
	origin.Write("third.md", "third\n")
	commitAll(origin, "third")
	f := vaulttest.At(t, filepath.Join(t.TempDir(), "clone"))
	origin.Git("clone", "-q", "--depth", "1", "file://"+origin.Dir, f.Dir)
	initAt(t, f, f.Dir)
	v := f.Open()
	work(t, v)
	subjects := ""
	for c, err := range v.History().Log(t.Context(), vault.LogOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		subjects = c.Subject
	}
	if subjects != "third" {
		t.Errorf("the log ends at %q, want the clone's oldest commit", subjects)
	}
}

// The oldest commit of a shallow clone looks as if it had made every file.
// Taking it back must not remove them.
func TestUndoStopsWhereAShallowCloneEnds(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	origin := vaulttest.New(t, "mine.md", "mine\n")
	m := remember(t, origin.Open(), "The last thing before the clone.")
	f := vaulttest.At(t, filepath.Join(t.TempDir(), "clone"))
	origin.Git("clone", "-q", "--depth", "1", "file://"+origin.Dir, f.Dir)
	before := vaulttest.Image(t, f.Dir, ".git")
	v := f.Open()
	if res, err := v.History().Undo(t.Context(), 1, vault.Write{}); !errors.Is(err, vault.ErrRefused) {
		t.Errorf("undo: %+v, %v, want a refusal", res, err)
	}
	vaulttest.SameImage(t, before, vaulttest.Image(t, f.Dir, ".git"))
	if _, _, err := v.ReadFile(m.Path); err != nil {
		t.Error(err)
	}
}

func TestSharedClone(t *testing.T) {
	t.Parallel()
	origin := personRepo(t)
	f := vaulttest.At(t, filepath.Join(t.TempDir(), "clone"))
	origin.Git("clone", "-q", "--shared", origin.Dir, f.Dir)
	before := vaulttest.Image(t, origin.Dir)
	initAt(t, f, f.Dir)
	v := f.Open()
	work(t, v)
	f.Write("notes/plan.md", "# Plan\n\nby hand\n")
	if _, err := v.Adopt(t.Context(), vault.AdoptOptions{All: true}); err != nil {
		t.Fatal(err)
	}
	vaulttest.SameImage(t, before, vaulttest.Image(t, origin.Dir))
}

func TestLinkedWorktree(t *testing.T) {
	t.Parallel()
	origin := personRepo(t)
	initAt(t, origin, origin.Dir)
	side := vaulttest.At(t, filepath.Join(t.TempDir(), "side"))
	origin.Git("worktree", "add", "-q", "-b", "side", side.Dir)
	main := origin.Git("rev-parse", "main")
	v, home := side.Open(), origin.Open()
	m := work(t, v)
	if now := origin.Git("rev-parse", "main"); now != main {
		t.Errorf("main moved from %s to %s", main, now)
	}
	if _, _, err := home.ReadFile(m.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the other worktree has the memory: %v", err)
	}
	remember(t, home, "At home.")
	if v.StateDir() == home.StateDir() {
		t.Errorf("both worktrees keep their journal in %s", v.StateDir())
	}
}

func TestVaultInASubFolderTouchesOnlyItself(t *testing.T) {
	t.Parallel()
	f := personRepo(t)
	f.Write("docs/other.md", "other\n")
	commitAll(f, "third")
	dir := filepath.Join(f.Dir, "docs", "kept")
	initAt(t, f, dir)
	f.Write("code.go", "package main // unstaged\n")
	f.Write("docs/other.md", "staged\n")
	f.Git("add", "docs/other.md")
	f.LeaveDirty()
	v, err := vault.Open(t.Context(), dir, f.Options())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.Close() })
	before := f.Git("rev-parse", "HEAD")
	m := work(t, v)
	f.Write("docs/kept/"+string(m.Path), "by hand\n")
	f.Write("docs/kept/memories/new.md", "by hand\n")
	if _, err := v.Adopt(t.Context(), vault.AdoptOptions{All: true}); err != nil {
		t.Fatal(err)
	}
	for name := range strings.FieldsSeq(f.Git("log", "--format=", "--name-only", strings.TrimSpace(before)+"..")) {
		if !strings.HasPrefix(name, "docs/kept/") {
			t.Errorf("a commit touched %s", name)
		}
	}
	if got := f.Git("status", "--porcelain"); got != " M code.go\nM  docs/other.md\n" {
		t.Errorf("status %q", got)
	}
	c, err := v.History().CommitAt(t.Context(), "HEAD")
	if err != nil || len(c.Changes) != 2 || c.Changes[0].Path != m.Path {
		t.Errorf("the last commit changed %+v (%v), want paths relative to the vault", c.Changes, err)
	}
}

func TestGitIndexInOtherShapes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		shape func(*vaulttest.Fixture, string)
	}{
		{"version 4", func(f *vaulttest.Fixture, _ string) { f.Git("update-index", "--index-version", "4") }},
		{"version 3", func(f *vaulttest.Fixture, _ string) {
			f.Write("later.md", "")
			f.Git("add", "-N", "later.md")
			f.Git("add", "later.md")
			f.Git("commit", "-q", "-m", "later")
		}},
		{"untracked cache", func(f *vaulttest.Fixture, _ string) {
			f.Git("update-index", "--force-untracked-cache")
			f.Git("status")
		}},
		{"zero length", func(_ *vaulttest.Fixture, p string) { rewrite(p, func([]byte) []byte { return nil }) }},
		{"garbage", func(_ *vaulttest.Fixture, p string) {
			rewrite(p, func([]byte) []byte { return []byte("this is no git index at all, is it?") })
		}},
		{"cut short", func(_ *vaulttest.Fixture, p string) { rewrite(p, func(b []byte) []byte { return b[:len(b)/2] }) }},
		{"flipped bit", func(_ *vaulttest.Fixture, p string) { rewrite(p, func(b []byte) []byte { b[len(b)/2] ^= 4; return b }) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := personRepo(t)
			initAt(t, f, f.Dir)
			c.shape(f, filepath.Join(f.Dir, ".git", "index"))
			work(t, f.Open())
		})
	}
}

func rewrite(p string, change func([]byte) []byte) {
	data, err := os.ReadFile(p)
	if err == nil {
		err = os.WriteFile(p, change(data), 0o644)
	}
	if err != nil {
		panic(err)
	}
}

// A git index without checksum, as index.skipHash makes it, stays one.
func TestGitIndexWithoutChecksum(t *testing.T) {
	t.Parallel()
	f := personRepo(t)
	initAt(t, f, f.Dir)
	index := filepath.Join(f.Dir, ".git", "index")
	rewrite(index, func(b []byte) []byte { clear(b[len(b)-20:]); return b })
	v := f.Open()
	work(t, v)
	if got := f.Git("status", "--porcelain"); got != "" {
		t.Errorf("status %q", got)
	}
	f.Git("read-tree", "HEAD") // a git that knows no skipHash writes a checksum again
	f.Git("update-index", "--refresh")
}

// A missing git index means to git that every file was removed from it. Those
// files stay in HEAD all the same.
func TestMissingGitIndexDropsNothingFromHead(t *testing.T) {
	t.Parallel()
	f := personRepo(t)
	initAt(t, f, f.Dir)
	before := f.Git("ls-tree", "-r", "--name-only", "HEAD")
	if err := os.Remove(filepath.Join(f.Dir, ".git", "index")); err != nil {
		t.Fatal(err)
	}
	m := work(t, f.Open())
	for name := range strings.FieldsSeq(before) {
		if got := f.Git("ls-tree", "--name-only", "HEAD", name); strings.TrimSpace(got) != name {
			t.Errorf("HEAD lost %s", name)
		}
	}
	if got := f.Git("ls-files", string(m.Path)); strings.TrimSpace(got) != string(m.Path) {
		t.Errorf("the git index has %q, want the memory", got)
	}
	f.Git("reset", "-q")
}
