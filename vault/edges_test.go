package vault_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stet/vault"
	"stet/vault/gitstore"
	"stet/vault/vaulttest"
)

func TestNestedVaultsAndRepositoriesAreNotWrittenInto(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	f.Write("inner/.stet/config.yaml", "version: 1\n")
	f.Write("inner/memories/a.md", "inner\n")
	if err := gitstore.Create(filepath.Join(f.Dir, "inner"), nil); err != nil {
		t.Fatal(err)
	}
	app := "x"
	if _, err := v.UpdateMemory(t.Context(), "inner/memories/a.md", vault.Patch{Append: &app}, vault.Write{}); !errors.Is(err, vault.ErrBadPath) {
		t.Errorf("update inside: %v, want a refusal", err)
	}
	if _, err := v.Forget(t.Context(), []string{"inner/memories/a.md"}, vault.Write{}); !errors.Is(err, vault.ErrBadPath) {
		t.Errorf("forget inside: %v, want a refusal", err)
	}
	if _, err := v.Adopt(t.Context(), vault.AdoptOptions{Paths: []vault.Path{"inner"}}); !errors.Is(err, vault.ErrBadPath) {
		t.Errorf("adopt inside: %v, want a refusal", err)
	}
	if got := f.Read("inner/memories/a.md"); got != "inner\n" {
		t.Errorf("the inner file is %q", got)
	}
}

func TestAdoptOfANamedPathSaysWhenThereIsNothing(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "a.md", "a\n")
	v := f.Open()
	if _, err := v.Adopt(t.Context(), vault.AdoptOptions{Paths: []vault.Path{"typo.md"}}); !errors.Is(err, vault.ErrNotFound) {
		t.Errorf("adopt of a typo: %v", err)
	}
	if err := os.Symlink("a.md", filepath.Join(f.Dir, "link.md")); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Adopt(t.Context(), vault.AdoptOptions{Paths: []vault.Path{"link.md"}}); !errors.Is(err, vault.ErrBadPath) {
		t.Errorf("adopt of a link: %v", err)
	}
	if err := os.Remove(filepath.Join(f.Dir, "a.md")); err != nil {
		t.Fatal(err)
	}
	if res, err := v.Adopt(t.Context(), vault.AdoptOptions{Paths: []vault.Path{"a.md"}}); err != nil || len(res.Changes) != 1 {
		t.Errorf("adopt of a removed file: %+v, %v", res, err)
	}
}

func TestNewTextKeepsTheFilesLineEnding(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/w.md", "---\r\nid: 01jd7q8r5t9v3x6y2z4a7c0e1f\r\n---\r\nold\r\n")
	v := f.Open()
	text := "new\nlines"
	if _, err := v.UpdateMemory(t.Context(), "w", vault.Patch{Text: &text}, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	if got, want := f.Read("memories/w.md"), "---\r\nid: 01jd7q8r5t9v3x6y2z4a7c0e1f\r\n---\r\nnew\r\nlines\r\n"; got != want {
		t.Errorf("file is %q, want %q", got, want)
	}
}

func TestIdentityTellsAWriteWhoseTimeWasSetBack(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "a.md", "one\n")
	v := f.Open()
	look := func() vault.File {
		files, err := v.Files(t.Context(), vault.WalkOptions{})
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		return files[0]
	}
	name, old := filepath.Join(f.Dir, "a.md"), time.Unix(1e9, 0)
	if err := os.Chtimes(name, old, old); err != nil {
		t.Fatal(err)
	}
	before := look()
	if before.Identity == 0 {
		t.Skip("skip: this system gives files no identity")
	}
	deadline := time.Now().Add(5 * time.Second) // the kernel's clock ticks every few milliseconds
	for look().Identity == before.Identity && time.Now().Before(deadline) {
		f.Write("a.md", "two\n")
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if after := look(); after.Size != before.Size || !after.ModTime.Equal(before.ModTime) || after.Identity == before.Identity {
		t.Errorf("before %+v, after %+v: want another identity alone", before, after)
	}
	f.Write("a.md", "one\n")
}

func TestACopiedIDIsAmbiguous(t *testing.T) {
	t.Parallel()
	text := "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1f\n---\nx\n"
	f := vaulttest.New(t, "memories/a.md", text, "memories/b.md", text)
	_, err := f.Open().Resolve(t.Context(), "01jd7q8r5t9v3x6y2z4a7c0e1f")
	var many *vault.AmbiguousError
	if !errors.As(err, &many) || len(many.Candidates) != 2 {
		t.Errorf("resolve of a copied id: %v, want both as candidates", err)
	}
}

func TestRevertFollowsAFileMovedTwiceByHand(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/a.md", "one\ntwo\nthree\nfour\n")
	v := f.Open()
	data, _, err := v.ReadFile("memories/a.md")
	if err != nil {
		t.Fatal(err)
	}
	res, err := v.Replace(t.Context(), "memories/a.md", vault.ReadMemory("memories/a.md", data).Hash, []byte("ONE\ntwo\nthree\nfour\n"), vault.Write{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range [][2]string{{"memories/a.md", "memories/b.md"}, {"memories/b.md", "memories/c.md"}} {
		if err := os.Rename(filepath.Join(f.Dir, m[0]), filepath.Join(f.Dir, m[1])); err != nil {
			t.Fatal(err)
		}
		if _, err := v.Adopt(t.Context(), vault.AdoptOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := v.History().Revert(t.Context(), vault.RevertOptions{Revs: []string{string(res.Commits[0].Rev)}}); err != nil {
		t.Fatal(err)
	}
	if got := f.Read("memories/c.md"); !strings.HasPrefix(got, "one\n") {
		t.Errorf("c.md is %q, want the first line back", got)
	}
}

// A named folder is its files, and not what another folder has whose name begins with its own.
func TestAdoptOfAFolderLeavesItsNamesakesAlone(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "notes/a.md", "one\n", "notes-old/b.md", "two\n")
	v := f.Open()
	f.Write("notes/a.md", "three\n")
	f.Write("notes-old/b.md", "four\n")
	f.LeaveDirty()
	res, err := v.Adopt(t.Context(), vault.AdoptOptions{Paths: []vault.Path{"notes"}})
	if err != nil || len(res.Changes) != 1 || res.Changes[0].Path != "notes/a.md" {
		t.Errorf("adopted %+v, %v; want notes/a.md alone", res, err)
	}
}

// What is in the archive keeps its name, so that it can come back.
func TestANameInTheArchiveIsTaken(t *testing.T) {
	t.Parallel()
	v := vaulttest.New(t).Open()
	m := remember(t, v, "The gate code is 4711.")
	if _, err := v.Forget(t.Context(), []string{m.ID}, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	if again := remember(t, v, "The gate code is 4711."); again.Path == m.Path {
		t.Errorf("both are called %s", m.Path)
	}
}

func TestSourceTurnsAreFirstToLast(t *testing.T) {
	t.Parallel()
	for source, want := range map[string][]int{
		"session:01ab#14": {14}, "session:01ab#14-17": {14, 15, 16, 17}, "session:01ab#17-14": nil,
		"session:01ab#7,14-15": {7, 14, 15}, "session:01ab": nil,
	} {
		if id, turns := vault.SourceTurns(source); id != "01ab" || !slices.Equal(turns, want) {
			t.Errorf("%s: %q %v, want %v", source, id, turns, want)
		}
	}
}
