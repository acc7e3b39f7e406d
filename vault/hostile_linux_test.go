package vault_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func makeFIFO(t *testing.T, p string) {
	t.Helper()
	if err := syscall.Mkfifo(p, 0o644); err != nil {
		t.Fatal(err)
	}
}

var folders = [...]string{"notes", "memories/other"}

// accessTimes are when folders were last listed.
func accessTimes(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	out := map[string]time.Time{}
	for _, name := range folders {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return nil
		}
		out[name] = time.Unix(st.Atim.Unix())
	}
	return out
}

// ageFolders sets times so old that the next listing must be noted.
func ageFolders(t *testing.T, dir string) {
	t.Helper()
	old := time.Now().Add(-48 * time.Hour)
	for _, name := range folders {
		if err := os.Chtimes(filepath.Join(dir, filepath.FromSlash(name)), old, old); err != nil {
			t.Fatal(err)
		}
	}
}
