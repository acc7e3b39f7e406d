//go:build linux

package gitindex_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stet/vault/gitindex"
)

func TestApplyAgreesWithGit(t *testing.T) {
	t.Parallel()
	seeds, steps := uint64(6), 50
	if testing.Short() {
		seeds, steps = 1, 15
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, seed)
			for i := range steps {
				r.commit()
				r.check()
				switch i % 8 {
				case 3:
					// A commit by git rebuilds the whole cache-tree.
					r.write("git/by-hand")
					r.git("add", "-A")
					r.git("commit", "-q", "-m", "by git")
				case 7:
					r.git("gc", "-q")
				}
			}
			if s := r.git("fsck", "--strict", "--no-dangling"); s != "" {
				t.Fatal(s)
			}
		})
	}
}

// TestApplyKeepsOtherWork mixes commits with work a person has under way: staged
// files, announced ones, a conflict. Their lines of the index must not change.
func TestApplyKeepsOtherWork(t *testing.T) {
	t.Parallel()
	r := newRepo(t, 99)
	steps := 60
	if testing.Short() {
		steps = 10
	}
	for range 5 {
		r.commit()
	}
	for i := range steps {
		staged, announced := names[r.rnd.IntN(len(names))]+"/staged", "d0/ü/announced"
		conflict := "d0-x/conflict"
		r.write(staged)
		r.write(announced)
		r.git("add", "--", staged)
		r.git("add", "-N", "--", announced)
		if i%2 == 0 {
			h := r.gitIn("x", "hash-object", "-w", "--stdin")
			var in string
			for stage := 1; stage <= 3; stage++ {
				in += fmt.Sprintf("100644 %s %d\t%s\n", h, stage, conflict)
			}
			r.gitIn(in, "update-index", "--index-info")
		}
		if i%3 == 0 {
			// A cache-tree that is valid for the staged state, not for HEAD.
			if i%2 != 0 {
				r.git("write-tree")
			}
		}
		own := func() string {
			return r.git("ls-files", "-s", "--", staged, announced, conflict)
		}
		before := own()
		for range 1 + r.rnd.IntN(3) {
			r.commit(staged, announced, conflict)
			r.checkCacheTree()
		}
		if after := own(); after != before {
			t.Fatalf("other work changed from\n%s\nto\n%s", before, after)
		}
		if got := r.git("diff-index", "--cached", "--name-only", "-z", "HEAD"); strings.Trim(
			strings.NewReplacer(staged+"\x00", "", announced+"\x00", "", conflict+"\x00", "").Replace(got), "\x00") != "" {
			t.Fatalf("phantom staged files: %q", got)
		}
		e, ok := r.index().Entry(announced)
		if !ok || !e.IntentToAdd {
			t.Fatalf("intent-to-add entry lost: %+v", e)
		}
		r.git("rm", "-q", "--cached", "--", staged, announced)
		if i%2 == 0 {
			r.gitIn("0 0000000000000000000000000000000000000000\t"+conflict+"\n", "update-index", "--index-info")
		}
		for _, p := range []string{staged, announced} {
			if err := os.Remove(filepath.Join(r.dir, p)); err != nil {
				t.Fatal(err)
			}
		}
		if i%10 == 9 {
			r.git("read-tree", "HEAD")
			r.git("update-index", "-q", "--refresh")
			r.check()
		}
	}
	if s := r.git("fsck", "--strict", "--no-dangling"); s != "" {
		t.Fatal(s)
	}
}

// TestSmudge edits a file in the second its index was written, at the same length,
// and rewrites the index a second later: git must still see the edit.
func TestSmudge(t *testing.T) {
	t.Parallel()
	r := newRepo(t, 5)
	r.write("a")
	r.git("add", "a")
	r.git("commit", "-q", "-m", "x")
	f := r.index()
	e, _ := f.Entry("a")
	f = f.WithTimestamp(e.Stat.MtimeSec)
	b, err := f.Apply([]gitindex.Edit{{Path: "b", Hash: e.Hash, Mode: 0o100644}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gitindex.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := g.Entry("a"); got.Stat.Size != 0 || !g.Racy(got, 1<<31, 0) {
		t.Fatalf("doubtful entry kept size %d", got.Stat.Size)
	}
	b, err = f.WithTimestamp(e.Stat.MtimeSec + 1).Apply(nil)
	if err != nil {
		t.Fatal(err)
	}
	if g, err = gitindex.Parse(b); err != nil {
		t.Fatal(err)
	}
	if got, _ := g.Entry("a"); got != e {
		t.Fatalf("certain entry changed from %+v to %+v", e, got)
	}
}

// TestEditInvalidatesItsFoldersAlone looks at the cache-tree after an edit: what is above the
// edit counts as unknown, what is beside it stays known, and a folder that is gone has no node.
func TestEditInvalidatesItsFoldersAlone(t *testing.T) {
	t.Parallel()
	r := newRepo(t, 6)
	for _, p := range []string{"a/b/x", "a/c/y", "d/z"} {
		r.write(p)
	}
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "x")
	for _, c := range []struct {
		edit gitindex.Edit
		want map[string]bool // valid
	}{
		{gitindex.Edit{Path: "a/b/new", Hash: [20]byte{1}, Mode: 0o100644},
			map[string]bool{"": false, "a": false, "a/b": false, "a/c": true, "d": true}},
		{gitindex.Edit{Path: "a/b/x", Remove: true}, map[string]bool{"": false, "a": false, "a/c": true, "d": true}},
		{gitindex.Edit{Path: "none", Remove: true}, map[string]bool{"": true, "a": true, "a/b": true, "a/c": true, "d": true}},
	} {
		b, err := r.index().Apply([]gitindex.Edit{c.edit})
		if err != nil {
			t.Fatal(err)
		}
		f, err := gitindex.Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		nodes, err := gitindex.CacheTree(f)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for dir, n := range nodes {
			got[dir] = n.Count >= 0
		}
		if !maps.Equal(got, c.want) {
			t.Errorf("edit of %q: valid are %v, want %v", c.edit.Path, got, c.want)
		}
	}
}
