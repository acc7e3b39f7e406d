package agent_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"stet/agent"
	"stet/agent/learn"
	"stet/agent/llm"
	"stet/agent/llm/llmtest"
	"stet/agent/tools"
	"stet/vault/session"
	"stet/vault/vaulttest"
)

func TestMain(m *testing.M) {
	vaulttest.InMemory()
	m.Run()
}

// A hotline answers messages of many callers, and learns from each conversation beside it.
type hotline struct {
	app    *agent.App
	mu     sync.Mutex
	calls  map[string]*agent.Live
	answer func(caller, text string) string // your model
	learnt func(*agent.Reviewed)
}

func (h *hotline) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, caller := r.FormValue("Body"), r.FormValue("From")
	said := h.answer(caller, text)
	_, _ = fmt.Fprintln(w, said)
	_ = http.NewResponseController(w).Flush() // the caller waits for nothing below
	h.mu.Lock()
	live, err := h.calls[caller], error(nil)
	if live == nil {
		o := agent.LiveOptions{ID: caller, Agent: "hotline", Source: "sms", Learnt: h.learnt}
		live, err = h.app.Session(r.Context(), o)
		h.calls[caller] = live
	}
	h.mu.Unlock()
	if err == nil {
		err = errors.Join(live.Turn(r.Context(), "user", text), live.Turn(r.Context(), "assistant", said))
	}
	if err != nil {
		log.Print("stet: ", err)
	}
}

// The page about services shows the code above, word for word.
func TestThePageAboutServicesShowsWhatIsTested(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/service.md")
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile("service_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(page), "```go\n")
	shown, _, ok := strings.Cut(shown, "```\n")
	if !ok || !strings.Contains(string(code), "\n"+shown+"\n// The page") || strings.Count(shown, "\n") > 45 {
		t.Errorf("docs/service.md does not show the service of this test:\n%s", shown)
	}
}

// reviewModel is a model that learns, and the environment that leads to it.
func reviewModel(t *testing.T, more ...string) (s *llmtest.Server, getenv func(string) string) {
	s = llmtest.Serve(t, func(r *llmtest.Request) llm.Reply {
		text := r.Messages[0].Text
		v := llmtest.Reviewer{System: r.System, Memory: true, Flush: strings.Contains(text, "stand here whole"),
			Frozen: "<stet-context"}
		if len(r.Tools) == 0 {
			t.Errorf("asked for something else than a review: %s", text)
		}
		return v.Answer(t)(r)
	})
	names := map[string]string{"HOME": t.TempDir(), "TEST_MODEL_KEY": llmtest.Key}
	for key, value := range map[string]string{"PROVIDER": "custom", "MODEL": "test-model", "BASE_URL": s.URL(),
		"API_MODE": "chat_completions", "KEY_ENV": "TEST_MODEL_KEY", "PRICE": "1/2"} {
		names["STET_MODELS_CHAT_"+key] = value
	}
	for i := 0; i+1 < len(more); i += 2 {
		names[more[i]] = more[i+1]
	}
	return s, func(key string) string { return names[key] }
}

func reviewTools(a *agent.App, o agent.ToolsOptions) learn.Toolbox {
	return tools.New(a, tools.Options{Actor: o.Actor, Session: o.Session, Review: true})
}

// The service answers over HTTP, and has learnt after its tenth reply.
func TestAServiceLearnsAfterTheTenthReply(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	_, getenv := reviewModel(t)
	app, err := agent.Open(t.Context(), agent.Options{At: f.Dir, Door: "cli", Now: time.Now, Getenv: getenv,
		Tools: reviewTools})
	if err != nil {
		t.Fatal(err)
	}
	learnt := make(chan *agent.Reviewed, 10)
	h := &hotline{app: app, calls: map[string]*agent.Live{}, learnt: func(r *agent.Reviewed) { learnt <- r },
		answer: func(_, text string) string { return "You said: " + text }}
	server := httptest.NewServer(h)
	defer server.Close()
	for i := range 10 {
		text := fmt.Sprintf("What is number %d?", i+1)
		if i == 3 {
			text = "My wife's birthday is March 15th."
		}
		res, err := http.PostForm(server.URL, url.Values{"From": {"+4711"}, "Body": {text}})
		if err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(res.Body)
		if err = errors.Join(err, res.Body.Close()); err != nil || string(said) != "You said: "+text+"\n" {
			t.Errorf("reply %d: %q, %v", i+1, said, err)
		}
		if len(learnt) > 0 {
			t.Errorf("learnt after reply %d: %+v", i+1, <-learnt)
		}
	}
	select {
	case r := <-learnt:
		if r.Error != "" || len(r.Saved) != 1 || r.From != 1 || r.To != 20 || len(r.Commits) != 1 {
			t.Errorf("the review is %+v", r)
		}
	case <-time.After(30 * time.Second):
		t.Error("nothing was learnt within 30 s")
	}
	if !strings.Contains(f.Read("USER.md"), "My wife's birthday is March 15th") {
		t.Errorf("USER.md says %q", f.Read("USER.md"))
	}
	began := time.Now()
	for _, live := range h.calls {
		err = errors.Join(err, live.Close())
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("closing took %v", took)
	}
	if err = errors.Join(err, app.Close()); err != nil {
		t.Error(err)
	}
}

// A model that hangs keeps nobody: not the turns, not a flush for longer than it says, not the end. What it did
// not review is reviewed by the next process.
func TestAHangingModelKeepsNobody(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	s, getenv := reviewModel(t, "STET_MEMORY_NUDGE_INTERVAL", "1")
	s.Fail(llmtest.Silent())
	o := agent.Options{At: f.Dir, Door: "cli", Now: time.Now, Getenv: getenv, Tools: reviewTools}
	app, err := agent.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	live, err := app.Session(t.Context(), agent.LiveOptions{ID: "4711", Agent: "hotline"})
	if err != nil {
		t.Fatal(err)
	}
	say := func(role, text string) {
		if err := live.Turn(t.Context(), role, text); err != nil {
			t.Fatal(err)
		}
	}
	say("user", "My wife's birthday is March 15th.")
	say("assistant", "Noted.")
	for s.Tries() == 0 {
		time.Sleep(time.Millisecond)
	}
	began := time.Now()
	say("user", "What else?")
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("a turn beside a model that hangs took %v", took)
	}
	ctx, end := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer end()
	if done, err := live.Flush(ctx); err != nil || !done.Queued || done.Error == "" {
		t.Errorf("a flush that could not be made in time: %+v, %v", done, err)
	}
	began = time.Now()
	err = errors.Join(live.Close(), app.Close()) // the model answers nothing, so that whoever waits for it stays
	if took := time.Since(began); err != nil || took > 5*time.Second {
		t.Fatalf("the end beside a model that hangs took %v: %v", took, err)
	}

	if app, err = agent.Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	done, err := app.Learning().Work(t.Context(), agent.WorkOptions{})
	if err != nil || len(done.Reviews) != 1 || done.Left != 0 || !strings.Contains(f.Read("USER.md"), "March 15th") {
		t.Errorf("the next process made %+v, %v; USER.md says %q", done, err, f.Read("USER.md"))
	}
	if err := app.Close(); err != nil {
		t.Error(err)
	}
}

// A flush has learnt every turn to its end when it returns, and once, be it by itself or by the worker, which may see
// first what it asks for.
func TestAFlushLearnsBeforeItReturns(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	s, getenv := reviewModel(t)
	app, err := agent.Open(t.Context(), agent.Options{At: f.Dir, Door: "cli", Now: time.Now, Getenv: getenv,
		Tools: reviewTools})
	if err != nil {
		t.Fatal(err)
	}
	learnt := make(chan *agent.Reviewed, 10)
	live, err := app.Session(t.Context(), agent.LiveOptions{ID: "4711", Agent: "hotline",
		Learnt: func(r *agent.Reviewed) { learnt <- r }})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("It rained. ", 500) + "My wife's birthday is March 15th."
	err = errors.Join(live.Turn(t.Context(), "user", text), live.Turn(t.Context(), "assistant", "I see."))
	if err != nil {
		t.Fatal(err)
	}
	done, err := live.Flush(t.Context())
	if err == nil && done.Nothing() && !done.Queued {
		done = <-learnt
	}
	if err != nil || done.Queued || done.Error != "" || len(done.Saved) != 1 || len(done.Commits) != 1 {
		t.Errorf("the flush is %+v, %v", done, err)
	}
	if !strings.Contains(f.Read("USER.md"), "birthday is March 15th") {
		t.Errorf("USER.md says %q", f.Read("USER.md"))
	}
	asked := s.Tries()
	again, err := live.Flush(t.Context())
	if err != nil || !again.Nothing() || again.Queued || s.Tries() != asked {
		t.Errorf("a second flush is %+v, %v and asked %d times", again, err, s.Tries()-asked)
	}
	if err := errors.Join(live.Close(), app.Close()); err != nil {
		t.Error(err)
	}
	if s.Tries() != asked {
		t.Errorf("the end asked %d times, of a conversation that was reviewed", s.Tries()-asked)
	}
}

// Short turns for which a nudge had no room are reviewed when the conversation ends.
func TestTheEndReviewsWhatDidNotFitIntoANudge(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	s, getenv := reviewModel(t, "STET_MEMORY_NUDGE_INTERVAL", "30")
	app, err := agent.Open(t.Context(), agent.Options{At: f.Dir, Door: "cli", Now: time.Now, Getenv: getenv,
		Tools: reviewTools})
	if err != nil {
		t.Fatal(err)
	}
	say := func(role, text string) {
		turn := session.Turn{Session: "4711", Agent: "hotline", Role: role, Text: []byte(text)}
		if _, err := app.Sessions().Observe(t.Context(), turn); err != nil {
			t.Fatal(err)
		}
	}
	say("system", strings.Repeat("You are kind to whoever calls. ", 2500))
	say("user", "My wife's birthday is March 15th.")
	for range 29 {
		say("assistant", strings.Repeat("It rains. ", 19))
		say("user", strings.Repeat("It does. ", 20))
	}
	say("assistant", "It does.")
	work := func(want string) {
		t.Helper()
		done, err := app.Learning().Work(t.Context(), agent.WorkOptions{})
		if err != nil || len(done.Reviews) != 1 || strings.Join(done.Reviews[0].Saved, "|") != want {
			t.Errorf("the worker made %+v, %v; want %q saved", done.Reviews, err, want)
		}
	}
	work("")
	if asked := s.Asked(); len(asked) != 1 || strings.Contains(asked[0].Messages[0].Text, "March 15th") {
		t.Fatalf("%d requests; the first turn had to be left out of one", len(asked))
	}
	if _, err := app.Sessions().End(t.Context(), agent.EndOptions{All: true, Reason: "ended"}); err != nil {
		t.Fatal(err)
	}
	work("My wife's birthday is March 15th")
	if err := app.Close(); err != nil {
		t.Error(err)
	}
}

// What a conversation asks for while its review is under way is reviewed by the same worker: whoever asks finds
// it busy and leaves.
func TestAWorkerMakesWhatIsAskedMeanwhile(t *testing.T) {
	t.Parallel()
	f := vaulttest.New(t)
	names := map[string]string{"HOME": t.TempDir(), "STET_MEMORY_NUDGE_INTERVAL": "1"}
	o := agent.Options{At: f.Dir, Door: "cli", Now: time.Now, Getenv: func(key string) string { return names[key] }}
	say := func(a *agent.App, text string) {
		for _, role := range []string{"user", "assistant"} {
			turn := session.Turn{Session: "4711", Role: role, Text: []byte(text)}
			if _, err := a.Sessions().Observe(t.Context(), turn); err != nil {
				t.Error(err)
			}
		}
	}
	app, err := agent.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	other, err := agent.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	say(app, "My wife's birthday is March 15th.")
	more := []string{"My daughter's birthday is June 3rd.", "I hate when you start every reply with a joke."}
	done, err := app.Learning().Work(t.Context(), agent.WorkOptions{Each: func(*agent.Reviewed) {
		if len(more) > 0 {
			say(other, more[0])
			more = more[1:]
			if busy, err := other.Learning().Work(t.Context(), agent.WorkOptions{}); err != nil || !busy.Busy {
				t.Errorf("a second worker: %+v, %v", busy, err)
			}
		}
	}})
	if err != nil || len(done.Reviews) != 3 || done.Left != 0 || strings.Count(f.Read("USER.md"), "- [") != 3 {
		t.Errorf("the worker made %+v, %v; USER.md says %q", done, err, f.Read("USER.md"))
	}
	if err := errors.Join(app.Close(), other.Close()); err != nil {
		t.Error(err)
	}
}
