package vault_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stet/vault"
	"stet/vault/gitstore"
	"stet/vault/vaulttest"
)

func TestNeitherSignaturesNorHooksNorPrompts(t *testing.T) {
	t.Parallel()
	f := personRepo(t)
	witness := filepath.Join(t.TempDir(), "ran")
	for _, hook := range []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "reference-transaction", "post-index-change", "post-rewrite"} {
		script := "#!/bin/sh\necho " + hook + " >> '" + witness + "'\nexit 1\n"
		if err := os.WriteFile(filepath.Join(f.Dir, ".git", "hooks", hook), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	f.Git("config", "commit.gpgsign", "true")
	f.Git("config", "gpg.program", "/nonexistent/gpg")
	f.Git("config", "core.fsmonitor", "/nonexistent/monitor")
	initAt(t, f, f.Dir)
	work(t, f.Open())
	if data, err := os.ReadFile(witness); err == nil {
		t.Errorf("hooks ran: %s", data)
	}
	if got := f.Git("cat-file", "commit", "HEAD"); strings.Contains(got, "gpgsig") {
		t.Errorf("commit is signed: %s", got)
	}
	f.Git("config", "--unset", "core.fsmonitor")
	if err := os.RemoveAll(filepath.Join(f.Dir, ".git", "hooks")); err != nil {
		t.Fatal(err)
	}
}

func TestNoIdentityConfigured(t *testing.T) {
	t.Parallel()
	f := vaulttest.At(t, filepath.Join(t.TempDir(), "notes"))
	o := f.Options()
	o.Env = func(key string) string {
		if strings.HasPrefix(key, "GIT_") && strings.HasSuffix(key, "_NAME") || strings.HasSuffix(key, "_EMAIL") {
			return ""
		}
		return vaulttest.Env(key)
	}
	if _, err := vault.Init(t.Context(), f.Dir, vault.InitOptions{}, o); err != nil {
		t.Fatal(err)
	}
	v := f.OpenWith(o)
	work(t, v)
	c, err := v.History().CommitAt(t.Context(), "HEAD")
	if err != nil || c.Author != gitstore.Fallback().Name || c.AuthorEmail != gitstore.Fallback().Email {
		t.Errorf("author %q <%s> (%v), want the fallback", c.Author, c.AuthorEmail, err)
	}
}
