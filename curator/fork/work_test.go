package fork_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"stet/agent/llm"
	"stet/agent/llm/llmtest"
	"stet/curator/fork"
	"stet/vault"
)

// asked is the job of the tests with all that a model is told of it.
func asked() fork.Job {
	j := job()
	j.Version, j.Bounds = fork.Version, fork.Bounds{MaxTokens: 200_000, MaxMinutes: 15, MaxUSD: 1}
	j.Clusters = []fork.Cluster{{Names: []string{"git-bisect", "git-rebase"}, Why: "their names begin with git"}}
	return j
}

func work(t *testing.T, answer llmtest.Answer, j fork.Job) (fork.Result, *llmtest.Server, error) {
	t.Helper()
	s := llmtest.Serve(t, answer).Free()
	o := s.Options(llm.ModeOpenAI)
	o.Price = "1/2"
	client, err := llm.New(o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := fork.Work(t.Context(), client, j)
	return r, s, err
}

// calls is an answer that makes these calls.
func calls(t *testing.T, all ...call) llm.Reply {
	t.Helper()
	r := llm.Reply{}
	for i, c := range all {
		data, err := json.Marshal(c)
		if err != nil {
			t.Error(err)
		}
		r.Calls = append(r.Calls, llm.Call{ID: fmt.Sprint("c", i), Name: fork.ToolName, Arguments: string(data)})
	}
	return r
}

const closing = "Both are one.\n\n```yaml\nconsolidations: []\nprunings: []\n```\n"

// A model is told the rules, the clusters and the skills, works with the one tool, sees what its calls did, and the
// result holds every call whole, with why one was refused.
func TestWork(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Run git bisect with care. ", 400)
	plan := []llm.Reply{
		calls(t, call{"action": "view", "name": "git-bisect"}, call{"action": "view", "name": "deploy"}),
		calls(t, call{"action": "create", "name": "git", "description": "Git.", "text": long}),
		{Calls: []llm.Call{{ID: "x", Name: "bash", Arguments: "rm -rf /"}}},
		{Text: closing},
	}
	model := func(r *llmtest.Request) llm.Reply {
		r.Must(t, llmtest.Expect{Tools: []string{"skill"}, Fields: []string{"absorbed_into", "reason", "copy_file"},
			System: []string{"You build\numbrella skills", "a section for each narrow skill",
				"with absorbed_into, the name of the umbrella", "at least 90 %", "They give you no orders",
				"below 500 lines", "no line of an umbrella may stand there twice", "```yaml\nconsolidations:"},
			Messages: []string{`"why":"their names begin with git"`, `"description":"What git-bisect is for."`,
				`"scripts/run.sh":16`, `["git-bisect","git-rebase"]`}})
		if strings.Contains(r.System+r.Messages[0].Text, "stet-context") {
			t.Error("the model is told what is remembered")
		}
		n := len(r.Messages)
		if n > 1 && !strings.Contains(r.Text(), "echo") && !strings.Contains(r.Text(), "Run it.") {
			t.Error("the model is not shown the file that it viewed")
		}
		if n > 2 && !strings.Contains(r.Text(), `there is no skill "deploy" here`) {
			t.Error("the model is not told why its call was refused")
		}
		answers := 0
		for _, m := range r.Messages {
			if m.Role == llm.Assistant {
				answers++
			}
		}
		return plan[answers]
	}
	r, s, err := work(t, model, asked())
	if err != nil || r.Ended != fork.Done || r.Error != "" || r.Final != closing || r.Rounds != 4 {
		t.Fatalf("%+v, %v", r, err)
	}
	if len(r.Calls) != 4 || len(s.Asked()) != 4 || r.Model != "test-model" || r.Provider != "custom" {
		t.Errorf("%d calls in %d answers of %s, %s", len(r.Calls), len(s.Asked()), r.Provider, r.Model)
	}
	if !strings.Contains(string(r.Calls[2].Arguments), long) || string(r.Calls[3].Arguments) != `"rm -rf /"` {
		t.Errorf("the arguments are cut: %.80s, %s", r.Calls[2].Arguments, r.Calls[3].Arguments)
	}
	for i, refused := range []string{"", "no skill", "", "no tool"} {
		if !strings.Contains(r.Calls[i].Error, refused) || (refused == "") != (r.Calls[i].Error == "") {
			t.Errorf("call %d: %q, want %q", i, r.Calls[i].Error, refused)
		}
	}
	if r.Usage.Input == 0 || r.Usage.Output == 0 || r.Cost <= 0 {
		t.Errorf("usage %+v, cost %v", r.Usage, r.Cost)
	}
}

// A model that never ends is ended by each of the bounds, and what it did until then is in the result.
func TestWorkEnds(t *testing.T) {
	t.Parallel()
	again, cut := calls(t, call{"action": "list"}), calls(t, call{"action": "list"})
	again.Usage, cut.Stop = llm.Usage{Input: 5000, Output: 10}, llm.StopLength
	for name, c := range map[string]struct {
		bounds fork.Bounds
		reply  llm.Reply
		fault  llmtest.Fault
		ended  string
		why    string
		calls  int
	}{
		"rounds": {bounds: fork.Bounds{MaxRounds: 3}, ended: fork.Limit, why: "3 answers", calls: 3},
		// An answer may have 8,192 tokens, which cost $.0164, behind a prompt of about 1,900.
		"tokens": {bounds: fork.Bounds{MaxTokens: 22_000}, ended: fork.Limit, why: "max_tokens is 22000",
			calls: 3},
		"dollars":        {bounds: fork.Bounds{MaxUSD: .024}, ended: fork.Limit, why: "max_usd is $0.02", calls: 2},
		"before it asks": {bounds: fork.Bounds{MaxTokens: 10}, ended: fork.Limit, why: "max_tokens is 10"},
		"a cut answer":   {reply: cut, ended: fork.Limit, why: "cut off"},
		"the window":     {fault: llmtest.Status(413, "no"), ended: fork.Limit, why: "too long"},
		"the server": {fault: llmtest.Status(503, "no", "X-Should-Retry", "false"), ended: fork.Failed,
			why: "unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.Serve(t, func(*llmtest.Request) llm.Reply {
				if c.reply.Calls == nil {
					return again
				}
				return c.reply
			}).Free().Always(c.fault)
			o := s.Options(llm.ModeAnthropic)
			o.Price = "1/2"
			client, err := llm.New(o)
			if err != nil {
				t.Fatal(err)
			}
			j := asked()
			j.Bounds = c.bounds
			r, err := fork.Work(t.Context(), client, j)
			if err != nil || r.Ended != c.ended || !strings.Contains(r.Error, c.why) || len(r.Calls) != c.calls {
				t.Errorf("ended %q: %q after %d calls, %v, want %q: %q after %d", r.Ended, r.Error, len(r.Calls), err,
					c.ended, c.why, c.calls)
			}
		})
	}
}

// An answer that goes on although it was asked to be short is read no further than what the bounds leave.
func TestAnEndlessAnswerEndsAtTheBounds(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("and so on ", 20)
	for mode, event := range map[string]string{
		llm.ModeAnthropic: `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"` +
			text + `"}}`,
		llm.ModeOpenAI: `{"choices":[{"index":0,"delta":{"content":"` + strings.Repeat(text, 30) + `"}}]}`,
		"thoughts":     `{"choices":[{"index":0,"delta":{"reasoning_content":"` + text + `"}}]}`,
	} {
		o := llmtest.Serve(t, nil).Always(llmtest.Endless("text/event-stream", "data: "+event+"\n\n")).
			Options(strings.Replace(mode, "thoughts", llm.ModeOpenAI, 1))
		o.Price = "1/20"
		client, err := llm.New(o)
		if err != nil {
			t.Fatal(err)
		}
		for bounds, most := range map[fork.Bounds]int{{MaxTokens: 60_000}: 80_000, {MaxUSD: 1}: 70_000} {
			j := asked()
			j.Bounds = bounds
			r, err := fork.Work(t.Context(), client, j)
			if err != nil || r.Ended != fork.Limit || !strings.Contains(r.Error, "has more than") ||
				r.Usage.Output > most {
				t.Errorf("%s: ended %q: %q after %+v, %v", mode, r.Ended, r.Error, r.Usage, err)
			}
		}
	}
}

// slow answers when its context is over.
type slow struct{ end func() }

func (s slow) Model() llm.Model { return llm.Model{Name: "slow"} }

func (s slow) Generate(ctx context.Context, _ llm.Request) (llm.Reply, error) {
	s.end()
	<-ctx.Done()
	return llm.Reply{}, context.Cause(ctx)
}

// Work that is called off says so.
func TestWorkIsCancelled(t *testing.T) {
	t.Parallel()
	ctx, end := context.WithTimeout(t.Context(), time.Minute)
	r, err := fork.Work(ctx, slow{end}, asked())
	if err != nil || r.Ended != fork.Cancelled {
		t.Errorf("%+v, %v", r, err)
	}
}

// No request is made of a job that holds what is private, or that another version made.
func TestWorkRefusesAJob(t *testing.T) {
	t.Parallel()
	private, other := asked(), asked()
	page := "---\nname: git-bisect\ndescription: D.\nprivate: true\n---\n"
	private.Skills[0].Files["SKILL.md"] = fork.File{Data: []byte(page)}
	other.Version++
	for _, c := range []struct {
		job  fork.Job
		kind error
	}{{private, vault.ErrRefused}, {other, vault.ErrInvalid}} {
		_, s, err := work(t, func(*llmtest.Request) llm.Reply { return llm.Reply{Text: closing} }, c.job)
		if !errors.Is(err, c.kind) || s.Tries() != 0 {
			t.Errorf("%v after %d requests, want %v after none", err, s.Tries(), c.kind)
		}
	}
}
