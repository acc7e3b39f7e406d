package llm_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"stet/agent/llm"
	"stet/agent/llm/llmtest"
)

// both runs a test in each wire format.
func both(t *testing.T, run func(t *testing.T, mode string)) {
	t.Helper()
	for _, mode := range []string{llm.ModeOpenAI, llm.ModeAnthropic} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			run(t, mode)
		})
	}
}

func dial(t *testing.T, o llm.Options) llm.Client {
	t.Helper()
	c, err := llm.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// says is a model that repeats the last message.
func says(r *llmtest.Request) llm.Reply { return llm.Reply{Text: r.Messages[len(r.Messages)-1].Text} }

func user(text string) llm.Request {
	return llm.Request{Task: "test", Messages: []llm.Message{{Role: llm.User, Text: text}}}
}

const tricky = "Zürich \"quoted\"\n\t\\u0041 </s> 知识库 🧠 and an end."

func TestTextThatComesInPiecesIsWhole(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, mode string) {
		model := llmtest.Serve(t, func(r *llmtest.Request) llm.Reply {
			r.Must(t, llmtest.Expect{System: []string{"Be brief."}, Messages: []string{tricky}})
			reply := says(r)
			reply.Usage = llm.Usage{Input: 100, Output: 20, CacheRead: 60}
			return reply
		})
		req := user(tricky)
		req.System, req.MaxTokens = "Be brief.", 77
		reply, err := dial(t, model.Options(mode)).Generate(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if reply.Text != tricky {
			t.Errorf("got %q, want %q", reply.Text, tricky)
		}
		if u := reply.Usage; u.Input != 100 || u.Output != 20 || u.CacheRead != 60 || u.Guessed || u.Status != llm.CostFree || u.USD != 0 {
			t.Errorf("usage %+v", u)
		}
		if reply.Stop != llm.StopEnd || reply.Model != "test-model" {
			t.Errorf("stop %q, model %q", reply.Stop, reply.Model)
		}
		if asked := model.Asked(); len(asked) != 1 || asked[0].MaxTokens != 77 || asked[0].Mode != mode {
			t.Errorf("asked %+v", asked)
		}
	})
}

// A conversation with two calls, one of them in error, as the servers' rules
// want it.
func TestToolsRoundTrip(t *testing.T) {
	t.Parallel()
	save := llm.Tool{Name: "memory_save", Description: "Keep a fact.", Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)}
	both(t, func(t *testing.T, mode string) {
		model := llmtest.Serve(t, func(r *llmtest.Request) llm.Reply {
			r.Must(t, llmtest.Expect{Tools: []string{"memory_save"}, Fields: []string{"text"}})
			last := r.Messages[len(r.Messages)-1]
			if last.Role == llm.ToolResult {
				return llm.Reply{Text: "told: " + last.Text}
			}
			args, _ := json.Marshal(map[string]string{"text": last.Text})
			return llm.Reply{Text: "Let me.", Calls: []llm.Call{{ID: "a", Name: "memory_save", Arguments: string(args)}, {ID: "b", Name: "memory_save", Arguments: `{}`}}}
		})
		c := dial(t, model.Options(mode))
		req := user("My wife's birthday is the 15th of March \\ \"really\".")
		req.Tools = []llm.Tool{save}
		reply, err := c.Generate(t.Context(), req)
		if err != nil || reply.Stop != llm.StopTools || len(reply.Calls) != 2 || reply.Text != "Let me." {
			t.Fatalf("reply %+v, %v", reply, err)
		}
		var args struct{ Text string }
		err = json.Unmarshal([]byte(reply.Calls[0].Arguments), &args)
		if err != nil || args.Text != req.Messages[0].Text || reply.Calls[0].ID == reply.Calls[1].ID {
			t.Fatalf("arguments %+v, %v", args, err)
		}
		req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, Text: reply.Text, Calls: reply.Calls},
			llm.Message{Role: llm.ToolResult, CallID: reply.Calls[0].ID, Text: "saved"},
			llm.Message{Role: llm.ToolResult, CallID: reply.Calls[1].ID, Text: "no text given", Failed: true})
		reply, err = c.Generate(t.Context(), req)
		if err != nil || !strings.HasSuffix(reply.Text, "no text given") {
			t.Errorf("reply %+v, %v", reply, err)
		}
	})
}

type verdict struct {
	Scope      string   `json:"scope" desc:"where it belongs"`
	Importance float64  `json:"importance"`
	Kinds      []string `json:"kinds"`
	Action     string   `json:"action" enum:"keep,drop"`
	Note       *string  `json:"note"`
}

func TestAnswersComeInTheFormAskedFor(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, mode string) {
		model := llmtest.Serve(t, func(r *llmtest.Request) llm.Reply {
			r.Must(t, llmtest.Expect{Fields: []string{"scope", "importance", "kinds", "action", "note", "keep", "where it belongs"}})
			return llm.Reply{Text: `{"scope":"/a","importance":1,"kinds":["x"],"action":"keep","note":null}`}
		})
		got, _, err := llm.Ask[verdict](t.Context(), dial(t, model.Options(mode)), "verdict", user("Where does it belong?"))
		if err != nil || got.Action != "keep" || got.Scope != "/a" || got.Note != nil || len(got.Kinds) != 1 {
			t.Errorf("got %+v, %v", got, err)
		}
		asked := model.Asked()
		if len(asked) != 1 || asked[0].Answer == nil || asked[0].Answer.Name != "verdict" {
			t.Fatalf("asked %d times, the first in no form", len(asked))
		}
		order := -1
		for _, field := range []string{`"scope"`, `"importance"`, `"kinds"`, `"action"`, `"note"`} {
			at := bytes.Index(asked[0].Answer.JSON, []byte(field))
			if at <= order {
				t.Errorf("%s stands out of its order in %s", field, asked[0].Answer.JSON)
			}
			order = at
		}
		var sent struct{ Temperature *float64 }
		if err := json.Unmarshal(asked[0].Body, &sent); err != nil || sent.Temperature == nil || *sent.Temperature > 1e-9 {
			t.Errorf("the temperature is not 0: %s", asked[0].Body)
		}
	})
}

func TestAWrongAnswerIsAnError(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, mode string) {
		model := llmtest.Serve(t, func(*llmtest.Request) llm.Reply { return llm.Reply{Text: `{"colour":"/a"}`} })
		_, _, err := llm.Ask[verdict](t.Context(), dial(t, model.Options(mode)), "verdict", user("?"))
		if !errors.Is(err, llm.ErrAbsurd) || model.Tries() != 1 {
			t.Errorf("%v after %d tries", err, model.Tries())
		}
		model = llmtest.Serve(t, func(*llmtest.Request) llm.Reply { return llm.Reply{Text: `{"scope":"/a`, Stop: llm.StopLength} })
		_, _, err = llm.Ask[verdict](t.Context(), dial(t, model.Options(mode)), "verdict", user("?"))
		if !errors.Is(err, llm.ErrTooLong) || model.Tries() != 1 {
			t.Errorf("%v after %d tries", err, model.Tries())
		}
	})
}

// A model that wants no temperature says so; it is asked without from then on.
func TestModelsThatRefuseATemperature(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, mode string) {
		model := llmtest.Serve(t, func(r *llmtest.Request) llm.Reply {
			return llm.Reply{Text: `{"scope":"/a","importance":1,"kinds":[],"action":"keep","note":null}`}
		}).Fail(llmtest.Status(400, "Unsupported value: 'temperature' does not support 0 with this model."))
		c := dial(t, model.Options(mode))
		for range 2 {
			if _, _, err := llm.Ask[verdict](t.Context(), c, "verdict", user("?")); err != nil {
				t.Fatal(err)
			}
		}
		if model.Tries() != 3 {
			t.Errorf("%d requests, want one that is refused and two that are answered", model.Tries())
		}
		for _, r := range model.Asked() {
			if strings.Contains(string(r.Body), "temperature") {
				t.Errorf("a temperature is sent: %s", r.Body)
			}
		}
	})
}

// A refusal that names no field is met once, with nothing optional.
func TestAVagueRefusal(t *testing.T) {
	t.Parallel()
	model := llmtest.Serve(t, func(r *llmtest.Request) llm.Reply {
		return llm.Reply{Text: `{"scope":"/a","importance":1,"kinds":[],"action":"keep","note":null}`}
	}).Fail(llmtest.Status(400, "Invalid request: unknown parameter"))
	c := dial(t, model.Options(llm.ModeOpenAI))
	if _, _, err := llm.Ask[verdict](t.Context(), c, "verdict", user("?")); err != nil || model.Tries() != 2 {
		t.Errorf("%v after %d tries", err, model.Tries())
	}
	model.Fail(llmtest.Status(400, "no"), llmtest.Status(400, "no"))
	if _, _, err := llm.Ask[verdict](t.Context(), c, "verdict", user("?")); !errors.Is(err, llm.ErrRejected) || model.Tries() != 3 {
		t.Errorf("%v after %d tries", err, model.Tries())
	}
}

// Servers that do not know a newer field say so; they are asked without it, and
// from then on at once.
func TestServersThatKnowLess(t *testing.T) {
	t.Parallel()
	model := llmtest.Serve(t, func(*llmtest.Request) llm.Reply {
		return llm.Reply{Text: "```json\n" + `{"scope":"/","importance":0,"kinds":[],"action":"drop","note":"n"}` + "\n```"}
	}).Fail(llmtest.Status(400, "Unknown parameter: stream_options"), llmtest.Status(422, "response_format json_schema is not supported"))
	c := dial(t, model.Options(llm.ModeOpenAI))
	for range 2 {
		if _, _, err := llm.Ask[verdict](t.Context(), c, "verdict", user("?")); err != nil {
			t.Fatal(err)
		}
	}
	if n := model.Tries(); n != 4 {
		t.Errorf("%d requests, want two that are refused and two that are answered", n)
	}
	for _, r := range model.Asked() {
		if strings.Contains(string(r.Body), "stream_options") || r.Answer != nil {
			t.Errorf("asked again with %s", r.Body)
		}
	}
}

// Some servers do not stream at all.
func TestWholeAnswers(t *testing.T) {
	t.Parallel()
	for mode, body := range map[string]string{
		llm.ModeOpenAI: `{"model":"m", "choices":[{"index":0,
			"message":{"role":"assistant","content":"<think>\nhm\n</think>\n\nHello.","tool_calls":[{"id":"","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}}]},
			"finish_reason":"stop"}], "usage":{"prompt_tokens":9,"completion_tokens":3,"cost":0.25}}`,
		llm.ModeAnthropic: `{"type":"message","model":"m",
			"content":[{"type":"text","text":"Hello."},{"type":"tool_use","id":"call_1","name":"f","input":{"a": 1}}],
			"stop_reason":"tool_use","usage":{"input_tokens":9,"output_tokens":3}}`,
	} {
		model := llmtest.Serve(t, says).Always(llmtest.Says("application/json; charset=utf-8", body))
		reply, err := dial(t, model.Options(mode)).Generate(t.Context(), user("?"))
		if err != nil {
			t.Errorf("%s: %v", mode, err)
			continue
		}
		want := llm.Call{ID: "call_1", Name: "f", Arguments: `{"a": 1}`}
		if reply.Text != "Hello." || len(reply.Calls) != 1 || reply.Calls[0] != want || reply.Stop != llm.StopTools || reply.Usage.Input != 9 || reply.Usage.Output != 3 {
			t.Errorf("%s: %+v", mode, reply)
		}
		if mode == llm.ModeOpenAI && (reply.Usage.Status != llm.CostActual || reply.Usage.USD != 0.25) {
			t.Errorf("the cost that the server names is lost: %+v", reply.Usage)
		}
	}
}

func TestNewFindsWhatCannotBeRight(t *testing.T) {
	t.Parallel()
	for _, o := range []llm.Options{
		{},
		{Model: "m"},
		{Model: "m", Provider: "nobody"},
		{Model: "m", Provider: "ollama", Mode: "carrier pigeon"},
		{Model: "m", BaseURL: "localhost:11434"},
		{Model: "m", BaseURL: "file:///etc/passwd"},
		{Model: "m", BaseURL: "https://user:" + "hunter2@example.com/v1"},
		{Model: "m", BaseURL: "https://example.com/v1?key=x"},
		{Model: "m", BaseURL: "http://example.com/v1", Key: "k"},
		{Model: "m", Provider: "openai", Key: "k\r\nX-Evil: 1"},
		{Model: "m", Provider: "openai", Price: "cheap"},
		{Model: "m", Provider: "openai", Price: "-1/2"},
	} {
		if c, err := llm.New(o); !errors.Is(err, llm.ErrSetup) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("New(%+v) = %v, %v", o, c, err)
		}
	}
}

// People copy base URLs with and without "/v1", and whole.
func TestBaseURLs(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, mode string) {
		model := llmtest.Serve(t, says)
		for _, tail := range []string{"", "/", "/v1", "/v1/", "/v1/chat/completions", "/v1/messages"} {
			o := model.Options(mode)
			o.BaseURL += tail
			if _, err := dial(t, o).Generate(t.Context(), user("hello")); err != nil {
				t.Errorf("%q: %v", tail, err)
			}
		}
	})
}

func TestOnlyAWindowThatIsKnownIsNamed(t *testing.T) {
	t.Parallel()
	for o, want := range map[llm.Options]int{
		{Provider: "openai", Model: "gpt-4o-mini"}:                     128_000,
		{Provider: "openrouter", Model: "anthropic/claude-haiku-4"}:    128_000,
		{Provider: "openai", Model: "brand-new"}:                       0,
		{Provider: "ollama", Model: "gpt-4o-mini"}:                     0,
		{Provider: "openai", Model: "brand-new", Price: "1/2"}:         0,
		{Provider: "openai", Model: "gpt-4o-mini", Price: "0.10/0.20"}: 128_000,
	} {
		c, err := llm.New(o)
		if err != nil || c.Model().Window != want {
			t.Errorf("%+v: %v, %v", o, err, c)
		}
	}
}
