package ingest_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stet/agent/ingest"
	"stet/templates/prompts"
	"stet/vault"
	"stet/vault/vaulttest"
)

// answer is what a model may say: an answer that makes sense, one that does not, or
// either with bytes cut out, doubled or put in.
func answer(r *rapid.T, label string, whole []string) string {
	s := rapid.SampledFrom(whole).Draw(r, label)
	for range rapid.IntRange(0, 3).Draw(r, label+" changes") {
		from := rapid.IntRange(0, len(s)).Draw(r, "from")
		to := rapid.IntRange(from, min(len(s), from+12)).Draw(r, "to")
		in := rapid.OneOf(rapid.Just(""), rapid.Just(s[from:to]+s[from:to]), rapid.String(),
			rapid.SampledFrom([]string{`"`, "}", "\n---\n", "../", "null", "1e999", "-1", `"number":1`, "supersede", "\\u0000"})).Draw(r, "in")
		s = s[:from] + in + s[to:]
	}
	return s
}

// Whatever bytes the two answers of a model are: the note is stored, no memory is
// lost, no file outside memories/ and the archive is touched, it is one commit, and
// undo gives back the bytes.
func TestAnyAnswerDoesNoHarm(t *testing.T) {
	t.Parallel()
	fix := vaulttest.New(t,
		"memories/a.md", "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1a\nkeep: thisA\n---\nThe gate code of the shop is 4711.\n",
		"memories/b.md", "---\nid: 01jd7q8r5t9v3x6y2z4a7c0e1b\nkeep: thisB\n---\nThe gate of the shop is green.\n",
		"notes/own.md", "Mine.\n")
	v := fix.Open()
	two := prompts.Judge{Stored: []prompts.Stored{{Number: 1}, {Number: 2}}}
	judges := []string{
		all("supersede", "", 1)(two), all("update", "The gate of the shop is green and its code was changed to 4812.", 1)(two), all("duplicate", "", 1)(two), all("conflict", "", 0.5)(two),
		`{"actions":[{"number":1,"action":"update","text":"---\nid: x\n---\n../../x","confidence":1},{"number":2,"action":"duplicate","text":"","confidence":1}]}`,
		`{"actions":[{"number":1,"action":"supersede","text":"The gate code is 1.","confidence":1},{"number":2,"action":"keep","text":"","confidence":1}]}`, `[]`, "",
	}
	places := []string{placed, `{"suggested_scope":"../../notes","categories":["a\nid: x"],"importance":1}`, `{"suggested_scope":"/projects/shop","categories":["a","A"],"importance":0}`, ""}
	const text = "The gate code of the shop was changed to 4812."
	rapid.Check(t, func(r *rapid.T) {
		judge := answer(r, "judge", judges)
		model := &puppet{place: answer(r, "place", places), judge: func(prompts.Judge) string { return judge }}
		before := filesOf(t, fix)
		res, err := ingest.Remember(t.Context(), v, &lister{v: v}, &ingest.Mind{Model: model}, []vault.Note{{Text: text}}, vault.Write{Writer: vault.Writer{Again: true}})
		if err != nil {
			r.Fatal(err)
		}
		everything := ""
		after := filesOf(t, fix)
		for p, data := range after {
			everything += data
			if !strings.HasPrefix(p, "memories/") && !strings.HasPrefix(p, "archive/memories/") && before[p] != data {
				r.Errorf("%s was touched", p)
			}
		}
		for _, want := range []string{"keep: thisA", "keep: thisB", "4711", "4812", "green"} {
			if !strings.Contains(everything, want) {
				r.Errorf("%q is lost", want)
			}
		}
		if len(after) < len(before) || len(res.Commits) != 1 || len(model.told) > 2 {
			r.Errorf("%d files, had %d; %d commits, %d calls", len(after), len(before), len(res.Commits), len(model.told))
		}
		if _, err := v.History().Undo(t.Context(), 1, vault.Write{}); err != nil {
			t.Fatal(err)
		}
		vaulttest.SameImage(t, before, filesOf(t, fix))
	})
}
