//go:build unix

package durable_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"stet/vault/durable"
)

// TestSpecialFilesAreNeverOpened hangs, rather than fails, when a FIFO is
// opened for reading or writing.
func TestSpecialFilesAreNeverOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644), os.Mkdir(filepath.Join(dir, "folder"), 0o755),
		os.Symlink("file", filepath.Join(dir, "link")), os.Symlink("none", filepath.Join(dir, "dangling")))
	put(t, "file", dir, "file")
	paths := []string{"fifo", "folder", "link", "dangling"}
	const null = 1<<8 | 3 // the null device
	if err := syscall.Mknod(filepath.Join(dir, "device"), syscall.S_IFCHR|0o644, null); err == nil {
		paths = append(paths, "device")
	} else {
		t.Log("skip: devices need root:", err)
	}
	r := open(t, dir, nil)
	for _, p := range paths {
		_, _, read := r.ReadFile(p, 0)
		if _, _, ok := durable.ReadStraight(r, p, 0); ok {
			t.Errorf("ReadStraight read %s", p)
		}
		for call, err := range map[string]error{
			"ReadFile":  read,
			"Overwrite": r.Overwrite("l", p, []byte("x"), 0o644, true), "Append": r.Append("l", p, []byte("x"), 0o644, true),
		} {
			if !errors.Is(err, durable.ErrNotRegular) {
				t.Errorf("%s %s: %v, want %v", call, p, err, durable.ErrNotRegular)
			}
		}
	}
	if got := read(t, dir, "file"); got != "file" {
		t.Errorf("a file was changed through a link: %q", got)
	}
}
