//go:build linux

package gitindex_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stet/vault/gitindex"
)

// checkDiff compares Diff of HEAD and the git index with what git says, and
// returns how many trees it read.
func (r *repo) checkDiff(dir string) (reads int) {
	r.t.Helper()
	read := func(h [20]byte) ([]gitindex.TreeItem, error) { reads++; return r.items(h) }
	args := []string{"diff-index", "--cached", "--no-renames", "--raw", "-z", "--no-abbrev", "HEAD", "--", dir}
	if dir == "" {
		args = args[:len(args)-1]
	}
	var want, got []string
	fields := strings.Split(r.git(args...), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		f := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if e, _ := r.index().Entry(fields[i+1]); f[4] != "U" && !e.IntentToAdd {
			want = append(want, fmt.Sprintf("%s %s %s %s %s", f[0], f[1], f[2], f[3], fields[i+1]))
		}
	}
	dirs, _ := r.trees("HEAD")
	for d, err := range r.index().Diff(dir, dirs[dir], read) {
		if err != nil {
			r.t.Fatal(err)
		}
		if d.Entry.IntentToAdd || d.Entry.Mode == 0 && r.index().Conflicted(d.Path) {
			continue
		}
		got = append(got, fmt.Sprintf("%06o %06o %x %x %s", d.Tree.Mode, d.Entry.Mode, d.Tree.Hash, d.Entry.Hash, d.Path))
	}
	slices.Sort(want) // git puts a conflict's paths elsewhere
	slices.Sort(got)
	if !slices.Equal(got, want) {
		r.t.Fatalf("differences below %q:\n%q\ngit has\n%q", dir, got, want)
	}
	return reads
}

// items reads a tree.
func (r *repo) items(h [20]byte) (items []gitindex.TreeItem, err error) {
	for line := range strings.SplitSeq(r.git("ls-tree", "-z", fmt.Sprintf("%x", h)), "\x00") {
		if head, name, ok := strings.Cut(line, "\t"); ok {
			var mode uint32
			f := strings.Fields(head)
			if _, err := fmt.Sscanf(f[0], "%o", &mode); err != nil {
				r.t.Fatal(err)
			}
			items = append(items, gitindex.TreeItem{Name: name, Mode: mode, Hash: id(r.t, f[2])})
		}
	}
	return items, nil
}

func TestDiffIsGitsOwn(t *testing.T) {
	t.Parallel()
	r := newRepo(t, 4)
	steps := 40
	if testing.Short() {
		steps = 8
	}
	for range 5 {
		r.commit()
	}
	for i := range steps {
		switch i % 4 {
		case 0: // staged: new, changed, taken out, with another mode, as a folder where a file was
			r.write("d0/staged-new")
			r.git("add", "--", "d0/staged-new")
			_, files := r.trees("HEAD")
			names := slices.Sorted(func(yield func(string) bool) {
				for p := range files {
					if !yield(p) {
						return
					}
				}
			})
			p := names[r.rnd.IntN(len(names))]
			r.git("rm", "-q", "--cached", "--", p)
			other := names[r.rnd.IntN(len(names))]
			if _, ok := r.index().Entry(other); ok {
				if err := os.Chmod(filepath.Join(r.dir, other), 0o755); err != nil {
					t.Fatal(err)
				}
				r.git("add", "--", other)
			}
		case 1:
			r.write("d0/ü/announced")
			r.git("add", "-N", "--", "d0/ü/announced")
		case 2:
			h := r.gitIn("x", "hash-object", "-w", "--stdin")
			r.gitIn(fmt.Sprintf("100644 %s 1\tconflict\n100644 %s 2\tconflict\n", h, h), "update-index", "--index-info")
		case 3:
			r.git("reset", "-q", "--hard")
			r.write("git/by-hand")
			r.git("add", "-A")
			r.git("commit", "-q", "-m", "by git")
			if n := r.checkDiff(""); n != 0 {
				t.Errorf("%d trees were read though the cache-tree tells that nothing differs", n)
			}
			if i%8 == 3 {
				r.git("update-index", "--force-remove", "git/by-hand") // the cache-tree is no longer whole
				r.git("read-tree", "HEAD~1")
			}
		}
		r.checkDiff("")
		r.checkDiff("d0")
	}
}
