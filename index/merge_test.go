package index

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"stet/vault"
)

// Segments that are mapped stay mapped while they are merged, however often
// the garbage collector looks.
func TestMappedSegmentsLiveThroughTheirMerge(t *testing.T) {
	t.Parallel()
	src := newFolder(t, nil)
	first := open(t, src)
	for part := range 3 {
		var paths []vault.Path
		for i := range 12 {
			var b strings.Builder
			for j := range 12000 {
				fmt.Fprintf(&b, "word%d ", (i*7919+j*104729+part)%90000)
			}
			p := fmt.Sprintf("p%d/%d.md", part, i)
			src.write(t, p, b.String())
			paths = append(paths, vault.Path(p))
		}
		if part == 0 {
			ask(t, first, Query{Text: "word7"})
		} else if _, err := first.Touch(t.Context(), paths); err != nil {
			t.Fatal(err)
		}
	}
	want := fromFiles(t, src, Query{Text: "word7 word8"})
	x := open(t, src)
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	x.mem.mu.Lock()
	s, err := x.mem.use(true)
	if err != nil {
		t.Fatal(err)
	}
	st, err := x.mem.load()
	if err != nil {
		t.Fatal(err)
	}
	if len(st.man.segs) != 3 || st.man.segs[0].bytes < mapAbove {
		t.Fatalf("segments %+v: want three that are mapped", st.man.segs)
	}
	up, err := x.mem.merge(s, st, []int{0, 1, 2})
	x.mem.mu.Unlock()
	close(stop)
	<-done
	if err != nil || len(up.man.segs) != 1 {
		t.Fatalf("merge: %+v, %v", up, err)
	}
	sameAnswer(t, "merged", ask(t, x, Query{Text: "word7 word8"}), want)
	if bad, err := x.Check(t.Context()); err != nil || len(bad) > 0 {
		t.Errorf("check: %v %v", bad, err)
	}
}
