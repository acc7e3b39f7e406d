package ingest_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stet/agent/ingest"
	"stet/vault"
	"stet/vault/vaulttest"
)

// sequences are the labelled ones: a text that is stored, then another one.
func sequences(t *testing.T) (out [][2]string) {
	for _, name := range []string{"dev", "later"} {
		data, err := os.ReadFile("../../.ci/train/data/" + name + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			var it struct {
				Given []struct{ Text string }
				New   struct{ Text string }
			}
			if err := json.Unmarshal([]byte(line), &it); err != nil || len(it.Given) == 0 {
				t.Fatal(line, err)
			}
			out = append(out, [2]string{it.Given[0].Text, it.New.Text})
		}
	}
	return append(out, [2]string{"We use PostgreSQL. The office is in Bern.", "We switched to MySQL."})
}

// Whatever is stored after a memory, by whomever, and whatever becomes of that: taken back by
// name, it leaves the bytes of before.
func TestRevertGivesBackWhatWasStoredBefore(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	v := f.Open()
	find := &lister{v: v}
	all := sequences(t)
	rapid.Check(t, func(r *rapid.T) {
		pair := all[rapid.IntRange(0, len(all)-1).Draw(r, "sequence")]
		write := vault.Write{Writer: vault.Writer{Again: true}}
		if rapid.Bool().Draw(r, "agent") {
			write.Actor, write.AgentName = "agent", "robo"
		}
		keep := func(text string, w vault.Write) *ingest.Result {
			res, err := ingest.Remember(t.Context(), v, find, nil, []vault.Note{{Text: text}}, w)
			if err != nil {
				r.Fatal(err)
			}
			return res
		}
		keep(pair[0], vault.Write{Writer: vault.Writer{Again: true}})
		before := vaulttest.Image(t, f.Dir, ".git", ".stet")
		if second := keep(pair[1], write); !second.Unchanged {
			if len(second.Commits) != 1 {
				r.Fatalf("%d commits", len(second.Commits))
			}
			back := vault.RevertOptions{Revs: []string{string(second.Commits[0].Rev)}}
			if _, err := v.History().Revert(t.Context(), back); err != nil {
				r.Fatal(err)
			}
		}
		vaulttest.SameImage(t, before, vaulttest.Image(t, f.Dir, ".git", ".stet"))
	})
}
