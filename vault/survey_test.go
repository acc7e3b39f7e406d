package vault_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stet/vault"
	"stet/vault/vaulttest"
)

// mixed is a vault with everything that a walk passes over, in it.
func mixed(t *testing.T) (*vaulttest.Fixture, []vault.Path) {
	f := vaulttest.New(t, "a.md", "a\n", "x/y/z.md", "z\n", "memories/m.md", "m\n", "archive/memories/o.md", "o\n", "skills/s/run.sh", "s\n")
	f.LeaveDirty()
	for _, p := range []string{
		".gitignore", "x/.gitignore", "x/draft.md", "x/kept.md", "build/b.md", "build/deep/b.md", ".hidden/h.md", ".h.md", "memories/.stet-tmp-1.md",
		"logs/l.md", "repo/.git/HEAD", "repo/in/r.md", "inner/.stet/config.yaml", "inner/in/i.md", "note.txt", "memories/m.txt", "sessions/s.md",
	} {
		f.Write(p, "text\n")
	}
	f.Write(".gitignore", "build/\n*.tmp.md\n")
	f.Write("x/.gitignore", "draft*\n!kept.md\n")
	if err := os.Symlink("a.md", filepath.Join(f.Dir, "link.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("x", filepath.Join(f.Dir, "linked")); err != nil {
		t.Fatal(err)
	}
	var all []vault.Path
	err := filepath.WalkDir(f.Dir, func(p string, d os.DirEntry, err error) error {
		rel, _ := filepath.Rel(f.Dir, p)
		if q, perr := vault.ParsePath(filepath.ToSlash(rel)); perr == nil && !d.IsDir() {
			all = append(all, q)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return f, append(all, "linked/y/z.md", "gone.md", "a.md/b.md", "nowhere/c.md")
}

// What Pick says of single paths is what a walk of everything finds.
func TestPickFindsWhatFilesLists(t *testing.T) {
	t.Parallel()
	f, all := mixed(t)
	v := f.Open()
	want, err := v.Files(t.Context(), vault.WalkOptions{Archive: true})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	got, err := v.Pick(t.Context(), all)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("picked %v\nlisted %v, %v", got, want, err)
	}
	if len(want) != 6 { // a, archive/memories/o, memories/m, sessions/s, x/kept, x/y/z
		t.Errorf("%d files listed: %v", len(want), want)
	}
}

func TestSurveyFindsTheFoldersThatAreFollowed(t *testing.T) {
	t.Parallel()
	f, _ := mixed(t)
	v := f.Open()
	whole, err := v.Survey(t.Context(), "", true)
	if err != nil {
		t.Fatal(err)
	}
	want := []vault.Path{".stet", "archive", "archive/memories", "logs", "memories", "sessions", "skills", "skills/s", "x", "x/y"}
	if !slices.Equal(whole.Folders, want) {
		t.Errorf("folders %v, want %v", whole.Folders, want)
	}
	names := map[vault.Path]bool{}
	for _, file := range whole.Files {
		names[file.Path] = true
	}
	for p, in := range map[vault.Path]bool{"a.md": true, ".stet/config.yaml": true, "skills/s/run.sh": true, "memories/m.txt": true, "logs/l.md": true,
		"note.txt": false, "build/b.md": false, "x/draft.md": false, "x/kept.md": true, "repo/in/r.md": false, "inner/in/i.md": false} {
		if names[p] != in {
			t.Errorf("%s among the files: %v", p, !in)
		}
	}
	for under, n := range map[vault.Path]int{"x": 2, "x/y": 1, "build": 0, "build/deep": 0, ".hidden": 0, "repo": 0, "repo/in": 0, "inner/in": 0, "linked": 0, "nowhere": 0, "a.md": 0, ".stet": 1} {
		part, err := v.Survey(t.Context(), under, true)
		if err != nil || len(part.Folders) != n {
			t.Errorf("below %s: %v, want %d folders, %v", under, part.Folders, n, err)
		}
		for _, file := range part.Files {
			if !names[file.Path] || !strings.HasPrefix(string(file.Path), string(under)+"/") {
				t.Errorf("below %s: %s", under, file.Path)
			}
		}
	}
}

// What Leave lets pass after the file was read is what is committed.
func TestAdoptAsksAgainAfterItHasRead(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/a.md", "one\n", "memories/b.md", "one\n")
	f.LeaveDirty()
	v := f.Open()
	f.Write("memories/a.md", "two\n")
	f.Write("memories/b.md", "two\n")
	asked := map[vault.Path]int{}
	res, err := v.Adopt(t.Context(), vault.AdoptOptions{Leave: func(c vault.Change) bool {
		asked[c.Path]++
		return c.Path == "memories/a.md" && asked[c.Path] > 1 // it began to change meanwhile
	}})
	if err != nil || len(res.Changes) != 1 || res.Changes[0].Path != "memories/b.md" {
		t.Errorf("committed %+v, %v", res, err)
	}
	if asked["memories/a.md"] < 2 {
		t.Error("it was not asked again")
	}
}

// A folder that was renamed has not vanished, however large it is.
func TestAMovedFolderIsNoMassDeletion(t *testing.T) {
	t.Parallel()
	var files []string
	for i := range 80 {
		files = append(files, "memories/old/"+strings.Repeat("x", i+1)+".md", strings.Repeat("text\n", i+1))
	}
	f := vaulttest.New(t, files...)
	v := f.Open()
	if err := os.Rename(filepath.Join(f.Dir, "memories/old"), filepath.Join(f.Dir, "memories/new")); err != nil {
		t.Fatal(err)
	}
	res, err := v.Adopt(t.Context(), vault.AdoptOptions{})
	if err != nil || len(res.Commits) != 1 {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestAClaimIsHeldOnceAndNamesItsHolder(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "a.md", "a\n")
	o := f.Options()
	o.Holder = "pid 7 stet watch"
	v, other := f.OpenWith(o), f.Open()
	release, err := v.Claim(t.Context(), "watch")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Claim(t.Context(), "watch"); err == nil || !strings.Contains(err.Error(), "pid 7 stet watch") {
		t.Errorf("claimed twice: %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if release, err = other.Claim(t.Context(), "watch"); err != nil {
		t.Fatal(err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Claim(t.Context(), "../x"); err == nil {
		t.Error("a claim may be named anything")
	}
}
