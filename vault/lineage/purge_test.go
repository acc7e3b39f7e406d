package lineage_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stet/vault"
	"stet/vault/lineage"
	"stet/vault/vaulttest"
)

// A file that nobody can look into stops no purge of another one, and is named:
// it may hold the same memory.
func TestPurgeGoesPastAFileThatCannotBeRead(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	f.LeaveDirty() // the large file stays untracked
	v := f.Open()
	gate, roof := remember(t, v, "Gate", "The gate code is 4711."), remember(t, v, "Roof", "The roof leaks.")
	if err := os.WriteFile(filepath.Join(f.Dir, "large.md"), make([]byte, vault.MaxFileSize+1), 0o644); err != nil {
		t.Fatal(err)
	}
	res, _, err := purge(t.Context(), v, []string{string(gate.Path), strings.ToUpper(gate.ID), roof.ID}, vault.Write{})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Memories) != 2 || res.Memories[0].Path != gate.Path || res.Memories[1].Path != roof.Path {
		t.Errorf("purged %+v", res.Memories)
	}
	if len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "large.md") {
		t.Errorf("warnings %q, want one that names large.md", res.Warnings)
	}
	if _, _, err := purge(t.Context(), v, []string{"large.md"}, vault.Write{}); !errors.Is(err, vault.ErrTooLarge) {
		t.Errorf("the large file itself: %v, want ErrTooLarge", err)
	}
}

// What was shown to the person is what goes, and nothing that came since.
func TestPurgeLeavesWhatChangedSinceItWasLookedAt(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	m := remember(t, v, "Gate", "The gate code is 4711.")
	p, err := lineage.PlanPurge(t.Context(), v, []string{m.ID})
	if err != nil {
		t.Fatal(err)
	}
	update(t, v, m.ID, vault.Patch{Append: ptr("Ring twice.")})
	if _, err := p.Run(t.Context(), v, vault.Write{}); !errors.Is(err, vault.ErrConflict) {
		t.Errorf("%v, want ErrConflict", err)
	}
	if !strings.Contains(f.Read(string(m.Path)), "Ring twice.") {
		t.Error("the newer text is gone")
	}
}

// purge carries a purge out as soon as it is planned.
func purge(ctx context.Context, v *vault.Vault, refs []string, w vault.Write) (*vault.Result, lineage.Erasure, error) {
	p, err := lineage.PlanPurge(ctx, v, refs)
	if err != nil {
		return nil, lineage.Erasure{}, err
	}
	res, err := p.Run(ctx, v, w)
	return res, p.Erasure, err
}
