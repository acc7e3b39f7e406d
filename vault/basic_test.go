package vault_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stet/vault"
	"stet/vault/settings"
	"stet/vault/vaulttest"
)

func remember(t *testing.T, v *vault.Vault, text string) vault.Memory {
	t.Helper()
	res, err := v.Remember(t.Context(), []vault.Note{{Text: text}}, vault.Write{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Memories[0]
}

func TestInitCommitsNotesAsThePersonsOwnAndTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "a.md", "# A\r\n\r\nhello", "deep/er/b.md", "\xef\xbb\xbfbom\n", "photo.bin", "\x00\x01")
	if got := f.Read("a.md"); got != "# A\r\n\r\nhello" {
		t.Errorf("a.md changed to %q", got)
	}
	v := f.Open()
	head, err := v.Head()
	if err != nil {
		t.Fatal(err)
	}
	c, err := v.History().CommitAt(t.Context(), "HEAD~1")
	if err != nil {
		t.Fatal(err)
	}
	if c.Author != "Ada" || len(c.Changes) != 2 {
		t.Errorf("first commit by %q with %d files, want Ada with the 2 Markdown files", c.Author, len(c.Changes))
	}
	res, err := vault.Init(t.Context(), f.Dir, vault.InitOptions{}, f.Options())
	if err != nil {
		t.Fatal(err)
	}
	again, err := v.Head()
	if err != nil {
		t.Fatal(err)
	}
	if !res.AlreadyVault || head != again {
		t.Errorf("second init: already=%v, HEAD %s then %s", res.AlreadyVault, head, again)
	}
}

func TestHandEditIsCommittedBeforeAMachineWrite(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := with(f, map[settings.Name]string{settings.AgentsEdit: "all"})
	m := remember(t, v, "The gate code is 4711.")
	byHand := strings.Replace(f.Read(string(m.Path)), "4711", "0815", 1)
	f.Write(string(m.Path), byHand)
	add := "Ring twice."
	res, err := v.UpdateMemory(t.Context(), m.ID, vault.Patch{Append: &add}, vault.Write{Writer: vault.Writer{Actor: "agent", AgentName: "Robo"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Commits) != 2 || res.Commits[0].Op != vault.OpAdopt || res.Commits[0].Author != "Ada" || res.Commits[1].Author != "Robo" {
		t.Fatalf("commits %+v, want Ada's adopt, then Robo's update", res.Commits)
	}
	_, data, err := v.History().ReadAt(t.Context(), string(res.Commits[0].Rev), m.ID)
	if err != nil || string(data) != byHand {
		t.Errorf("adopted %q (%v), want %q", data, err, byHand)
	}
	if now := f.Read(string(m.Path)); !strings.Contains(now, "0815") || !strings.Contains(now, "Ring twice.") {
		t.Errorf("file is %q, want both edits", now)
	}
}

func TestStagedBytesAreCommittedBeforeTheDisk(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	f := vaulttest.New(t, "other.md", "other\n")
	v := f.Open()
	m := remember(t, v, "one")
	f.Write(string(m.Path), "staged\n")
	f.Git("add", string(m.Path))
	f.Write(string(m.Path), "on disk\n")
	f.Write("other.md", "other staged\n")
	f.Git("add", "other.md")
	f.Write("other.md", "other unstaged\n")
	kind := "fact"
	res, err := v.UpdateMemory(t.Context(), string(m.Path), vault.Patch{Kind: &kind}, vault.Write{})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Commits) != 3 {
		t.Fatalf("%d commits, want staged, disk, update", len(res.Commits))
	}
	for i, want := range []string{"staged\n", "on disk\n"} {
		if _, data, err := v.History().ReadAt(t.Context(), string(res.Commits[i].Rev), string(m.Path)); err != nil || string(data) != want {
			t.Errorf("commit %d holds %q (%v), want %q", i, data, err, want)
		}
	}
	if got := f.Git("diff", "--cached", "--name-only"); got != "other.md\n" {
		t.Errorf("staged after the write: %q, want other.md as before", got)
	}
	if got := f.Git("show", ":other.md"); got != "other staged\n" {
		t.Errorf("staged bytes are %q", got)
	}
	if got := f.Read("other.md"); got != "other unstaged\n" {
		t.Errorf("unstaged bytes are %q", got)
	}
	f.LeaveDirty()
}

func TestUndoAndRedoGiveTheSameBytes(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	m := remember(t, v, "first")
	before := f.Read(string(m.Path))
	text := "second"
	if _, err := v.UpdateMemory(t.Context(), m.ID, vault.Patch{Text: &text}, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	after := f.Read(string(m.Path))
	if _, err := v.Forget(t.Context(), []string{m.ID}, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(f.Dir, "memories")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("empty folder memories was left: %v", err)
	}
	for _, want := range []string{after, before} {
		if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
			t.Fatal(err)
		}
		if got := f.Read(string(m.Path)); got != want {
			t.Errorf("after undo %q, want %q", got, want)
		}
	}
	if _, err := v.History().Redo(t.Context(), 1, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	if got := f.Read(string(m.Path)); got != after {
		t.Errorf("after redo %q, want %q", got, after)
	}
	if _, err := v.History().Undo(t.Context(), 2, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); !errors.Is(err, vault.ErrNothingToUndo) {
		t.Errorf("undo with nothing left: %v", err)
	}
	if _, err := v.History().Redo(t.Context(), 1, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	if got := f.Read(string(m.Path)); got != after {
		t.Errorf("after redo of the last undo %q, want %q", got, after)
	}
}

func TestRevertKeepsNewerEditsAndFollowsMoves(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/list.md", "one\ntwo\nthree\nfour\nfive\nsix\nseven\n")
	v := f.Open()
	data, _, err := v.ReadFile("memories/list.md")
	if err != nil {
		t.Fatal(err)
	}
	m := vault.ReadMemory("memories/list.md", data)
	res, err := v.Replace(t.Context(), m.Path, m.Hash, []byte("ONE\ntwo\nthree\nfour\nfive\nsix\nseven\n"), vault.Write{})
	if err != nil {
		t.Fatal(err)
	}
	scope := "/elsewhere"
	if _, err := v.UpdateMemory(t.Context(), "list", vault.Patch{Scope: &scope}, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	moved := "memories/elsewhere/list.md"
	f.Write(moved, strings.Replace(f.Read(moved), "seven", "SEVEN", 1))
	preview, err := v.History().Revert(t.Context(), vault.RevertOptions{Revs: []string{string(res.Commits[0].Rev)}, Write: vault.Write{DryRun: true}})
	if err != nil || !strings.Contains(preview.Diff, "-ONE\n+one\n") {
		t.Fatalf("preview %q, %v", preview.Diff, err)
	}
	if _, err := v.History().Revert(t.Context(), vault.RevertOptions{Revs: []string{string(res.Commits[0].Rev)}}); err != nil {
		t.Fatal(err)
	}
	if got := f.Read(moved); !strings.Contains(got, "one\ntwo") || !strings.Contains(got, "SEVEN") {
		t.Errorf("after revert %q, want the first line back and the newer edit kept", got)
	}
}

func TestRevertOfOverlappingEditIsAConflictAndWritesNothing(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	m := remember(t, v, "first")
	text := "second"
	res, err := v.UpdateMemory(t.Context(), m.ID, vault.Patch{Text: &text}, vault.Write{})
	if err != nil {
		t.Fatal(err)
	}
	text = "third"
	if _, err := v.UpdateMemory(t.Context(), m.ID, vault.Patch{Text: &text}, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	head, err := v.Head()
	if err != nil {
		t.Fatal(err)
	}
	_, err = v.History().Revert(t.Context(), vault.RevertOptions{Revs: []string{string(res.Commits[0].Rev)}})
	if !errors.Is(err, vault.ErrConflict) {
		t.Errorf("revert: %v, want a conflict", err)
	}
	if now, err := v.Head(); err != nil || now != head {
		t.Errorf("HEAD moved to %s (%v)", now, err)
	}
}

func TestPlainGitRevertAppliesCleanly(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	f := vaulttest.New(t)
	v := f.Open()
	m := remember(t, v, "kept")
	if _, err := v.Forget(t.Context(), []string{m.ID}, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	f.Git("revert", "--no-edit", "HEAD")
	if got := f.Read(string(m.Path)); !strings.Contains(got, "kept") {
		t.Errorf("after git revert: %q", got)
	}
	f.Git("revert", "--no-edit", "HEAD~2")
	remember(t, v, "next")
}
