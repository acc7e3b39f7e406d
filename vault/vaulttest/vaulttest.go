// Package vaulttest makes vaults for tests and holds the check that ends each
// of them: what is committed stands on disk and in the git index, the real git
// finds nothing wrong, and nothing is left lying about. It is imported by tests
// only.
//
//	f := vaulttest.New(t)            // a fresh vault, checked at cleanup
//	f.Write("a.md", "by hand\n")
//	vaulttest.Check(t, f.Dir)
package vaulttest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"stet/vault"
	"stet/vault/gitstore"
)

// A Fixture is a vault in a temporary folder.
type Fixture struct {
	t     testing.TB
	Dir   string
	Clock *Clock
	dirty bool
}

// A Clock gives times one second apart, so that commits have an order.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock starts at a fixed moment.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 1, 9, 14, 2, 11, 0, time.UTC)} }

// Now is one second after the last answer.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Second)
	return c.now
}

// Env is an environment without any git configuration of the machine's; the
// person in it is called Ada.
func Env(key string) string {
	switch key {
	case "GIT_CONFIG_NOSYSTEM":
		return "1"
	case "GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME":
		return "Ada"
	case "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL":
		return "ada@example.org"
	case "HOME":
		return "/nonexistent"
	}
	return ""
}

// Options are the options of a test's vault: no pause before a deletion by
// hand is believed, and the fixture's clock.
func (f *Fixture) Options() vault.Options {
	return vault.Options{Now: f.Clock.Now, Env: Env, SecondLook: time.Nanosecond}
}

// New makes a vault with the given files (path, content, path, content…) in it
// and checks it when the test ends.
func New(t testing.TB, files ...string) *Fixture {
	t.Helper()
	f := &Fixture{t: t, Dir: filepath.Join(t.TempDir(), "notes"), Clock: NewClock()}
	for i := 0; i+1 < len(files); i += 2 {
		f.Write(files[i], files[i+1])
	}
	if _, err := vault.Init(context.Background(), f.Dir, vault.InitOptions{}, f.Options()); err != nil {
		t.Fatalf("init: %v", err)
	}
	t.Cleanup(func() {
		if !f.dirty {
			Check(t, f.Dir)
		}
	})
	return f
}

// LeaveDirty says that the test ends with hand edits that are not committed,
// or with damage it made on purpose.
func (f *Fixture) LeaveDirty() { f.dirty = true }

// Open opens the vault and closes it when the test ends.
func (f *Fixture) Open() *vault.Vault { return f.OpenWith(f.Options()) }

// OpenWith is Open with other options.
func (f *Fixture) OpenWith(o vault.Options) *vault.Vault {
	f.t.Helper()
	v, err := vault.Open(context.Background(), f.Dir, o)
	if err != nil {
		f.t.Fatalf("open: %v", err)
	}
	f.t.Cleanup(func() {
		if err := v.Close(); err != nil {
			f.t.Errorf("close: %v", err)
		}
	})
	return v
}

// Write puts a file into the working tree as an editor would.
func (f *Fixture) Write(p, content string) {
	f.t.Helper()
	full := filepath.Join(f.Dir, filepath.FromSlash(p))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// Read returns a file of the working tree.
func (f *Fixture) Read(p string) string {
	f.t.Helper()
	data, err := os.ReadFile(filepath.Join(f.Dir, filepath.FromSlash(p)))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(data)
}

// Git runs the real git in the vault as Ada and fails the test when git does.
func (f *Fixture) Git(args ...string) string {
	f.t.Helper()
	out, err := Git(f.Dir, args...)
	if err != nil {
		f.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// HaveGit reports whether the real git is to be used as referee:
// STET_TEST_NOGIT=1 or a machine without git leave it to our own verifier.
func HaveGit() bool {
	_, err := exec.LookPath("git")
	return err == nil && os.Getenv("STET_TEST_NOGIT") == ""
}

// NeedGit skips a test that is about the real git, loudly, where it is not to
// be had.
func NeedGit(t testing.TB) {
	t.Helper()
	if !HaveGit() {
		t.Skip("skip: needs git, and STET_TEST_NOGIT unset")
	}
}

// Git runs the real git as Ada with no configuration but the repository's.
func Git(dir string, args ...string) (string, error) {
	out, err := Command(dir, args...).CombinedOutput()
	return string(out), err
}

// Command is what [Git] runs.
func Command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "LC_ALL=C",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.org",
		"GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true")
	return cmd
}

// Check fails the test unless the vault at dir is whole: files, HEAD and git
// index agree, git fsck is silent, and no lock, journal or temporary file is
// left.
func Check(t testing.TB, dir string) {
	t.Helper()
	for _, problem := range Problems(dir) {
		t.Errorf("vault check: %s", problem)
	}
}

// Problems is what [Check] reports, for tests that look at damage.
func Problems(dir string) []string {
	loc, err := gitstore.Locate(dir)
	if err != nil {
		return []string{err.Error()}
	}
	tree, problems := verify(loc)
	problems = append(Leftovers(loc), problems...)
	if !HaveGit() {
		return problems
	}
	if out, err := Git(dir, "status", "--porcelain", "--untracked-files=no"); err != nil || out != "" {
		problems = append(problems, "git status: "+out)
	}
	if out, err := Fsck(dir); err != nil || strings.TrimSpace(out) != "" {
		problems = append(problems, "git fsck: "+out)
	}
	if out, err := Git(dir, "write-tree"); err != nil || strings.TrimSpace(out) != tree {
		problems = append(problems, "git write-tree "+out+" is not HEAD's "+tree)
	}
	return problems
}

// Fsck lets the real git look at all objects. Of the commit graph and the index of many packs, which stet does not
// write, it says nothing: git would start a process for each.
func Fsck(dir string) (string, error) {
	return Git(dir, "-c", "core.commitGraph=false", "-c", "core.multiPackIndex=false",
		"fsck", "--strict", "--no-dangling")
}

// Leftovers lists lock files, unfinished temporary files and journals.
func Leftovers(loc gitstore.Location) []string {
	var out []string
	err := filepath.WalkDir(loc.Common, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(loc.Common, p)
		rel = filepath.ToSlash(rel)
		info, err := d.Info()
		if err != nil || d.IsDir() {
			return err
		}
		switch {
		case strings.HasPrefix(rel, "stet/") && strings.Contains(rel, "/index/"):
		case strings.HasSuffix(rel, ".lock") && !strings.HasPrefix(rel, "stet/"),
			strings.Contains(rel, "/tmp/"),
			strings.HasSuffix(rel, "/journal") && info.Size() > 0,
			strings.Contains(filepath.Base(rel), "tmp_obj"):
			out = append(out, "left over: "+rel)
		}
		return nil
	})
	if err != nil {
		out = append(out, err.Error())
	}
	return out
}

// verify is the referee of our own: it reads HEAD and the git index without
// the code that wrote them, through the store's plain readers. tree is HEAD's.
func verify(loc gitstore.Location) (tree string, problems []string) {
	repo, err := gitstore.Open(loc, Env, nil)
	if err != nil {
		return "", []string{err.Error()}
	}
	defer repo.Close() // opened for reading only
	head, err := repo.Head()
	if err != nil || head.ID.IsZero() {
		return "", []string{"HEAD: " + errText(err)}
	}
	commit, err := repo.Stage().Commit(head.ID)
	if err != nil {
		return "", []string{err.Error()}
	}
	index, rebuilt, err := repo.ReadGitIndex(head.ID)
	if err != nil || rebuilt {
		return "", []string{"git index cannot be read: " + errText(err)}
	}
	seen := map[string]bool{}
	for e, err := range repo.Stage().Walk(commit.Tree) {
		if err != nil {
			return "", append(problems, err.Error())
		}
		seen[e.Name] = true
		if have, ok := index.Entry(e.Name); !ok || have.Hash != e.ID {
			problems = append(problems, "git index differs from HEAD at "+e.Name)
		}
		if e.Mode == gitstore.ModeSymlink || e.Mode == gitstore.ModeSubmodule {
			continue
		}
		data, err := os.ReadFile(filepath.Join(loc.Worktree, filepath.FromSlash(e.Name)))
		if err != nil || gitstore.HashBlob(data) != e.ID {
			problems = append(problems, "file differs from HEAD: "+e.Name+" "+errText(err))
		}
	}
	for e := range index.All() {
		if !seen[e.Path] {
			problems = append(problems, "git index has more than HEAD: "+e.Path)
		}
	}
	sort.Strings(problems)
	return commit.Tree.String(), problems
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
