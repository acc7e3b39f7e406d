package durabletest_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"stet/vault/durable"
	"stet/vault/durable/durabletest"
)

// put writes a file anew.
func put(t *testing.T, name, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

func follow(t *testing.T, dirs ...string) *durabletest.Disk {
	t.Helper()
	d, err := durabletest.NewDisk(dirs...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func open(t *testing.T, dir string, hook durable.Hook) *durable.Root {
	t.Helper()
	r, err := durable.OpenRoot(dir, hook)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

const oldText, newText = "old text, not short", "new text, which is longer"

// protocol replaces note.md with a new folder's help, as a careful writer does.
func protocol(r *durable.Root) error {
	return errors.Join(
		r.MkdirAll("tmp.mkdir", "tmp/deep", 0o755),
		r.CreateSync("note.tmp", "tmp/deep/x", []byte(newText), 0o644),
		r.Rename("note.rename", "tmp/deep/x", "notes/note.md"),
		r.SyncDir("note.dir", "notes"),
		r.SyncDir("tmp.dir", "tmp/deep"),
	)
}

// damage runs through all images and reports the first that is neither old nor
// new, or old although the protocol had returned.
func damage(t *testing.T, d *durabletest.Disk, dir, label string) error {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	into, images := filepath.Join(t.TempDir(), "after"), 0
	for m := range d.Images(rng, durabletest.Modes()...) {
		images++
		must(t, m.Write(map[string]string{dir: into}))
		got, err := os.ReadFile(filepath.Join(into, "notes/note.md"))
		switch {
		case err != nil:
			return fmt.Errorf("%v: %w", m, err)
		case string(got) == oldText && m.N < d.Len():
		case string(got) != newText:
			return fmt.Errorf("%v: note.md holds %q", m, got)
		}
	}
	if label == "" && images < 8 {
		t.Errorf("only %d different images", images)
	}
	return nil
}

func TestCarefulProtocolSurvivesEveryImage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "notes/note.md"), oldText)
	d := follow(t, dir)
	must(t, protocol(open(t, dir, d.Wrap(nil))))
	must(t, d.Check(nil))
	if err := damage(t, d, dir, ""); err != nil {
		t.Error(err)
	}
	for label, needed := range map[string]bool{"note.tmp": true, "note.dir": true, "tmp.dir": false, "tmp.mkdir": false} {
		d.Sabotage(func(s durable.Step) bool { return s.Label == label })
		err := damage(t, d, dir, label)
		if (err != nil) != needed {
			t.Errorf("without the fsync %q: %v", label, err)
		}
		t.Log(err)
	}
	d.Sabotage(nil)
	if err := damage(t, d, dir, ""); err != nil {
		t.Error(err)
	}
}

func TestSkippedFsyncIsCaughtLikeASabotagedOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "notes/note.md"), oldText)
	d := follow(t, dir)
	must(t, protocol(open(t, dir, d.Wrap(durabletest.Skip("note.tmp", durable.OpSync, nil)))))
	if err := damage(t, d, dir, "note.tmp"); err == nil {
		t.Error("the missing fsync was not noticed")
	}
}

// tree reads a folder into "name → contents"; folders end in a slash.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		if e.IsDir() {
			out[filepath.ToSlash(rel)+"/"] = ""
			return nil
		}
		data, err := os.ReadFile(p)
		out[filepath.ToSlash(rel)] = string(data)
		return err
	})
	must(t, err)
	return out
}

func TestModesOfUnsyncedEffects(t *testing.T) {
	t.Parallel()
	const half, zeros = "half", "\x00\x00\x00\x00\x00\x00\x00\x00"
	tests := []struct {
		name string
		run  func(r *durable.Root) error
		want map[durabletest.Mode]string // what "b" holds; "-" = not there
	}{
		{"create", func(r *durable.Root) error { return r.Create("l", "b", []byte("halfhalf"), 0o644) },
			map[durabletest.Mode]string{"strict": "-", "names": "", "torn": half, "zeros": zeros, "data": "-", "all": "halfhalf"}},
		{"create, name synced", func(r *durable.Root) error {
			return errors.Join(r.Create("l", "b", []byte("halfhalf"), 0o644), r.SyncDir("l", "."))
		}, map[durabletest.Mode]string{"strict": "", "names": "", "torn": half, "zeros": zeros, "data": "halfhalf", "all": "halfhalf"}},
		{"create, bytes synced", func(r *durable.Root) error { return r.CreateSync("l", "b", []byte("halfhalf"), 0o644) },
			map[durabletest.Mode]string{"strict": "-", "names": "halfhalf", "torn": "halfhalf", "zeros": "halfhalf", "data": "-", "all": "halfhalf"}},
		{"overwrite", func(r *durable.Root) error { return r.Overwrite("l", "a", []byte("AB"), 0o644, false) },
			map[durabletest.Mode]string{"strict": "-", "names": "-", "all": "-"}},
		{"rename, source synced", func(r *durable.Root) error {
			return errors.Join(r.Rename("l", "sub/s", "b"), r.SyncDir("l", "sub"))
		}, map[durabletest.Mode]string{"strict": "-", "data": "-", "names": "s", "all": "s"}},
		{"rename, target synced", func(r *durable.Root) error {
			return errors.Join(r.Rename("l", "sub/s", "b"), r.SyncDir("l", "."))
		}, map[durabletest.Mode]string{"strict": "s", "data": "s", "names": "s", "all": "s"}},
		{"rename, both synced", func(r *durable.Root) error {
			return errors.Join(r.Rename("l", "sub/s", "b"), r.SyncDir("l", "."), r.SyncDir("l", "sub"))
		}, map[durabletest.Mode]string{"strict": "s", "data": "s", "names": "s", "all": "s"}},
	}
	for _, tt := range tests {
		dir, into := t.TempDir(), filepath.Join(t.TempDir(), "x")
		put(t, filepath.Join(dir, "a"), "12345678")
		put(t, filepath.Join(dir, "sub/s"), "s")
		d := follow(t, dir)
		must(t, tt.run(open(t, dir, d.Wrap(nil))))
		must(t, d.Check(nil))
		for mode, want := range tt.want {
			must(t, d.Crash(d.Len(), mode, nil, map[string]string{dir: into}))
			all := tree(t, into)
			got, ok := all["b"]
			if !ok {
				got = "-"
			}
			if got != want {
				t.Errorf("%s, %s: b holds %q, want %q", tt.name, mode, got, want)
			}
			beside := mode == durabletest.Strict && tt.name == "rename, target synced"
			if _, there := all["sub/s"]; there != (got != "s" || beside) {
				t.Errorf("%s, %s: the old name is there: %v: %v", tt.name, mode, there, all)
			}
		}
	}
}

func TestOverwriteInPlaceIsTorn(t *testing.T) {
	t.Parallel()
	dir, into := t.TempDir(), filepath.Join(t.TempDir(), "x")
	put(t, filepath.Join(dir, "a"), "12345678")
	d := follow(t, dir)
	r := open(t, dir, d.Wrap(nil))
	must(t, r.Overwrite("l", "a", []byte("ABCD"), 0o644, false))
	for mode, want := range map[durabletest.Mode]string{
		"strict": "12345678", "names": "12345678", "torn": "AB34", "zeros": "1234", "data": "ABCD", "all": "ABCD",
	} {
		must(t, d.Crash(d.Len(), mode, nil, map[string]string{dir: into}))
		if got := tree(t, into)["a"]; got != want {
			t.Errorf("%s: %q, want %q", mode, got, want)
		}
	}
}

// TestFsyncBelongsToTheInode: the bytes follow the file through a rename, and a
// synced name keeps an unsynced file's emptiness.
func TestFsyncBelongsToTheInode(t *testing.T) {
	t.Parallel()
	dir, into := t.TempDir(), filepath.Join(t.TempDir(), "x")
	put(t, filepath.Join(dir, "a"), "a\n")
	must(t, os.Link(filepath.Join(dir, "a"), filepath.Join(dir, "b")), os.Symlink("a", filepath.Join(dir, "l")))
	d := follow(t, dir)
	r := open(t, dir, d.Wrap(nil))
	must(t, r.Append("l", "a", []byte("+"), 0o644, true), r.Rename("l", "a", "c"), r.Link("l", "c", "e"))
	must(t, d.Check(func(p string) bool { return p == "l" }))
	must(t, d.Crash(d.Len(), durabletest.Strict, nil, map[string]string{dir: into}))
	x, errX := os.Stat(filepath.Join(into, "a"))
	y, errY := os.Stat(filepath.Join(into, "b"))
	l, errL := os.Readlink(filepath.Join(into, "l"))
	must(t, errX, errY, errL)
	got := tree(t, into)
	if !os.SameFile(x, y) || l != "a" || got["b"] != "a\n+" || len(got) != 3 {
		t.Errorf("got %v, link to %q, same file %v", got, l, os.SameFile(x, y))
	}
}

func TestRandomKeepsPrefixes(t *testing.T) {
	t.Parallel()
	dir, into := t.TempDir(), filepath.Join(t.TempDir(), "x")
	d := follow(t, dir)
	r := open(t, dir, d.Wrap(nil))
	must(t, r.MkdirAllLazy("l", "d", 0o755), r.Create("l", "d/f", nil, 0o644), r.Append("l", "d/f", []byte("one\n"), 0o644, false),
		r.Append("l", "d/f", []byte("two\n"), 0o644, false), r.Rename("l", "d/f", "d/g"), r.Rename("l", "d/g", "h"))
	rng, seen := rand.New(rand.NewPCG(3, 4)), map[string]bool{}
	for range 300 {
		must(t, d.Crash(d.Len(), durabletest.Random, rng, map[string]string{dir: into}))
		got, text := tree(t, into), ""
		for _, name := range []string{"d/f", "d/g", "h"} {
			if s, ok := got[name]; ok {
				text += "[" + name + ":" + s + "]"
				if full := "one\ntwo\n"; len(s) > len(full) || full[:len(s)] != s {
					t.Fatalf("not a prefix: %q", s)
				}
			}
		}
		seen[text] = true
	}
	if len(seen) < 20 {
		t.Errorf("300 random crashes gave %d outcomes: %v", len(seen), seen)
	}
}

func TestStepsThatChangeNothingOrFail(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a"), "a")
	put(t, filepath.Join(dir, "b"), "b")
	put(t, filepath.Join(dir, "sub/s"), "s")
	d := follow(t, dir)
	r := open(t, dir, d.Wrap(nil))
	move := durable.Move{Label: "l", Temp: r, TempPath: "a", Target: r, Path: "b"}
	for n, err := range []error{move.Place(), move.Take(), r.Link("l", "a", "b"), r.Remove("l", "sub"),
		r.CreateSync("l", "a", nil, 0o644), r.Rename("l", "none", "x"), r.Rename("l", "a", "sub")} {
		if err == nil {
			t.Errorf("call %d succeeded", n)
		}
	}
	must(t, r.Remove("l", "none"), d.Check(nil))
	must(t, move.Exchange(), d.Check(nil))
	put(t, filepath.Join(dir, "stray"), "written past the seam")
	if err := d.Check(nil); err == nil {
		t.Error("Check did not see a file that was written past the seam")
	}
	must(t, d.Resync(), r.Remove("l", "stray"), d.Check(nil))
	into := filepath.Join(t.TempDir(), "x")
	must(t, d.Crash(d.Len(), durabletest.Strict, nil, map[string]string{dir: into}))
	if got := tree(t, into); got["stray"] == "" || got["a"] != "b" || got["b"] != "a" {
		t.Errorf("after Resync, everything but the removal must be durable: %v", got)
	}
}

func TestShortWriteIsRecordedByHalf(t *testing.T) {
	t.Parallel()
	dir, into := t.TempDir(), filepath.Join(t.TempDir(), "x")
	d := follow(t, dir)
	r := open(t, dir, d.Wrap(durabletest.FailAt(1, durable.ErrShortWrite, nil)))
	if err := r.Append("l", "log", []byte("12345678"), 0o644, true); err == nil {
		t.Fatal("no error")
	}
	must(t, d.Check(nil), d.Crash(d.Len(), durabletest.All, nil, map[string]string{dir: into}))
	if got := tree(t, into)["log"]; got != "1234" {
		t.Errorf("log holds %q", got)
	}
}

// TestTwoFolders checks renames between followed folders and from one that is
// not followed, which arrive whole.
func TestTwoFolders(t *testing.T) {
	t.Parallel()
	tmp, dir, other := t.TempDir(), t.TempDir(), t.TempDir()
	put(t, filepath.Join(tmp, "x"), "x")
	put(t, filepath.Join(other, "y"), "y")
	d := follow(t, tmp, dir)
	if _, err := durabletest.NewDisk(dir, filepath.Dir(dir)); err == nil {
		t.Error("a folder within another was accepted")
	}
	hook := d.Wrap(nil)
	target := open(t, dir, hook)
	must(t, durable.Move{Label: "l", Temp: open(t, tmp, hook), TempPath: "x", Target: target, Path: "x"}.Place(),
		durable.Move{Label: "l", Temp: open(t, other, hook), TempPath: "y", Target: target, Path: "y"}.Place(),
		open(t, other, hook).SyncDir("l", "."), target.SyncDir("l", "."), d.Check(nil))
	if d.Len() != 3 {
		t.Errorf("%d steps recorded, want 3: %v", d.Len(), d.Steps())
	}
	into := map[string]string{tmp: filepath.Join(t.TempDir(), "tmp"), dir: filepath.Join(t.TempDir(), "dir")}
	must(t, d.Crash(d.Len(), durabletest.Strict, nil, into))
	a, b := tree(t, into[tmp]), tree(t, into[dir])
	if a["x"] != "x" || b["x"] != "x" || b["y"] != "y" || len(b) != 2 {
		t.Errorf("strict: %v %v", a, b)
	}
	must(t, d.Crash(d.Len(), durabletest.Data, nil, into))
	if a, b := tree(t, into[tmp]), tree(t, into[dir]); len(a) != 0 || len(b) != 2 {
		t.Errorf("data: %v %v", a, b)
	}
}

// TestTwoFoldersAreSyncedApart says what each folder's fsync keeps of a rename,
// of an exchange, and of a name that is used again.
func TestTwoFoldersAreSyncedApart(t *testing.T) {
	t.Parallel()
	move := func(r *durable.Root) durable.Move {
		return durable.Move{Label: "l", Temp: r, TempPath: "a/f", Target: r, Path: "b/g"}
	}
	again := func(r *durable.Root) error {
		return errors.Join(move(r).Replace(), r.CreateSync("l", "a/f", []byte("3"), 0o644))
	}
	tests := []struct {
		name string
		run  func(*durable.Root) error
		sync string
		want map[durabletest.Mode]string // a/f and b/g
	}{
		{"replace", func(r *durable.Root) error { return move(r).Replace() }, "b", map[durabletest.Mode]string{"strict": "11", "data": "-1", "all": "-1"}},
		{"replace", func(r *durable.Root) error { return move(r).Replace() }, "a", map[durabletest.Mode]string{"strict": "12", "data": "12", "all": "-1"}},
		{"exchange", func(r *durable.Root) error { return move(r).Exchange() }, "b", map[durabletest.Mode]string{"strict": "11", "data": "21", "all": "21"}},
		{"exchange", func(r *durable.Root) error { return move(r).Exchange() }, "a", map[durabletest.Mode]string{"strict": "22", "data": "21", "all": "21"}},
		{"name used again", again, "a", map[durabletest.Mode]string{"strict": "31", "data": "31", "all": "31"}},
		{"name used again", again, "b", map[durabletest.Mode]string{"strict": "11", "data": "-1", "all": "31"}},
	}
	for _, tt := range tests {
		dir, into := t.TempDir(), filepath.Join(t.TempDir(), "x")
		put(t, filepath.Join(dir, "a/f"), "1")
		put(t, filepath.Join(dir, "b/g"), "2")
		d := follow(t, dir)
		r := open(t, dir, d.Wrap(nil))
		if err := tt.run(r); errors.Is(err, durable.ErrNoExchange) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		must(t, r.SyncDir("l", tt.sync), d.Check(nil))
		for mode, want := range tt.want {
			must(t, d.Crash(d.Len(), mode, nil, map[string]string{dir: into}))
			all, got := tree(t, into), ""
			for _, name := range []string{"a/f", "b/g"} {
				text, ok := all[name]
				if !ok {
					text = "-"
				}
				got += text
			}
			if got != want {
				t.Errorf("%s, %s synced, %s: got %s, want %s", tt.name, tt.sync, mode, got, want)
			}
		}
		for seed := range uint64(30) {
			must(t, d.Crash(d.Len(), durabletest.Random, rand.New(rand.NewPCG(7, seed)), map[string]string{dir: into}))
			if got := tree(t, into); tt.name != "exchange" && got["b/g"] != "1" && got["a/f"] != "1" {
				t.Errorf("%s, %s synced, random: a file has no name left: %v", tt.name, tt.sync, got)
			}
		}
	}
}
