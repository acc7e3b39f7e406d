package gitstore_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"stet/vault/gitstore"
	"stet/vault/vaulttest"
)

// Every revision that is understood means what it means to git, and what git does
// not know is no revision here either.
func TestRevisionsMeanWhatTheyMeanToGit(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	dir := t.TempDir()
	git := gitIn(t, dir)
	git("init", "-q", "-b", "main")
	for i := range 40 {
		git("commit", "-q", "--allow-empty", "-m", strconv.Itoa(i))
		if i%9 == 4 {
			git("checkout", "-q", "-b", "side"+strconv.Itoa(i), "HEAD~2")
			git("commit", "-q", "--allow-empty", "-m", "side")
			git("checkout", "-q", "main")
			git("merge", "-q", "--no-ff", "-m", "merge", "side"+strconv.Itoa(i))
		}
	}
	short := git("rev-parse", "HEAD~7")[:6]
	git("branch", short, "HEAD~3") // a name that is the beginning of an id
	git("branch", "a/b", "HEAD~4")
	git("branch", "v1", "HEAD~5")
	git("tag", "v1", "HEAD~6") // a tag goes before a branch
	git("tag", "-a", "-m", "annotated", "v2", "HEAD~8")
	git("tag", "-a", "-m", "of a tag", "v3", "v2")
	git("update-ref", "refs/remotes/origin/main", "HEAD~9")
	git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	git("update-ref", "refs/heads/-dash", "HEAD~12")
	git("update-ref", "refs/heads/b{r", "HEAD~13")
	git("update-ref", "refs/stash", "HEAD~10")
	git("update-ref", "ORIG_HEAD", "HEAD~11")
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("a blob"), 0o600); err != nil {
		t.Fatal(err)
	}
	blob := git("hash-object", "-w", "f")
	git("tag", "blob", blob)
	git("pack-refs", "--all", "--no-prune")
	git("branch", "loose", "HEAD~1")
	git("repack", "-q")
	git("commit", "-q", "--allow-empty", "-m", "loose")

	repo := opened(t, dir)
	bases := []string{
		"-dash", "b{r", "HEAD", "@", "main", "side4", "a/b", "v1", "v2", "v3", "heads/v1", "tags/v1", "refs/heads/main", "refs/tags/v2", "origin", "origin/main", "stash", "ORIG_HEAD", "loose", "blob",
		short, short[:4], strings.ToUpper(short), git("rev-parse", "v3"), git("rev-parse", "v2")[:8], blob, blob[:7], "config", "main/x", "nosuch", "0000", "abc", "a", "a//b", "a/../main", "-", "é",
		strings.Repeat("x", 300), strings.Repeat("0", 40), strings.Repeat("f", 40), "index", "description", "refs",
	}
	for i := range 12 {
		id := git("rev-parse", "main~"+strconv.Itoa(i))
		bases = append(bases, id, id[:39], id[:7], id[:5])
	}
	steps := []string{"", "~", "~1", "~3", "^", "^1", "^2", "^3", "^0", "~0", "^{}", "^{commit}", "^^", "~2^2", "^~1", "~200", "~99999999999999999999", "^99", "~x", "^{", "^{commit}~1"}
	r := rand.New(rand.NewPCG(5, 6))
	for _, base := range bases {
		tried := []string{"", steps[r.IntN(len(steps))], steps[r.IntN(len(steps))] + steps[r.IntN(len(steps))]}
		if base == "HEAD" || base == "v3" {
			tried = steps
		}
		for _, step := range tried {
			rev := base + step
			want, err := vaulttest.Git(dir, "-c", "core.warnAmbiguousRefs=false", "rev-parse", "--verify", "-q", "--end-of-options", rev+"^{commit}")
			if err != nil {
				want = ""
			}
			got, err := repo.Resolve(rev)
			switch {
			case want == "" && !errors.Is(err, gitstore.ErrNoRevision):
				t.Errorf("%q: %v, %v; git knows no such revision", rev, got, err)
			case want != "" && (err != nil || got.String() != strings.TrimSpace(want)):
				t.Errorf("%q: %v, %v; for git it is %s", rev, got, err, want)
			}
		}
	}
	for _, rev := range []string{"HEAD@{1}", ":/0", "HEAD^{/0}", "main..v1", "main v1", ""} {
		if got, err := repo.Resolve(rev); !errors.Is(err, gitstore.ErrNoRevision) {
			t.Errorf("%q: %v, %v", rev, got, err)
		}
	}
}

// askBesideGit opens a repository and resolves revisions in it as git does.
func askBesideGit(t *testing.T, dir string, revs ...string) {
	t.Helper()
	repo := opened(t, dir)
	for _, rev := range revs {
		want, err := vaulttest.Git(dir, "rev-parse", "--verify", "-q", "--end-of-options", rev+"^{commit}")
		got, gotErr := repo.Resolve(rev)
		if err != nil && !errors.Is(gotErr, gitstore.ErrNoRevision) || err == nil && (gotErr != nil || got.String() != strings.TrimSpace(want)) {
			t.Errorf("%s: %q is %v, %v; for git %s (%v)", filepath.Base(dir), rev, got, gotErr, want, err)
		}
	}
}

func TestRevisionsOfALinkedWorktree(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	dir := t.TempDir()
	main, linked := filepath.Join(dir, "main"), filepath.Join(dir, "linked")
	git := func(at string, args ...string) {
		t.Helper()
		if out, err := vaulttest.Git(at, args...); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git(dir, "init", "-q", "-b", "main", main)
	for range 5 {
		git(main, "commit", "-q", "--allow-empty", "-m", "x")
	}
	git(main, "worktree", "add", "-q", "-b", "other", linked)
	for at, commit := range map[string]string{main: "HEAD~1", linked: "HEAD~2"} {
		for _, ref := range []string{"ORIG_HEAD", "refs/bisect/bad", "refs/worktree/here", "refs/rewritten/x"} {
			git(at, "update-ref", ref, commit)
		}
	}
	git(linked, "commit", "-q", "--allow-empty", "-m", "of the other branch")
	git(main, "update-ref", "MERGE_HEAD", "HEAD~3") // not in the other one
	for _, at := range []string{main, linked} {
		askBesideGit(t, at, "HEAD", "main", "other", "ORIG_HEAD", "bisect/bad", "refs/bisect/bad", "refs/worktree/here", "refs/rewritten/x", "MERGE_HEAD")
	}
}

// Another process packs and prunes while this one has the repository open, and
// commits go missing.
func TestRevisionsBesideOthers(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	dir := t.TempDir()
	git := gitIn(t, dir)
	git("init", "-q", "-b", "main")
	for range 5 {
		git("commit", "-q", "--allow-empty", "-m", "x")
	}
	git("gc", "-q", "--prune=now")
	for _, ask := range []func(id string) string{
		func(id string) string { return id },
		func(id string) string { return id[:8] },
		func(string) string { return "main" },
		func(string) string { return "t" },
	} {
		repo := opened(t, dir)
		if _, err := repo.Resolve("main"); err != nil {
			t.Fatal(err)
		}
		git("commit", "-q", "--allow-empty", "-m", "y")
		git("tag", "-f", "-a", "-m", "z", "t")
		git("gc", "-q", "--prune=now")
		id := git("rev-parse", "HEAD")
		if got, err := repo.Resolve(ask(id)); err != nil || got.String() != id {
			t.Errorf("after another process's gc %q is %v, %v; want %s", ask(id), got, err, id)
		}
	}
	parent := git("rev-parse", "HEAD")
	git("checkout", "-q", "--orphan", "gone")
	git("commit", "-q", "--allow-empty", "-m", "alone")
	orphan := "tree " + git("rev-parse", "HEAD^{tree}") + "\nparent 1234567890123456789012345678901234567890\nauthor A <a@example.org> 1 +0000\ncommitter A <a@example.org> 1 +0000\n\nx\n"
	if err := os.WriteFile(filepath.Join(dir, "commit"), []byte(orphan), 0o600); err != nil {
		t.Fatal(err)
	}
	child := git("hash-object", "-t", "commit", "-w", "commit")
	if err := os.WriteFile(filepath.Join(dir, ".git/refs/heads/lost"), []byte("1234567890123456789012345678901234567890\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git("symbolic-ref", "HEAD", "refs/heads/lost")
	askBesideGit(t, dir, "HEAD", "@", "HEAD^0", "HEAD^{}", "lost", child, child+"~1", child+"^", parent)
}
