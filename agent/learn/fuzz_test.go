package learn_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"stet/agent/learn"
	"stet/agent/llm"
)

// A parrot is a model that makes one call and then stops.
type parrot struct {
	llm.Call
	asked int
}

func (p *parrot) Generate(context.Context, llm.Request) (llm.Reply, error) {
	if p.asked++; p.asked > 1 {
		return llm.Reply{Text: "Nothing to save."}, nil
	}
	return llm.Reply{Calls: []llm.Call{p.Call}}, nil
}

func (*parrot) Model() llm.Model { return llm.Model{} }

// Whatever a model calls, a tool of another review is not reached, every lesson that is reached has a
// source that the model did not write, and what the user wants rests on the user's turns.
func FuzzCalls(f *testing.F) {
	for _, args := range []string{`{}`, `null`, `[`, `{"text":"a","kind":"routine"}`,
		`{"items":[{"text":"a"},7,null,[{}]]}`, `{"items":{"text":"a"}}`,
		`{"text":"a","kind":"preference","items":[{"text":"b","evidence":["7"]}]}`, `{"evidence":[[["7"]]]}`,
		`{"text":"a","x":[{"text":"b"}],"evidence":["8"],"to":"USER.md"}`, `{"action":"delete","name":"x"}`,
		`{"action":7,"name":["x"]}`, `{"ref":"a","evidence":{"7":7},"because":"session:x#1"}`} {
		for _, tool := range []string{"memory_save", "memory_edit", "skill", "memory_forget"} {
			f.Add(tool, args)
		}
	}
	f.Fuzz(func(t *testing.T, tool, args string) {
		job := usual()
		job.Mode, job.Skill = learn.ModeFull, true
		b := &box{}
		out, err := learn.Review(t.Context(), &parrot{Call: llm.Call{ID: "1", Name: tool, Arguments: args}}, b, job)
		if err != nil || len(b.calls)+len(out.Refused) != 1 {
			t.Fatalf("%v: %+v, %q", err, out, b.calls)
		}
		for _, c := range b.calls {
			name, raw, _ := strings.Cut(c, " ")
			var got map[string]any
			if err := json.Unmarshal([]byte(raw), &got); err != nil {
				t.Fatal(err)
			}
			if name == "memory_forget" || name == "history" || name == "skill" && got["action"] == "delete" {
				t.Errorf("reached %s", c)
			}
			because, _ := got["because"].(string)
			asked := name != "memory_edit" || because == "" || slices.Contains(userTurns(), because)
			if _, cites := got["evidence"]; cites || !asked {
				t.Errorf("told the tool %s", c)
			}
			if name == "memory_save" {
				sourced(t, got)
			}
		}
	})
}

// userTurns are those of [usual].
func userTurns() []string {
	return []string{"session:" + id + "#7", "session:" + id + "#9", "session:01k00000000000000000000old#3",
		"session:01k0000000000000000000older#9"}
}

// sourced checks a call that saves: what has a text has a source.
func sourced(t *testing.T, args map[string]any) {
	t.Helper()
	all := []any{args}
	for _, v := range args {
		list, _ := v.([]any)
		all = append(all, list...)
	}
	for _, v := range all {
		one, ok := v.(map[string]any)
		if _, lesson := one["text"]; !ok || !lesson {
			continue
		}
		if source, _ := one["source"].(string); !strings.HasPrefix(source, "session:01k0") {
			t.Errorf("a lesson rests on %q: %v", source, one)
		}
		if one["kind"] == "routine" && !strings.Contains(one["source"].(string), "#") {
			t.Errorf("a routine: %v", one)
		}
	}
}
