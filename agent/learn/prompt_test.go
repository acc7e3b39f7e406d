package learn_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"stet/agent/learn"
	"stet/agent/llm"
	"stet/agent/llm/llmtest"
)

// complaints is a test that a model may fail.
type complaints []string

func (*complaints) Helper()        {}
func (*complaints) Cleanup(func()) {}
func (c *complaints) Errorf(format string, args ...any) {
	*c = append(*c, fmt.Sprintf(format, args...))
}

// Whatever is taken out of a request, a model that answers from it alone notices.
func TestEveryPartOfAReviewIsNeeded(t *testing.T) {
	t.Parallel()
	memory, full, skill, both, flush := usual(), usual(), usual(), usual(), usual()
	full.Mode = learn.ModeFull
	skill.Memory, skill.Skill = false, true
	both.Skill = true
	flush.Skill, flush.Mode, flush.Whole = true, learn.ModeFull, true
	for name, job := range map[string]learn.Job{"light": memory, "full": full, "skill": skill, "both": both,
		"flush": flush} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := reviewer(job)
			_, s, err := review(t, model.Answer(t), &box{}, job)
			if err != nil {
				t.Fatal(err)
			}
			asked := s.Asked()[0]
			n := 0
			for what, change := range takings(t, asked) {
				n++
				less := asked
				less.Messages, less.Tools = slices.Clone(asked.Messages), slices.Clone(asked.Tools)
				change(&less)
				var c complaints
				model.Answer(&c)(&less)
				if len(c) == 0 {
					t.Errorf("nobody misses %s", what)
				}
			}
			if n < 30 {
				t.Errorf("only %d parts were taken out", n)
			}
		})
	}
}

// takings are the ways to take one part out of a request.
func takings(t *testing.T, r llmtest.Request) map[string]func(*llmtest.Request) {
	t.Helper()
	out := map[string]func(*llmtest.Request){
		"the end of the system prompt": func(r *llmtest.Request) { r.System = r.System[:len(r.System)-1] },
		"the absence of memory_forget": func(r *llmtest.Request) {
			r.Tools = append(r.Tools, llm.Tool{Name: "memory_forget"})
		},
	}
	at := strings.Index(r.Messages[0].Text, "\n{")
	rules, data := r.Messages[0].Text[:at], r.Messages[0].Text[at:]
	for _, sentence := range sentences(rules) {
		out["the words "+sentence] = func(r *llmtest.Request) {
			r.Messages[0].Text = strings.Replace(rules, sentence, "", 1) + data
		}
	}
	for i, tool := range r.Tools {
		out["the tool "+tool.Name] = func(r *llmtest.Request) { r.Tools = slices.Delete(r.Tools, i, i+1) }
		for _, field := range []string{"evidence", "kind", "text", "action", "patch"} {
			if !strings.Contains(string(tool.Schema), `"`+field+`"`) {
				continue
			}
			out[field+" of "+tool.Name] = func(r *llmtest.Request) {
				for i, tool := range r.Tools {
					r.Tools[i].Schema = json.RawMessage(strings.ReplaceAll(string(tool.Schema), `"`+field+`"`, `"x"`))
				}
			}
		}
	}
	for what, less := range fields(t, data) {
		out[what] = func(r *llmtest.Request) { r.Messages[0].Text = rules + "\n" + less }
	}
	return out
}

// sentences are the parts of a text that say something each, as they stand there.
func sentences(text string) (out []string) {
	from := 0
	for i := 1; i <= len(text); i++ {
		if i == len(text) || strings.IndexByte(".:;?", text[i-1]) >= 0 && strings.IndexByte(" \n", text[i]) >= 0 {
			if part := strings.TrimSpace(text[from:i]); strings.Count(part, " ") > 1 {
				out = append(out, part)
			}
			from = i
		}
	}
	return out
}

// fields are the data with one field or turn less.
func fields(t *testing.T, data string) map[string]string {
	t.Helper()
	out := map[string]string{"the fence": strings.Trim(strings.TrimSpace(data), "{}")}
	take := func(what string, change func(all map[string]any)) {
		all := map[string]any{}
		if err := json.Unmarshal([]byte(data), &all); err != nil {
			t.Fatal(err)
		}
		change(all)
		less, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		out[what] = string(less)
	}
	for _, key := range []string{"frozen_memory", "related_turns_of_earlier_conversations", "turns"} {
		take(key, func(all map[string]any) { delete(all, key) })
	}
	for _, key := range []string{"turn", "time", "says"} {
		take(key+" of a turn", func(all map[string]any) { delete(all["turns"].([]any)[1].(map[string]any), key) })
	}
	take("a related turn", func(all map[string]any) {
		all["related_turns_of_earlier_conversations"] = all["related_turns_of_earlier_conversations"].([]any)[1:]
	})
	return out
}
