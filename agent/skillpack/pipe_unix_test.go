//go:build unix

package skillpack_test

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"stet/agent/skillpack"
	"stet/vault"
)

// A pipe would block a reader for ever.
func TestAPipeIsNotRead(t *testing.T) {
	t.Parallel()
	dir := put(t, t.TempDir(), map[string]string{"pipe/SKILL.md": main, "good/SKILL.md": main})
	at := filepath.Join(dir, "pipe", "p")
	if err := syscall.Mkfifo(at, 0o644); err != nil {
		t.Fatal(err)
	}
	got := said(t, dir, "")
	if !strings.Contains(got, "skills/pipe !") || !strings.Contains(got, "skills/good SKILL.md\n") {
		t.Error(got)
	}
	if _, err := skillpack.Read(t.Context(), at, ""); !errors.Is(err, vault.ErrNotRegular) {
		t.Errorf("by its name: %v", err)
	}
}
