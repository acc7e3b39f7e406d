package approval_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"stet/agent/approval"
	"stet/index"
	"stet/vault"
	"stet/vault/settings"
	"stet/vault/vaulttest"
)

// lister finds every memory of a vault, whatever is asked for.
type lister struct{ v *vault.Vault }

func (l lister) Nearby(ctx context.Context, _ string, _ int) (out []vault.Path, err error) {
	all, err := l.v.List(ctx, vault.Filter{})
	for _, m := range all {
		out = append(out, m.Path)
	}
	return out, err
}

func (l lister) Vocabulary(_ context.Context, texts, groups []string, _ bool) (*index.Vocabulary, error) {
	return &index.Vocabulary{Words: make([][]index.Word, len(texts)), Groups: make([]index.Usage, len(groups))}, nil
}

func robo() vault.Write {
	return vault.Write{Writer: vault.Writer{Actor: "agent", AgentName: "robo", Door: "cli"}}
}

// staging opens a vault in which agents have to be approved.
func staging(t *testing.T) (*vaulttest.Fixture, *vault.Vault) {
	f := vaulttest.New(t)
	o := f.Options()
	o.Settings = append(o.Settings, settings.Layer{Source: settings.Flag}.With(settings.WriteApproval, "stage", ""))
	return f, f.OpenWith(o)
}

func remember(t *testing.T, v *vault.Vault, w vault.Write, texts ...string) *vault.Result {
	t.Helper()
	var notes []vault.Note
	for _, s := range texts {
		notes = append(notes, vault.Note{Text: s})
	}
	res, err := v.Remember(t.Context(), notes, w)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func list(t *testing.T, v *vault.Vault, want int) []approval.Waiting {
	t.Helper()
	all, problems, err := approval.List(t.Context(), v)
	if err != nil || len(problems) > 0 || len(all) != want {
		t.Fatalf("%d wait, want %d; %v, %v", len(all), want, problems, err)
	}
	return all
}

// A batch of a machine is one proposal a memory, in one commit, and each is answered
// by itself.
func TestABatchIsAnsweredOneByOne(t *testing.T) {
	t.Parallel()
	f, v := staging(t)
	before := vaulttest.Image(t, f.Dir, ".git", ".stet")
	res := remember(t, v, robo(), "We use PostgreSQL.", "We switched to MySQL.", "Tea is in the cupboard.")
	if len(res.Proposed) != 3 || len(res.Commits) != 1 || res.Commits[0].Op != vault.OpPropose || res.Commits[0].Author != "robo" {
		t.Fatalf("got %+v", res)
	}
	vaulttest.SameImage(t, before, vaulttest.Image(t, f.Dir, ".git", ".stet"))
	all := list(t, v, 3)
	desk := approval.Desk{Find: lister{v}}
	for _, w := range all[:2] {
		res, err := approval.Accept(t.Context(), v, desk, w, vault.Write{})
		if err != nil || len(res.Commits) != 1 || res.Memories[0].ID != w.ID {
			t.Fatalf("%+v, %v", res, err)
		}
	}
	if got := f.Read("archive/memories/we-use-postgresql.md"); !strings.Contains(got, all[0].ID) {
		t.Errorf("the first is not in the archive: %q", got)
	}
	if _, err := approval.Reject(t.Context(), v, all[2:], vault.Write{}); err != nil {
		t.Fatal(err)
	}
	list(t, v, 0)
	if _, err := v.Remember(t.Context(), []vault.Note{{Text: "tea is in the cupboard"}}, robo()); !errors.Is(err, vault.ErrRejected) {
		t.Errorf("said again: %v", err)
	}
}

// What was answered in another terminal is not answered a second time.
func TestAnAnswerIsGivenOnce(t *testing.T) {
	t.Parallel()
	f, v := staging(t)
	remember(t, v, robo(), "Tea is in the cupboard.")
	w := list(t, v, 1)[0]
	desk := approval.Desk{Find: lister{v}}
	f.Write(string(w.Path), f.Read(string(w.Path))+"By the door.\n")
	for _, again := range []bool{false, true} {
		if _, err := approval.Accept(t.Context(), v, desk, w, vault.Write{}); !errors.Is(err, vault.ErrConflict) {
			t.Errorf("accepted: %v", err)
		}
		if _, err := approval.Reject(t.Context(), v, []approval.Waiting{w}, vault.Write{}); !errors.Is(err, vault.ErrConflict) {
			t.Errorf("rejected: %v", err)
		}
		if again {
			return
		}
		// What a person edits before accepting is what is written.
		res, err := approval.Accept(t.Context(), v, desk, list(t, v, 1)[0], vault.Write{})
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Read(string(res.Memories[0].Path)); !strings.HasSuffix(got, "cupboard.\nBy the door.\n") {
			t.Errorf("got %q", got)
		}
	}
}

// image is a vault without its tombstones and empty folders.
func image(t *testing.T, f *vaulttest.Fixture) map[string]string {
	out := vaulttest.Image(t, f.Dir, ".git")
	for name, kind := range out {
		if strings.HasPrefix(name, ".stet/tombstones") || !strings.HasPrefix(kind, "-") {
			delete(out, name)
		}
	}
	return out
}

// Where a model is configured it looks at what was accepted later: the person saw what
// the rules make of it.
func TestAModelLooksAtWhatWasAcceptedLater(t *testing.T) {
	t.Parallel()
	f, v := staging(t)
	remember(t, v, robo(), "Tea is in the cupboard.")
	w := list(t, v, 1)[0]
	if _, err := approval.Accept(t.Context(), v, approval.Desk{Find: lister{v}, Later: true}, w, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	if got := f.Read("memories/tea-is-in-the-cupboard.md"); !strings.Contains(got, "\nencoding: pending\n") {
		t.Errorf("got %q", got)
	}
}

// Undoing an accepted change gives back every byte, and it waits again.
func TestUndoOfAnAcceptedChangeGivesBackTheBytes(t *testing.T) {
	t.Parallel()
	f, v := staging(t)
	f.Write("memories/crlf.md", "---\r\nid: 01jd7q8r5t9v3x6y2z4a7c0e11\r\n---\r\nPort 80.\r\nLift.")
	text, scope, pinned := "Port 81.", "/infra", true
	for _, p := range []vault.Patch{{Text: &text}, {Scope: &scope}, {Pinned: &pinned}} {
		before := image(t, f)
		res, err := v.UpdateMemory(t.Context(), "01jd7q8r5t9v3x6y2z4a7c0e11", p, robo())
		if err != nil || len(res.Proposed) != 1 {
			t.Fatalf("%+v, %v", res, err)
		}
		staged := image(t, f)
		w := list(t, v, 1)[0]
		if _, err := approval.Accept(t.Context(), v, approval.Desk{Find: lister{v}}, w, vault.Write{}); err != nil {
			t.Fatal(err)
		}
		if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
			t.Fatal(err)
		}
		vaulttest.SameImage(t, staged, image(t, f))
		if _, err := approval.Reject(t.Context(), v, list(t, v, 1), vault.Write{}); err != nil {
			t.Fatal(err)
		}
		vaulttest.SameImage(t, before, image(t, f))
		if _, err := v.UpdateMemory(t.Context(), "01jd7q8r5t9v3x6y2z4a7c0e11", p, robo()); !errors.Is(err, vault.ErrRejected) {
			t.Errorf("proposed again: %v", err)
		}
	}
}

// What people do, and what keeps the vault in order, waits for nobody.
func TestOnlyMachinesWait(t *testing.T) {
	t.Parallel()
	_, v := staging(t)
	if res := remember(t, v, vault.Write{}, "Mine."); len(res.Proposed) > 0 {
		t.Errorf("a person waits: %+v", res)
	}
	for _, o := range []struct {
		w    vault.Write
		want bool
	}{{robo(), true}, {vault.Write{Writer: vault.Writer{Actor: "nudge"}}, true}, {vault.Write{}, false}, {vault.Write{Writer: vault.Writer{Actor: vault.ActorUser}}, false}, {vault.Write{Writer: vault.Writer{Actor: "agent", Approver: "Ada <a@example.com>"}}, false}} {
		if got := v.Waits(o.w); got != o.want {
			t.Errorf("%+v waits: %v", o.w, got)
		}
	}
}

func TestEachOfTwoProposalsIsNamedAfterItsMemory(t *testing.T) {
	t.Parallel()
	_, v := staging(t)
	got := remember(t, v, robo(), "The gate code is 4711.", "Tea is in the cupboard.").Proposed
	if len(got) != 2 {
		t.Fatalf("got %+v", got)
	}
	for _, p := range got {
		if !strings.Contains(string(p.About), "/"+p.Subject+".md") {
			t.Errorf("%s is about %s", p.Subject, p.About)
		}
	}
}

// What waits is answered by a person: no machine proposes a change of a proposal.
func TestNoMachineProposesAProposal(t *testing.T) {
	t.Parallel()
	_, v := staging(t)
	why := robo().Why(vault.OpUpdate, "a proposal")
	_, err := v.Transact(t.Context(), why, false, func(tx *vault.Tx) error {
		return tx.Put(".stet/proposals/01jd7q4x9m2k8v5t3w6y0z1a2b.md", "", []byte("---\nop: remember\n---\nMine.\n"))
	})
	if !errors.Is(err, vault.ErrRefused) {
		t.Errorf("got %v", err)
	}
}
