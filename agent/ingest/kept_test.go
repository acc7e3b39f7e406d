package ingest_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"stet/agent/encode"
	"stet/agent/ingest"
	"stet/vault"
	"stet/vault/vaulttest"
)

// A note that the guard refuses takes no other note with it, and its text is kept.
func TestRecoverSetsAsideWhatIsRefused(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	secret := "The key is AKIA" + "Q3EGRIHXSNJYTLKW."
	data, err := json.Marshal(map[string]any{
		"Slot": "asking-0", "Write": vault.Write{},
		"Notes": []vault.Note{{Text: "Lunch is at noon."}, {Text: secret}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.State().Enqueue(t.Context(), "notes", []byte("no JSON")); err != nil {
		t.Fatal(err)
	}
	if _, err := v.State().Enqueue(t.Context(), "notes", data); err != nil {
		t.Fatal(err)
	}
	done, err := ingest.Recover(t.Context(), v, &lister{v: v})
	if err == nil || !strings.Contains(err.Error(), ".aside") {
		t.Errorf("the error does not say where the text is: %v", err)
	}
	if len(done) != 1 || len(done[0].Memories) != 1 || !strings.Contains(string(done[0].Memories[0].Path), "lunch") {
		t.Errorf("stored %v, want the note about lunch", done)
	}
	if ingest.Kept(v) {
		t.Error("an entry is still tried by every command")
	}
	aside, err := v.State().Jobs("aside")
	if err != nil || len(aside) != 2 || !strings.Contains(string(aside[1].Data), "AKIA") {
		t.Errorf("set aside: %d entries, %v", len(aside), err)
	}
}

// The notes of one batch may change and flag the same stored memory, and one note may
// change both sides of a conflict.
func TestAPlanStandsItsOwnChanges(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	find := &lister{v: v}
	store(t, v, find, vault.Write{}, "Production runs on PostgreSQL 15.")
	store(t, v, find, vault.Write{}, "Production moved from PostgreSQL 15 to MySQL 8.4.", "Production runs on Oracle 12.")
	all, err := v.List(t.Context(), vault.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, m := range all {
		texts = append(texts, string(m.Body))
	}
	if live := strings.Join(texts, "\n"); !strings.Contains(live, "Oracle 12") || !strings.Contains(live, "MySQL 8.4") {
		t.Errorf("a note of the batch is missing: %s", live)
	}
	store(t, v, find, vault.Write{}, "Production moved from Oracle 12 to CockroachDB.")
}

// An agent replaces what it said itself; between it and a person "we" makes a conflict.
func TestAnAgentsOwnWordIsReplaced(t *testing.T) {
	t.Parallel()
	robo := vault.Write{Writer: vault.Writer{Actor: "agent", AgentName: "robo"}}
	for _, c := range []struct {
		first vault.Write
		want  encode.Kind
	}{{robo, encode.Supersede}, {vault.Write{}, encode.Conflict}} {
		f := vaulttest.New(t)
		v := f.Open()
		find := &lister{v: v}
		store(t, v, find, c.first, "We use PostgreSQL.")
		got := store(t, v, find, robo, "We switched to MySQL.").Plan.Decisions()
		if len(got) != 1 || got[0].Kind != c.want {
			t.Errorf("by %q: decided %+v, want %s", c.first.AgentName, got, c.want)
		}
	}
}

// A note became known when it was kept, whenever it is stored.
func TestWhatIsRecoveredKeepsItsTime(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	data, err := json.Marshal(map[string]any{"Slot": "asking-0", "Write": vault.Write{}, "Notes": []vault.Note{{Text: "Lunch is at noon."}}})
	if err != nil {
		t.Fatal(err)
	}
	id, err := v.State().Enqueue(t.Context(), "notes", data)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := ulid.ParseStrict(id)
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		f.Clock.Now() // the clock goes on
	}
	done, err := ingest.Recover(t.Context(), v, &lister{v: v})
	if err != nil || len(done) != 1 || len(done[0].Memories) != 1 {
		t.Fatalf("%v, %v", done, err)
	}
	want := kept.Timestamp().Truncate(time.Second)
	if got := done[0].Memories[0].Created; !got.Equal(want) {
		t.Errorf("created %s, want %s", got, want)
	}
}
