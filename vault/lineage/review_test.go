package lineage_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stet/vault"
	"stet/vault/lineage"
	"stet/vault/vaulttest"
)

func pending(t *testing.T, v *vault.Vault) string {
	t.Helper()
	r, err := lineage.Pending(t.Context(), v, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, i := range r.Items {
		out = append(out, i.Subject)
	}
	return strings.Join(out, "; ")
}

// A branch that was merged since is new although its commits are older than what
// was looked at, and a branch rewritten away is no error.
func TestReviewSeesMergedBranchesAndRewrittenHistory(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	f := vaulttest.New(t, "a.md", "a\n")
	v := f.Open()
	f.Git("checkout", "-qb", "side")
	f.Write("b.md", "b\n")
	f.Git("add", "-A")
	f.Git("-c", "user.name=Bob", "commit", "-q", "--author=Bob <bob@example.org>", "-m", "side by Bob")
	f.Git("checkout", "-q", "main")
	f.Write("a.md", "a\nmore\n")
	f.Git("commit", "-q", "--author=Bob <bob@example.org>", "-am", "main by Bob")
	if got := pending(t, v); got != "main by Bob" {
		t.Fatalf("pending %q", got)
	}
	r, err := lineage.Pending(t.Context(), v, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Accept(t.Context(), v, []vault.Revision{r.Items[0].Rev}); err != nil {
		t.Fatal(err)
	}
	f.Git("merge", "-q", "--no-edit", "-m", "join", "side")
	if got := pending(t, v); got != "side by Bob" {
		t.Errorf("after the merge %q", got)
	}
	f.Git("checkout", "-q", "--orphan", "fresh")
	f.Git("commit", "-q", "--author=Bob <bob@example.org>", "-m", "all of it, squashed")
	f.Git("update-ref", "-d", "refs/heads/main")
	f.Git("update-ref", "-d", "refs/heads/side")
	f.Git("reflog", "expire", "--expire=now", "--all")
	f.Git("gc", "-q", "--prune=now")
	if got := pending(t, f.Open()); got != "all of it, squashed" {
		t.Errorf("after history was rewritten %q", got)
	}
}

func review(t *testing.T, v *vault.Vault) lineage.Review {
	t.Helper()
	r, err := lineage.Pending(t.Context(), v, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// later accepts all of a review but the commits of these subjects.
func later(t *testing.T, v *vault.Vault, subjects ...string) {
	t.Helper()
	r := review(t, v)
	var looked []vault.Revision
	for _, i := range r.Items {
		if !strings.Contains(strings.Join(subjects, "\n"), i.Subject) {
			looked = append(looked, i.Rev)
		}
	}
	if err := r.Accept(t.Context(), v, looked); err != nil {
		t.Fatal(err)
	}
}

func bob(f *vaulttest.Fixture, name, text string) {
	f.Write(name+".md", text)
	f.Git("add", "-A")
	f.Git("commit", "-q", "--author=Bob <bob@example.org>", "-m", name)
}

// What was put off and taken back before the mark moved on is taken back all the
// same, and is not once the taking back is taken back.
func TestReviewKnowsThatWhatWasPutOffIsTakenBack(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	f := vaulttest.New(t, "a.md", "a\n")
	v := f.Open()
	for _, name := range []string{"first", "second", "third"} {
		bob(f, name, name+"\n")
	}
	later(t, v, "first", "second")
	f.Git("revert", "--no-edit", "HEAD~1")
	f.Git("revert", "--no-edit", "HEAD~3")
	bob(f, "fourth", "fourth\n")
	later(t, v, "first", "second")
	reverted := func() string {
		var out []string
		for _, i := range review(t, v).Items {
			if i.Reverted {
				out = append(out, i.Subject)
			}
		}
		return strings.Join(out, " ")
	}
	if got := reverted(); got != "first second" {
		t.Errorf("taken back: %q", got)
	}
	f.Git("revert", "--no-edit", "HEAD~1")
	later(t, v, "first", "second")
	if got := reverted(); got != "second" {
		t.Errorf("after the first came back: %q", got)
	}
}

// A commit that history lost is forgotten; one that the disk cannot give up just
// now is an error, or it would never be looked at.
func TestReviewTellsForgottenFromUnreadable(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	f := vaulttest.New(t, "a.md", "a\n")
	f.LeaveDirty() // objects are broken on purpose
	bob(f, "first", "first\n")
	rev := strings.TrimSpace(f.Git("rev-parse", "HEAD"))
	bob(f, "second", "second\n")
	later(t, f.Open(), "first")
	object := filepath.Join(f.Dir, ".git", "objects", rev[:2], rev[2:])
	if err := os.Remove(object); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(object, object); err != nil { // a file that nobody can open, not even root
		t.Skipf("skip: no symbolic links here: %v", err)
	}
	if r, err := lineage.Pending(t.Context(), f.Open(), time.Time{}); err == nil {
		t.Errorf("unreadable: %+v and no error", r.Items)
	}
	if err := os.Remove(object); err != nil {
		t.Fatal(err)
	}
	second := strings.TrimSpace(f.Git("rev-parse", "HEAD"))
	f.Git("update-ref", "refs/heads/main", strings.TrimSpace(f.Git("commit-tree", "-m", "fresh", "HEAD^{tree}")))
	if err := os.Remove(filepath.Join(f.Dir, ".git", "objects", second[:2], second[2:])); err != nil {
		t.Fatal(err)
	}
	v := f.Open()
	later(t, v)
	data, err := v.State().Seen("review")
	if err != nil || strings.Contains(string(data), rev) {
		t.Errorf("the mark is %s (%v), want nothing of %s", data, err, rev)
	}
}
