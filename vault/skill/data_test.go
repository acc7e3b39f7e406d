package skill_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stet/vault"
	"stet/vault/skill"
	"stet/vault/vaulttest"
)

// Real skills, from the archives in the folder that STET_DATA names: all are found, checked, archived
// and restored, and the trees are then what they were, permissions included.
func TestRealSkillsGoToTheArchiveAndComeBack(t *testing.T) {
	t.Parallel()
	data := os.Getenv("STET_DATA")
	if data == "" {
		t.Skip("skip: STET_DATA names no folder with real data")
	}
	f := vaulttest.New(t)
	v := f.Open()
	for name, want := range map[string]int{"skills-hermes": 112, "skills-superpowers": 14} {
		unpack(t, filepath.Join(data, name+".tar.gz"), filepath.Join(f.Dir, "skills", name))
		all, err := skill.All(t.Context(), v, false)
		n := 0
		for _, s := range all {
			if strings.HasPrefix(string(s.Folder), "skills/"+name+"/") {
				n++
			}
			if s.Name == "" || s.Description == "" {
				t.Errorf("%s says nothing: %+v", s.Folder, s)
			}
		}
		if err != nil || n != want {
			t.Fatalf("%s: %d skills, want %d: %v", name, n, want, err)
		}
	}
	all, err := skill.All(t.Context(), v, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		f.Write(string(s.Folder)+"/scripts/run.sh", "#!/bin/sh\nexit 1\n")
		f.Write(string(s.Folder)+"/assets/logo.bin", "\x00\xff\r\n"+s.Name)
		if err := os.Chmod(filepath.Join(f.Dir, string(s.Folder), "scripts", "run.sh"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := skill.Lint(t.Context(), v, all, all); err != nil {
		t.Error(err)
	}
	vaulttest.NeedGit(t)
	f.Git("add", "-A") // one of them holds an example of a password, which stet would not commit
	f.Git("commit", "-qm", "skills")
	before := vaulttest.Image(t, filepath.Join(f.Dir, "skills"))
	for _, s := range all {
		if _, err := skill.Archive(t.Context(), v, s, "20260101T000000Z", vault.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := skill.All(t.Context(), v, false); err != nil || len(left) > 0 {
		t.Fatalf("%d left: %v", len(left), err)
	}
	old, err := skill.All(t.Context(), v, true)
	if err != nil || len(old) != len(all) {
		t.Fatalf("%d in the archive, want %d: %v", len(old), len(all), err)
	}
	for _, s := range old {
		if _, err := skill.Restore(t.Context(), v, s, vault.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	vaulttest.SameImage(t, before, vaulttest.Image(t, filepath.Join(f.Dir, "skills")))
}

// unpack extracts the plain files of an archive.
func unpack(t *testing.T, archive, dir string) {
	t.Helper()
	f, err := os.Open(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() // opened for reading only
	zr, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg || !filepath.IsLocal(h.Name) {
			continue
		}
		full := filepath.Join(dir, h.Name)
		data, err := io.ReadAll(tr)
		if err = errors.Join(err, os.MkdirAll(filepath.Dir(full), 0o755)); err == nil {
			err = os.WriteFile(full, data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
