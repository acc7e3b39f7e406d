package store

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"stet/vault"
)

// A large segment that was found whole is not read again before the system starts anew,
// unless somebody wrote it, or all of it is to be checked.
func TestALargeSegmentIsVerifiedOnce(t *testing.T) {
	t.Parallel()
	if info, err := os.Stat(t.TempDir()); err != nil || foundAs(info) == 0 {
		t.Skip("skip: this system does not tell what wrote a file last")
	}
	src, dir := texts{}, t.TempDir()
	for i := range 2000 {
		var b strings.Builder
		for j := range 80 {
			fmt.Fprintf(&b, "w%x ", (i*80+j)*2654435761%99991)
		}
		src[vault.Path(fmt.Sprintf("n%04d.md", i))] = b.String()
	}
	x := indexOf(t, src, dir)
	if _, err := x.Rebuild(t.Context(), src.files()); err != nil {
		t.Fatal(err)
	}
	touch := func(later time.Duration) {
		t.Helper()
		y := indexOf(t, src, dir)
		y.o.Now = func() time.Time { return time.Now().Add(later) }
		if _, err := y.Written(); err != nil {
			t.Fatal(err)
		}
		if _, err := y.Touch(t.Context(), []vault.File{src.file("n0007.md")}); err != nil {
			t.Fatal(err)
		}
	}
	// opens reports whether a state with a wrong checksum opens, which it does unverified.
	opens := func(doubted bool) bool {
		t.Helper()
		y := indexOf(t, src, dir)
		st, err := y.Known()
		if err != nil || st.man.segs[0].bytes < mapAbove {
			t.Fatalf("segments %+v, %v: the first is to be large", st.man.segs, err)
		}
		st.man.segs[0].crc++
		st.doubted = doubted
		err = st.open(y.store, nil)
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatal(err)
		}
		return err == nil
	}
	if touch(0); opens(false) {
		t.Error("a segment counts as verified within a second of being written")
	}
	if touch(time.Minute); !opens(false) {
		t.Error("a segment that was found whole is verified again")
	}
	if opens(true) {
		t.Error("a segment that is to be checked is not verified")
	}
	y := indexOf(t, src, dir)
	if _, err := y.Known(); err != nil {
		t.Fatal(err)
	}
	file := y.store.Root.Abs(y.store.segmentPath(0))
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond) // the next tick of the file system's clock
	if err := os.Chtimes(file, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if opens(false) {
		t.Error("a segment that was written is not verified again")
	}
}
