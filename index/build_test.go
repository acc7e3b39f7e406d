package index

import (
	"fmt"
	"testing"
)

// Files are read in batches; the documents of several make one segment, each
// under the name of its file.
func TestBatchesShareASegment(t *testing.T) {
	t.Parallel()
	src := newFolder(t, nil)
	const files = batchFiles + 50
	for i := range files {
		src.write(t, fmt.Sprintf("n/%02d/%d.md", i%40, i), fmt.Sprintf("note number%d\n", i))
	}
	x := open(t, src)
	if _, err := x.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	if segs := x.mem.st.man.segs; len(segs) != 1 || segs[0].docs != files {
		t.Errorf("segments %+v, want one of %d documents", segs, files)
	}
	if bad, err := x.Check(t.Context()); err != nil || len(bad) > 0 {
		t.Errorf("check: %v %v", bad, err)
	}
	for _, i := range []int{0, 77, batchFiles, files - 1} {
		res := ask(t, x, Query{Text: fmt.Sprintf("number%d", i)})
		if want := fmt.Sprintf("n/%02d/%d.md", i%40, i); len(res.Hits) != 1 || string(res.Hits[0].Path) != want {
			t.Errorf("number%d: %+v, want %s", i, res.Hits, want)
		}
	}
}
