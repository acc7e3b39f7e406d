package ingest_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stet/agent/encode"
	"stet/agent/ingest"
	"stet/markdown"
	"stet/vault"
	"stet/vault/notebook"
	"stet/vault/settings"
	"stet/vault/vaulttest"
)

func doorTexts() []string {
	return []string{"My phone number is 555 0134.", "My phone number is 555 0177.", "my phone  number is 555 0134!", "We use PostgreSQL.", "We switched to MySQL.",
		"The staging server sends emails.", "The staging server never sends emails.", "Ann lives in Bern and works at Nordlicht.", "Ann moved to Basel.", "Prefers tea."}
}

// Whatever is jotted down by whomever: an entry goes only when the new one takes its
// place, a machine takes no person's place, it is one commit at most, and undo gives
// back the bytes.
func TestJotLosesNoEntry(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "USER.md", "# Me\n\n- My phone number is 555 0100.\n- [fact] We use PostgreSQL.\n- Ann lives in Bern and works at Nordlicht.\n\nMine.\n")
	v := f.OpenWith(everyText(f.Options()))
	n := notebook.Profile(v, notebook.DefaultLimits())
	if _, err := n.Add(t.Context(), notebook.New{Text: "The staging server sends emails."}, vault.Write{Writer: vault.Writer{Actor: "agent", AgentName: "robo"}}); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.SampledFrom(doorTexts()).Draw(r, "text")
		actor := rapid.SampledFrom([]string{"", "agent"}).Draw(r, "actor")
		was := f.Read("USER.md")
		res, done, err := ingest.AddEntry(t.Context(), v, n, nil, notebook.New{Text: text}, vault.Write{Writer: vault.Writer{Actor: actor}})
		if err != nil {
			r.Fatal(err)
		}
		now := f.Read("USER.md")
		before, after := markdown.Parse([]byte(was)).Entries(), markdown.Parse([]byte(now)).Entries()
		replaced := slices.ContainsFunc(done.Decisions(), func(d ingest.Decision) bool { return d.Kind == encode.Supersede })
		want := len(before) + 1
		if replaced || res.Duplicate {
			want = len(before)
		}
		if len(after) != want || res.Duplicate != (was == now) || len(res.Commits) > 1 || !strings.HasSuffix(now, "Mine.\n") && !strings.Contains(now, "Mine.\n") {
			r.Fatalf("%+v\n%s", done, now)
		}
		if actor != "" && (strings.Contains(now, "555 0100") != strings.Contains(was, "555 0100") || !strings.Contains(now, "PostgreSQL")) {
			r.Fatalf("a machine overruled a person: %s", now)
		}
		if len(res.Commits) > 0 {
			if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
				r.Fatal(err)
			}
			lift(t, f, v)
		}
		if got := f.Read("USER.md"); got != was {
			r.Fatalf("undone to %q", got)
		}
	})
}

// A new text is one commit with what it makes untrue, and undo gives back the bytes.
func TestANewTextLosesNoMemory(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.OpenWith(everyText(f.Options()))
	for _, s := range doorTexts() {
		if _, err := v.Remember(t.Context(), []vault.Note{{Text: s, Scope: "/a"}}, vault.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	all, err := v.List(t.Context(), vault.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		m := rapid.SampledFrom(all).Draw(r, "memory")
		text := rapid.SampledFrom(doorTexts()).Draw(r, "text")
		p := vault.Patch{Text: &text}
		if rapid.Bool().Draw(r, "moves") {
			scope := "/b"
			p.Scope = &scope
		}
		actor := rapid.SampledFrom([]string{"", "agent"}).Draw(r, "actor")
		before := filesOf(t, f)
		res, done, err := ingest.Update(t.Context(), v, &lister{v: v}, m.ID, p, false, vault.Write{Writer: vault.Writer{Actor: actor}})
		if err != nil {
			r.Fatal(err)
		}
		after := filesOf(t, f)
		if len(after) != len(before) || len(res.Commits) > 1 {
			r.Fatalf("%d files, had %d; %d commits", len(after), len(before), len(res.Commits))
		}
		everything := ""
		for _, data := range after {
			everything += data
		}
		for _, o := range all {
			if !strings.Contains(everything, "id: "+o.ID) {
				r.Fatalf("%s is gone", o.Path)
			}
		}
		if !strings.Contains(everything, "---\n"+text+"\n") {
			r.Fatalf("the new text is not there: %+v", done)
		}
		if actor != "" && slices.ContainsFunc(done.Decisions(), func(d ingest.Decision) bool { return d.Kind == encode.Supersede }) {
			r.Fatalf("a machine overruled a person: %+v", done)
		}
		if len(res.Commits) > 0 {
			if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
				r.Fatal(err)
			}
			lift(t, f, v)
		}
		vaulttest.SameImage(t, before, filesOf(t, f))
	})
}

// What another program kept overrules no person, is left out only where its very
// text stands, and is judged anew when something changed meanwhile.
func TestWhatAnotherProgramKept(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	for _, s := range []string{"My phone number is 555 0134.", "Prefers tea.", "Bern has a bear pit by the river."} {
		if _, err := v.Remember(t.Context(), []vault.Note{{Text: s}}, vault.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	notes := []vault.Note{{Text: "The user's phone number is 555 0177."}, {Text: "prefers tea"}, {Text: "By the river, Bern has a bear pit."}, {Text: "Prefers tea!"}, {Text: ""}}
	find := &lister{v: v}
	w := vault.Write{Writer: vault.Writer{Actor: "agent", AgentName: "robo"}}
	b, err := ingest.Import(t.Context(), v, find, notes, w)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{false, true, false, true, false} {
		if (b.Duplicate(i) != "") != want {
			t.Errorf("note %d: said in %q", i, b.Duplicate(i))
		}
	}
	if n := len(b.Decisions()); n != 3 { // two of them duplicates
		t.Errorf("%d decisions", n)
	}
	done := b.Items[0].Decisions
	if len(done) != 1 || done[0].Kind != encode.Conflict || done[0].Path != "memories/my-phone-number-is-555-0134.md" {
		t.Fatalf("decided %+v", done)
	}
	stage := func() error {
		_, err := v.Transact(t.Context(), w.Why(vault.OpImport, "one"), false, func(tx *vault.Tx) error {
			stored, err := tx.Remember(notes[:1])
			if err != nil {
				return err
			}
			_, err = b.Begin().Stage(tx, 0, stored[0])
			return err
		})
		return err
	}
	was := f.Read(string(done[0].Path))
	f.Write(string(done[0].Path), was+"More.\n")
	if err := stage(); !errors.Is(err, vault.ErrConflict) {
		t.Errorf("staged beside what changed: %v", err)
	}
	f.Write(string(done[0].Path), was)
	if err := stage(); err != nil {
		t.Fatal(err)
	}
	if got := f.Read(string(done[0].Path)); !strings.Contains(got, "conflicts_with: [") || !strings.Contains(got, "555 0134") {
		t.Errorf("got %q", got)
	}
}

// everyText lets agents change what people wrote: what the rules say is tested here.
func everyText(o vault.Options) vault.Options {
	o.Settings = []settings.Layer{settings.Layer{Source: settings.User}.With(settings.AgentsEdit, "all", "")}
	return o
}

// lift takes the tombstones away, as a person does who removes their files.
func lift(t *testing.T, f *vaulttest.Fixture, v *vault.Vault) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(f.Dir, ".stet", "tombstones")); err != nil {
		t.Fatal(err)
	}
	_, err := v.Adopt(t.Context(), vault.AdoptOptions{Paths: []vault.Path{".stet/tombstones"}})
	if err != nil && !errors.Is(err, vault.ErrNotFound) { // the undo rejected nothing
		t.Fatal(err)
	}
}
