package learn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"stet/agent/learn"
	"stet/agent/llm"
	"stet/agent/llm/llmtest"
	"stet/markdown"
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
	const note = `"text":{"type":"string"},"kind":{"type":"string"},"to":{"type":"string"},"source":{"type":"string"}`
	return []llm.Tool{
		tool("memory_search", `"query":{"type":"string"}`), tool("memory_read", `"ref":{"type":"string"}`),
		tool("memory_save", note+`,"items":{"type":"array","items":{"type":"object","properties":{`+note+`}}}`),
		tool("memory_edit", `"ref":{"type":"string"},"text":{"type":"string"},"because":{"type":"string"}`),
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

func review(t *testing.T, model llmtest.Answer, b *box, job learn.Job) (learn.Outcome, *llmtest.Server, error) {
	t.Helper()
	s := llmtest.Serve(t, model)
	out, err := learn.Review(t.Context(), clientOf(t, s), b, job)
	return out, s, err
}

func clientOf(t *testing.T, s *llmtest.Server) llm.Client {
	t.Helper()
	client, err := llm.New(s.Options(llm.ModeAnthropic))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// saved is a call as it reaches the toolbox.
func saved(kind, turns, text string) string {
	to := "}"
	if kind == "fact" {
		to = `,"to":"USER.md"}`
	}
	return `memory_save {"kind":"` + kind + `","source":"session:` + id + "#" + turns + `","text":"` + text + `"` + to
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
	out, s, err := review(t, reviewer(job).Answer(t), b, job)
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

// deploying is a conversation in which a method was found by experiment.
func deploying() learn.Job {
	call := func(command string) session.Turn {
		turn := turn("assistant", "", 20)
		args := []byte(`{"command":"` + command + `"}`)
		turn.Calls = []markdown.ToolCall{{ID: command, Name: "bash", Arguments: args}}
		return turn
	}
	result := func(command, text string) session.Turn {
		turn := turn("tool", text, 20)
		turn.Name, turn.Call = "bash", command
		return turn
	}
	job := usual()
	job.Actor, job.Memory, job.Skill, job.Related = "skill-nudge", false, true, nil
	job.Turns = []session.Turn{
		turn("user", "I prefer tea to coffee. Please deploy the site.", 20),
		call("make deploy"), result("make deploy", "error: no token"),
		call("make token && make deploy"), result("make token && make deploy", "deployed"),
		turn("assistant", "It is deployed.", 20),
	}
	return job
}

func TestASkillReviewWritesOneSkill(t *testing.T) {
	t.Parallel()
	skill := []string{`skill {"action":"list"}`,
		`skill {"action":"create","description":"I prefer tea to coffee. Please deploy the site.",` +
			`"name":"deploy-the-site","text":"bash {\"command\":\"make token \u0026\u0026 make deploy\"}"}`}
	for _, memory := range []bool{false, true} {
		job, want := deploying(), skill
		if job.Memory = memory; memory {
			want = slices.Insert(slices.Clone(skill), 0, saved("preference", "7", "I prefer tea to coffee"))
		}
		b := &box{}
		out, s, err := review(t, reviewer(job).Answer(t), b, job)
		done := out.Skill == "deploy-the-site" && out.Calls == 3 && out.Rounds == 2
		if err != nil || !slices.Equal(b.calls, want) || !done {
			t.Errorf("memory %v: %v: %+v\n%s", memory, err, out, strings.Join(b.calls, "\n"))
		}
		if text := s.Asked()[0].Text(); !strings.Contains(text, "tool bash: error: no token") {
			t.Errorf("what the tools answered is missing:\n%s", text)
		}
	}
}

// says is a model that gives these replies in turn, and the last one again and again.
func says(replies ...llm.Reply) llmtest.Answer {
	n := 0
	return func(*llmtest.Request) llm.Reply {
		r := replies[min(n, len(replies)-1)]
		for i := range r.Calls {
			r.Calls[i].ID = fmt.Sprint("c", n, "-", i)
		}
		n++
		return r
	}
}

func calls(nameAndArgs ...string) (r llm.Reply) {
	for i := 0; i < len(nameAndArgs); i += 2 {
		r.Calls = append(r.Calls, llm.Call{Name: nameAndArgs[i], Arguments: nameAndArgs[i+1]})
	}
	return r
}

func save(kind, evidence string) llm.Reply {
	return calls("memory_save", `{"text":"I prefer tea","kind":"`+kind+`"`+evidence+`}`)
}

func TestALessonRestsOnTurnsOfTheRequest(t *testing.T) {
	t.Parallel()
	for evidence, want := range map[string]string{
		`preference|,"evidence":["9"]`:               "session:" + id + "#9",
		`preference|,"evidence":[9, 7, "8", 9]`:      "session:" + id + "#7-9",
		`preference|,"evidence":["7","9"]`:           "session:" + id + "#7,9",
		`preference|,"evidence":["e1"]`:              "session:01k00000000000000000000old#3",
		` Preference|,"evidence":["9"]`:              `"kind":"preference"`,
		`preference|,"evidence":["9"],"source":"#1"`: "session:" + id + "#9",
		`preference|`:                             "session:" + id + "#7-10",
		`fact|,"evidence":["8"]`:                  "session:" + id + "#8",
		`routine|,"evidence":["e1","e2","9"]`:     "session:" + id + "#9",
		`preference|,"evidence":["11"]`:           "no turn of this review",
		`preference|,"evidence":["e3"]`:           "no turn of this review",
		`preference|,"evidence":["9","1e1"]`:      "no turn of this review",
		`preference|,"evidence":"9"`:              "must be a list",
		`preference|,"evidence":[]`:               "must be a list",
		`fact|,"to":"MEMORY.md","evidence":["8"]`: "a turn of the user's",
		`fact|,"to":"MEMORY.md","evidence":["9"]`: "session:" + id + "#9",
		`fact|,"to":"memories","evidence":["8"]`:  "session:" + id + "#8",
		`Instruction |,"evidence":["8"]`:          "a turn of the user's",
		`routine|,"evidence":["e1","e2"]`:         "of 3 days",
		`routine|,"evidence":["7","9","e1"]`:      "of 3 days",
		`routine|`:                                "of 3 days",
		`routine|,"evidence":["e1","e2","8"]`:     "of 3 days",
	} {
		kind, rest, _ := strings.Cut(evidence, "|")
		b := &box{}
		job := usual()
		out, _, err := review(t, says(save(kind, rest)), b, job)
		got := strings.Join(append(b.calls, out.Refused...), "\n")
		if err != nil || !strings.Contains(got, want) || len(out.Saved)+len(out.Refused) != 1 {
			t.Errorf("%s: %v: %+v\n%s", evidence, err, out, got)
		}
		if refused := strings.Contains(want, " "); refused != (len(b.calls) == 0) {
			t.Errorf("%s: called %q", evidence, b.calls)
		}
		if strings.Contains(got, `"evidence"`) {
			t.Errorf("%s: the toolbox got %s", evidence, got)
		}
	}
	for evidence, want := range map[string]string{"": "",
		`,"evidence":["7","8"]`:      `"because":"session:` + id + `#7",`,
		`,"evidence":["9","7","e1"]`: `"because":"session:` + id + `#9",`} {
		b, job := &box{}, usual()
		job.Mode = learn.ModeFull
		edit := calls("memory_edit", `{"ref":"m.md","old":"tea","new":"milk","because":"session:x#1"`+evidence+`}`)
		out, _, err := review(t, says(edit, llm.Reply{Text: "Done."}), b, job)
		want := `memory_edit {` + want + `"new":"milk","old":"tea","ref":"m.md"}`
		if err != nil || !slices.Equal(b.calls, []string{want}) || !slices.Equal(out.Saved, []string{"milk"}) {
			t.Errorf("an edit: %v: %+v, %q", err, out, b.calls)
		}
	}
	for _, more := range []string{"", `,"evidence":["8"]`} { // none, and a tool's
		b, job := &box{}, usual()
		job.Mode = learn.ModeFull
		edit := calls("memory_edit", `{"ref":"USER.md#1a2b3c4d","old":"tea","new":"milk"`+more+`}`)
		out, _, err := review(t, says(edit, llm.Reply{Text: "Done."}), b, job)
		if err != nil || len(b.calls) > 0 || len(out.Refused) != 1 {
			t.Errorf("an entry changed on %q: %v: %+v, %q", more, err, out, b.calls)
		}
	}
	b := &box{}
	batch := `{"evidence":["7"],"items":[{"text":"One thing"},{"text":"Another","evidence":["9"]}]}`
	_, _, err := review(t, says(calls("memory_save", batch)), b, usual())
	want := `memory_save {"items":[{"source":"session:` + id + `#7","text":"One thing"},` +
		`{"source":"session:` + id + `#9","text":"Another"}]}`
	if err != nil || !slices.Equal(b.calls, []string{want}) {
		t.Errorf("a batch: %v: %q", err, b.calls)
	}
}
