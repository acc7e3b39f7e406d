package gitstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stet/vault/durable"
)

func noEnv(key string) string {
	if key == "GIT_CONFIG_NOSYSTEM" {
		return "1"
	}
	return ""
}

func newRepo(t *testing.T) (*Repo, string) {
	t.Helper()
	dir := t.TempDir()
	if err := Create(dir, nil); err != nil {
		t.Fatal(err)
	}
	return openRepo(t, dir), dir
}

func openRepo(t *testing.T, dir string) *Repo {
	t.Helper()
	loc, err := Locate(dir)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(loc, noEnv, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := r.root.MkdirAll("test", "stet/tmp", 0o755); err != nil {
		t.Fatal(err)
	}
	return r
}

// runGit runs the real git; tests that are about it skip loudly without it.
func runGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil || os.Getenv("STET_TEST_NOGIT") != "" {
		t.Skip("skip: needs git, and STET_TEST_NOGIT unset")
	}
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=A", "-c", "user.email=a@example.org"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func flush(t *testing.T, o *Objects) {
	t.Helper()
	var batch durable.Batch
	f, err := o.Flush("stet/tmp", &batch)
	if err != nil {
		t.Fatal(err)
	}
	mark, err := o.repo.EnsureMark("stet")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(batch.Sync(), f.Publish(mark), f.Release()); err != nil {
		t.Fatal(err)
	}
}

func TestEditTreeEqualsAMapAndGitAgrees(t *testing.T) {
	t.Parallel()
	r, dir := newRepo(t)
	rng := rand.New(rand.NewPCG(7, 7))
	names := []string{"a", "a.b", "a-b", "b", "é", "z z", "d0"}
	model, root := map[string]ID{}, ID{}
	objects := r.Stage()
	for step := range 300 {
		var edits []TreeEdit
		for range 1 + rng.IntN(4) {
			var parts []string
			for range 1 + rng.IntN(3) {
				parts = append(parts, names[rng.IntN(len(names))])
			}
			p := strings.Join(parts, "/") + ".md"
			e := TreeEdit{Path: p, Mode: ModeFile, ID: objects.PutBlob([]byte(fmt.Sprint(step, p)))}
			if rng.IntN(3) == 0 {
				e = TreeEdit{Path: p, Remove: true}
				delete(model, p)
			} else {
				model[p] = e.ID
			}
			edits = append(edits, e)
		}
		next, err := objects.EditTree(root, edits)
		if err != nil {
			t.Fatal(err)
		}
		root = next
		have := map[string]ID{}
		for e, err := range objects.Walk(root) {
			if err != nil {
				t.Fatal(err)
			}
			have[e.Name] = e.ID
		}
		if !maps.Equal(have, model) {
			t.Fatalf("step %d: tree has %d files, model %d", step, len(have), len(model))
		}
	}
	commit, err := objects.PutCommit(Commit{Tree: root, Author: Fallback(), Committer: Fallback(), When: time.Unix(1, 0), Committed: time.Unix(1, 0), Message: "x\n"})
	if err != nil {
		t.Fatal(err)
	}
	flush(t, objects)
	if out := runGit(t, dir, "fsck", "--strict", commit.String()); strings.TrimSpace(out) != "" && !strings.Contains(out, "dangling") {
		t.Errorf("fsck: %s", out)
	}
	var want []string
	for p := range model {
		want = append(want, p)
	}
	slices.Sort(want)
	got := strings.Split(strings.TrimSuffix(runGit(t, dir, "ls-tree", "-r", "-z", "--name-only", commit.String()), "\x00"), "\x00")
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("git sees %v, want %v", got, want)
	}
}

func TestDamagedLooseObjectIsWrittenAgainAndNeverTrusted(t *testing.T) {
	t.Parallel()
	r, dir := newRepo(t)
	id := HashBlob([]byte("hello\n"))
	name := filepath.Join(dir, ".git/objects", id.String()[:2], id.String()[2:])
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	// What a power cut leaves of an object that was not fsynced.
	if err := os.WriteFile(name, nil, 0o444); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Stage().Blob(id); !errors.Is(err, ErrMissing) {
		t.Errorf("reading an empty object: %v, want ErrMissing", err)
	}
	objects := r.Stage()
	objects.PutBlob([]byte("hello\n"))
	flush(t, objects)
	data, err := openRepo(t, dir).Stage().Blob(id)
	if err != nil || string(data) != "hello\n" {
		t.Errorf("after writing it again: %q, %v", data, err)
	}
}

func TestLockFilesOfTheDeadAreToldFromOthers(t *testing.T) {
	t.Parallel()
	r, dir := newRepo(t)
	mark, err := r.EnsureMark("stet")
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	lock, err := mark.Lock(ctx, "index", 0)
	if err != nil {
		t.Fatal(err)
	}
	if dropped, err := mark.DropDead("index"); err != nil || !dropped {
		t.Errorf("our dead lock: dropped %v, %v", dropped, err)
	}
	if err := lock.Unlock(); err != nil {
		t.Errorf("unlock of a lock already gone: %v", err)
	}
	foreign := filepath.Join(dir, ".git/index.lock")
	if err := os.WriteFile(foreign, []byte(markText), 0o644); err != nil {
		t.Fatal(err)
	}
	if dropped, err := mark.DropDead("index"); err != nil || !dropped {
		t.Errorf("our dead lock in a copy that broke its link: dropped %v, %v", dropped, err)
	}
	for _, text := range []string{"", "DIRC", markText[:20], markText + "x"} {
		if err := os.WriteFile(foreign, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if dropped, err := mark.DropDead("index"); err != nil || dropped {
			t.Errorf("a lock of another program that holds %q: dropped %v, %v", text, dropped, err)
		}
	}
	if _, err := mark.Lock(ctx, "index", 20*time.Millisecond); !errors.Is(err, ErrLocked) {
		t.Errorf("lock while another program holds it: %v, want ErrLocked", err)
	}
}

func TestPublishRefComparesBeforeItSwaps(t *testing.T) {
	t.Parallel()
	r, _ := newRepo(t)
	head, err := r.Head()
	if err != nil || !head.ID.IsZero() || head.Ref != "refs/heads/main" {
		t.Fatalf("head of a new repository: %+v, %v", head, err)
	}
	objects := r.Stage()
	commit := func(msg string, parents ...ID) ID {
		id, err := objects.PutCommit(Commit{Author: Fallback(), Committer: Fallback(), Parents: parents, When: time.Unix(9, 0), Committed: time.Unix(9, 0), Message: msg})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	first := commit("first")
	second := commit("second", first)
	other := commit("other")
	flush(t, objects)
	publish := func(base, next ID) error {
		var batch durable.Batch
		if err := errors.Join(batch.Create(r.root, "ref", "stet/tmp/ref", []byte(next.String()+"\n"), 0o666), batch.Sync()); err != nil {
			t.Fatal(err)
		}
		return r.PublishRef(RefUpdate{Head: Head{Ref: head.Ref, ID: base}, New: next, By: Fallback(), When: time.Unix(9, 0), Message: "test", TempPath: "stet/tmp/ref"})
	}
	if err := publish(ID{}, first); err != nil {
		t.Fatal(err)
	}
	if err := publish(ID{}, other); !errors.Is(err, ErrMoved) {
		t.Errorf("publish on a moved branch: %v, want ErrMoved", err)
	}
	if err := publish(first, second); err != nil {
		t.Fatal(err)
	}
	if now, err := r.Head(); err != nil || now.ID != second {
		t.Errorf("head is %s, %v, want %s", now.ID, err, second)
	}
	for _, c := range []struct {
		old, next ID
		want      bool
	}{{first, second, true}, {second, first, false}, {other, second, false}, {ID{}, first, true}} {
		if got, err := r.Stage().IsAncestor(c.old, c.next); err != nil || got != c.want {
			t.Errorf("IsAncestor(%s, %s) = %v, %v, want %v", c.old, c.next, got, err, c.want)
		}
	}
}

func TestFormatsThatWouldBeWrittenWronglyAreRefused(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]string{
		"sha256":        "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n",
		"reftable":      "[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefstorage = reftable\n",
		"partial clone": "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialclone = origin\n",
		"unknown":       "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tfuturething = yes\n",
		"version":       "[core]\n\trepositoryformatversion = 2\n",
		"bare":          "[core]\n\tbare = true\n",
	} {
		dir := t.TempDir()
		if err := Create(dir, nil); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ".git/config"), []byte(config), 0o644); err != nil {
			t.Fatal(err)
		}
		loc, err := Locate(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(loc, noEnv, nil); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v, want ErrUnsupported", name, err)
		}
	}
}

func TestIdentityIsGitsOwn(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(".gitconfig", "[user]\n\tname = From <Home>\n[include]\n\tpath = more\n")
	write("more", "[user]\n\temail = more@example.org\n")
	dir := t.TempDir()
	if err := Create(dir, nil); err != nil {
		t.Fatal(err)
	}
	loc, err := Locate(dir)
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HOME": home, "GIT_CONFIG_NOSYSTEM": "1"}
	r, err := Open(loc, func(k string) string { return env[k] }, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() // nothing was written
	if got, want := r.Config().Identity("AUTHOR"), (Signature{"From Home", "more@example.org"}); got != want {
		t.Errorf("identity %v, want %v", got, want)
	}
	env["GIT_AUTHOR_NAME"] = "From\nEnv"
	if got := r.Config().Identity("AUTHOR").Name; got != "FromEnv" {
		t.Errorf("name from the environment %q", got)
	}
	if got := r.Config().Identity("COMMITTER").Name; got != "From Home" {
		t.Errorf("committer %q", got)
	}
}

func TestIgnoreAgreesWithGit(t *testing.T) {
	t.Parallel()
	r, dir := newRepo(t)
	write := func(name, text string) {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	top := "*.tmp.md\n/build/\nsecret*\n!secret-ok.md\n# comment\ndeep/**/x.md\n"
	sub := "local.md\n!keep.tmp.md\n"
	write(".gitignore", top)
	write("sub/.gitignore", sub)
	write(".git/info/exclude", "excluded.md\n")
	paths := []string{"a.md", "a.tmp.md", "build/a.md", "sub/build/a.md", "secret.md", "secret-ok.md", "deep/x.md", "deep/a/b/x.md",
		"local.md", "sub/local.md", "sub/keep.tmp.md", "excluded.md", "sub/excluded.md"}
	for _, p := range paths {
		write(p, "x")
	}
	base, err := r.Ignore()
	if err != nil {
		t.Fatal(err)
	}
	base = base.In("", []byte(top))
	for _, p := range paths {
		ig := base
		if strings.HasPrefix(p, "sub/") {
			ig = base.In("sub", []byte(sub))
		}
		hidden := false
		for i, c := range p {
			if c == '/' && !hidden {
				_, hidden = ig.Match(p[:i], true)
			}
		}
		if !hidden {
			_, hidden = ig.Match(p, false)
		}
		want := slices.Contains(strings.Split(runGit(t, dir, "ls-files", "--others", "--ignored", "--exclude-standard"), "\n"), p)
		if hidden != want {
			t.Errorf("%s: ignored %v, git says %v", p, hidden, want)
		}
	}
}
