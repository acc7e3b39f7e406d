package vault_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"stet/vault"
	"stet/vault/vaulttest"
)

// rawBytes are contents that a tool which re-renders would change.
func rawBytes() *rapid.Generator[[]byte] {
	piece := rapid.OneOf(
		rapid.SampledFrom([][]byte{[]byte("\r\n"), []byte("\n"), []byte("\r"), []byte("\xef\xbb\xbf"), {0}, []byte("---\n"), []byte("---\r\nid: x\r\n---\r\n"), []byte("key: \"v\" # c\n"), []byte("text"), []byte(" \t"), []byte("\xff\xfe"), []byte("é")}),
		rapid.SliceOfN(rapid.Byte(), 0, 8),
	)
	return rapid.Custom(func(t *rapid.T) []byte { return bytes.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces"), nil) })
}

// Whatever the bytes are, replace, undo, redo and adopt keep them.
func TestAnyBytesSurviveReplaceUndoRedoAndAdopt(t *testing.T) {
	scaleRapid(t)
	t.Parallel()
	f := vaulttest.New(t, "memories/raw.md", "start\n")
	v := f.Open()
	full := filepath.Join(f.Dir, "memories", "raw.md")
	now := func(rt *rapid.T) []byte {
		data, err := os.ReadFile(full)
		if err != nil {
			rt.Fatal(err)
		}
		return data
	}
	rapid.Check(t, func(rt *rapid.T) {
		a, b, c := rawBytes().Draw(rt, "a"), rawBytes().Draw(rt, "b"), rawBytes().Draw(rt, "c")
		ctx := context.Background()
		replace := func(data []byte) bool {
			was := now(rt)
			res, err := v.Replace(ctx, "memories/raw.md", vault.ReadMemory("memories/raw.md", was).Hash, data, vault.Write{})
			if err != nil || !bytes.Equal(now(rt), data) {
				rt.Fatalf("replaced with %q, have %q (%v)", data, now(rt), err)
			}
			return !res.Unchanged
		}
		replace(a)
		if replace(b) {
			for _, step := range []struct {
				do   func(context.Context, int, vault.Write) (*vault.Result, error)
				want []byte
			}{{v.History().Undo, a}, {v.History().Redo, b}, {v.History().Undo, a}} {
				if _, err := step.do(ctx, 1, vault.Write{}); err != nil || !bytes.Equal(now(rt), step.want) {
					rt.Fatalf("have %q, want %q (%v)", now(rt), step.want, err)
				}
			}
		}
		if err := os.WriteFile(full, c, 0o644); err != nil {
			rt.Fatal(err)
		}
		if _, err := v.Adopt(ctx, vault.AdoptOptions{}); err != nil {
			rt.Fatal(err)
		}
		_, data, err := v.History().ReadAt(ctx, "", "memories/raw.md")
		if err != nil || !bytes.Equal(data, c) || !bytes.Equal(now(rt), c) {
			rt.Fatalf("adopted %q, disk %q, want %q (%v)", data, now(rt), c, err)
		}
	})
}

// A file that was removed by hand after it was remembered leaves nothing to
// take back: undo goes on to what came before it.
func TestUndoPassesOverWhatIsGoneAlready(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	first, second := remember(t, v, "first"), remember(t, v, "second")
	if err := os.Remove(filepath.Join(f.Dir, string(second.Path))); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Adopt(t.Context(), vault.AdoptOptions{}); err != nil {
		t.Fatal(err)
	}
	if res, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil || res.Unchanged {
		t.Fatalf("undo: %+v, %v", res, err)
	}
	if _, _, err := v.ReadFile(first.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the first memory: %v, want it taken back", err)
	}
	if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); !errors.Is(err, vault.ErrNothingToUndo) {
		t.Errorf("undo with nothing left: %v", err)
	}
}

// The files an operation does not name keep their inode and time: nothing is
// written again with the same bytes.
func TestUntouchedFilesAreNeverRewritten(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "notes/a.md", "a\n", "notes/crlf.md", "a\r\nb", "memories/b.md", "b\n", "MEMORY.md", "- core\n", "photo.bin", "\x00")
	v := f.Open()
	kept := remember(t, v, "A neighbour.")
	kind, text, scope := "fact", "other", "/elsewhere"
	var target vault.Memory
	for _, op := range []struct {
		name string
		do   func() (*vault.Result, error)
	}{
		{"remember", func() (*vault.Result, error) {
			res, err := v.Remember(t.Context(), []vault.Note{{Text: "The target."}}, vault.Write{})
			if err == nil {
				target = res.Memories[0]
			}
			return res, err
		}},
		{"update kind", func() (*vault.Result, error) {
			return v.UpdateMemory(t.Context(), target.ID, vault.Patch{Kind: &kind}, vault.Write{})
		}},
		{"update text", func() (*vault.Result, error) {
			return v.UpdateMemory(t.Context(), target.ID, vault.Patch{Text: &text}, vault.Write{})
		}},
		{"move", func() (*vault.Result, error) {
			return v.UpdateMemory(t.Context(), target.ID, vault.Patch{Scope: &scope}, vault.Write{})
		}},
		{"undo", func() (*vault.Result, error) { return v.History().Undo(t.Context(), 1, vault.Write{}) }},
		{"redo", func() (*vault.Result, error) { return v.History().Redo(t.Context(), 1, vault.Write{}) }},
		{"forget", func() (*vault.Result, error) {
			return v.Forget(t.Context(), []string{target.ID}, vault.Write{})
		}},
		{"revert", func() (*vault.Result, error) {
			return v.History().Revert(t.Context(), vault.RevertOptions{Revs: []string{"HEAD"}})
		}},
		{"adopt", func() (*vault.Result, error) {
			f.Write("notes/new.md", "by hand\n")
			return v.Adopt(t.Context(), vault.AdoptOptions{})
		}},
	} {
		before := stamps(t, f.Dir)
		res, err := op.do()
		if err != nil {
			t.Fatalf("%s: %v", op.name, err)
		}
		for _, c := range res.Changes {
			delete(before, string(c.Path))
			delete(before, string(c.From))
		}
		if _, ok := before[string(kept.Path)]; !ok {
			t.Fatalf("%s names %s as changed: %+v", op.name, kept.Path, res.Changes)
		}
		after := stamps(t, f.Dir)
		for p, was := range before {
			if is := after[p]; is == nil || !os.SameFile(was, is) || !was.ModTime().Equal(is.ModTime()) || was.Mode() != is.Mode() {
				t.Errorf("%s wrote %s again", op.name, p)
			}
		}
	}
}

func stamps(t *testing.T, dir string) map[string]os.FileInfo {
	t.Helper()
	out := map[string]os.FileInfo{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && d.Name() == ".git" {
				return filepath.SkipDir
			}
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		out[filepath.ToSlash(rel)], err = d.Info()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
