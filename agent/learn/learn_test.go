package learn_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"stet/agent/learn"
	"stet/agent/llm"
	"stet/agent/llm/llmtest"
	"stet/vault/session"
)

// A box is a toolbox that keeps what it was called with.
type box struct {
	calls  []string // name and arguments
	answer func(name string, args map[string]any) string
}

func (*box) Tools() []llm.Tool {
	tool := func(name, properties string) llm.Tool {
		return llm.Tool{Name: name, Description: "Does " + name + ".",
			Schema: json.RawMessage(`{"type":"object","properties":{` + properties + `}}`)}
	}
	const note = `"text":{"type":"string"},"kind":{"type":"string"},"source":{"type":"string"}`
	return []llm.Tool{
		tool("memory_search", `"query":{"type":"string"}`), tool("memory_read", `"ref":{"type":"string"}`),
		tool("memory_save", note+`,"items":{"type":"array","items":{"type":"object","properties":{`+note+`}}}`),
		tool("memory_edit", `"ref":{"type":"string"},"text":{"type":"string"}`),
		tool("memory_forget", `"ref":{"type":"string"}`),
		tool("skill", `"action":{"enum":["list","view","create","edit","patch","write_file","remove_file","delete"]},
			"name":{"type":"string"},"content":{"type":"string"}`),
		tool("history", `"action":{"type":"string"}`),
	}
}

func (b *box) Call(_ context.Context, name string, raw json.RawMessage) (string, error) {
	var args map[string]any
	if err := json.Unmarshal(raw, &args); err != nil {
		return "", err
	}
	b.calls = append(b.calls, name+" "+string(raw))
	if b.answer != nil {
		return b.answer(name, args), nil
	}
	return `{"ok":true,"done":"saved"}`, nil
}

const id = "01k0000000000000000000chat"

func at(day, hour int) time.Time { return time.Date(2026, 11, day, hour, 0, 0, 0, time.UTC) }

func turn(role, text string, day int) session.Turn {
	return session.Turn{Session: id, Role: role, Text: []byte(text), Time: at(day, 6)}
}

func review(t *testing.T, model llmtest.Answer, b *box, job learn.Job) (learn.Outcome, error, *llmtest.Server) {
	t.Helper()
	s := llmtest.Serve(t, model)
	client, err := llm.New(s.Options(llm.ModeAnthropic))
	if err != nil {
		t.Fatal(err)
	}
	out, err := learn.Review(t.Context(), client, b, job)
	return out, err, s
}

// saved is a call as it reaches the toolbox.
func saved(kind, turns, text string) string {
	return `memory_save {"kind":"` + kind + `","source":"session:` + id + "#" + turns + `","text":"` + text + `"}`
}

// usual is a job with every part that a request can have.
func usual() learn.Job {
	return learn.Job{Session: id, Actor: "nudge", Memory: true, First: 7, System: "You are Ada's agent.\nBe brief.\n",
		Frozen: "<stet-context>\nAda prefers tea to coffee.\n</stet-context>\n",
		Turns: []session.Turn{
			turn("user", "I hate when you start every reply with 'Got it'. What is 2 + 2?", 20),
			turn("assistant", "Four.", 20),
			turn("user", "My wife's birthday is March 15th. I prefer tea to coffee. "+
				"Please book a ride to the airport at 6 am.", 20),
			turn("assistant", "It is booked.", 20),
		},
		Related: []learn.Related{
			{Session: "01k00000000000000000000old", Number: 3, Time: at(6, 6),
				Text: "Get me a ride to the airport at 6 am."},
			{Session: "01k0000000000000000000older", Number: 9, Time: at(13, 6),
				Text: "I need a ride to the airport at 6 am again."},
		}}
}

func reviewer(job learn.Job) llmtest.Reviewer {
	return llmtest.Reviewer{System: job.System, Frozen: job.Frozen, Memory: job.Memory, Skill: job.Skill,
		Flush: job.Whole, Full: job.Mode == learn.ModeFull, Related: len(job.Related)}
}

func TestALightReviewSavesWhatTheUserSaidWithItsTurns(t *testing.T) {
	t.Parallel()
	job := usual()
	b := &box{}
	out, err, s := review(t, reviewer(job).Answer(t), b, job)
	want := []string{
		saved("instruction", "7", "I hate when you start every reply with 'Got it'"),
		saved("fact", "9", "My wife's birthday is March 15th"),
		saved("preference", "9", "I prefer tea to coffee"),
		saved("routine", "9", "Please book a ride to the airport at 6 am"),
	}
	if err != nil || !slices.Equal(b.calls, want) {
		t.Errorf("%v:\n%s", err, strings.Join(b.calls, "\n"))
	}
	if len(out.Saved) != len(want) || out.Calls != 1 || out.Rounds != 1 || out.Upto != 10 || out.Nothing {
		t.Errorf("%+v", out)
	}
	if asked := s.Asked(); len(asked) != 1 {
		t.Errorf("%d requests", len(asked))
	}
}
