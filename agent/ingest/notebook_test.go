package ingest_test

import (
	"strings"
	"testing"
	"time"

	"stet/agent/encode"
	"stet/agent/ingest"
	"stet/agent/llm"
	"stet/templates/prompts"
	"stet/vault"
	"stet/vault/notebook"
	"stet/vault/vaulttest"
)

// A model judges a new entry beside the others of its notebook as it judges a memory, in one
// plan with the rules.
func TestAModelJudgesEntriesOfANotebook(t *testing.T) {
	t.Parallel()
	const short, long = "Prefers short answers.", "Prefers long, detailed answers."
	robo := vault.Write{Writer: vault.Writer{Actor: "agent", AgentName: "robo"}}
	for _, c := range []struct {
		name, note, action string
		confidence         float64
		w                  vault.Write
		kind               encode.Kind // "" for nothing
		page               []string
	}{
		{"replaced", "Now prefers long answers.", "supersede", 1, vault.Write{}, encode.Supersede, []string{"Now prefers long answers."}},
		{"told", long, "conflict", 1, vault.Write{}, encode.Conflict, []string{short, long}},
		{"not borne out", long, "supersede", 1, vault.Write{}, encode.Conflict, []string{short, long}},
		{"not sure", "Now prefers long answers.", "supersede", .5, vault.Write{}, encode.Conflict, []string{short, "Now prefers long answers."}},
		{"a person's word", "Now prefers long answers.", "supersede", 1, robo, encode.Conflict, []string{short, "Now prefers long answers."}},
		{"kept", long, "keep", 1, vault.Write{}, "", []string{short, long}},
		{"two facts are two entries", "Prefers answers in German.", "update", 1, vault.Write{}, "", []string{short, "Prefers answers in German."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := vaulttest.New(t, "USER.md", "# Me\n\n- "+short+"\n- Ann is my sister.\n")
			v := f.Open()
			model := &puppet{judge: func(j prompts.Judge) string {
				if j.Today != "2026-01-09" || len(j.Stored) != 2 || j.Stored[0].Author != "user" {
					t.Errorf("told %+v", j)
				}
				j.Stored = j.Stored[:1]
				if j.Stored[0].Note != short {
					t.Errorf("the likeliest is %q", j.Stored[0].Note)
				}
				return all(c.action, "", c.confidence)(j)
			}}
			mind := &ingest.Mind{Model: model, Now: time.Date(2026, 1, 9, 0, 0, 0, 0, time.UTC)}
			_, plan, err := ingest.AddEntry(t.Context(), v, notebook.Profile(v, notebook.DefaultLimits()), mind, notebook.New{Text: c.note}, c.w)
			if err != nil {
				t.Fatal(err)
			}
			kind := encode.Kind("")
			for _, d := range plan.Decisions() {
				kind = d.Kind
				if d.Rule != "model/puppet" || d.Was != short || !strings.HasPrefix(string(d.Path), "USER.md#") {
					t.Errorf("decided %+v", d)
				}
			}
			if kind != c.kind || len(model.told) != 1 {
				t.Errorf("asked %d times; decided %+v, want %q", len(model.told), plan.Decisions(), c.kind)
			}
			page := f.Read("USER.md")
			for _, want := range c.page {
				if !strings.Contains(page, "- "+want+"\n") {
					t.Errorf("%q is missing in %q", want, page)
				}
			}
			if n := strings.Count(page, "\n- "); n != len(c.page)+1 {
				t.Errorf("%d entries in %q", n, page)
			}
		})
	}
}

// Nobody is shown a secret, and a model that fails leaves the rules.
func TestAnEntryOutlivesItsModel(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "USER.md", "- Prefers short answers.\n")
	v := f.Open()
	model := &puppet{judge: func(prompts.Judge) string { return "" }}
	res, _, err := ingest.AddEntry(t.Context(), v, notebook.Profile(v, notebook.DefaultLimits()), &ingest.Mind{Model: model}, notebook.New{Text: "Prefers tea."}, vault.Write{})
	if err != nil || len(res.Warnings) != 1 || !strings.Contains(res.Warnings[0], "the model could not help") || !strings.Contains(f.Read("USER.md"), "tea") {
		t.Errorf("%+v, %v", res, err)
	}
}

// What was answered once is not paid for twice; what was no answer is.
func TestTheSameQuestionIsNotPaidTwice(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t, "memories/old.md", "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1f\n---\nThe office is in Bern.\n")
	v := f.Open()
	said := "no JSON"
	model := &puppet{place: placed, judge: func(j prompts.Judge) string {
		if said != "" {
			return said
		}
		return all("keep", "", 1)(j)
	}}
	store := func(text string, dry bool) *ingest.Result {
		res, err := ingest.Remember(t.Context(), v, &lister{v: v}, &ingest.Mind{Model: ingest.Keeping(model, v)}, []vault.Note{{Text: text, Scope: "/", Importance: half()}}, vault.Write{DryRun: dry})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	const note = "The office in Bern has a lift."
	for i, want := range []int{1, 2, 3, 3, 3} {
		if i == 2 {
			said = ""
		}
		if res := store(note, i < 4); len(model.told) != want || (res.Plan.Items[0].Pending == "") != (i > 1) {
			t.Errorf("try %d: asked %d times, want %d; %+v", i+1, len(model.told), want, res.Plan.Items)
		}
	}
	for range 80 {
		ingest.Keeping(model, v).(llm.Answers).Keep(t.Context(), "other", "text")
	}
	if data, err := v.State().Seen("answers"); err != nil || strings.Count(string(data), `"Key"`) != 64 {
		t.Errorf("kept %d bytes, %v", len(data), err)
	}
}
