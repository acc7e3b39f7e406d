package ingest_test

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"testing"

	"stet/agent/ingest"
	"stet/index"
	"stet/vault"
	"stet/vault/vaulttest"
)

func TestMain(m *testing.M) {
	vaulttest.InMemory()
	m.Run()
}

// lister finds every memory of a vault, whatever is asked for, and then does what
// another process could do.
type lister struct {
	v     *vault.Vault
	fail  error
	after func()
}

func (l *lister) Nearby(ctx context.Context, _ string, _ int) (out []vault.Path, err error) {
	if l.fail != nil {
		return nil, l.fail
	}
	all, err := l.v.List(ctx, vault.Filter{})
	for _, m := range all {
		out = append(out, m.Path)
	}
	if l.after != nil {
		defer l.after()
	}
	return out, err
}

func (l *lister) Vocabulary(ctx context.Context, texts, groups []string, _ bool) (*index.Vocabulary, error) {
	v := &index.Vocabulary{Words: make([][]index.Word, len(texts)), Groups: make([]index.Usage, len(groups))}
	if texts != nil { // for the rules that file: no word is known
		return v, l.fail
	}
	v.All = index.Usage{Scopes: map[string]int{}, Categories: map[string]int{}}
	all, err := l.v.List(ctx, vault.Filter{})
	for _, m := range all {
		if m.Private {
			continue
		}
		v.All.Scopes[m.Scope]++
		for _, c := range m.Categories {
			v.All.Categories[c]++
		}
	}
	return v, cmp.Or(l.fail, err)
}

func store(t *testing.T, v *vault.Vault, find ingest.Searcher, w vault.Write, texts ...string) *ingest.Result {
	t.Helper()
	var notes []vault.Note
	for _, s := range texts {
		notes = append(notes, vault.Note{Text: s, Kind: "said"}) // of a kind: no entry of USER.md
	}
	res, err := ingest.Remember(t.Context(), v, find, nil, notes, w)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestWhatChangedSinceItWasJudgedIsJudgedAgain(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	find := &lister{v: v}
	store(t, v, find, vault.Write{}, "We use PostgreSQL.")
	edits := 0
	find.after = func() {
		if edits++; edits == 1 {
			old := f.Read("memories/we-use-postgresql.md")
			f.Write("memories/we-use-postgresql.md", strings.Replace(old, "We use PostgreSQL.", "We use PostgreSQL. The office is in Bern.", 1))
		}
	}
	res := store(t, v, find, vault.Write{}, "We switched to MySQL.")
	if len(res.Plan.Decisions()) != 1 || res.Plan.Decisions()[0].Kept != "The office is in Bern." {
		t.Fatalf("got %+v", res.Plan.Decisions())
	}
	if got := f.Read("memories/we-use-postgresql.md"); !strings.Contains(got, "---\nThe office is in Bern.\n") {
		t.Errorf("got %q", got)
	}
}

func TestAFailedSearchLosesNoMemory(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	res := store(t, v, &lister{v: v, fail: errors.New("no index")}, vault.Write{}, "We use PostgreSQL.")
	if len(res.Memories) != 1 || len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "no index") {
		t.Errorf("got %+v", res.Result)
	}
}

func TestMachinesDoNotLearnOfPrivateMemories(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/a.md", "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1f\nprivate: true\n---\nMy phone number is 555 0134.\n")
	v := f.Open()
	find := &lister{v: v}
	if res := store(t, v, find, vault.Write{Writer: vault.Writer{Actor: "agent"}}, "My phone number is 555 0134."); res.Unchanged || len(res.Plan.Decisions()) > 0 {
		t.Errorf("an agent was told: %+v", res.Plan.Decisions())
	}
	res := store(t, v, find, vault.Write{}, "My phone number is 555 0199.")
	if len(res.Plan.Decisions()) != 2 {
		t.Fatalf("got %+v", res.Plan.Decisions())
	}
	if got := f.Read(string(res.Memories[0].Path)); !strings.Contains(got, "private: true") {
		t.Errorf("what takes the place of something private is not private: %q", got)
	}
}

func TestRevertGivesBackTheBytes(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	find := &lister{v: v}
	store(t, v, find, vault.Write{}, "Ann lives in Bern and works at Nordlicht.")
	store(t, v, find, vault.Write{}, "The staging server sends emails to customers.")
	for _, text := range []string{"Ann moved from Bern to Basel.", "The staging server never sends emails to customers.", "Ann no longer lives in Bern."} {
		before := vaulttest.Image(t, f.Dir, ".git", ".stet")
		res := store(t, v, find, vault.Write{}, text)
		if len(res.Plan.Decisions()) == 0 || len(res.Commits) != 1 {
			t.Fatalf("%q: %d decisions, %d commits", text, len(res.Plan.Decisions()), len(res.Commits))
		}
		if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
			t.Fatal(err)
		}
		vaulttest.SameImage(t, before, vaulttest.Image(t, f.Dir, ".git", ".stet"))
	}
}
