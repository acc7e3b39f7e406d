package ingest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stet/agent/encode"
	"stet/agent/ingest"
	"stet/agent/llm"
	"stet/templates/prompts"
	"stet/vault"
	"stet/vault/vaulttest"
)

func finish(t *testing.T, v *vault.Vault, model llm.Client, c ingest.Choice, w vault.Write) *ingest.Finished {
	t.Helper()
	var mind *ingest.Mind
	if model != nil {
		mind = &ingest.Mind{Model: model}
	}
	res, err := ingest.Finish(t.Context(), v, &lister{v: v}, mind, c, w)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// What has to do with each other is decided one after the other, in the order in
// which it was stored, and nobody is asked twice about the same.
func TestPendingMemoriesAreFinishedInTheirOrder(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	deaf := &puppet{judge: func(prompts.Judge) string { return "" }}
	texts := []string{"The office moved to Bern.", "Lunch is at noon.", "The office moved to Basel."}
	for i, s := range texts {
		consider(t, v, &lister{v: v}, deaf, vault.Write{}, vault.Note{Text: s, Scope: fmt.Sprint("/s", i), Importance: half()})
	}
	model := &puppet{place: placed, judge: func(j prompts.Judge) string {
		if strings.Contains(j.Note, "Basel") {
			return all("supersede", "", 0.9)(j)
		}
		return all("keep", "", 1)(j)
	}}
	res := finish(t, v, model, ingest.Choice{}, vault.Write{})
	live, err := v.List(t.Context(), vault.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range live {
		if m.Encoding != "" {
			t.Errorf("%s is still pending", m.Path)
		}
	}
	if len(model.told) > 2*len(texts) || res.Finished+res.Left != res.Examined || res.Left > 0 {
		t.Errorf("%d calls; %+v", len(model.told), res)
	}
	if n := len(res.Commits); n != res.Finished {
		t.Errorf("%d commits for %d memories", n, res.Finished)
	}
	if res := finish(t, v, model, ingest.Choice{}, vault.Write{}); !res.Unchanged || res.Examined != 0 {
		t.Errorf("once more: %+v", res)
	}
}

// Nobody is told of a private memory; a machine's own memory overrules no person's
// because a person lets stet look at it again.
func TestWhoseWordAPendingMemoryIs(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	find := &lister{v: v}
	store(t, v, find, vault.Write{}, "We use PostgreSQL.")
	if _, err := v.Remember(t.Context(), []vault.Note{{Text: "We switched to MySQL."}}, vault.Write{Writer: vault.Writer{Actor: "agent", AgentName: "robo"}}); err != nil {
		t.Fatal(err)
	}
	res := finish(t, v, nil, ingest.Choice{All: true}, vault.Write{})
	if len(res.Plan.Decisions()) != 1 || res.Plan.Decisions()[0].Kind != encode.Conflict {
		t.Fatalf("decided %+v", res.Plan.Decisions())
	}
	f.Write("memories/diary.md", "---\nprivate: true\nencoding: pending\n---\nThe safe opens with 4711.\n")
	f.Git("add", "-A")
	f.Git("commit", "-qm", "a diary")
	model := &puppet{place: placed, judge: all("supersede", "", 1)}
	if res = finish(t, v, model, ingest.Choice{}, vault.Write{}); len(model.told) > 0 || res.Finished != 1 {
		t.Errorf("told %q; %+v", model.told, res)
	}
}

// An agent's memory that a person's note was flagged against stays the agent's word.
func TestALinkMakesNoTextAPersons(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	find := &lister{v: v}
	robo := vault.Write{Writer: vault.Writer{Actor: "agent", AgentName: "robo"}}
	store(t, v, find, robo, "The gate code is 4711.")
	model := &puppet{place: placed, judge: all("conflict", "The gate code is 4711.", 1)}
	res := consider(t, v, find, model, vault.Write{}, vault.Note{Text: "The visitors' gate code is 9920."})
	old, err := v.List(t.Context(), vault.Filter{})
	if err != nil || len(res.Plan.Decisions()) != 1 || !slices.ContainsFunc(old, func(m vault.Memory) bool {
		return strings.Contains(string(m.Body), "4711") && len(m.Conflicts) == 1
	}) {
		t.Fatalf("decided %+v, stored %+v, %v", res.Plan.Decisions(), old, err)
	}
	told := func(note string) (who string) {
		model.judge = func(j prompts.Judge) string {
			for _, s := range j.Stored {
				if strings.Contains(s.Note, "4711") {
					who = s.Author
				}
			}
			return all("keep", "", 1)(j)
		}
		consider(t, v, find, model, vault.Write{}, vault.Note{Text: note})
		return who
	}
	if who := told("The gate code of the cellar is long."); who != "agent" {
		t.Errorf("a flag makes it the word of %q", who)
	}
	for _, m := range old {
		if strings.Contains(string(m.Body), "4711") {
			f.Write(string(m.Path), strings.Replace(f.Read(string(m.Path)), "is 4711", "is still 4711", 1))
			f.Git("commit", "-qam", "the code")
		}
	}
	if who := told("The gate code of the attic is short."); who != "user" {
		t.Errorf("a person's edit makes it the word of %q", who)
	}
}

// A wish is what a model says of one stored memory, in a property.
type wish struct {
	action, own string
	text        int
	confidence  float64
}

func drawWishes(r *rapid.T) []wish {
	var out []wish
	for range 5 {
		out = append(out, wish{
			rapid.SampledFrom([]string{"keep", "supersede", "conflict", "duplicate", "update", "correct", "delete"}).Draw(r, "action"),
			rapid.SampledFrom([]string{"", "---\nid: x\n---\n", rapid.String().Draw(r, "any text")}).Draw(r, "own"),
			rapid.IntRange(0, 4).Draw(r, "text"), rapid.SampledFrom([]float64{0, 0.8, 0.9, 1, 7}).Draw(r, "confidence"),
		})
	}
	return out
}

// granting answers with what was wished of each stored memory, or with raw where that
// is not empty. heard is told of every memory that was shown.
func granting(wishes []wish, raw string, heard func(note string)) func(prompts.Judge) string {
	return func(j prompts.Judge) string {
		var out prompts.Judged
		for i, s := range j.Stored {
			heard(s.Note)
			w := wishes[i%len(wishes)]
			said := []string{w.own, s.Note, j.Note, s.Note + " " + j.Note, strings.TrimSuffix(s.Note, ".") + " and " + j.Note}[w.text]
			quote := []string{s.Note, "", s.Note[:strings.LastIndex(s.Note, " ")], s.Note[strings.Index(s.Note, " ")+1:], w.own}[w.text]
			out.Actions = append(out.Actions, prompts.Action{Number: s.Number, Quote: quote, Action: w.action, Text: said, Confidence: w.confidence})
		}
		data, err := json.Marshal(out)
		if err != nil {
			panic(err)
		}
		if raw != "" {
			return raw
		}
		return string(data)
	}
}

// Whatever a model says of pending memories: every text is in the vault afterwards,
// notes are left alone, each memory is a commit, and undo gives back the bytes.
func TestFinishingDoesNoHarm(t *testing.T) {
	t.Parallel()
	texts := []string{"We use PostgreSQL in the shop.", "We switched from PostgreSQL to MySQL in the shop.", "The server Atlas runs backups at 3.", "The server Atlas stores backups in Zurich.",
		"The gate code is 4711.", "The gate code is 4712.", "The gate code is 4712!", "I take the tram to the office."}
	var files []string
	for i, s := range texts {
		mark := ""
		if i%3 != 0 {
			mark = "encoding: pending\n"
		}
		files = append(files, fmt.Sprintf("memories/m%d.md", i), fmt.Sprintf("---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1%c\ncreated: 2025-03-0%dT10:00:00Z\nkeep: this%d\n%s---\n%s\n", 'a'+rune(i), i+1, i, mark, s))
	}
	f := vaulttest.New(t, append(files, "notes/own.md", "Mine, see [one](../memories/m1.md).\n")...)
	v := f.Open()
	rapid.Check(t, func(r *rapid.T) {
		wishes := drawWishes(r)
		raw := rapid.SampledFrom([]string{"", "", "", "{}", rapid.String().Draw(r, "any answer")}).Draw(r, "raw")
		model := &puppet{place: rapid.SampledFrom([]string{placed, "", `{"suggested_scope":"/../../x","categories":[],"importance":1}`, `{"suggested_scope":"/a/b","categories":["x"],"importance":1}`}).Draw(r, "place")}
		model.judge = granting(wishes, raw, func(string) {})
		before := filesOf(t, f)
		c := ingest.Choice{All: rapid.Bool().Draw(r, "all")}
		res, err := ingest.Finish(t.Context(), v, &lister{v: v}, &ingest.Mind{Model: model}, c, vault.Write{Writer: vault.Writer{Again: true}})
		if err != nil {
			r.Fatal(err)
		}
		defer func() {
			if n := len(res.Commits); n > 0 {
				if _, err := v.History().Undo(t.Context(), n, vault.Write{}); err != nil {
					t.Fatal(err)
				}
			}
			vaulttest.SameImage(t, before, filesOf(t, f))
		}()
		after := filesOf(t, f)
		var everything strings.Builder
		for p, data := range after {
			everything.WriteString(data)
			if !strings.HasPrefix(p, "memories/") && !strings.HasPrefix(p, "archive/memories/") && p != "notes/own.md" {
				r.Fatalf("%s came from nowhere", p)
			}
		}
		if len(after) != len(before) || after["notes/own.md"] != before["notes/own.md"] {
			r.Fatalf("%d files, had %d", len(after), len(before))
		}
		for i := range texts {
			if n := strings.Count(everything.String(), fmt.Sprintf("keep: this%d\n", i)); n != 1 {
				r.Fatalf("memory %d stands there %d times", i, n)
			}
		}
		for _, n := range []string{"4711", "4712", "MySQL", "Zurich", "tram"} {
			if !strings.Contains(everything.String(), n) {
				r.Fatalf("%q is lost", n)
			}
		}
		if slices.ContainsFunc(res.Commits, func(c vault.Commit) bool { return c.Op != vault.OpEncode }) || len(model.told) > 2*len(texts) {
			r.Fatalf("%d commits, %d calls", len(res.Commits), len(model.told))
		}
	})
}

// What was decided and is taken back is not decided again, whoever takes it back.
func TestWhatWasTakenBackIsNotDoneAgain(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	for _, s := range []string{"We use PostgreSQL.", "We switched to MySQL."} {
		if _, err := v.Remember(t.Context(), []vault.Note{{Text: s}}, vault.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	if res := finish(t, v, nil, ingest.Choice{Rule: "negation"}, vault.Write{}); !res.Unchanged {
		t.Errorf("another rule: %+v", res.Plan.Decisions())
	}
	c := ingest.Choice{All: true}
	for _, back := range []func(){
		func() { f.Git("revert", "--no-edit", "HEAD") },
		func() {
			if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		before := filesOf(t, f)
		if res := finish(t, v, nil, c, vault.Write{Writer: vault.Writer{Again: true}}); len(res.Commits) != 1 || len(res.Plan.Decisions()) != 1 {
			t.Fatalf("got %+v", res)
		}
		back()
		vaulttest.SameImage(t, before, filesOf(t, f))
		if res := finish(t, v, nil, c, vault.Write{}); !res.Unchanged || len(res.Declined) != 1 {
			t.Errorf("got %+v", res)
		}
	}
}

// What fails at one memory is told, and the others are finished.
func TestOneFailureLeavesTheOthersNoLonger(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/a.md", "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1a\nencoding: pending\n---\nLunch is at noon.\n",
		"memories/b.md", "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1b\nencoding: pending\n---\nThe roof leaks.\n",
		"memories/c.md", "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1c\nencoding: pending\n---\nTom has a cat.\n")
	f.LeaveDirty()
	v := f.Open()
	broken := filepath.Join(f.Dir, "memories", "b.md")
	find := &lister{v: v, after: func() { // before its turn comes
		if err := errors.Join(os.RemoveAll(broken), os.Mkdir(broken, 0o700)); err != nil {
			t.Error(err)
		}
	}}
	res, err := ingest.Finish(t.Context(), v, find, nil, ingest.Choice{}, vault.Write{})
	if err == nil || !strings.Contains(err.Error(), "memories/b.md") || !strings.Contains(err.Error(), "regular") {
		t.Errorf("it is not told: %v", err)
	}
	if res.Finished != 2 || strings.Contains(f.Read("memories/c.md"), "pending") {
		t.Errorf("%d are finished", res.Finished)
	}
}
