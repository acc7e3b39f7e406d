package durable_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"stet/vault/durable"
)

func TestMakeFolderMakesWhatIsMissingAndSaysEachStep(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b", "c")
	var steps []durable.Op
	hook := func(s durable.Step) error {
		steps = append(steps, s.Op)
		return nil
	}
	for range 2 {
		if err := durable.MakeFolder("test", dir, 0o755, hook); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Errorf("%v, %v", info, err)
	}
	made := len(slices.DeleteFunc(steps, func(op durable.Op) bool { return op != durable.OpMkdir }))
	if made != 3 {
		t.Errorf("%d folders made, want 3 and none the second time", made)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := durable.MakeFolder("test", filepath.Join(dir, "file", "x"), 0o755, nil); err == nil {
		t.Error("a folder was made below a file")
	}
}

func TestRemoveAllStaysInTheFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	outside := filepath.Join(dir, "outside")
	inside := filepath.Join(dir, "root", "x", "y")
	for _, d := range []string{outside, inside} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, "f"), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(inside, "link")); err != nil {
		t.Skip("skip: no symbolic links here")
	}
	root, err := durable.OpenRoot(filepath.Join(dir, "root"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for range 2 {
		if err := root.RemoveAll("test", "x"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "root", "x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	if _, err := os.Stat(filepath.Join(outside, "f")); err != nil {
		t.Errorf("what a link led to is gone: %v", err)
	}
}
