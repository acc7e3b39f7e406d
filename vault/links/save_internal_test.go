package links

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stet/vault"
	"stet/vault/vaulttest"
)

// A person saves a file of links at every moment of a move that can be told from
// the next: the line they wrote is there afterwards.
func TestASaveDuringAMoveIsKept(t *testing.T) {
	t.Parallel()
	saved := 0
	for at := range 20 {
		f := vaulttest.New(t, "memories/a.md", "a\n", "memories/near.md", "[a](a.md)\n")
		v := f.Open()
		m, err := v.Resolve(t.Context(), "memories/a.md")
		if err != nil {
			t.Fatal(err)
		}
		near, asked, line := filepath.Join(f.Dir, "memories/near.md"), 0, fmt.Sprintf("saved at %d\n", at)
		save := func(vault.Path) bool {
			if asked++; asked == at+1 {
				saved++
				if err := os.WriteFile(near, []byte("[a](a.md)\n"+line), 0o666); err != nil {
					t.Error(err)
				}
			}
			return false
		}
		_, err = v.Transact(t.Context(), vault.Why{Op: vault.OpMove, Subject: "a"}, false, func(tx *vault.Tx) error {
			m := &mover{v: v, tx: tx, r: Request{From: []vault.Memory{m}, To: "memories/far"}, to: map[vault.Path]vault.Path{}}
			s, err := survey(t.Context(), v)
			if err == nil {
				err = m.name(s)
			}
			if err == nil {
				err = m.rewrite(s, save)
			}
			return err
		})
		if err != nil {
			t.Fatalf("saved at %d: %v", at, err)
		}
		if got := f.Read("memories/near.md"); !strings.HasPrefix(got, "[a](far/a.md)\n") || asked > at && !strings.HasSuffix(got, line) {
			t.Errorf("saved at %d: %q", at, got)
		}
	}
	if saved < 2 {
		t.Errorf("only %d saves: the test looks at the wrong place", saved)
	}
}
