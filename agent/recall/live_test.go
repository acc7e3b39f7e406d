package recall_test

import (
	"strings"
	"testing"

	"stet/agent/recall"
	"stet/index"
	"stet/vault"
	"stet/vault/session"
	"stet/vault/vaulttest"
)

func observe(t *testing.T, v *vault.Vault, id, role, text string, n int) {
	t.Helper()
	if err := session.Append(t.Context(), v, session.Turn{Session: id, Agent: "scribe", Role: role, Time: day(n), Text: []byte(text)}); err != nil {
		t.Fatal(err)
	}
}

// live opens the open sessions and an index that reads them with what is in files.
func live(t *testing.T, f *vaulttest.Fixture, v *vault.Vault) (*recall.Live, *index.Index) {
	t.Helper()
	x, err := index.Open(v, index.Options{Now: f.Clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	l, err := recall.Open(t.Context(), v)
	if err != nil || len(l.Warnings) > 0 {
		t.Fatal(err, l.Warnings)
	}
	if x, err = index.Open(l, index.Options{Now: f.Clock.Now, ReadOnly: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return l, x
}

// What was said is found before and after its session is sealed, once, with the
// same number, and scored as if it were sealed.
func TestOpenSessionsAreFound(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, file(id(1)), talk(t, id(1), "", "codex", "gate", "How do we mend the zebra gate?", "Ask the locksmith."))
	v := f.Open()
	observe(t, v, "chat/7", "user", "The zebra hinge came today.", 2)
	observe(t, v, "chat/7", "assistant", "The token is ghp_"+"x7Kq2mPz9Rt4Vw8Yb3Nc6Df1Gh5Jk0LsQaZe, I mend it.", 3)

	find := func(text, in string) *recall.Matches {
		t.Helper()
		l, x := live(t, f, v)
		m, err := recall.FindMatches(t.Context(), v, x, recall.Query{Text: text, Session: in, Live: l})
		if err != nil || m.Degraded != "" {
			t.Fatalf("%q: %v, degraded %q", text, err, m.Degraded)
		}
		return m
	}
	of := func(m *recall.Matches, text string) (out []recall.Match) {
		for _, h := range m.List {
			if strings.Contains(h.Snippet, text) {
				out = append(out, h)
			}
		}
		return out
	}
	before := find("zebra", "")
	got := of(before, "hinge")
	if len(got) != 1 || !got[0].In.Open || got[0].Message != 1 || got[0].In.Origin != "chat/7" || len(of(before, "gate")) != 1 {
		t.Fatalf("%+v", before.List)
	}
	if m := of(find("token", "chat/7"), "redacted: github-pat"); len(m) != 1 {
		t.Errorf("within the session: %+v", m)
	}

	// A page of it, through the conversations.
	l, x := live(t, f, v)
	a, err := recall.Sessions(t.Context(), v, x, recall.Query{Text: "hinge", Live: l})
	if err != nil || len(a.Found) == 0 || !a.Found[0].Root.Open || len(a.Found[0].Segments[0].Lines) != 2 {
		t.Fatalf("%+v, %v", a, err)
	}

	if _, err := session.Seal(t.Context(), v, session.Key("scribe", "chat/7"), session.Options{Wait: true}); err != nil {
		t.Fatal(err)
	}
	after := find("zebra", "")
	if now := of(after, "hinge"); len(now) != 1 || now[0].In.Open || now[0].Score != got[0].Score || now[0].Path != got[0].Path || len(after.List) != len(before.List) {
		t.Errorf("sealed it is %+v, open it was %+v", now, got)
	}

	// It goes on: one conversation, whose numbers go on.
	observe(t, v, "chat/7", "user", "The zebra hinge squeaks.", 4)
	m := find("squeaks", "")
	if len(m.List) == 0 || m.List[0].Message != 3 || !m.List[0].In.Open || m.List[0].In.ID != got[0].In.ID {
		t.Errorf("%+v", m.List)
	}
	if again := of(find("zebra", ""), "came today"); len(again) != 1 || again[0].Message != 1 {
		t.Errorf("%+v", again)
	}
}

// Without any transcript there is no index yet, and nothing is degraded.
func TestTheFirstOpenSessionIsFound(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	observe(t, v, "chat/7", "user", "The zebra hinge came today.", 2)
	l, x := live(t, f, v)
	m, err := recall.FindMatches(t.Context(), v, x, recall.Query{Text: "zebra", Live: l})
	if err != nil || len(m.List) != 1 || m.Degraded != "" {
		t.Errorf("%+v, %v", m, err)
	}
	if files, err := l.Files(t.Context(), vault.WalkOptions{Under: "memories"}); err != nil || len(files) != 0 {
		t.Errorf("%v, %v", files, err)
	}
}

// A session that has grown too large is left out and named, never a failure.
func TestOpenSessionsAreBounded(t *testing.T) {
	t.Parallel()
	v := vaulttest.New(t).Open()
	observe(t, v, "old", "user", strings.Repeat("zebra ", 500_000), 2)
	observe(t, v, "new", "user", strings.Repeat("horse ", 400_000), 3)
	l, err := recall.Open(t.Context(), v)
	if err != nil || len(l.Warnings) != 1 || !l.Any() {
		t.Fatalf("%v, %v", err, l)
	}
	files, err := l.Files(t.Context(), vault.WalkOptions{})
	if err != nil || len(files) != 1 || !strings.Contains(string(files[0].Path), "horse") {
		t.Errorf("%v, %v", files, err)
	}
}
