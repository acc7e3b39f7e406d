package ingest_test

import (
	"strings"
	"testing"
	"time"

	"stet/agent/ingest"
	"stet/index"
	"stet/vault"
	"stet/vault/vaulttest"
)

// Whatever is said, by whomever: what was said stands in USER.md or in a memory, what a person wrote into USER.md by
// hand stays unless it is surely no longer true, and undo gives back the bytes.
func TestWhatIsRoutedLosesNothing(t *testing.T) {
	t.Parallel()
	for _, said := range [][]string{
		{"I hate when you start every reply with 'Got it'", "my wife's birthday is March 15th", "We use Slack."},
		{"my wife's birthday is March 15th", "Correction: my wife's birthday is March 16th",
			"my wife's birthday is March 15th"},
		{"I live in Bern.", "I moved to Lisbon.", "I'm allergic to nuts.", "I am allergic to shellfish."},
		{"I prefer tabs over spaces", "I no longer like tabs, I prefer spaces.", "My timezone is Europe/Vienna."},
		{"My timezone is America/Toronto.", "My mother tongue is Dutch.", "My mother tongue is Dutch, not German."},
	} {
		for _, w := range []vault.Write{{}, {Each: true}, {Writer: vault.Writer{Actor: "agent"}}} {
			for _, texts := range [][][]string{{said}, each(said)} {
				playRouted(t, texts, w)
			}
		}
	}
}

func each(said []string) (out [][]string) {
	for _, s := range said {
		out = append(out, []string{s})
	}
	return out
}

func playRouted(t *testing.T, calls [][]string, w vault.Write) {
	t.Helper()
	f := vaulttest.New(t, "USER.md", "# Me\n\n- My timezone is Europe/Vienna.\n\nMine.\n")
	v := f.OpenWith(everyText(f.Options()))
	x, err := index.Open(v, index.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	remember := func(notes []vault.Note) *ingest.Result {
		if _, err := x.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		res, err := ingest.Remember(t.Context(), v, x, nil, notes, w)
		if err != nil {
			t.Fatal(notes, err)
		}
		return res
	}
	for _, texts := range calls {
		before := vaulttest.Image(t, f.Dir, ".git")
		var notes []vault.Note
		for _, s := range texts {
			notes = append(notes, vault.Note{Text: s})
		}
		res := remember(notes)
		var all strings.Builder
		for p := range vaulttest.Image(t, f.Dir, ".git") {
			if strings.HasSuffix(p, ".md") {
				all.WriteString(f.Read(p))
			}
		}
		for i, s := range texts {
			if res.Plan.Items[i].Outcome == ingest.Insert && !strings.Contains(all.String(), s) {
				t.Fatalf("%q is gone:\n%s", s, all.String())
			}
		}
		user := f.Read("USER.md")
		if !strings.Contains(user, "Mine.\n") || w.Actor != "" && !strings.Contains(user, "Europe/Vienna.\n") {
			t.Fatalf("a person's words are gone:\n%s", user)
		}
		if len(res.Commits) == 0 {
			continue
		}
		if _, err := v.History().Undo(t.Context(), len(res.Commits), vault.Write{}); err != nil {
			t.Fatal(err)
		}
		lift(t, f, v)
		vaulttest.SameImage(t, before, vaulttest.Image(t, f.Dir, ".git"))
		remember(notes)
	}
}

// An entry that stet put into USER.md becomes a memory before it is flagged; one that a person put there stays, and
// the plan names it.
func TestADisputedEntryIsAMemoryIfStetPutItThere(t *testing.T) {
	t.Parallel()
	for _, byHand := range []bool{false, true} {
		f, v, x := pairVault(t)
		old := vault.Note{Text: "my wife's birthday is March 15th"}
		if byHand {
			f.Write("USER.md", "- [fact] "+old.Text+"\n")
		} else if _, err := ingest.Remember(t.Context(), v, x, nil, []vault.Note{old}, vault.Write{}); err != nil {
			t.Fatal(err)
		}
		if got := f.Read("USER.md"); got != "- [fact] "+old.Text+"\n" {
			t.Fatalf("USER.md has %q", got)
		}
		text := "Correction: my wife's birthday is March 16th"
		res, err := ingest.Remember(t.Context(), v, x, nil, []vault.Note{{Text: text}}, vault.Write{})
		if err != nil {
			t.Fatal(err)
		}
		if made := res.Plan.Decisions(); len(made) != 1 || !strings.HasPrefix(string(made[0].Path), "USER.md#") {
			t.Fatal(made)
		}
		live, err := v.List(t.Context(), vault.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		flagged, entry := 0, strings.Contains(f.Read("USER.md"), old.Text)
		for _, m := range live {
			flagged += len(m.MayOutdate)
		}
		memories, flags := 2, 1
		if byHand {
			memories, flags = 1, 0
		}
		if len(live) != memories || flagged != flags || entry != byHand {
			t.Errorf("by hand %t: %d memories, %d flags, an entry %t", byHand, len(live), flagged, entry)
		}
	}
}
