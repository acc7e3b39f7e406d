package gitstore

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPacksThatAreGoneAreClosed: "stet watch" reads for days while others merge packs.
func TestPacksThatAreGoneAreClosed(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("the system does not list descriptors")
	}
	r, dir := newRepo(t)
	for n := range 40 {
		must(t, os.WriteFile(filepath.Join(dir, "a.md"), []byte(strings.Repeat("x", n)), 0o644))
		runGit(t, dir, "add", ".")
		runGit(t, dir, "commit", "-q", "-m", "one more")
		runGit(t, dir, "repack", "-a", "-d", "-q")
		head, err := r.Head()
		must(t, err)
		c, err := r.Stage().Commit(head.ID)
		must(t, err)
		_, err = r.Stage().Tree(c.Tree)
		must(t, err)
	}
	fds, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	gone := 0
	for _, fd := range fds {
		to, err := os.Readlink("/proc/self/fd/" + fd.Name())
		if err == nil && strings.HasPrefix(to, dir) && strings.HasSuffix(to, "(deleted)") {
			gone++
		}
	}
	if gone > 12 {
		t.Errorf("%d packs that are gone are open", gone)
	}
}
