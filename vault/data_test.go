package vault_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"stet/vault"
	"stet/vault/vaulttest"
)

// unpack extracts an archive of plain files and returns how many there were.
func unpack(t *testing.T, archive, dir string) int {
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
	n := 0
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg || !filepath.IsLocal(h.Name) {
			continue
		}
		full := filepath.Join(dir, h.Name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(tr)
		if err == nil {
			err = os.WriteFile(full, data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
}

// A real vault of thousands of files, from the folder that STET_DATA names.
func TestARealVaultOfThousandsOfFiles(t *testing.T) {
	t.Parallel()
	data := os.Getenv("STET_DATA")
	if data == "" {
		t.Skip("skip: STET_DATA is not set; it names the folder with vault-tldr.tar.gz")
	}
	f := vaulttest.At(t, filepath.Join(t.TempDir(), "notes"))
	n := unpack(t, filepath.Join(data, "vault-tldr.tar.gz"), f.Dir)
	before := stamps(t, f.Dir)
	timed := func(what string, do func() error) {
		t.Helper()
		start := time.Now()
		if err := do(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		t.Logf("%-10s %v", what, time.Since(start).Round(time.Millisecond))
	}
	timed("init", func() error {
		_, err := vault.Init(t.Context(), f.Dir, vault.InitOptions{}, f.Options())
		return err
	})
	var v *vault.Vault
	timed("open", func() error { v = f.Open(); return nil })
	var m vault.Memory
	timed("remember", func() error { m = remember(t, v, "The gate code is 4711."); return nil })
	timed("show", func() error {
		got, err := v.Resolve(t.Context(), m.ID)
		if err == nil && got.Path != m.Path {
			t.Errorf("%s resolves to %s, want %s", m.ID, got.Path, m.Path)
		}
		return err
	})
	timed("log", func() error {
		count := 0
		for _, err := range v.History().Log(t.Context(), vault.LogOptions{Changes: true}) {
			if err != nil {
				return err
			}
			count++
		}
		if count != 3 {
			t.Errorf("%d commits, want the notes, the vault and the memory", count)
		}
		return nil
	})
	timed("status", func() error {
		st, err := v.Status(t.Context())
		if err == nil && len(st.Changed)+len(st.Staged) != 0 {
			t.Errorf("status %+v", st)
		}
		return err
	})
	timed("revert", func() error {
		_, err := v.History().Revert(t.Context(), vault.RevertOptions{Revs: []string{"HEAD"}})
		return err
	})
	if _, _, err := v.ReadFile(m.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the memory is still there: %v", err)
	}
	after := stamps(t, f.Dir)
	for p, was := range before {
		if is := after[p]; is == nil || !os.SameFile(was, is) || !was.ModTime().Equal(is.ModTime()) {
			t.Errorf("%s was written again", p)
		}
	}
	committed := 0
	s, err := v.History().View(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for p := range s.Files() {
		if _, ok := before[string(p)]; ok && p.IsMarkdown() {
			committed++
		}
	}
	want := 0
	for p := range before {
		if vault.Path(p).IsMarkdown() {
			want++
		}
	}
	if committed != want || want == 0 {
		t.Errorf("%d of %d Markdown files are committed (%d files in all)", committed, want, n)
	}
}
