package index

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"stet/vault"
)

// The files of the index folder that tests look at.
const (
	lockName   = "lock"
	segmentExt = ".seg"
	mapAbove   = 1 << 20 // bytes from which a segment is mapped
)

// A folder is a Source over a temporary folder, without git.
type folder struct {
	dir   string
	state string
}

func newFolder(t testing.TB, files map[string]string) *folder {
	t.Helper()
	f := &folder{dir: t.TempDir(), state: filepath.Join(t.TempDir(), "state")}
	for p, text := range files {
		f.write(t, p, text)
	}
	return f
}

func (f *folder) write(t testing.TB, p, text string) {
	t.Helper()
	full := filepath.Join(f.dir, filepath.FromSlash(p))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (f *folder) remove(t testing.TB, p string) {
	t.Helper()
	if err := os.Remove(filepath.Join(f.dir, filepath.FromSlash(p))); err != nil {
		t.Fatal(err)
	}
}

func (f *folder) StateDir() string { return f.state }

func (f *folder) Files(_ context.Context, o vault.WalkOptions) ([]vault.File, error) {
	var out []vault.File
	err := filepath.WalkDir(f.dir, func(p string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || e.IsDir() || !strings.HasSuffix(p, ".md") {
			return err
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(f.dir, p)
		if err != nil {
			return err
		}
		path := vault.Path(filepath.ToSlash(rel))
		if report := vault.ClassOf(path) == vault.ClassReport; report != o.Reports || report && !vault.IsReport(path) {
			return nil
		}
		if o.Under != "" && !strings.HasPrefix(string(path), string(o.Under)+"/") {
			return nil
		}
		if !o.Archive && vault.ClassOf(path) == vault.ClassArchive {
			return nil
		}
		out = append(out, fileOf(path, info))
		return nil
	})
	slices.SortFunc(out, func(a, b vault.File) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return out, err
}

func fileOf(p vault.Path, info fs.FileInfo) vault.File {
	return vault.File{Path: p, Size: info.Size(), ModTime: info.ModTime()}
}

func (f *folder) ReadFile(p vault.Path) ([]byte, vault.File, error) {
	file, err := os.Open(filepath.Join(f.dir, filepath.FromSlash(string(p))))
	if err != nil {
		return nil, vault.File{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, vault.File{}, err
	}
	data := make([]byte, info.Size())
	if _, err := file.ReadAt(data, 0); err != nil && len(data) > 0 {
		return nil, vault.File{}, err
	}
	return data, fileOf(p, info), nil
}

func (f *folder) FolderTime(p vault.Path) (time.Time, error) {
	info, err := os.Lstat(filepath.Join(f.dir, filepath.FromSlash(string(p))))
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

func open(t testing.TB, src Source, change ...func(*Options)) *Index {
	t.Helper()
	o := Options{Now: time.Now}
	for _, f := range change {
		f(&o)
	}
	x, err := Open(src, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

func ask(t testing.TB, x *Index, q Query) *Result {
	t.Helper()
	res, err := x.Search(t.Context(), q)
	if err != nil {
		t.Fatalf("Search(%q): %v", q.Text, err)
	}
	return res
}

// paths lists the hits of a query.
func paths(t testing.TB, x *Index, text string) []string {
	t.Helper()
	res := ask(t, x, Query{Text: text, Limit: -1})
	if res.Degraded != "" {
		t.Fatalf("Search(%q) is degraded: %s", text, res.Degraded)
	}
	return hitPaths(res)
}

func hitPaths(res *Result) []string {
	out := []string{}
	for _, h := range res.Hits {
		out = append(out, string(h.Path))
	}
	return out
}

// sharedClock is a clock that tests move.
type sharedClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *sharedClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}
