package vault_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stet/vault"
	"stet/vault/settings"
	"stet/vault/tombstone"
	"stet/vault/vaulttest"
)

func agent() vault.Write { return vault.Write{Writer: vault.Writer{Actor: "agent", AgentName: "Robo"}} }

// stones reads the tombstones as they stand on disk.
func stones(t *testing.T, f *vaulttest.Fixture) []tombstone.Stone {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(f.Dir, ".stet/tombstones/*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var out []tombstone.Stone
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := tombstone.Decode(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, p := range parts {
			if !p.Ignored {
				out = append(out, p.Stone)
			}
		}
	}
	return out
}

func wantStones(t *testing.T, f *vaulttest.Fixture, when string, actions ...string) []tombstone.Stone {
	t.Helper()
	found := stones(t, f)
	var have []string
	for _, s := range found {
		have = append(have, s.Action)
	}
	slices.Sort(have)
	slices.Sort(actions)
	if !slices.Equal(have, actions) {
		t.Fatalf("%s: tombstones %v, want %v", when, have, actions)
	}
	return found
}

func say(v *vault.Vault, w vault.Write, texts ...string) (*vault.Result, error) {
	var notes []vault.Note
	for _, s := range texts {
		notes = append(notes, vault.Note{Text: s})
	}
	return v.Remember(ctxb(), notes, w)
}

func mustSay(t *testing.T, v *vault.Vault, w vault.Write, texts ...string) *vault.Result {
	t.Helper()
	res, err := say(v, w, texts...)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func wantRejected(t *testing.T, what string, err error, match string) {
	t.Helper()
	var rejected *vault.RejectedError
	if !errors.As(err, &rejected) || !errors.Is(err, vault.ErrRejected) || rejected.Match != match {
		t.Fatalf("%s: %v, want a rejection by %s", what, err, match)
	}
	if rejected.Stone.By == "" || !strings.Contains(rejected.Error(), rejected.Stone.By) || !strings.Contains(rejected.Hint(), "--again") {
		t.Errorf("%s: %v (hint %q) does not say by whom and what to do", what, err, rejected.Hint())
	}
}

func TestWhatWasUndoneAMachineDoesNotSayAgain(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	const text = "The gate code is 4711."
	m := mustSay(t, v, agent(), text).Memories[0]
	if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	s := wantStones(t, f, "after undo", tombstone.Undo)[0]
	if len(s.IDs) != 1 || s.IDs[0] != m.ID || s.By != "Ada" || s.Actor != "user" || s.TextHash != tombstone.Hash(text) || s.Reverts == "" {
		t.Errorf("tombstone %+v", s)
	}
	head, _ := v.Head()
	_, err := say(v, agent(), "the gate code is 4711")
	wantRejected(t, "same text", err, "text")
	if now, _ := v.Head(); now != head {
		t.Error("a refused write made a commit")
	}
	mustSay(t, v, agent(), "The gate code is 4712.") // another value is another fact
	again := agent()
	again.Again = true
	if res := mustSay(t, v, again, text); len(res.Proposed) != 1 {
		t.Errorf("said to be asked for: %+v, want a proposal", res)
	}
	wantStones(t, f, "an agent lifts no rejection", tombstone.Undo)
	again.Approver = "Ada <ada@example.com>"
	mustSay(t, v, again, text)
	wantStones(t, f, "approved, the rejection is lifted")
}

func TestAPersonWhoSaysItAgainLiftsTheRejection(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	const text = "The gate code is 4711."
	mustSay(t, v, agent(), text)
	if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	mustSay(t, v, vault.Write{}, text)
	wantStones(t, f, "after the person's own")
	if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil { // takes back text and lifting
		t.Fatal(err)
	}
	wantStones(t, f, "undo of the lifting", tombstone.Undo, tombstone.Undo)
	if _, err := v.History().Redo(t.Context(), 1, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	wantStones(t, f, "redo")
}

func TestRedoTakesTheTombstoneOfItsUndoAway(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	mustSay(t, v, agent(), "one", "two", "three")
	before := headTree(t, v)
	for range 3 {
		if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
			t.Fatal(err)
		}
		if got := stones(t, f); len(got) != 3 {
			t.Fatalf("%d tombstones, want 3 in one file", len(got))
		}
		if _, err := v.History().Redo(t.Context(), 1, vault.Write{}); err != nil {
			t.Fatal(err)
		}
		wantStones(t, f, "redo")
		if got := headTree(t, v); got != before {
			t.Errorf("after redo the tree is %s, want %s", got, before)
		}
	}
}

func headTree(t *testing.T, v *vault.Vault) string {
	t.Helper()
	s, err := v.History().View(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for p, err := range s.Files() {
		if err != nil {
			t.Fatal(err)
		}
		_, hash, err := s.Read(p)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(string(p) + " " + string(hash) + "\n")
	}
	return out.String()
}

func TestARevertedUpdateRejectsTheLinesItAdded(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := with(f, map[settings.Name]string{settings.AgentsEdit: "all"})
	m := mustSay(t, v, vault.Write{}, "The gate code is 4711, the door code 12, and the bell is broken since the storm in March.").Memories[0]
	add := "Ring twice."
	if _, err := v.UpdateMemory(t.Context(), m.ID, vault.Patch{Append: &add}, agent()); err != nil {
		t.Fatal(err)
	}
	if _, err := v.History().Revert(t.Context(), vault.RevertOptions{Revs: []string{"HEAD"}}); err != nil {
		t.Fatal(err)
	}
	s := wantStones(t, f, "revert", tombstone.Revert)[0]
	if s.Within != m.ID || len(s.IDs) != 0 || s.TextHash != tombstone.Hash(add) {
		t.Errorf("tombstone %+v", s)
	}
	_, err := v.UpdateMemory(t.Context(), m.ID, vault.Patch{Append: &add}, agent())
	wantRejected(t, "the same addition", err, "text")
	_, err = say(v, agent(), "ring twice")
	wantRejected(t, "as a memory of its own", err, "text")
	other := "Knock hard." // the same memory may grow in another way
	if _, err := v.UpdateMemory(t.Context(), m.ID, vault.Patch{Append: &other}, agent()); err != nil {
		t.Errorf("another addition: %v", err)
	}
	if _, err := v.UpdateMemory(t.Context(), m.ID, vault.Patch{Append: &add}, vault.Write{}); err != nil {
		t.Errorf("the person's own addition: %v", err)
	}
	wantStones(t, f, "after the person's own")
}

func TestForgottenStaysForgottenUntilAPersonSaysOtherwise(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	const text = "The gate code is 4711."
	m := mustSay(t, v, vault.Write{}, text).Memories[0]
	if _, err := v.Forget(t.Context(), []string{m.ID}, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	wantStones(t, f, "forget", tombstone.Forget)
	_, err := say(v, agent(), text)
	wantRejected(t, "remember", err, "text")
	_, err = v.History().Revert(t.Context(), vault.RevertOptions{Revs: []string{"HEAD"}, Write: agent()})
	wantRejected(t, "a machine reverts the person's forget", err, "id")
	if _, err = v.History().Undo(t.Context(), 1, agent()); !errors.Is(err, vault.ErrRefused) {
		t.Errorf("a machine undoes the person's forget: %v", err)
	}
	if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	wantStones(t, f, "undo of forget")
	if f.Read(string(m.Path)) == "" {
		t.Error("the memory is not back")
	}
}

func TestAMachineMayTakeBackItsOwnUndo(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	mustSay(t, v, agent(), "one")
	if _, err := v.History().Undo(t.Context(), 1, agent()); err != nil {
		t.Fatal(err)
	}
	if _, err := v.History().Redo(t.Context(), 1, agent()); err != nil {
		t.Errorf("redo of its own undo: %v", err)
	}
	if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	if _, err := v.History().Redo(t.Context(), 1, agent()); !errors.Is(err, vault.ErrRefused) {
		t.Errorf("redo of a person's undo: %v", err)
	}
	_, err := v.History().Revert(t.Context(), vault.RevertOptions{Revs: []string{"HEAD"}, Write: agent()})
	wantRejected(t, "revert of a person's undo", err, "id")
}

func TestOfABatchOnlyTheRejectedIsLeftOut(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	mustSay(t, v, agent(), "one of them")
	if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	for _, each := range []bool{false, true} {
		w := agent()
		w.Each = each
		res := mustSay(t, v, w, "first", "one of them", "last")
		if len(res.Memories) != 2 || len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "note 2") {
			t.Errorf("each=%v: %d memories, warnings %q", each, len(res.Memories), res.Warnings)
		}
		last := res.Commits[len(res.Commits)-1]
		if got := len(last.Trailers.All("Stet-Memory")); got != map[bool]int{false: 2, true: 1}[each] {
			t.Errorf("each=%v: the commit names %d memories", each, got)
		}
		if _, err := v.History().Undo(t.Context(), 1, agent()); err != nil {
			t.Fatal(err)
		}
		if _, err := v.History().Redo(t.Context(), 1, agent()); err != nil {
			t.Fatal(err)
		}
	}
	_, err := say(v, agent(), "one of them", "One of them.")
	wantRejected(t, "nothing left", err, "text")
	_, err = say(v, agent(), "one of them")
	wantRejected(t, "one alone", err, "text")
	if one, _ := errors.AsType[*vault.RejectedError](err); one.Path != "memories/one-of-them.md" {
		t.Errorf("one alone is refused at %q, want the file that it would have got", one.Path)
	}
}

// A machine that proposes the same once more while it waits makes no second proposal.
func TestAProposalThatWaitsIsNotMadeTwice(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := with(f, map[settings.Name]string{settings.WriteApproval: "stage"})
	first := mustSay(t, v, agent(), "The gate code is 4711.").Proposed
	again := mustSay(t, v, agent(), "The gate code is 4711.").Proposed
	if len(first) != 1 || len(again) != 1 || first[0].Path != again[0].Path {
		t.Errorf("proposed %+v, then %+v", first, again)
	}
	if other := mustSay(t, v, agent(), "The gate code is 4712.").Proposed; other[0].Path == first[0].Path {
		t.Errorf("another text is proposed as %+v", other)
	}
}

// What is forgotten in the user's name among an agent's tools says whose tools.
func TestATombstoneNamesTheAgentBeside(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	m := mustSay(t, v, vault.Write{}, "The gate code is 4711.").Memories[0]
	if _, err := v.Forget(t.Context(), []string{m.ID}, vault.Write{Writer: vault.Writer{Via: "robo"}}); err != nil {
		t.Fatal(err)
	}
	if s := wantStones(t, f, "after forget", tombstone.Forget)[0]; s.By != "Ada via robo" || s.Actor != "user" {
		t.Errorf("tombstone %+v", s)
	}
	_, err := say(v, agent(), "The gate code is 4711.")
	wantRejected(t, "again", err, "text")
}

func TestAPlainGitRevertRejectsAsWell(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	f := vaulttest.New(t)
	v := f.Open()
	const text = "The gate code is 4711."
	mustSay(t, v, agent(), text)
	f.Git("revert", "--no-edit", "HEAD")
	wantStones(t, f, "nobody has read it yet")
	_, err := say(v, agent(), text)
	wantRejected(t, "before it was written down", err, "text")
	res := mustSay(t, v, agent(), "something else")
	if len(res.Commits) != 2 || res.Commits[0].Op != vault.OpAdopt || res.Commits[0].Author != "Ada" {
		t.Errorf("commits %+v, want the person's rejection first", res.Commits)
	}
	s := wantStones(t, f, "after the next writer", tombstone.Revert)[0]
	if s.By != "Ada" || s.Actor != "user" {
		t.Errorf("tombstone %+v", s)
	}
	_, err = say(v, agent(), text)
	wantRejected(t, "after it was written down", err, "text")
	if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil { // of "something else"
		t.Fatal(err)
	}
	wantStones(t, f, "undo of the writer that read it", tombstone.Revert, tombstone.Undo)
	mustSay(t, v, vault.Write{}, text)
	mustSay(t, v, agent(), "more")
	wantStones(t, f, "lifted, it is not read again", tombstone.Undo)
}

// The person takes the revert back with plain git, before or after anyone read it.
func TestAPlainGitRevertOfARevertRejectsNothing(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	for _, read := range []bool{false, true} {
		f := vaulttest.New(t)
		v := f.Open()
		const text = "The gate code is 4711."
		m := mustSay(t, v, agent(), text).Memories[0]
		f.Git("revert", "--no-edit", "HEAD")
		sha := strings.TrimSpace(f.Git("rev-parse", "HEAD"))
		if read {
			mustSay(t, v, agent(), "something else")
			wantStones(t, f, "read", tombstone.Revert)
		}
		f.Git("revert", "--no-edit", sha)
		res := mustSay(t, v, agent(), "and more")
		wantStones(t, f, "reverted revert")
		if first := res.Commits[0]; read && (first.Op != vault.OpAdopt || first.Subject != `adopt: brought back with git revert: "remember: The gate code is 4711."`) {
			t.Errorf("the person's commit is %s %q", first.Op, first.Subject)
		}
		if f.Read(string(m.Path)) == "" {
			t.Error("the memory is not back")
		}
	}
}

// git revert of stet's own commits needs no reading: the tombstone is part of
// the commit.
func TestAPlainGitRevertOfAnUndoTakesItsTombstoneAway(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	f := vaulttest.New(t)
	v := f.Open()
	mustSay(t, v, agent(), "one")
	if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	f.Git("revert", "--no-edit", "HEAD")
	wantStones(t, f, "git revert of the undo")
	mustSay(t, v, agent(), "two")
	wantStones(t, f, "the next writer")
}

// A tombstone that a person removes by hand rejects nothing, and one that cannot
// be read is found by doctor while the others hold.
func TestTombstonesByHand(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	mustSay(t, v, agent(), "one")
	if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	f.Write(".stet/tombstones/bad.yaml", "---\naction: [\n")
	_, err := say(v, agent(), "one")
	wantRejected(t, "beside a bad one", err, "text")
	problems, err := v.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, p := range problems {
		found = found || p.ID == "tombstone" && p.Path == ".stet/tombstones/bad.yaml"
	}
	if !found {
		t.Errorf("doctor does not name the bad tombstone: %+v", problems)
	}
	if err := os.RemoveAll(filepath.Join(f.Dir, ".stet/tombstones")); err != nil {
		t.Fatal(err)
	}
	mustSay(t, v, agent(), "one")
	f.LeaveDirty()
}

// A cloned vault may hold anything where tombstones are kept: a link is not
// followed, and what is no tombstone stops nobody.
func TestHostileTombstones(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	out := t.TempDir()
	if err := os.WriteFile(filepath.Join(out, "a.yaml"), tombstone.Encode([]tombstone.Stone{tombstone.Of(tombstone.Undo, "hello")}), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(out, filepath.Join(f.Dir, ".stet/tombstones")); err != nil {
		t.Skipf("skip: no symbolic links here: %v", err)
	}
	if _, err := say(v, agent(), "hello"); !errors.Is(err, vault.ErrBadPath) {
		t.Errorf("a linked folder: %v", err)
	}
	problems, err := v.Check(t.Context())
	if err != nil || !slices.ContainsFunc(problems, func(p vault.Problem) bool { return p.ID == "tombstone" }) {
		t.Errorf("doctor on a linked folder: %v, %v", problems, err)
	}
	if err := os.Remove(filepath.Join(f.Dir, ".stet/tombstones")); err != nil {
		t.Fatal(err)
	}
	f.Write(".stet/tombstones", "no folder\n")
	problems, err = v.Check(t.Context())
	if err != nil || !slices.ContainsFunc(problems, func(p vault.Problem) bool { return p.ID == "tombstone" }) {
		t.Errorf("doctor on a file: %v, %v", problems, err)
	}
	if err := os.Remove(filepath.Join(f.Dir, ".stet/tombstones")); err != nil {
		t.Fatal(err)
	}
	f.Write(".stet/tombstones/big.yaml", strings.Repeat("# nothing\n", vault.MaxFileSize/10+1))
	f.Write(".stet/tombstones/bomb.yaml", "---\naction: &a [x, x]\nids: [*a, *a]\n")
	f.Write(".stet/tombstones/folder.yaml/x", "no file\n")
	if err := os.Symlink(filepath.Join(out, "a.yaml"), filepath.Join(f.Dir, ".stet/tombstones/link.yaml")); err != nil {
		t.Fatal(err)
	}
	if _, err := say(v, agent(), "hello"); err != nil {
		t.Errorf("beside what is no tombstone: %v", err)
	}
	f.LeaveDirty()
}

// What was reverted before there was a vault is no business of stet's, and is
// not even walked to.
func TestRevertsFromBeforeTheVaultRejectNothing(t *testing.T) {
	t.Parallel()
	vaulttest.NeedGit(t)
	f := vaulttest.Fixture{Dir: t.TempDir(), Clock: vaulttest.NewClock()}
	git := func(args ...string) {
		t.Helper()
		if out, err := vaulttest.Git(f.Dir, args...); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(f.Dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		git("add", "-A")
		git("commit", "-q", "-m", name)
	}
	git("init", "-q", "-b", "main")
	put("a.md", "a\n")
	put("b.md", "The roof leaks.\n")
	git("revert", "--no-edit", "HEAD")
	if _, err := vault.Init(t.Context(), f.Dir, vault.InitOptions{}, f.Options()); err != nil {
		t.Fatal(err)
	}
	v, err := vault.Open(t.Context(), f.Dir, f.Options())
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	res := mustSay(t, v, agent(), "The roof leaks.")
	if len(res.Commits) != 1 {
		t.Errorf("commits %+v, want one", res.Commits)
	}
	vaulttest.Check(t, f.Dir)
}

// A stone that is taken out leaves what else a person or a bad disk put into its
// file: a comment, and a stone that cannot be read just now.
func TestAStoneThatGoesLeavesTheRestOfItsFile(t *testing.T) {
	t.Parallel()
	const text, comment, broken = "The gate code is 4711.", "# asked Ada on Monday\n", "---\naction: [undo\n"
	for name, takeOut := range map[string]func(v *vault.Vault, id string) error{
		"said again": func(v *vault.Vault, _ string) error { _, err := say(v, vault.Write{}, text); return err },
		"purged": func(v *vault.Vault, id string) error {
			why := vault.Why{Op: vault.OpForget, Subject: "purge"}
			_, err := v.Transact(ctxb(), why, false, func(tx *vault.Tx) error { return tx.RejectPurged([]string{id}, nil) })
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := vaulttest.New(t)
			v := f.Open()
			id := mustSay(t, v, agent(), text).Memories[0].ID
			if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(filepath.Join(f.Dir, ".stet/tombstones/*.yaml"))
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			p, err := filepath.Rel(f.Dir, files[0])
			if err != nil {
				t.Fatal(err)
			}
			f.Write(p, comment+f.Read(p)+broken)
			if _, err := v.Adopt(t.Context(), vault.AdoptOptions{All: true}); err != nil {
				t.Fatal(err)
			}
			if err := takeOut(v, id); err != nil {
				t.Fatal(err)
			}
			if got := f.Read(p); got != comment+broken {
				t.Errorf("left %q, want %q", got, comment+broken)
			}
		})
	}
}
