package vault_test

import (
	"errors"
	"strings"
	"testing"

	"stet/vault"
	"stet/vault/vaulttest"
)

// A filter may encrypt: stet must neither commit the plain bytes nor take them
// for an edit.
func TestFilesThatGitConvertsAreLeftToGit(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "plain.md", "plain\n")
	v := f.Open()
	f.Write(".git/info/attributes", "secret*.md filter=crypt\n*.win.md eol=crlf\n")
	f.Write("secret.md", "open\n")
	f.Write("a.win.md", "one\r\ntwo\r\n")
	head, err := v.Head()
	if err != nil {
		t.Fatal(err)
	}
	for p, text := range map[vault.Path]string{"secret.md": "more\n", "secret-new.md": "x\n", "b.win.md": "one\r\n"} {
		data, _, rerr := v.ReadFile(p)
		was := vault.Hash("")
		if rerr == nil {
			was = vault.ReadMemory(p, data).Hash
		}
		if _, err := v.Replace(t.Context(), p, was, []byte(text), vault.Write{}); !errors.Is(err, vault.ErrUnsupportedRepository) {
			t.Errorf("write to %s: %v, want a refusal", p, err)
		}
	}
	res, err := v.Adopt(t.Context(), vault.AdoptOptions{All: true})
	if err != nil || !res.Unchanged {
		t.Errorf("adopt: %+v, %v, want nothing", res, err)
	}
	st, err := v.Status(t.Context())
	if err != nil || len(st.Changed) != 0 || len(st.Problems) != 2 || !strings.Contains(st.Problems[1].Text, "filter") {
		t.Errorf("status: %+v, %v, want both named as problems", st, err)
	}
	if now, err := v.Head(); err != nil || now != head {
		t.Errorf("HEAD moved to %s (%v)", now, err)
	}
	// LF text is the same for git whatever its attributes say of line endings.
	if _, err := v.Replace(t.Context(), "c.win.md", "", []byte("one\ntwo\n"), vault.Write{}); err != nil {
		t.Errorf("LF text: %v", err)
	}
}
