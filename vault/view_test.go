package vault_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"stet/vault"
	"stet/vault/store"
	"stet/vault/vaulttest"
)

func TestViewShowsOneCommitForEver(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "a.md", "one\n", "dir/b.md", "bee\n")
	v := f.Open()
	was, err := v.Head()
	if err != nil {
		t.Fatal(err)
	}
	s, err := v.History().View(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	m := remember(t, v, "later")
	if data, _, err := s.Read(m.Path); err != nil || data != nil {
		t.Errorf("an old view sees %q (%v) of a later memory", data, err)
	}
	var seen []string
	for p := range s.Files() {
		seen = append(seen, string(p))
	}
	if got := strings.Join(seen, " "); got != ".gitattributes .gitignore .stet/config.yaml a.md dir/b.md" {
		t.Errorf("files of the view: %s", got)
	}
	for _, rev := range []string{string(was), was.Short(), "HEAD~1", "main~1"} {
		again, err := v.History().View(t.Context(), rev)
		if err != nil || again.Commit != was {
			t.Errorf("view of %s: %v, want %s", rev, err, was)
		}
	}
	if _, err := v.History().View(t.Context(), "nosuch"); !errors.Is(err, vault.ErrNoRevision) {
		t.Errorf("view of an unknown revision: %v", err)
	}
}

func TestDiffAgainstDiskAndBetweenCommits(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "a.md", "one\ntwo\n", "gone.md", "gone\n")
	v := f.Open()
	m := remember(t, v, "kept")
	f.Write("a.md", "one\nTWO\n")
	f.Write("new.md", "new\n")
	check := func(from, to, want string) {
		t.Helper()
		files, err := v.History().Diff(t.Context(), from, to, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range files {
			got = append(got, d.Status+" "+string(d.Path))
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("diff %q..%q: %s, want %s", from, to, s, want)
		}
	}
	check("", "", "modified a.md, added new.md")
	check("HEAD~1", "HEAD", "added "+string(m.Path))
	check("HEAD~1", "", "modified a.md, added "+string(m.Path)+", added new.md")
	check(store.EmptyTree, "HEAD~2", "added a.md, added gone.md")
	files, err := v.History().Diff(t.Context(), "", "", []vault.Path{"a.md"})
	if err != nil || len(files) != 1 || !strings.Contains(files[0].Text, "-two\n+TWO\n") || files[0].Added != 1 || files[0].Removed != 1 {
		t.Errorf("diff of one path: %+v, %v", files, err)
	}
	if _, err := v.Adopt(t.Context(), vault.AdoptOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestLogFollowsAFileThroughForgetAndScope(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	m := remember(t, v, "follow me")
	remember(t, v, "another")
	scope := "/new/place"
	res, err := v.UpdateMemory(t.Context(), m.ID, vault.Patch{Scope: &scope}, vault.Write{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Forget(t.Context(), []string{m.ID}, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	now, err := v.Resolve(t.Context(), m.ID)
	if err != nil || !now.Archived() {
		t.Fatalf("%+v, %v, want it in the archive", now, err)
	}
	var ops []string
	for c, err := range v.History().Log(t.Context(), vault.LogOptions{Path: now.Path, Follow: true}) {
		if err != nil {
			t.Fatal(err)
		}
		ops = append(ops, string(c.Op))
	}
	if got := strings.Join(ops, " "); got != "forget update remember" {
		t.Errorf("history of the file: %s (moved to %s)", got, res.Memories[0].Path)
	}
	old, data, err := v.History().ReadAt(t.Context(), "HEAD~1", m.ID)
	if err != nil || old.Path != res.Memories[0].Path || !strings.Contains(string(data), "follow me") {
		t.Errorf("as it was: %s %q %v", old.Path, data, err)
	}
}

func TestChangesJoinRenames(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	m := remember(t, v, "moved")
	from, err := v.Head()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Forget(t.Context(), []string{m.ID}, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	changes, err := v.Changes(t.Context(), from, "")
	changes = slices.DeleteFunc(changes, func(c vault.Change) bool { return vault.IsTombstone(c.Path) })
	if err != nil || len(changes) != 1 || changes[0].Status != vault.Renamed || changes[0].From != m.Path {
		t.Errorf("changes %+v, %v, want one rename from %s", changes, err, m.Path)
	}
}

func TestPreviewWritesNothing(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	head, err := v.Head()
	if err != nil {
		t.Fatal(err)
	}
	res, err := v.Remember(t.Context(), []vault.Note{{Text: "dry"}}, vault.Write{DryRun: true})
	if err != nil || !res.DryRun || !strings.Contains(res.Diff, "+dry\n") {
		t.Errorf("%+v, %v", res, err)
	}
	if now, err := v.Head(); err != nil || now != head {
		t.Errorf("HEAD moved from %s to %s (%v)", head, now, err)
	}
	if st, err := v.Status(t.Context()); err != nil || len(st.Changed) != 0 {
		t.Errorf("status after a dry run: %+v, %v", st, err)
	}
}

func TestHeadAtATime(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	ctx := context.Background()
	first, err := v.Remember(ctx, []vault.Note{{Text: "one", Title: "One"}}, vault.Write{Writer: vault.Writer{Actor: vault.ActorUser}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Remember(ctx, []vault.Note{{Text: "two", Title: "Two"}}, vault.Write{Writer: vault.Writer{Actor: vault.ActorUser}}); err != nil {
		t.Fatal(err)
	}
	made := first.Commits[0]
	if c, err := v.History().HeadAt(ctx, made.When); err != nil || c.Rev != made.Rev {
		t.Errorf("at %s HEAD was %s, want %s (%v)", made.When, c.Rev, made.Rev, err)
	}
	if _, err := v.History().HeadAt(ctx, made.When.AddDate(-1, 0, 0)); !errors.Is(err, vault.ErrNoRevision) {
		t.Errorf("before history began: %v", err)
	}
}

func TestValid(t *testing.T) {
	t.Parallel()
	m := vault.ReadMemory("memories/a.md", []byte("---\nvalid_from: 2026-02-01\nvalid_until: 2026-02-28\n---\ntext\n"))
	for at, want := range map[string]bool{
		"2026-01-31T23:59:59Z": false, "2026-02-01T00:00:00Z": true, "2026-02-28T23:59:59Z": true, "2026-03-01T00:00:00Z": false,
	} {
		when, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if m.Valid(when) != want {
			t.Errorf("valid at %s: %t", at, !want)
		}
	}
	if !(vault.Memory{}).Valid(time.Time{}) {
		t.Error("what says nothing of time is always valid")
	}
}
