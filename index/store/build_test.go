package store

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"stet/vault"
)

// Files are read in batches; the documents of several make one segment, each
// under the name of its file.
func TestBatchesShareASegment(t *testing.T) {
	t.Parallel()
	src := texts{}
	const files = batchFiles + 50
	name := func(i int) vault.Path { return vault.Path(fmt.Sprintf("n/%02d/%d.md", i%40, i)) }
	for i := range files {
		src[name(i)] = fmt.Sprintf("note number%d\n", i)
	}
	x := indexOf(t, src, t.TempDir())
	if _, err := x.Rebuild(t.Context(), src.files()); err != nil {
		t.Fatal(err)
	}
	if segs := x.st.man.segs; len(segs) != 1 || segs[0].docs != files {
		t.Errorf("segments %+v, want one of %d documents", segs, files)
	}
	healthy(t, x)
	st, err := x.Written()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 77, batchFiles, files - 1} {
		if got := having(t, st, fmt.Sprintf("number%d", i)); !slices.Equal(got, []vault.Path{name(i)}) {
			t.Errorf("number%d: %v, want %s", i, got, name(i))
		}
	}
}

func TestGuardedMakesAnErrorOfAPanic(t *testing.T) {
	t.Parallel()
	err := func() (err error) {
		defer Guarded("test", &err)()
		panic("index out of range")
	}()
	if !errors.Is(err, ErrDamaged) {
		t.Fatalf("Guarded gave %v", err)
	}
}
