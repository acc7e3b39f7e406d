package durabletest_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"stet/vault/durable"
	"stet/vault/durable/durabletest"
)

// TestWriteIntoAUsedFolder compares images written over one another, after a
// person made a mess of them, with the same images written afresh.
func TestWriteIntoAUsedFolder(t *testing.T) {
	t.Parallel()
	dir, used := t.TempDir(), filepath.Join(t.TempDir(), "used")
	put(t, filepath.Join(dir, "sub/a"), "same")
	put(t, filepath.Join(dir, "sub/b"), "same")
	put(t, filepath.Join(dir, "sub/deep/c"), "c")
	must(t, os.Symlink("a", filepath.Join(dir, "sub/l")))
	d := follow(t, dir)
	r := open(t, dir, d.Wrap(nil))
	must(t, r.CreateSync("l", "x", []byte("x"), 0o644), r.Link("l", "x", "y"), r.Chmod("l", "sub/a", 0o600),
		r.Remove("l", "sub/deep/c"), r.Remove("l", "sub/deep"), r.CreateSync("l", "sub/deep", []byte("no folder"), 0o644))
	images := 0
	for m := range d.Images(rand.New(rand.NewPCG(5, 6)), durabletest.Modes()...) {
		images++
		fresh := filepath.Join(t.TempDir(), "fresh")
		must(t, m.Write(map[string]string{dir: used}), m.Write(map[string]string{dir: fresh}))
		got, want := tree(t, used), tree(t, fresh)
		if !maps.Equal(got, want) {
			t.Errorf("%v: %v, want %v", m, got, want)
		}
		for name := range want {
			x, errX := os.Lstat(filepath.Join(used, name))
			y, errY := os.Lstat(filepath.Join(fresh, name))
			must(t, errX, errY)
			if x.Mode() != y.Mode() {
				t.Errorf("%v: %s has mode %v, want %v", m, name, x.Mode(), y.Mode())
			}
		}
		a, errA := os.Stat(filepath.Join(used, "sub/a"))
		b, errB := os.Stat(filepath.Join(used, "sub/b"))
		must(t, errA, errB)
		if os.SameFile(a, b) {
			t.Errorf("%v: two files became one", m)
		}
		// Same bytes, but one inode: must be undone by the next image.
		must(t, os.Remove(filepath.Join(used, "sub/b")), os.Link(filepath.Join(used, "sub/a"), filepath.Join(used, "sub/b")))
		put(t, filepath.Join(used, "sub/a"), "mess")
		put(t, filepath.Join(used, "more/mess"), "mess")
	}
	if images < 5 {
		t.Errorf("only %d images", images)
	}
}

// BenchmarkImages writes every image of 40 small protected writes into a vault
// of 100 files.
func BenchmarkImages(b *testing.B) {
	dir := b.TempDir()
	root, err := durable.OpenRoot(dir, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	for i := range 100 {
		if err := root.Create("l", fmt.Sprintf("f%d", i), []byte("some text of a note\n"), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	d, err := durabletest.NewDisk(dir)
	if err != nil {
		b.Fatal(err)
	}
	hooked, err := durable.OpenRoot(dir, d.Wrap(nil))
	if err != nil {
		b.Fatal(err)
	}
	defer hooked.Close()
	for i := range 40 {
		name := fmt.Sprintf("f%d", i)
		if err := hooked.CreateSync("l", "tmp", []byte("new text\n"), 0o644); err != nil {
			b.Fatal(err)
		}
		if err := hooked.Rename("l", "tmp", name); err != nil {
			b.Fatal(err)
		}
		if err := hooked.SyncDir("l", "."); err != nil {
			b.Fatal(err)
		}
	}
	into := map[string]string{dir: filepath.Join(b.TempDir(), "x")}
	for b.Loop() {
		images := 0
		for m := range d.Images(rand.New(rand.NewPCG(1, 1)), durabletest.Modes()...) {
			images++
			if err := m.Write(into); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(images), "images/op")
	}
}
