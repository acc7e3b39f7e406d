package durable_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"stet/vault/durable"
	"stet/vault/durable/durabletest"
)

func open(t *testing.T, dir string, hook durable.Hook) *durable.Root {
	t.Helper()
	r, err := durable.OpenRoot(dir, hook)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func put(t *testing.T, data string, elem ...string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(elem...), []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, elem ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	must(t, err)
	var out []string
	for _, e := range list {
		out = append(out, e.Name())
	}
	return out
}

func TestFailedCreateLeavesNothing(t *testing.T) {
	t.Parallel()
	// Steps: create, write, fsync.
	for n, fault := range []error{syscall.ENOSPC, durable.ErrShortWrite, syscall.EIO} {
		dir := t.TempDir()
		r := open(t, dir, durabletest.FailAt(n, fault, nil))
		err := r.CreateSync("l", "x", []byte("12345678"), 0o644)
		want := fault
		if errors.Is(fault, durable.ErrShortWrite) {
			want = syscall.ENOSPC
		}
		if !errors.Is(err, want) {
			t.Errorf("step %d: got %v, want %v", n, err, want)
		}
		if left := names(t, dir); len(left) > 0 {
			t.Errorf("step %d: left behind %v", n, left)
		}
		must(t, r.CreateSync("l", "x", []byte("12345678"), 0o640))
		info, err := r.Lstat("x")
		must(t, err)
		if got := read(t, dir, "x"); got != "12345678" || info.Mode().Perm() != 0o640 {
			t.Errorf("x holds %q, mode %v", got, info.Mode())
		}
		if err := r.CreateSync("l", "x", []byte("other"), 0o644); !errors.Is(err, fs.ErrExist) {
			t.Errorf("create over a file: %v", err)
		}
		if got := read(t, dir, "x"); got != "12345678" {
			t.Errorf("a refused create changed the file to %q", got)
		}
	}
}

func TestReadFileBounds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, "12345678", dir, "x")
	r := open(t, dir, nil)
	for _, max := range []int64{0, 8, 9} {
		if got, info, err := r.ReadFile("x", max); err != nil || string(got) != "12345678" || info.Size() != 8 {
			t.Errorf("bound %d: %q, %v", max, got, err)
		}
	}
	if _, _, err := r.ReadFile("x", 7); !errors.Is(err, durable.ErrTooLarge) {
		t.Errorf("bound 7: %v", err)
	}
	if _, _, err := r.ReadFile("none", 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

func TestNoPathLeavesTheRoot(t *testing.T) {
	t.Parallel()
	out, dir := t.TempDir(), filepath.Join(t.TempDir(), "in")
	must(t, os.Mkdir(dir, 0o755), os.Symlink(out, filepath.Join(dir, "link")),
		os.Symlink(filepath.Join(out, "secret"), filepath.Join(dir, "leaf")))
	put(t, "secret", out, "secret")
	put(t, "x", dir, "x")
	r := open(t, dir, nil)
	before := names(t, filepath.Dir(dir))
	for _, p := range []string{"link/secret", "../secret", "x/../../secret", filepath.ToSlash(out) + "/secret"} {
		data := []byte("overwritten")
		_, _, read := r.ReadFile(p, 0)
		_, list := r.ReadDir(p[:strings.LastIndexByte(p, '/')])
		for call, err := range map[string]error{
			"ReadFile": read, "ReadDir": list,
			"CreateSync": r.CreateSync("l", p+".new", data, 0o644), "Overwrite": r.Overwrite("l", p, data, 0o644, true),
			"Append": r.Append("l", p, data, 0o644, true),
			"Chmod":  r.Chmod("l", p, 0o600), "Rename from": r.Rename("l", p, "y"), "Rename to": r.Rename("l", "x", p),
			"Link from": r.Link("l", p, "z"), "Link to": r.Link("l", "x", p+".new"),
			"MkdirAll": r.MkdirAll("l", p+".dir/d", 0o755),
			"Place":    durable.Move{Temp: r, TempPath: "x", Target: r, Path: p + ".new"}.Place(),
			"Take":     durable.Move{Temp: r, TempPath: "t", Target: r, Path: p}.Take(),
			"Exchange": durable.Move{Temp: r, TempPath: "x", Target: r, Path: p}.Exchange(),
			"Replace":  durable.Move{Temp: r, TempPath: "x", Target: r, Path: p}.Replace(),
		} {
			if err == nil {
				t.Errorf("%s %q: no error", call, p)
			}
		}
		r.Remove("l", p) // may call a path outside gone; what counts is below
	}
	if got := names(t, out); len(got) != 1 || read(t, out, "secret") != "secret" || read(t, dir, "x") != "x" {
		t.Errorf("outside now: %v", got)
	}
	if got := names(t, filepath.Dir(dir)); !slices.Equal(got, before) {
		t.Errorf("beside the root now: %v", got)
	}
	for _, p := range []string{"..", ".", "", "x/.."} {
		if err := (durable.Move{Temp: r, TempPath: "x", Target: r, Path: p}).Exchange(); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("exchange with %q: %v", p, err)
		}
	}
}

func TestAppendCutsATornLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := open(t, dir, durabletest.FailAt(4, durable.ErrShortWrite, nil))
	// Steps of a first append: create, write, fsync, fsyncdir.
	must(t, r.Append("l", "log", []byte("one\n"), 0o600, true))
	if err := r.Append("l", "log", []byte("lost line\n"), 0o600, true); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("short write: %v", err)
	}
	must(t, r.Append("l", "log", []byte("two\n"), 0o600, true), r.Append("l", "log", []byte("three\n"), 0o600, false))
	if got, want := read(t, dir, "log"), "one\ntwo\nthree\n"; got != want {
		t.Errorf("log holds %q, want %q", got, want)
	}
}

func TestOverwrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := open(t, dir, nil)
	for _, text := range []string{"first, long", "short", "", "longer than ever"} {
		must(t, r.Overwrite("l", "f", []byte(text), 0o644, true))
		if got := read(t, dir, "f"); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
}

func TestMkdirAll(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "real/sub"), 0o755), os.Symlink("real", filepath.Join(dir, "link")))
	put(t, "", dir, "file")
	r := open(t, dir, nil)
	for _, p := range []string{"link", "link/sub", "link/new", "file", "file/new"} {
		if err := r.MkdirAll("l", p, 0o755); !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("MkdirAll(%q): %v, want ENOTDIR", p, err)
		}
	}
	must(t, r.MkdirAll("l", "a/b/c", 0o755), r.MkdirAll("l", "a/b/c", 0o755), r.MkdirAll("l", ".", 0o755))
	if info, err := r.Lstat("a/b/c"); err != nil || !info.IsDir() {
		t.Errorf("a/b/c: %v", err)
	}
	if got := names(t, filepath.Join(dir, "real")); len(got) != 1 {
		t.Errorf("made behind the link: %v", got)
	}
}

func TestStepsAreAnnouncedInOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var count durabletest.Counter
	r := open(t, dir, count.Hook)
	must(t, r.MkdirAll("mk", "d/e", 0o755), r.CreateSync("new", "d/f", []byte("1"), 0o644), r.Rename("mv", "d/f", "g"),
		r.SyncDir("dir", "."), r.Overwrite("ow", "o", []byte("2"), 0o644, true), r.Overwrite("ow", "o", nil, 0o644, false),
		r.Append("ap", "o", []byte("3"), 0o644, true), r.Link("ln", "g", "h"), r.Chmod("ch", "h", 0o600),
		r.Remove("rm", "h"), durable.Move{Label: "ex", Temp: r, TempPath: "o", Target: r, Path: "g"}.Exchange(),
		durable.Move{Label: "take", Temp: r, TempPath: "t", Target: r, Path: "g"}.Take())
	var got []string
	for _, s := range count.Steps() {
		text := s.Label + " " + string(s.Op)
		for _, p := range []string{s.Path, s.To} {
			if p != "" {
				rel, err := filepath.Rel(dir, p)
				must(t, err)
				text += " " + filepath.ToSlash(rel)
			}
		}
		got = append(got, text)
	}
	want := []string{
		"mk mkdir d", "mk fsyncdir .", "mk mkdir d/e", "mk fsyncdir d",
		"new create d/f", "new write d/f", "new fsync d/f", "mv rename d/f g", "dir fsyncdir .",
		"ow create o", "ow write o", "ow fsync o", "ow fsyncdir .", "ow truncate o", "ap write o", "ap fsync o",
		"ln link g h", "ch chmod h", "rm remove h", "ex exchange o g", "take rename g t",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A folder is described as the standard library would, whether its entries are
// looked at one after the other or side by side.
func TestFoldersOfAnySizeAreDescribed(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 511, 512, 1500} {
		dir := filepath.Join(t.TempDir(), "d")
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			name := filepath.Join(dir, fmt.Sprintf("%05d", i*7919%100003))
			var err error
			switch i % 50 {
			case 0:
				err = os.Mkdir(name, 0o750|fs.ModeSticky)
			case 1:
				err = os.Symlink("nowhere", name)
			default:
				err = os.WriteFile(name, []byte(strings.Repeat("x", i%9)), 0o640)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		r, err := durable.OpenRoot(filepath.Dir(dir), nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []durable.Entry
		err = r.Entries("d", func(in []durable.Entry) { got = slices.Clone(in) })
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadDir(dir)
		if err != nil || len(got) != n || len(want) != n {
			t.Fatalf("%d entries, %d there are, %v; want %d", len(got), len(want), err, n)
		}
		for i, e := range got {
			is, err := os.Lstat(filepath.Join(dir, want[i].Name()))
			if err != nil {
				t.Fatal(err)
			}
			if e != durable.EntryOf(is) || e.Name != is.Name() || e.Mode != is.Mode() || e.IsDir() != is.IsDir() || e.Regular() != is.Mode().IsRegular() || e.Size != is.Size() || !e.ModTime().Equal(is.ModTime()) {
				t.Fatalf("entry %d of %d is %+v, want %+v", i, n, e, is)
			}
		}
	}
}
