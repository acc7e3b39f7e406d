package store

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"stet/vault"
)

// Segments that are mapped stay mapped while they are merged, however often
// the garbage collector looks.
func TestMappedSegmentsLiveThroughTheirMerge(t *testing.T) {
	t.Parallel()
	src, dir := texts{}, t.TempDir()
	first := indexOf(t, src, dir)
	for part := range 3 {
		var added []vault.File
		for i := range 12 {
			var b strings.Builder
			for j := range 12000 {
				fmt.Fprintf(&b, "word%d ", (i*7919+j*104729+part)%90000)
			}
			p := vault.Path(fmt.Sprintf("p%d/%02d.md", part, i))
			src[p] = b.String()
			added = append(added, src.file(p))
		}
		if part == 0 {
			if _, err := first.Rebuild(t.Context(), src.files()); err != nil {
				t.Fatal(err)
			}
		} else if _, err := first.Touch(t.Context(), added); err != nil {
			t.Fatal(err)
		}
	}
	st, err := first.Written()
	if err != nil {
		t.Fatal(err)
	}
	want := having(t, st, "word7")
	x := indexOf(t, src, dir)
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
	x.mu.Lock()
	s, err := x.use(true)
	if err != nil {
		t.Fatal(err)
	}
	if st, err = x.load(); err != nil {
		t.Fatal(err)
	}
	if len(st.man.segs) != 3 || st.man.segs[0].bytes < mapAbove {
		t.Fatalf("segments %+v: want three that are mapped", st.man.segs)
	}
	up, err := x.merge(t.Context(), s, st, map[uint64]bool{0: true, 1: true, 2: true})
	x.mu.Unlock()
	close(stop)
	<-done
	if err != nil || len(up.man.segs) != 1 {
		t.Fatalf("merge: %+v, %v", up, err)
	}
	if st, err = x.Written(); err != nil {
		t.Fatal(err)
	}
	if got := having(t, st, "word7"); len(got) == 0 || !slices.Equal(got, want) {
		t.Errorf("word7 is in %v, want %v", got, want)
	}
	healthy(t, x)
}

func TestSingleUpdatesAreMerged(t *testing.T) {
	t.Parallel()
	src, dir := texts{"a.md": "warm up\n"}, t.TempDir()
	x := indexOf(t, src, dir)
	if _, err := x.Rebuild(t.Context(), src.files()); err != nil {
		t.Fatal(err)
	}
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	for i := range rounds {
		p := vault.Path(fmt.Sprintf("n/%d.md", i*7919%40))
		src[p] = strings.Repeat("w ", i%9) + fmt.Sprintf("number%d\n", i)
		if _, err := x.Touch(t.Context(), []vault.File{src.file(p)}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(x.st.man.segs); n > 3*tierSegments {
		t.Errorf("%d segments after %d updates", n, rounds)
	}
	if _, err := x.CatchUp(t.Context(), src.files()); err != nil {
		t.Fatal(err)
	}
	live, total := uint32(0), uint32(0)
	for id, n := range x.st.man.live() {
		live += n
		for _, s := range x.st.man.segs {
			if s.id == id {
				total += s.docs
			}
		}
	}
	if dead := total - live; dead > deadMin && dead*100 > total*deadShare {
		t.Errorf("%d of %d documents are dead after CatchUp", dead, total)
	}
	entries, err := os.ReadDir(filepath.Join(dir, versionDir(english(t))))
	if err != nil {
		t.Fatal(err)
	}
	if want := len(x.st.man.segs) + 1; len(entries) != want {
		t.Errorf("%d files in the folder, want %d", len(entries), want)
	}
}

// A segment of which nothing lives leaves the manifest before its file goes.
func TestASegmentOfTheDeadIsDropped(t *testing.T) {
	t.Parallel()
	src, dir := texts{"a.md": "warm up\n"}, t.TempDir()
	for i := range deadMin + 1 {
		src[vault.Path(fmt.Sprintf("n/%d.md", i))] = "number\n"
	}
	x := indexOf(t, src, dir)
	if _, err := x.Rebuild(t.Context(), src.files()); err != nil {
		t.Fatal(err)
	}
	clear(src)
	src["b.md"] = "something else\n"
	if _, err := x.CatchUp(t.Context(), src.files()); err != nil {
		t.Fatal(err)
	}
	other := indexOf(t, src, dir)
	healthy(t, other)
	st, err := other.Written()
	if err != nil || len(st.man.segs) != 1 {
		t.Fatalf("%+v, %v: want one segment", st, err)
	}
	if got := having(t, st, "something"); !slices.Equal(got, []vault.Path{"b.md"}) {
		t.Errorf("found %v", got)
	}
}
