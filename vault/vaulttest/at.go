package vaulttest

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// At is a fixture for a folder that the test made itself: a person's
// repository, or a folder of one. Nothing is initialised. The check at the end
// covers the whole working tree.
func At(t testing.TB, dir string) *Fixture {
	t.Helper()
	f := &Fixture{t: t, Dir: dir, Clock: NewClock()}
	t.Cleanup(func() {
		if !f.dirty {
			Check(t, f.Dir)
		}
	})
	return f
}

// Image describes everything below dir: kind, permissions, target or contents
// of each path. skip leaves out the paths with these beginnings.
func Image(t testing.TB, dir string, skip ...string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		for _, s := range skip {
			if strings.HasPrefix(rel, s) {
				return nil
			}
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		out[rel], err = describe(p, info)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func describe(p string, info fs.FileInfo) (string, error) {
	switch {
	case info.Mode().IsRegular():
		data, err := os.ReadFile(p)
		return fmt.Sprintf("%s %x", info.Mode(), sha256.Sum256(data)), err
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(p)
		return "link " + target, err
	}
	return info.Mode().String(), nil
}

// SameImage fails the test for every path that differs between two images.
func SameImage(t testing.TB, before, after map[string]string) {
	t.Helper()
	for p, was := range before {
		if is, ok := after[p]; !ok {
			t.Errorf("%s is gone", p)
		} else if is != was {
			t.Errorf("%s changed from %q to %q", p, was, is)
		}
	}
	for p := range after {
		if _, ok := before[p]; !ok {
			t.Errorf("%s is new", p)
		}
	}
}
