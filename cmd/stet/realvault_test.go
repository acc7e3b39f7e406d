package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRealVault does the main job on thousands of real notes, which this
// repository must not hold: STET_DATA names the folder with vault-tldr.tar.gz.
// No file that stet was not told to change may be rewritten, not even with the
// same bytes.
func TestRealVault(t *testing.T) {
	t.Parallel()
	data := os.Getenv("STET_DATA")
	if data == "" {
		t.Skip("skip: STET_DATA is not set")
	}
	home := t.TempDir()
	if err := untar(filepath.Join(data, "vault-tldr.tar.gz"), home); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, "tldr")
	before := stats(t, dir)
	if len(before) < 7000 {
		t.Fatalf("only %d files in the real vault", len(before))
	}
	for _, step := range []struct {
		args []string
		want string
	}{
		{[]string{"init", dir}, "Markdown files of yours"},
		{[]string{"remember", "Use zstd for our archives.", "--title", "Archives"}, "memories/archives.md"},
		{[]string{"show", "archives"}, "Use zstd"},
		{[]string{"log", "archives"}, "remember: Archives"},
		{[]string{"search", "zstd for our archives"}, "memories/archives.md:"},
		{[]string{"search", "extract", "tar", "archive"}, "pages/"},
		{[]string{"update", "archives", "--append", "Level 19."}, "updated"},
		{[]string{"revert", "HEAD"}, "-Level 19."},
		{[]string{"undo"}, "+Level 19."},
		{[]string{"show", "pages/common/tar.md"}, "Archiving utility"},
		{[]string{"status"}, "1 memory"},
		{[]string{"doctor"}, "nothing is wrong"},
	} {
		out, code := child(t, home, dir, "", step.args...)
		if code != 0 || !strings.Contains(out, step.want) {
			t.Fatalf("stet %q: exit %d, want %q in\n%.500s", step.args, code, step.want, out)
		}
	}
	after := stats(t, dir)
	for name, was := range before {
		if !os.SameFile(was, after[name]) || was.ModTime() != after[name].ModTime() ||
			was.Size() != after[name].Size() {
			t.Errorf("%s was rewritten", name)
		}
	}
	if err := checkVault(dir); err != nil {
		t.Error(err)
	}
}

func untar(name, dir string) (err error) {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	r := tar.NewReader(z)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(h.Name))
		if !filepath.IsLocal(h.Name) {
			return fmt.Errorf("%q leads out of the archive", h.Name)
		}
		switch h.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(to, 0o777)
		case tar.TypeReg:
			var data []byte
			if data, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(to, data, 0o666)
			}
		}
		if err != nil {
			return err
		}
	}
}

func stats(t *testing.T, dir string) map[string]os.FileInfo {
	t.Helper()
	out := map[string]os.FileInfo{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.Contains(p, ".git"+string(filepath.Separator)) {
			return err
		}
		info, err := d.Info()
		rel, _ := filepath.Rel(dir, p)
		out[rel] = info
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
