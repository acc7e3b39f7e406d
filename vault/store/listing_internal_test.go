package store

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// listFolder lists a folder of a file system as a listing.
func listFolder(t *testing.T, files fs.FS, dir string, into *listing) {
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		t.Fatal(err)
	}
	infos := make([]fs.FileInfo, len(entries))
	for i, e := range entries {
		if infos[i], err = e.Info(); err != nil {
			t.Fatal(err)
		}
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int { return byPath(a.Name(), a.IsDir(), b.Name(), b.IsDir()) })
	for _, info := range infos {
		if p := path.Join(dir, info.Name()); info.IsDir() {
			listFolder(t, files, p, into.folder())
		} else {
			into.files = append(into.files, File{Path: Path(p)})
		}
	}
}

func TestAListingIsInPathOrderThoughFoldersAreListedAlone(t *testing.T) {
	t.Parallel()
	for _, paths := range [][]string{
		nil,
		{"a"},
		{"a-b", "a/b", "a/c-c", "a/c/c", "a0", "b"},
		{"a.md", "a/x.md", "ab/x.md", "a b/x.md", "é/x.md", "z", "a/é.md"},
		{"x/y/z/1", "x/y/2", "x/3", "4", "x/y.z/5", "x.y/6"},
	} {
		files := fstest.MapFS{}
		for _, p := range paths {
			files[p] = &fstest.MapFile{}
		}
		var l listing
		listFolder(t, files, ".", &l)
		slices.SortFunc(paths, strings.Compare)
		var got []string
		for _, f := range l.flat() {
			got = append(got, string(f.Path))
		}
		if !slices.Equal(got, paths) || l.len() != len(paths) {
			t.Errorf("%d files, in this order: %q, want %q", l.len(), got, paths)
		}
	}
}
