package index

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"stet/index/store"
	"stet/vault"
	"stet/vault/durable"
	"stet/vault/filelock"
)

// stale counts the files that a search has to read because the index on disk
// does not know them as they are.
func stale(t *testing.T, f *folder) int {
	t.Helper()
	x, err := Open(f, Options{Now: time.Now, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	res, err := x.Search(t.Context(), Query{Text: "word"})
	if err != nil || res.Degraded != "" {
		t.Fatalf("%+v, %v", res, err)
	}
	return res.Indexed
}

// at describes those of the paths that stand there.
func (f *folder) at(t *testing.T, paths []vault.Path) (out []vault.File) {
	t.Helper()
	for _, p := range paths {
		if _, info, err := f.ReadFile(p); err == nil {
			out = append(out, info)
		}
	}
	return out
}

func TestRefreshLooksAtTheNamedPathsAlone(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("n/%d.md", i)] = fmt.Sprintf("word number%d\n", i)
	}
	files["sessions/s.md"] = "word of a session\n"
	f := newFolder(t, files)
	x, err := Open(f, Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	// Without an index it makes one.
	if s, err := x.Refresh(t.Context(), []vault.Path{"n/0.md"}, f.at(t, []vault.Path{"n/0.md"})); err != nil || s.Added != 0 && !s.Rebuilt || stale(t, f) != 0 {
		t.Fatalf("%+v, %v, %d stale", s, err, stale(t, f))
	}
	f.write(t, "n/1.md", "word changed much\n")
	f.write(t, "n/new.md", "word new\n")
	f.write(t, "sessions/s.md", "word of a longer session\n")
	f.write(t, "n/3.md", "word changed and not named\n")
	f.remove(t, "n/2.md")
	paths := []vault.Path{"n/new.md", "n/1.md", "n/2.md", "n/5.md", "sessions/s.md", "n/never.md", "n/1.md"}
	s, err := x.Refresh(t.Context(), paths, f.at(t, paths[:6]))
	if err != nil || s.Added != 1 || s.Changed != 2 || s.Removed != 1 {
		t.Errorf("%+v, %v: want 1 added, 2 changed, 1 removed", s, err)
	}
	if n := stale(t, f); n != 1 {
		t.Errorf("%d files are not indexed, want n/3.md alone", n)
	}
	again, err := x.Refresh(t.Context(), paths, f.at(t, paths[:6]))
	if err != nil || again.Added+again.Changed+again.Removed != 0 {
		t.Errorf("what is known was indexed again: %+v, %v", again, err)
	}
	res, err := x.Search(t.Context(), Query{Text: "+number2"})
	if err != nil || len(res.Hits) != 0 {
		t.Errorf("the removed file is found: %+v, %v", res, err)
	}
}

func TestRefreshSaysWhenAnotherProcessIsWriting(t *testing.T) {
	t.Parallel()
	f := newFolder(t, map[string]string{"a.md": "word one\n"})
	x, err := Open(f, Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if _, err := x.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	root, err := durable.OpenRoot(filepath.Join(f.state, "index"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	lock, err := filelock.Acquire(t.Context(), root, lockName, filelock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f.write(t, "a.md", "word two\n")
	if _, err := x.Refresh(t.Context(), []vault.Path{"a.md"}, f.at(t, []vault.Path{"a.md"})); !errors.Is(err, store.ErrBusy) {
		t.Errorf("got %v, want busy", err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if s, err := x.Refresh(t.Context(), []vault.Path{"a.md"}, f.at(t, []vault.Path{"a.md"})); err != nil || s.Changed != 1 {
		t.Errorf("%+v, %v", s, err)
	}
}
