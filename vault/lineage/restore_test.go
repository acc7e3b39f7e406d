package lineage_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stet/vault"
	"stet/vault/lineage"
	"stet/vault/vaulttest"
)

func TestRestoreGoesBackToTheLastPlaceOutsideTheArchive(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	m := remember(t, v, "Gate", "The gate code is 4711.")
	update(t, v, m.ID, vault.Patch{Scope: ptr("/infra")})
	want := f.Read("memories/infra/gate.md")
	// The archive has the name already, so that the file gets a time in its name.
	f.Write("archive/memories/infra/gate.md", "taken\n")
	if _, err := v.Adopt(t.Context(), vault.AdoptOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Forget(t.Context(), []string{m.ID}, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	res, err := lineage.Restore(t.Context(), v, m.ID, "", vault.Write{})
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Read("memories/infra/gate.md"); got != want || res.Memories[0].Path != "memories/infra/gate.md" {
		t.Errorf("restored %q to %s", got, res.Memories[0].Path)
	}
	if _, err := lineage.Restore(t.Context(), v, m.ID, "", vault.Write{}); !errors.Is(err, vault.ErrInvalid) {
		t.Errorf("again: %v", err)
	}
}

// An older version is taken from wherever the file was then, and put where it is
// now.
func TestRestoreOfAVersionFromBeforeAMove(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	m := remember(t, v, "Gate", "The gate code is 4711.")
	first := f.Read("memories/gate.md")
	rev, err := v.Head()
	if err != nil {
		t.Fatal(err)
	}
	update(t, v, m.ID, vault.Patch{Scope: ptr("/infra")})
	update(t, v, m.ID, vault.Patch{Text: ptr("The gate code is 4712.")})
	f.Write("memories/gate.md", "another thing in the old place\n")
	f.Write("memories/infra/gate.md", f.Read("memories/infra/gate.md")+"by hand\n")
	byHand := f.Read("memories/infra/gate.md")
	res, err := lineage.Restore(t.Context(), v, m.ID, string(rev), vault.Write{})
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Read("memories/infra/gate.md"); got != first {
		t.Errorf("restored %q, want %q", got, first)
	}
	if _, data, err := v.History().ReadAt(t.Context(), string(res.Commits[0].Rev), m.ID); err != nil || string(data) != byHand {
		t.Errorf("the edit by hand was not committed first: %q, %v", data, err)
	}
	if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	if got := f.Read("memories/infra/gate.md"); got != byHand {
		t.Errorf("after undo %q, want %q", got, byHand)
	}
	if _, err := v.Adopt(t.Context(), vault.AdoptOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestRestoreOfAVersionOfWhatWasDeleted(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	m := remember(t, v, "Gate", "The gate code is 4711.")
	first := f.Read("memories/gate.md")
	if err := os.Remove(filepath.Join(f.Dir, "memories/gate.md")); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Adopt(t.Context(), vault.AdoptOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{m.ID, "memories/gate.md"} {
		if _, err := lineage.Restore(t.Context(), v, ref, "HEAD~1", vault.Write{}); err != nil {
			t.Fatalf("%s: %v", ref, err)
		}
		if got := f.Read("memories/gate.md"); got != first {
			t.Errorf("%s: restored %q", ref, got)
		}
		if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := lineage.Restore(t.Context(), v, "memories/gate.md", "", vault.Write{}); err != nil {
		t.Errorf("the last version of a deleted path: %v", err)
	}
	if _, err := lineage.Restore(t.Context(), v, "never-there", "", vault.Write{}); !errors.Is(err, vault.ErrNotFound) {
		t.Errorf("what never was: %v", err)
	}
}

func TestPurgeNamesEveryNameAndKeepsNothingButTheID(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	m := remember(t, v, "Gate", "The gate code is 4711.")
	update(t, v, m.ID, vault.Patch{Append: ptr("Ring twice.")})
	if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	update(t, v, m.ID, vault.Patch{Scope: ptr("/it's infra")})
	if _, err := v.Forget(t.Context(), []string{m.ID}, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	for _, vague := range []string{"gate", m.ID[:8], strings.ToUpper(m.ID[20:]), "archive/memories"} {
		if _, _, err := purge(t.Context(), v, []string{vague}, vault.Write{}); !errors.Is(err, vault.ErrNotFound) {
			t.Errorf("purge of %q: %v", vague, err)
		}
	}
	res, erase, err := purge(t.Context(), v, []string{m.ID}, vault.Write{Message: "the gate code"})
	if err != nil {
		t.Fatal(err)
	}
	want := "archive/memories/it-s-infra/gate.md memories/it-s-infra/gate.md memories/gate.md"
	if got := strings.Join(erase.Names, " "); got != want {
		t.Errorf("names %s, want %s", got, want)
	}
	if c := res.Commits[0]; strings.Contains(strings.ToLower(c.Subject+c.Body), "gate") {
		t.Errorf("the commit says %q", c.Subject)
	}
	s, err := v.History().View(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	for p, err := range s.Files() {
		if err != nil {
			t.Fatal(err)
		}
		data, _, err := s.Read(p)
		if err != nil || strings.Contains(string(data), "4711") || strings.Contains(string(data), "Ring") {
			t.Errorf("%s still has it (%v)", p, err)
		}
		if vault.IsTombstone(p) {
			left++
			if text := string(data); !strings.Contains(text, m.ID) || strings.Contains(text, "hash") || strings.Contains(text, "blob") {
				t.Errorf("tombstone %s", text)
			}
		}
	}
	if left != 1 {
		t.Errorf("%d files of tombstones, want one", left)
	}
}
