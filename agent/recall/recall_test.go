package recall_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"stet/agent/recall"
	"stet/index"
	"stet/markdown"
	"stet/vault"
	"stet/vault/session"
	"stet/vault/vaulttest"
)

// talk is a transcript as a file.
func talk(t testing.TB, id, parent, agent, project string, said ...string) string {
	t.Helper()
	tr := &markdown.Transcript{ID: id, Title: "Talk " + id[22:], Parent: parent, Agent: agent, Project: project, Started: day(1)}
	for i, text := range said {
		role := "user"
		if i%2 == 1 {
			role = "assistant"
		}
		tr.Messages = append(tr.Messages, markdown.Message{Role: role, Time: day(1 + i), Content: []byte(text)})
	}
	data, _, err := markdown.RenderTranscript(tr, markdown.TranscriptOptions{Name: file(id)})
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func day(n int) time.Time     { return time.Date(2026, 3, n, 10, 0, 0, 0, time.UTC) }
func id(n int) string         { return fmt.Sprintf("01k%023d", n) }
func file(id string) string   { return "sessions/2026/03/2026-03-01-talk-" + id[20:] + ".md" }
func long(word string) string { return strings.Repeat(word+" and many other words. ", 400) }

func open(t *testing.T, files ...string) (*vault.Vault, *index.Index) {
	t.Helper()
	f := vaulttest.New(t, files...)
	v := f.Open()
	x, err := index.Open(v, index.Options{Now: f.Clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return v, x
}

func ask(t *testing.T, v *vault.Vault, x *index.Index, q recall.Query) *recall.Answer {
	t.Helper()
	a, err := recall.Sessions(t.Context(), v, x, q)
	if err != nil {
		t.Fatalf("%.60q: %v", q.Text, err)
	}
	return a
}

func TestPartsOfAConversationAreOne(t *testing.T) {
	t.Parallel()
	v, x := open(t,
		file(id(1)), talk(t, id(1), "", "codex", "gate", "How do we mend the zebra gate?", "Ask the locksmith."),
		file(id(2)), talk(t, id(2), id(1), "codex", "gate", "The zebra hinge is broken.", "I ordered a hinge."),
		file(id(3)), talk(t, id(3), id(2), "codex", "gate", "Is the zebra hinge there?"),
		file(id(4)), talk(t, id(4), id(99), "scribe", "zoo", "A zebra has stripes.", "Black and white ones."),
		// A circle, and one that is its own parent.
		file(id(5)), talk(t, id(5), id(6), "scribe", "zoo", "Where does the zebra sleep?"),
		file(id(6)), talk(t, id(6), id(5), "scribe", "zoo", "The zebra sleeps standing."),
		file(id(7)), talk(t, id(7), id(7), "scribe", "zoo", "Zebra, zebra."),
	)
	a := ask(t, v, x, recall.Query{Text: "zebra", Limit: 10})
	roots := map[string]int{}
	for _, f := range a.Found {
		roots[f.Root.ID]++
		if len(f.Segments) == 0 {
			t.Errorf("%s shows nothing", f.Root.ID)
		}
	}
	if len(a.Found) != 4 || roots[id(1)] != 1 || roots[id(4)] != 1 || roots[id(7)] != 1 || roots[id(5)]+roots[id(6)] != 1 {
		t.Errorf("the conversations are %v", roots)
	}
	for name, q := range map[string]recall.Query{
		"agent": {Text: "zebra", Agent: "codex"}, "project": {Text: "zebra", Project: "gate"},
		"one session": {Text: "zebra", Session: id(2)},
	} {
		for _, f := range ask(t, v, x, q).Found {
			if f.Root.ID != id(1) {
				t.Errorf("%s: found %s", name, f.Root.ID)
			}
		}
	}
	m, err := recall.FindMatches(t.Context(), v, x, recall.Query{Text: "hinge", Role: "assistant"})
	if err != nil || len(m.List) != 1 || m.List[0].Message != 2 || m.List[0].In.ID != id(2) {
		t.Errorf("matches of a role: %+v %v", m, err)
	}
	m, err = recall.FindMatches(t.Context(), v, x, recall.Query{Text: "zebra", Since: day(2)})
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range m.List {
		if h.Updated.Before(day(2)) {
			t.Errorf("a match is older than asked for: %+v", h.Hit)
		}
	}
}

func TestNoAnswerIsLongerThanItsBudget(t *testing.T) {
	t.Parallel()
	var files []string
	for i := range 8 {
		said := []string{long("walrus")}
		for range 12 {
			said = append(said, long("walrus"), "short walrus")
		}
		files = append(files, file(id(i+1)), talk(t, id(i+1), "", "a", "b", said...))
	}
	v, x := open(t, files...)
	size := func(lines []recall.Line) (n int) {
		for _, l := range lines {
			n += utf8.RuneCountInString(l.Text)
		}
		return n
	}
	for _, budget := range []int{1, 50, 300, 5000, 0} {
		a := ask(t, v, x, recall.Query{Text: "walrus", Budget: budget, Limit: 8})
		n := 0
		for _, f := range a.Found {
			for _, s := range f.Segments {
				n += size(s.Lines)
			}
		}
		most := budget
		if budget == 0 {
			most = recall.Budget
		}
		if n > most || budget == 0 && n < most/2 {
			t.Errorf("budget %d: %d characters", budget, n)
		}
	}
	whole, err := recall.Read(t.Context(), v, id(3))
	if err != nil {
		t.Fatal(err)
	}
	next, seen := 0, 0
	for range 100 {
		p := whole.Page(next, 0, 12000)
		if size(p.Lines) > 12000 {
			t.Fatalf("a page of %d characters", size(p.Lines))
		}
		seen += len(p.Lines)
		if next = p.Next; next == 0 {
			break
		}
	}
	if next != 0 || seen != 25 {
		t.Errorf("the pages have %d of 25 messages and end at %d", seen, next)
	}
	p := whole.Around(13, 5, 12000)
	if size(p.Lines) > 12000 || len(p.Lines) < 2 {
		t.Errorf("around 13: %d lines of %d characters", len(p.Lines), size(p.Lines))
	}
	for i := range p.Lines[1:] {
		if p.Lines[i+1].Number != p.Lines[i].Number+1 {
			t.Errorf("a gap after %d", p.Lines[i].Number)
		}
	}
}

func TestAnyQuestionGetsAnAnswerOrNone(t *testing.T) {
	t.Parallel()
	v, x := open(t, file(id(1)), talk(t, id(1), "", "", "", "We decided that the API's v2.1 roll-out waits for May.", "早上好 🎉 noted."))
	for _, text := range []string{
		"What did we decide about the API's v2.1 roll-out?", `"unbalanced`, `a "b" "c`, "the of and", "?!… --- ***", "早上好", "🎉🎉", strings.Repeat("walrus ", 720),
		"+", "-", "field:", "AND OR NOT (", "in:nowhere", "kind:report", "since:never", "\x00\xff", "a*b*", "%s\n\t", strings.Repeat("(", 5000),
	} {
		a := ask(t, v, x, recall.Query{Text: text})
		if len(a.Found) == 0 && strings.Contains(text, "decide") {
			t.Errorf("%q finds nothing", text)
		}
	}
}

func TestWhatStetPutBeforeAModelIsNotFoundAsSaid(t *testing.T) {
	t.Parallel()
	text := markdown.InjectedOpen + " commit=\"1\">\nThe platypus code is 4711.\n" + markdown.InjectedClose + "\nWhat about the badger?"
	v, x := open(t, file(id(1)), talk(t, id(1), "", "", "", text))
	if a := ask(t, v, x, recall.Query{Text: "platypus"}); len(a.Found) != 0 {
		t.Errorf("found what was not said: %+v", a.Found)
	}
	a := ask(t, v, x, recall.Query{Text: "badger"})
	if len(a.Found) != 1 || a.Found[0].Segments[0].Lines[0].Text != "What about the badger?" {
		t.Errorf("found %+v", a.Found)
	}
}

func TestWhatWasSaidLastAtAMoment(t *testing.T) {
	t.Parallel()
	v, _ := open(t, file(id(1)), talk(t, id(1), "", "", "", "one", "two", "three", "four"))
	whole, err := recall.Read(t.Context(), v, id(1))
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[time.Time]string{
		day(1).Add(-time.Second): "", day(1): "one two", day(2).Add(time.Hour): "one two", day(3): "three four", day(30): "three four",
	} {
		var said []string
		for _, l := range whole.Before(at, recall.Budget).Lines {
			said = append(said, l.Text)
		}
		if got := strings.Join(said, " "); got != want {
			t.Errorf("at %v it was %q, want %q", at, got, want)
		}
	}
}

// say appends a turn of the agent's own session name to the open sessions.
func say(t *testing.T, v *vault.Vault, name, text string, at time.Time) {
	t.Helper()
	turn := session.Turn{Session: name, Agent: "scribe", Role: "user", Time: at, Text: []byte(text)}
	if err := session.Append(t.Context(), v, turn); err != nil {
		t.Fatal(err)
	}
}

func said(t *testing.T, v *vault.Vault, ref string) string {
	t.Helper()
	whole, err := recall.Read(t.Context(), v, ref)
	if err != nil {
		t.Fatalf("%q: %v", ref, err)
	}
	var out []string
	for _, l := range whole.Page(0, 0, -1).Lines {
		out = append(out, l.Text)
	}
	return strings.Join(out, " ")
}

func TestASealedConversationGoesOn(t *testing.T) {
	t.Parallel()
	v, _ := open(t)
	say(t, v, "mine", "one", day(1))
	say(t, v, "mine", "two", day(2))
	key := session.Key("scribe", "mine")
	lines, err := v.State().Session(key)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := session.Seal(t.Context(), v, key, session.Options{Wait: true})
	if err != nil {
		t.Fatal(err)
	}
	refs := []string{sealed.ID, "mine", string(sealed.Path)}
	for _, ref := range refs {
		if got := said(t, v, ref); got != "one two" {
			t.Errorf("sealed, %q is %q", ref, got)
		}
	}
	// What a sealer leaves that dies behind its commit: the turns and its mark.
	lines = append(lines, fmt.Appendf(nil, `{"v":1,"seal":{"path":%q,"base":0,"turns":2}}`, sealed.Path))
	for _, line := range lines {
		if err := v.State().AppendSession(t.Context(), key, line); err != nil {
			t.Fatal(err)
		}
	}
	for _, ref := range refs {
		if got := said(t, v, ref); got != "one two" {
			t.Errorf("behind a dead sealer, %q is %q", ref, got)
		}
	}
	say(t, v, "mine", "three", day(3))
	// Begun at the same moment, another has the same first letters.
	say(t, v, "other", "four", day(1))
	for _, ref := range append(refs, sealed.ID[:10]) {
		if got := said(t, v, ref); got != "one two three" {
			t.Errorf("gone on, %q is %q", ref, got)
		}
	}
	say(t, v, "third", "five", day(20))
	say(t, v, "fourth", "six", day(20))
	name := session.ID("scribe", "third", day(20))[:10]
	var many *vault.AmbiguousError
	if _, err := recall.Read(t.Context(), v, name); !errors.As(err, &many) || len(many.Candidates) != 2 {
		t.Errorf("%q names two: %v", name, err)
	}
}
