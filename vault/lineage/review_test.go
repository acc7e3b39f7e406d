package lineage_test

import (
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
