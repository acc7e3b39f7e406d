package lineage_test

import (
	"strings"
	"testing"

	"stet/markdown"
	"stet/vault"
	"stet/vault/lineage"
	"stet/vault/notebook"
	"stet/vault/vaulttest"
)

func entryHistory(t *testing.T, v *vault.Vault, text string) string {
	t.Helper()
	var out []string
	for e, err := range lineage.EntryVersions(t.Context(), v, "", "USER.md", markdown.ReadEntry(text).Hash()) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e.Status+" "+e.Commit.Author+": "+e.Old+" > "+e.New)
	}
	return strings.Join(out, "\n")
}

// An entry is followed through replacements by command and by hand, through
// removal and return; entries around it do not matter.
func TestEntryVersionsFollowReplacements(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	n := notebook.Profile(v, notebook.DefaultLimits())
	agent := vault.Write{Writer: vault.Writer{Actor: "agent", AgentName: "Robo"}}
	if _, err := n.Add(t.Context(), notebook.New{Text: "Likes tea in the morning"}, agent); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Add(t.Context(), notebook.New{Text: "Works from Berlin"}, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Replace(t.Context(), "tea", notebook.New{Text: "Prefers coffee"}, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	f.Write("USER.md", strings.Replace(f.Read("USER.md"), "Prefers coffee", "Prefers coffee, black", 1))
	if _, err := v.Adopt(t.Context(), vault.AdoptOptions{}); err != nil {
		t.Fatal(err)
	}
	want := "modified Ada: Prefers coffee > Prefers coffee, black\n" +
		"modified Ada: Likes tea in the morning > Prefers coffee\n" +
		"added Robo:  > Likes tea in the morning"
	if got := entryHistory(t, v, "Prefers coffee, black"); got != want {
		t.Errorf("history:\n%s\nwant:\n%s", got, want)
	}
	// An address of the past tells how it ended.
	if got, want := entryHistory(t, v, "Likes tea in the morning"), "modified Ada: Likes tea in the morning > Prefers coffee\nadded Robo:  > Likes tea in the morning"; got != want {
		t.Errorf("history of the old address:\n%s\nwant:\n%s", got, want)
	}
	if got := entryHistory(t, v, "Works from Berlin"); got != "added Ada:  > Works from Berlin" {
		t.Errorf("history of the other entry:\n%s", got)
	}
	if _, err := n.Remove(t.Context(), "Berlin", vault.Write{}); err != nil {
		t.Fatal(err)
	}
	if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
		t.Fatal(err)
	}
	if got, want := entryHistory(t, v, "Works from Berlin"), "added Ada:  > Works from Berlin\ndeleted Ada: Works from Berlin > \nadded Ada:  > Works from Berlin"; got != want {
		t.Errorf("removed and back:\n%s\nwant:\n%s", got, want)
	}
	if got := entryHistory(t, v, "Never said"); got != "" {
		t.Errorf("an address that never was: %q", got)
	}
}
