package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"stet/agent/llm"
	"stet/agent/llm/llmtest"
	"stet/templates/prompts"
)

// scriptTB lets a server of llmtest live as long as a script.
type scriptTB struct {
	ts *testscript.TestScript
	mu sync.Mutex
	// What a server complains of in goroutines of its own is said at the end.
	complaints []string
}

func (s *scriptTB) Helper()           {}
func (s *scriptTB) Cleanup(fn func()) { s.ts.Defer(fn) }
func (s *scriptTB) Errorf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.complaints = append(s.complaints, fmt.Sprintf(format, args...))
}

// cmdModel starts a model and leads a slot to it: model SLOT MODE FAULT. FAULT
// is fine, status-CODE, down (nobody listens), silent, torn or chatter. The
// price is 1/2 dollars for a million tokens, so that the daily limit counts.
func cmdModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: model SLOT MODE FAULT")
	}
	tb := &scriptTB{ts: ts}
	ts.Defer(func() {
		if len(tb.complaints) > 0 {
			ts.Fatalf("the model complains: %s", strings.Join(tb.complaints, "; "))
		}
	})
	s := llmtest.Serve(tb, func(r *llmtest.Request) llm.Reply {
		if strings.Contains(r.System, "umbrella skills") || strings.Contains(r.System, "You tidy memories") {
			return curating(tb, r)
		}
		if len(r.Tools) > 0 {
			return reviewer(tb, r).Answer(tb)(r)
		}
		if r.Answer == nil || r.Answer.Name != "ready" {
			return helpful(tb, r)
		}
		r.Must(tb, llmtest.Expect{System: []string{"can be reached"}, Fields: []string{"answer"}})
		quoted := regexp.MustCompile(`\{"answer": "\w+"\}`).FindStringSubmatch(r.Messages[len(r.Messages)-1].Text)
		if quoted == nil {
			tb.Errorf("the request shows no answer: %q", r.Text())
			return llm.Reply{Text: "?"}
		}
		return llm.Reply{Text: quoted[0], Usage: llm.Usage{Input: 1000, Output: 100}}
	})
	all := ts.Value(askedKey{}).(*servers)
	all.list = append(all.list, s)
	url := s.URL()
	code := 0
	switch fault := args[2]; {
	case fault == "fine":
	case fault == "down":
		url = "http://127.0.0.1:1"
	case fault == "silent":
		s.Always(llmtest.Silent())
		ts.Setenv("STET_MODELS_"+strings.ToUpper(args[0])+"_TIMEOUT", (50 * time.Millisecond).String())
	case fault == "hangs":
		s.Always(llmtest.Silent())
	case fault == "torn":
		s.Always(llmtest.Torn(150))
	case fault == "chatter":
		s.Always(llmtest.Says("text/html", "<html>\x1b[31mWelcome</html>"))
	default:
		if _, err := fmt.Sscanf(fault, "status-%d", &code); err != nil || http.StatusText(code) == "" {
			ts.Fatalf("unknown fault %q", fault)
		}
		s.Always(llmtest.Status(code, "no, and your key is "+llmtest.Key, "X-Should-Retry", "false"))
	}
	for key, value := range map[string]string{"PROVIDER": "custom", "MODEL": "test-model", "BASE_URL": url,
		"API_MODE": args[1], "KEY_ENV": "TEST_MODEL_KEY", "PRICE": "1/2"} {
		ts.Setenv("STET_MODELS_"+strings.ToUpper(args[0])+"_"+key, value)
	}
	ts.Setenv("TEST_MODEL_KEY", llmtest.Key)
}

// reviewer is a model that learns from a conversation. What it was given to know is in the request.
func reviewer(tb llmtest.TB, r *llmtest.Request) llmtest.Reviewer {
	v := llmtest.Reviewer{System: r.System, Frozen: "<stet-context"}
	for _, t := range r.Tools {
		v.Memory, v.Skill = v.Memory || t.Name == "memory_save", v.Skill || t.Name == "skill"
		v.Full = v.Full || t.Name == "memory_search"
	}
	text := r.Messages[0].Text
	v.Flush = strings.Contains(text, "stand here whole")
	var data struct {
		Before []json.RawMessage `json:"related_turns_of_earlier_conversations"`
	}
	if err := json.Unmarshal([]byte(text[max(0, strings.Index(text, "\n{")):]), &data); err != nil {
		tb.Errorf("the review has no data: %v", err)
	}
	v.Related = len(data.Before)
	return v
}

// curating is a model that builds one umbrella of the first cluster that it is told of, out of what it has viewed.
func curating(tb llmtest.TB, r *llmtest.Request) llm.Reply {
	r.Must(tb, llmtest.Expect{Tools: []string{"skill"}, Fields: []string{"absorbed_into", "copy_file"}})
	var asked prompts.Curator
	if err := json.Unmarshal([]byte(r.Messages[0].Text), &asked); err != nil || len(asked.Clusters) == 0 {
		tb.Errorf("the curator's model is told of no clusters: %v\n%s", err, r.Messages[0].Text)
		return llm.Reply{Text: "?"}
	}
	names := asked.Clusters[0].Skills
	if asked.Skills[0].Text != "" {
		return joining(asked, len(r.Messages) == 1)
	}
	into := strings.SplitN(names[0], "-", 2)[0] + "-tasks"
	var calls []llm.Call
	do := func(args map[string]any) {
		data, err := json.Marshal(args)
		if err != nil {
			panic(err)
		}
		calls = append(calls, llm.Call{ID: fmt.Sprint("c", len(calls)), Name: "skill", Arguments: string(data)})
	}
	if len(r.Messages) == 1 {
		for _, name := range names {
			do(map[string]any{"action": "view", "name": name})
		}
		return llm.Reply{Calls: calls}
	}
	text, end := "", "```yaml\nconsolidations:\n"
	var moves []map[string]any
	for i, name := range names {
		c := asked.Skills[slices.IndexFunc(asked.Skills, func(c prompts.Candidate) bool { return c.Name == name })]
		viewed, _, _ := strings.Cut(r.Messages[2+i].Text, "\n\n[not in the file] files: ")
		parts := strings.SplitN(viewed, "---\n", 3)
		for _, file := range slices.Sorted(maps.Keys(c.Files)) {
			if file != "SKILL.md" {
				moves = append(moves, map[string]any{"action": "copy_file", "name": name, "file": file, "into": into})
			}
		}
		text += "\n## " + name + "\n\n" + c.Description + "\n" + parts[len(parts)-1]
		moves = append(moves, map[string]any{"action": "delete", "name": name, "absorbed_into": into})
		end += "- {from: " + name + ", into: " + into + ", reason: alike}\n"
	}
	if len(r.Messages) > 2+len(names) {
		return llm.Reply{Text: end + "prunings: []\n```\n"}
	}
	do(map[string]any{"action": "create", "name": into, "description": strings.Join(names, ", "), "text": text})
	for _, m := range moves {
		do(m)
	}
	return llm.Reply{Calls: calls}
}

// joining is a model that makes one memory of each cluster, with the text of its first, and then says so.
func joining(asked prompts.Curator, first bool) llm.Reply {
	var calls []llm.Call
	end := "```yaml\nconsolidations:\n"
	for i, c := range asked.Clusters {
		into := fmt.Sprint("joined-", i)
		stays := slices.IndexFunc(asked.Skills, func(s prompts.Candidate) bool { return s.Name == c.Skills[0] })
		all := []map[string]any{{"action": "create", "name": into, "description": "One.",
			"text": asked.Skills[stays].Text}}
		for _, name := range c.Skills {
			all = append(all, map[string]any{"action": "delete", "name": name, "absorbed_into": into})
			end += "- {from: " + name + ", into: " + into + ", reason: the same}\n"
		}
		for _, args := range all {
			data, err := json.Marshal(args)
			if err != nil {
				panic(err)
			}
			calls = append(calls, llm.Call{ID: fmt.Sprint("c", len(calls)), Name: "skill", Arguments: string(data)})
		}
	}
	if first {
		return llm.Reply{Calls: calls}
	}
	return llm.Reply{Text: end + "prunings: []\n```\n"}
}

type askedKey struct{}

// servers are the models of one script.
type servers struct {
	list []*llmtest.Server
	seen int
}

// cmdAsked checks how many requests have arrived at all models since it was last
// asked: asked NUMBER.
func cmdAsked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: asked NUMBER")
	}
	all := ts.Value(askedKey{}).(*servers)
	now := 0
	for _, s := range all.list {
		now += s.Tries()
	}
	if got := fmt.Sprint(now - all.seen); got != args[0] {
		ts.Fatalf("the models were asked %s times, want %s", got, args[0])
	}
	all.seen = now
}

// helpful is a model that reads notes: it files one under the first scope in use
// whose name it holds and under the categories it holds, and takes what is said of
// the same databases or towns for untrue when a note tells of a change.
func helpful(tb llmtest.TB, r *llmtest.Request) llm.Reply {
	read := func(v any) {
		if err := json.Unmarshal([]byte(r.Messages[len(r.Messages)-1].Text), v); err != nil {
			tb.Errorf("the request is no JSON: %v", err)
		}
	}
	reply := func(v any) llm.Reply {
		data, err := json.Marshal(v)
		if err != nil {
			tb.Errorf("%v", err)
		}
		return llm.Reply{Text: string(data)}
	}
	if r.Answer.Name == "place" {
		r.Must(tb, llmtest.Expect{System: []string{"suggested_scope", "importance", "gives you no orders"}})
		var p prompts.Place
		read(&p)
		importance := 0.5
		out := prompts.Placed{Scope: "/", Categories: []string{}, Importance: &importance}
		for _, s := range p.Scopes {
			if name := path.Base(s.Path); name != "/" && strings.Contains(strings.ToLower(p.Note), name) {
				out.Scope = s.Path
			}
		}
		for _, c := range p.Categories {
			if strings.Contains(strings.ToLower(p.Note), c) {
				out.Categories = append(out.Categories, c)
			}
		}
		if p.Today == "" {
			tb.Errorf("the request names no date")
		}
		if strings.Contains(p.Note, "must") {
			importance = 0.9
		}
		return reply(out)
	}
	if r.Answer.Name == "recap" {
		r.Must(tb, llmtest.Expect{System: []string{"summary", "sources", "give you no orders"}})
		var p prompts.Recap
		read(&p)
		out := prompts.Recapped{Sources: []prompts.Source{{Conversation: 99, Message: 1}}}
		for _, c := range p.Conversations {
			for _, m := range c.Messages {
				if m.Speaker == "assistant" {
					out.Summary = m.Text
					out.Sources = append(out.Sources, prompts.Source{Conversation: c.Number, Message: m.Number})
				}
			}
		}
		return reply(out)
	}
	r.Must(tb, llmtest.Expect{System: []string{"supersede", "When in doubt, keep", "give you no orders"}})
	var j prompts.Judge
	read(&j)
	var out prompts.Judged
	kinds := [][]string{{"PostgreSQL", "MySQL", "SQLite"}, {"Bern", "Basel"}}
	for _, s := range j.Stored {
		a := prompts.Action{Number: s.Number, Action: "keep", Confidence: 0.9}
		for _, kind := range kinds {
			in := func(text string) bool {
				return slices.ContainsFunc(kind, func(w string) bool { return strings.Contains(text, w) })
			}
			if in(j.Note) && in(s.Note) && regexp.MustCompile("switched|moved|closed").MatchString(j.Note) {
				a.Action, a.Quote = "supersede", quoted(s.Note, in)
			}
		}
		out.Actions = append(out.Actions, a)
	}
	return reply(out)
}

// quoted is the first statement of a note for which in holds.
func quoted(note string, in func(string) bool) string {
	for part := range strings.SplitSeq(strings.TrimSuffix(note, "."), " and ") {
		if in(part) {
			return part
		}
	}
	return note
}
