package vault_test

import (
	"fmt"
	"strings"

	"stet/vault"
	"stet/vault/notebook"
)

// notebookOps are writes to a notebook: above all the add after which its first
// entries go to memories.
func notebookOps() []crashOp {
	const (
		first  = "- one......................................\n- [fact] two.............................\n"
		byHand = first + "- by hand\n"
	)
	profile := func(v *vault.Vault) *notebook.Notebook {
		return notebook.Profile(v, notebook.Limits{Core: 100, Profile: 100})
	}
	sized := func(name string, n int) notebook.New {
		return notebook.New{Text: name + strings.Repeat(".", n-len(name))}
	}
	prepare := func(f *crashFixture) {
		f.write("USER.md", first)
		f.write("notes.md", "a note\n")
		f.commit()
	}
	overflow := func(v *vault.Vault) error {
		res, err := profile(v).Add(ctxb(), sized("three", 70), vault.Write{})
		if err == nil && len(res.Moved) != 2 {
			err = fmt.Errorf("%d entries moved, want 2", len(res.Moved))
		}
		return err
	}
	return []crashOp{
		{name: "overflow", prepare: prepare, run: overflow},
		{
			name: "overflow-by-hand", byHand: []string{byHand}, run: overflow,
			prepare: func(f *crashFixture) {
				prepare(f)
				f.write("USER.md", byHand)
			},
		},
		{name: "remove-entry", prepare: prepare, run: func(v *vault.Vault) error {
			_, err := profile(v).Remove(ctxb(), "two", vault.Write{})
			return err
		}},
		{name: "entry-too-long", prepare: prepare, run: func(v *vault.Vault) error {
			_, err := profile(v).Replace(ctxb(), "one", sized("long", 300), vault.Write{})
			return err
		}},
	}
}
