package skill_test

import (
	"os"
	"path/filepath"
	"testing"

	"stet/vault/vaulttest"
)

func link(t *testing.T, f *vaulttest.Fixture, at, to string) {
	t.Helper()
	f.LeaveDirty()
	if err := os.Symlink(to, filepath.Join(f.Dir, at)); err != nil {
		t.Skipf("links cannot be made here: %v", err)
	}
}
