package ingest_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"stet/agent/encode"
	"stet/agent/ingest"
	"stet/templates/prompts"
	"stet/vault"
	"stet/vault/notebook"
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

// A blocker finds every memory and runs a function before it looks for a word.
type blocker struct {
	lister
	word   string
	before func()
}

func (b *blocker) Nearby(ctx context.Context, text string, limit int) ([]vault.Path, error) {
	if strings.Contains(text, b.word) {
		b.before()
	}
	return b.lister.Nearby(ctx, text, limit)
}

// An entry of which one note met a vault that another process held stays until it is stored.
func TestRecoverKeepsWhatMetABusyVault(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	holder, o := f.Open(), f.Options()
	o.LockWait = 1
	v := f.OpenWith(o)
	secret := "The key is AKIA" + "Q3EGRIHXSNJYTLKW."
	data, err := json.Marshal(map[string]any{
		"Slot": "asking-0", "Write": vault.Write{},
		"Notes": []vault.Note{{Text: secret}, {Text: "Lunch is at noon."}, {Text: "Dinner is at eight."}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.State().Enqueue(t.Context(), "notes", data); err != nil {
		t.Fatal(err)
	}
	tries, held, free, done := 0, make(chan bool), make(chan bool), make(chan error, 1)
	find := &blocker{lister{v: v}, "dinner", func() {
		if tries++; tries != 2 { // once with the others, then alone
			return
		}
		go func() {
			why := vault.Why{Op: vault.OpUpdate, Subject: "wait"}
			_, err := holder.Transact(context.Background(), why, false, func(*vault.Tx) error {
				close(held)
				<-free
				return nil
			})
			done <- err
		}()
		<-held
	}}
	if _, err := ingest.Recover(t.Context(), v, find); err != nil {
		t.Errorf("a busy vault is told as a failure: %v", err)
	}
	close(free)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if !ingest.Kept(v) {
		t.Fatal("the note that met a busy vault is lost")
	}
	if _, err := ingest.Recover(t.Context(), v, find); err == nil || ingest.Kept(v) {
		t.Errorf("still kept: %v, %v", ingest.Kept(v), err)
	}
	all, err := v.List(t.Context(), vault.Filter{})
	if err != nil || len(all) != 2 {
		t.Errorf("%d memories, want lunch and dinner once each; %v", len(all), err)
	}
}

// An entry of a notebook is kept while the model is asked about it, and added once.
func TestAnEntryIsKeptWhileItsModelIsAsked(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "USER.md", "- Prefers short answers.\n")
	v := f.Open()
	ctx, stop := context.WithCancel(t.Context())
	model := &puppet{judge: func(prompts.Judge) string {
		stop()
		return ""
	}}
	n := notebook.Profile(v, notebook.DefaultLimits())
	mind, entry := &ingest.Mind{Model: model}, notebook.New{Text: "Prefers tea."}
	_, _, err := ingest.AddEntry(ctx, v, n, mind, entry, vault.Write{})
	if err == nil || !ingest.Kept(v) {
		t.Fatalf("kept %v, %v", ingest.Kept(v), err)
	}
	for range 2 {
		if _, err := ingest.Recover(t.Context(), v, &lister{v: v}); err != nil {
			t.Fatal(err)
		}
		if page := f.Read("USER.md"); strings.Count(page, "Prefers tea.") != 1 || ingest.Kept(v) {
			t.Errorf("%q", page)
		}
	}
}

// Notes of one call are compared with each other also where the model files them.
func TestABatchIsComparedWhereItIsFiled(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t,
		"memories/projects/alpha/lift.md", "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1f\n---\nThe lift is slow.\n")
	v := f.Open()
	model := &puppet{place: `{"suggested_scope":"/projects/alpha","categories":[],"importance":0.5}`,
		judge: all("keep", "", 1)}
	notes := []vault.Note{{Text: "We use PostgreSQL."}, {Text: "We switched to MySQL."}}
	res, err := ingest.Remember(t.Context(), v, &lister{v: v}, &ingest.Mind{Model: model}, notes, vault.Write{})
	if err != nil {
		t.Fatal(err)
	}
	it := res.Plan.Items[1]
	if len(it.Decisions) != 1 || it.Decisions[0].Kind != encode.Supersede || it.Decisions[0].Note != 1 {
		t.Errorf("decided %+v, refused %v, pending %q", it.Decisions, it.Refused, it.Pending)
	}
}
