package gitstore

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// A transaction that changes a large folder in many commits stores what changed, git finds nothing wrong with it, and
// every tree is read back as it was.
func TestManyVersionsOfALargeFolderAreDeltas(t *testing.T) {
	t.Parallel()
	repo, dir := newRepo(t)
	o := repo.Stage()
	var edits []TreeEdit
	for i := range 1000 {
		blob := o.PutBlob(fmt.Appendf(nil, "Text %d.\n", i))
		edits = append(edits, TreeEdit{Path: fmt.Sprintf("skills/s-%04d/SKILL.md", i), Mode: ModeFile, ID: blob})
	}
	tree, err := o.EditTree(ID{}, edits)
	if err != nil {
		t.Fatal(err)
	}
	first, trees := tree, []ID{tree}
	for i, e := range edits[:200] {
		move := []TreeEdit{{Path: e.Path, Remove: true}, {Path: "archive/" + e.Path, Mode: ModeFile, ID: e.ID}}
		if i == 100 { // back to a tree that there was
			tree = first
		}
		if tree, err = o.EditTree(tree, move); err != nil {
			t.Fatal(err)
		}
		trees = append(trees, tree)
	}
	staged := maps.Clone(o.staged)
	flush(t, o)
	pack := packFiles(t, dir, ".pack")[0]
	if info, err := os.Stat(pack); err != nil || info.Size() > 600<<10 { // whole they are 8 MB
		t.Errorf("the pack: %v, %v", info, err)
	}
	runGit(t, dir, "index-pack", "--strict", "--verify", pack)
	fresh := repo.Stage()
	for _, id := range trees {
		a, b := staged[id].data, []byte(nil)
		if b, err = fresh.get(staged[id].kind, id); err != nil || !bytes.Equal(a, b) {
			t.Fatalf("%s: %v", id, err)
		}
	}
	last := strings.Fields(runGit(t, dir, "ls-tree", "-r", "--name-only", tree.String()))
	if len(last) != 1000 {
		t.Errorf("%d files", len(last))
	}
}

func TestDeltaOf(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte("0123456789abcdef"), 1<<13) // 128 KB
	for _, c := range [][2]string{{"aa", "aaa"}, {"aaa", "aa"}, {"one two", "one and two"},
		{string(long), string(long[:len(long)-1])}, {string(long), string(long) + "x" + string(long[:1<<16])},
		{"x", string(long)}, {string(long[:1<<16]) + "b", string(long[:1<<16]) + "a"}} {
		if got, err := packfile.PatchDelta([]byte(c[0]), deltaOf([]byte(c[0]), []byte(c[1]))); err != nil ||
			string(got) != c[1] {
			t.Errorf("%.10q to %.10q: %v", c[0], c[1], err)
		}
	}
}
