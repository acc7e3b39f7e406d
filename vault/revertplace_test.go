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

// byHand renames a file as a person does, in any program.
func byHand(t *testing.T, f *vaulttest.Fixture, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(f.Dir, to)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(f.Dir, from), filepath.Join(f.Dir, to)); err != nil {
		t.Fatal(err)
	}
}

func adoptAll(t *testing.T, v *vault.Vault) {
	t.Helper()
	if _, err := v.Adopt(t.Context(), vault.AdoptOptions{All: true}); err != nil {
		t.Fatal(err)
	}
}

// tree is the vault's Markdown files with their contents.
func tree(t *testing.T, f *vaulttest.Fixture, v *vault.Vault) map[string]string {
	t.Helper()
	files, err := v.Files(t.Context(), vault.WalkOptions{Archive: true})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, file := range files {
		out[string(file.Path)] = f.Read(string(file.Path))
	}
	return out
}

const (
	gateID    = "01jd7q8r5t9v3x6y2z4a7c0e1f"
	gateFront = "---\nid: " + gateID + "\n---\n"
	gateOne   = gateFront + "The gate code is 4711.\n\nIt is checked every spring.\n\nThe key hangs in the shed.\n"
	gateTwo   = gateFront + "The gate code is 4712.\n\nIt is checked every spring.\n\nThe key hangs in the shed.\n"
	otherFile = "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e2g\n---\nanother thing\n"
)

// What a revert does when the file is not where the commit left it. Each case
// makes the commit, changes things, reverts, and undoes the revert: then every
// byte is as before it.
func TestRevertFindsAFileThatMoved(t *testing.T) {
	t.Parallel()
	const at = "memories/gate.md"
	edit := func(t *testing.T, f *vaulttest.Fixture, v *vault.Vault) {
		f.Write(at, gateTwo)
		adoptAll(t, v)
	}
	forget := func(t *testing.T, f *vaulttest.Fixture, v *vault.Vault) {
		if _, err := v.Forget(t.Context(), []string{at}, vault.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	edited := func(s string) string { return strings.Replace(s, "shed", "hall", 1) }
	for _, c := range []struct {
		name     string
		commit   func(*testing.T, *vaulttest.Fixture, *vault.Vault) // the commit to revert
		then     func(*testing.T, *vaulttest.Fixture, *vault.Vault)
		want     map[string]string // "" = there must be no such file
		conflict string
	}{
		{"edit, then moved and edited in one step by hand: found by id", edit,
			func(t *testing.T, f *vaulttest.Fixture, v *vault.Vault) {
				byHand(t, f, at, "memories/infra/door.md")
				f.Write("memories/infra/door.md", edited(gateTwo))
				adoptAll(t, v)
			}, map[string]string{"memories/infra/door.md": edited(gateOne), at: ""}, ""},
		{"edit, then moved by hand and not committed", edit,
			func(t *testing.T, f *vaulttest.Fixture, v *vault.Vault) { byHand(t, f, at, "memories/door.md") },
			map[string]string{"memories/door.md": gateOne, at: ""}, ""},
		{"edit, moved, and the place taken by another", edit,
			func(t *testing.T, f *vaulttest.Fixture, v *vault.Vault) {
				byHand(t, f, at, "memories/door.md")
				f.Write("memories/door.md", edited(gateTwo))
				f.Write(at, otherFile)
				adoptAll(t, v)
			}, map[string]string{"memories/door.md": edited(gateOne), at: otherFile}, ""},
		{"edit, then archived: applied in the archive", edit,
			func(t *testing.T, f *vaulttest.Fixture, v *vault.Vault) { forget(t, f, v) },
			map[string]string{"archive/" + at: gateOne, at: ""}, ""},
		{"edit, then deleted", edit,
			func(t *testing.T, f *vaulttest.Fixture, v *vault.Vault) {
				if err := os.Remove(filepath.Join(f.Dir, at)); err != nil {
					t.Fatal(err)
				}
				adoptAll(t, v)
			}, nil, "removed since"},
		{"edit, then deleted and the place taken", edit,
			func(t *testing.T, f *vaulttest.Fixture, v *vault.Vault) {
				f.Write(at, otherFile)
				adoptAll(t, v)
			}, nil, "another file stands in its place"},
		{"edit, then copied: two files with its id", edit,
			func(t *testing.T, f *vaulttest.Fixture, v *vault.Vault) {
				byHand(t, f, at, "memories/one.md")
				f.Write("memories/two.md", edited(gateTwo))
				f.Write("memories/one.md", edited(edited(gateTwo))+"more\n")
				adoptAll(t, v)
			}, nil, "its id"},
		{"move, then the old place taken", func(t *testing.T, f *vaulttest.Fixture, v *vault.Vault) {
			byHand(t, f, at, "memories/door.md")
			adoptAll(t, v)
		}, func(t *testing.T, f *vaulttest.Fixture, v *vault.Vault) {
			f.Write(at, otherFile)
			adoptAll(t, v)
		}, map[string]string{at: otherFile, "memories/gate-0e1f.md": gateOne, "memories/door.md": ""}, ""},
		{"move, then moved on: only the edits of the commit go back", func(t *testing.T, f *vaulttest.Fixture, v *vault.Vault) {
			byHand(t, f, at, "memories/door.md")
			adoptAll(t, v)
		}, func(t *testing.T, f *vaulttest.Fixture, v *vault.Vault) {
			byHand(t, f, "memories/door.md", "memories/infra/door.md")
			f.Write("memories/infra/door.md", edited(gateOne))
			adoptAll(t, v)
		}, map[string]string{"memories/infra/door.md": edited(gateOne), at: ""}, ""},
		{"forget, then the old place taken by a folder", forget, func(t *testing.T, f *vaulttest.Fixture, v *vault.Vault) {
			f.Write(at+"/inside.md", otherFile)
			adoptAll(t, v)
		}, map[string]string{"memories/gate-0e1f.md": gateOne, "archive/" + at: ""}, ""},
		{"move, and both names taken", func(t *testing.T, f *vaulttest.Fixture, v *vault.Vault) {
			byHand(t, f, at, "memories/door.md")
			adoptAll(t, v)
		}, func(t *testing.T, f *vaulttest.Fixture, v *vault.Vault) {
			f.Write(at, otherFile)
			f.Write("memories/gate-0e1f.md", "taken too\n")
			adoptAll(t, v)
		}, nil, "its place is taken"},
		{"deletion, then back by hand elsewhere with edits", func(t *testing.T, f *vaulttest.Fixture, v *vault.Vault) {
			if err := os.Remove(filepath.Join(f.Dir, at)); err != nil {
				t.Fatal(err)
			}
			adoptAll(t, v)
		}, func(t *testing.T, f *vaulttest.Fixture, v *vault.Vault) {
			f.Write("memories/back.md", edited(gateOne))
			adoptAll(t, v)
		}, map[string]string{"memories/back.md": edited(gateOne), at: ""}, ""},
		{"deletion, then the place taken", func(t *testing.T, f *vaulttest.Fixture, v *vault.Vault) {
			if err := os.Remove(filepath.Join(f.Dir, at)); err != nil {
				t.Fatal(err)
			}
			adoptAll(t, v)
		}, func(t *testing.T, f *vaulttest.Fixture, v *vault.Vault) {
			f.Write(at, otherFile)
			adoptAll(t, v)
		}, map[string]string{at: otherFile, "memories/gate-0e1f.md": gateOne}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := vaulttest.New(t, at, gateOne)
			v := f.Open()
			c.commit(t, f, v)
			rev, err := v.Head()
			if err != nil {
				t.Fatal(err)
			}
			c.then(t, f, v)
			before, head := tree(t, f, v), headOf(t, v)
			_, err = v.History().Revert(t.Context(), vault.RevertOptions{Revs: []string{string(rev)}})
			if c.conflict != "" {
				if !errors.Is(err, vault.ErrConflict) || !strings.Contains(err.Error(), c.conflict) {
					t.Fatalf("revert: %v, want a conflict that says %q", err, c.conflict)
				}
				if headOf(t, v) != head {
					t.Error("a revert that failed made a commit")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			after := tree(t, f, v)
			for p, want := range c.want {
				if after[p] != want {
					t.Errorf("%s is %q, want %q (all: %v)", p, after[p], want, after)
				}
			}
			if headOf(t, v) == head {
				return // nothing to do, nothing to take back
			}
			if _, err := v.History().Revert(t.Context(), vault.RevertOptions{Revs: []string{"HEAD"}}); err != nil {
				t.Fatalf("revert of the revert: %v", err)
			}
			again := tree(t, f, v)
			for p := range before {
				if again[p] != before[p] {
					t.Errorf("after the revert of the revert %s is %q, want %q", p, again[p], before[p])
				}
			}
			if len(again) != len(before) {
				t.Errorf("after the revert of the revert: %v, want %v", again, before)
			}
			adoptAll(t, v) // a move by hand is the person's to commit
		})
	}
}

func headOf(t *testing.T, v *vault.Vault) vault.Revision {
	t.Helper()
	head, err := v.Head()
	if err != nil {
		t.Fatal(err)
	}
	return head
}

// A change of scope stamps the file; that alone is no reason to keep a memory
// whose remember is taken back.
func TestRevertOfRememberAfterAChangeOfScope(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	m := mustSay(t, v, vault.Write{}, "The gate code is 4711.").Memories[0]
	rev := headOf(t, v)
	scope := "/infra"
	if _, err := v.UpdateMemory(t.Context(), m.ID, vault.Patch{Scope: &scope}, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	if _, err := v.History().Revert(t.Context(), vault.RevertOptions{Revs: []string{string(rev)}}); err != nil {
		t.Fatal(err)
	}
	if got := tree(t, f, v); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
	if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
		t.Fatal(err)
	}
}
