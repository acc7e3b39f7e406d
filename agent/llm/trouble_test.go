package llm_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"stet/agent/llm"
	"stet/agent/llm/llmtest"
)

// known reports an error of this package, which says which model it was, and
// shows no part of the key.
func known(err error) bool {
	for _, k := range []error{llm.ErrUnavailable, llm.ErrKey, llm.ErrRejected, llm.ErrTooLong, llm.ErrRefused, llm.ErrAbsurd} {
		if errors.Is(err, k) {
			text := fmt.Sprintf("%v %+v %#v", err, err, err)
			return strings.Contains(err.Error(), `"test-model" at 127.0.0.1`) && !strings.Contains(text, llmtest.Key[:8]) && !strings.ContainsAny(err.Error(), "\n\x1b")
		}
	}
	return false
}

func TestWhatIsTriedAgainAndWhatIsNot(t *testing.T) {
	t.Parallel()
	later := func(seconds string) []string { return []string{"Retry-After", seconds} }
	for _, c := range []struct {
		name  string
		fault llmtest.Fault
		tries int
		kind  error // nil: the second try is answered
	}{
		{"too many", llmtest.Status(429, "slow down", later("0")...), 2, nil},
		{"too many, by date", llmtest.Status(429, "slow down", later("Fri, 31 Dec 1999 23:59:59 GMT")...), 2, nil},
		{"server error", llmtest.Status(500, "oops"), 2, nil},
		{"overloaded", llmtest.Status(529, "overloaded"), 2, nil},
		{"bad gateway in HTML", llmtest.Status(502, "<html>"), 2, nil},
		{"connection dropped before a byte", llmtest.Torn(0), 2, nil},
		{"wait an hour", llmtest.Status(429, "slow down", later("3600")...), 1, llm.ErrUnavailable},
		{"told not to", llmtest.Status(503, "no", "X-Should-Retry", "false"), 1, llm.ErrUnavailable},
		{"no money", llmtest.Status(429, "insufficient_quota: pay first"), 1, llm.ErrUnavailable},
		{"pay", llmtest.Status(402, "pay"), 1, llm.ErrUnavailable},
		{"bad request", llmtest.Status(400, "no"), 1, llm.ErrRejected},
		{"no such model", llmtest.Status(404, "model \"test-model\" not found"), 1, llm.ErrRejected},
		{"key", llmtest.Status(401, "wrong key "+llmtest.Key), 1, llm.ErrKey},
		{"key, cut", llmtest.Status(403, "wrong key: "+llmtest.Key[:12]+"***"), 1, llm.ErrKey},
		{"too long", llmtest.Status(400, "maximum context length is 8192 tokens"), 1, llm.ErrTooLong},
		{"too large", llmtest.Status(413, "large"), 1, llm.ErrTooLong},
		{"policy", llmtest.Status(400, "violates our content policy"), 1, llm.ErrRefused},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, mode string) {
				model := llmtest.Serve(t, says).Fail(c.fault)
				reply, err := dial(t, model.Options(mode)).Generate(t.Context(), user("hello"))
				if model.Tries() != c.tries {
					t.Errorf("%d tries, want %d (%v)", model.Tries(), c.tries, err)
				}
				switch {
				case c.kind == nil && (err != nil || reply.Text != "hello"):
					t.Errorf("reply %+v, %v", reply, err)
				case c.kind != nil && (!errors.Is(err, c.kind) || !known(err)):
					t.Errorf("error %q, want %v", err, c.kind)
				}
			})
		})
	}
}

func TestRetriesEnd(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, mode string) {
		model := llmtest.Serve(t, says).Always(llmtest.Status(503, "down"))
		o := model.Options(mode)
		o.Retry.Max = 2
		if _, err := dial(t, o).Generate(t.Context(), user("?")); !errors.Is(err, llm.ErrUnavailable) || model.Tries() != 3 {
			t.Errorf("%v after %d tries", err, model.Tries())
		}
		o.Retry.Max = -1
		if _, err := dial(t, o).Generate(t.Context(), user("?")); !errors.Is(err, llm.ErrUnavailable) || model.Tries() != 4 {
			t.Errorf("%v after %d tries", err, model.Tries())
		}
	})
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	const addr = "127.0.0.1:1" // a port just given back may be another test's server at once
	both(t, func(t *testing.T, mode string) {
		// The pause of an hour would show that it tries again.
		c := dial(t, llm.Options{Model: "test-model", BaseURL: "http://" + addr, Mode: mode, Retry: llm.Retry{First: time.Hour, Longest: time.Hour}})
		_, err := c.Generate(t.Context(), user("?"))
		var hinter interface{ Hint() string }
		if !errors.Is(err, llm.ErrUnavailable) || !known(err) || !errors.As(err, &hinter) || !strings.Contains(hinter.Hint(), "start the server") {
			t.Errorf("%v", err)
		}
	})
}

// Wherever a stream is cut, the answer is whole or an error, and is never asked
// for again: the torn one may have been paid for and shown.
func TestATornStreamIsAnErrorAndNeverAskedForAgain(t *testing.T) {
	t.Parallel()
	answer := func(r *llmtest.Request) llm.Reply {
		return llm.Reply{Text: tricky, Calls: []llm.Call{{ID: "x", Name: "f", Arguments: `{"a":"\u00e9\\"}`}}}
	}
	both(t, func(t *testing.T, mode string) {
		for name, tear := range map[string]func(int) llmtest.Fault{"dropped": llmtest.Torn, "ended": llmtest.Ends} {
			step := 7
			if testing.Short() {
				step = 61
			}
			whole, cuts := false, 0
			for n := 1; !whole; n += step {
				if n > 1<<14 {
					t.Fatal("it was never whole")
				}
				model := llmtest.Serve(t, answer).Always(tear(n))
				reply, err := dial(t, model.Options(mode)).Generate(t.Context(), user(tricky))
				if model.Tries() != 1 {
					t.Fatalf("%s after %d bytes: %d tries", name, n, model.Tries())
				}
				if err == nil {
					whole = reply.Text == tricky && len(reply.Calls) == 1 && reply.Calls[0].Arguments == `{"a":"\u00e9\\"}`
					if !whole {
						t.Fatalf("%s after %d bytes: half a reply: %+v", name, n, reply)
					}
					continue
				}
				cuts++
				if !errors.Is(err, llm.ErrUnavailable) && !errors.Is(err, llm.ErrAbsurd) || !known(err) || reply.Text != "" || reply.Usage.Input == 0 {
					t.Fatalf("%s after %d bytes: %q, %+v", name, n, err, reply)
				}
			}
			if cuts < 5 {
				t.Errorf("%s: only %d cuts", name, cuts)
			}
		}
	})
}

// Waits that are far below what would pass by chance, against waits that a test
// would notice.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	const soon, never = 30 * time.Millisecond, time.Hour
	hurry := llm.Timeouts{FirstByte: 10 * soon, Idle: never, Whole: never}
	for _, c := range []struct {
		name  string
		fault llmtest.Fault
		t     llm.Timeouts
		says  string
	}{
		{"no first byte", llmtest.Silent(), llm.Timeouts{FirstByte: soon, Idle: never, Whole: never}, "no answer in time"},
		{"no next byte", llmtest.Stalls(300), llm.Timeouts{FirstByte: never, Idle: soon, Whole: never}, "stopped coming"},
		{"no end", llmtest.Endless("text/event-stream", ": ping\n\n"), llm.Timeouts{FirstByte: never, Idle: never, Whole: 10 * soon}, ""},
		{"drops", llmtest.Drips(soon / 10), llm.Timeouts{FirstByte: never, Idle: never, Whole: 10 * soon}, ""},
		{"drops, and has little time", llmtest.Drips(soon / 10), hurry, "slow"},
		{"an error that drops", llmtest.DripsError(soon / 10), hurry, ""},
		{"says little", llmtest.DripsWords(time.Second), hurry, "slow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, mode string) {
				model := llmtest.Serve(t, says).Always(c.fault)
				o := model.Options(mode)
				o.Timeouts = c.t
				_, err := dial(t, o).Generate(t.Context(), user(strings.Repeat("hello ", 200)))
				// On a busy machine the time may be over before the server is reached.
				if !known(err) || !strings.Contains(err.Error(), c.says) || model.Tries() > 1 {
					t.Errorf("%v after %d tries", err, model.Tries())
				}
			})
		})
	}
}

// The caller's own end is its own error: it is no model's fault.
func TestCancellation(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, mode string) {
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("enough")
		model := llmtest.Serve(t, says).Always(func(_ http.ResponseWriter, r *http.Request, _ func(http.ResponseWriter)) {
			cancel(why)
			<-r.Context().Done()
		})
		if _, err := dial(t, model.Options(mode)).Generate(ctx, user("?")); !errors.Is(err, why) || errors.Is(err, llm.ErrUnavailable) {
			t.Errorf("%v", err)
		}
	})
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, mode string) {
		thief := llmtest.Serve(t, says)
		model := llmtest.Serve(t, says).Always(llmtest.Redirects(thief.URL() + "/v1/messages"))
		_, err := dial(t, model.Options(mode)).Generate(t.Context(), user("a private thing"))
		if !known(err) || thief.Tries() != 0 {
			t.Errorf("%v, and the other host was asked %d times", err, thief.Tries())
		}
	})
}

// Whatever a server says is a reply or an error of ours.
func TestHostileServers(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"choices":[`, 20_000)
	many := `{"choices":[{"index":0,"delta":{"tool_calls":[` + strings.TrimSuffix(strings.Repeat(`{"function":{"name":"f","arguments":"{}"}},`, 200), ",") + `]}}]}`
	faults := map[string]llmtest.Fault{
		"nothing":          llmtest.Says("text/event-stream", ""),
		"nothing, as JSON": llmtest.Says("application/json", ""),
		"HTML":             llmtest.Says("text/html", "<html>\x1b[31mhello</html>"),
		"no JSON":          llmtest.Streams("}{", "[DONE]"),
		"null":             llmtest.Streams("null", "[]", "3", `"x"`, "[DONE]"),
		"deep":             llmtest.Streams(deep),
		"NUL":              llmtest.Says("text/event-stream", "data: \x00\xff\n\n"),
		"empty choices":    llmtest.Streams(`{"choices":[]}`, `{"choices":null}`, "[DONE]"),
		"empty text":       llmtest.Streams(`{"choices":[{"delta":{"content":" \n"},"finish_reason":"stop"}]}`, "[DONE]"),
		"other indexes":    llmtest.Streams(`{"choices":[{"index":-1,"delta":{"content":"x"},"finish_reason":"stop"},{"index":99999999,"delta":{"content":"y"}}]}`, "[DONE]"),
		"negative call":    llmtest.Streams(`{"choices":[{"delta":{"tool_calls":[{"index":-5,"function":{"name":""}}]},"finish_reason":"stop"}]}`, "[DONE]"),
		"many calls":       llmtest.Streams(many, "[DONE]"),
		"an error midway":  llmtest.Streams(`{"choices":[{"delta":{"content":"x"}}]}`, `{"error":{"message":"died\u001b[2J `+llmtest.Key+`","code":502}}`),
		"refusal":          llmtest.Streams(`{"choices":[{"delta":{"refusal":"I must not"},"finish_reason":"stop"}]}`, "[DONE]"),
		"filter":           llmtest.Streams(`{"choices":[{"delta":{"content":"x"},"finish_reason":"content_filter"}]}`, "[DONE]"),
		"wrong types":      llmtest.Streams(`{"choices":{"delta":7},"usage":"much"}`, "[DONE]"),
		"a- no start":      llmtest.Streams(`{"type":"content_block_delta","index":7,"delta":{"type":"input_json_delta","partial_json":"{"}}`),
		"a- stop first":    llmtest.Streams(`{"type":"message_stop"}`),
		"a- error":         llmtest.Streams(`{"type":"error","error":{"type":"overloaded_error","message":"` + llmtest.Key + `"}}`),
		"a- bare error":    llmtest.Streams(`{"type":"error"}`),
		"a- refusal":       llmtest.Streams(`{"type":"message_delta","delta":{"stop_reason":"refusal"}}`),
		"a- nameless call": llmtest.Streams(`{"type":"message","content":[{"type":"tool_use","input":{}}],"stop_reason":"tool_use"}`),
		"a- empty":         llmtest.Streams(`{"type":"message","content":[],"stop_reason":"end_turn"}`),
		"deep, as JSON":    llmtest.Says("application/json", strings.Repeat("[", 1<<20)),
		"deep in a call": llmtest.Streams(`{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":"` +
			strings.Repeat("[", 1<<20) + `"}}]}}]}`),
		"endless line": llmtest.Endless("text/event-stream", "data: x"),
		"endless JSON": llmtest.Endless("application/json", "[1,"),
		"endless error": func(w http.ResponseWriter, r *http.Request, _ func(http.ResponseWriter)) {
			w.WriteHeader(400)
			llmtest.Endless("", "no ")(w, r, nil)
		},
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, mode string) {
				model := llmtest.Serve(t, says).Always(fault)
				reply, err := dial(t, model.Options(mode)).Generate(t.Context(), user("?"))
				if !known(err) || reply.Text != "" || reply.Calls != nil || model.Tries() != 1 {
					t.Errorf("%+v, %q after %d tries", reply, err, model.Tries())
				}
			})
		})
	}
}

// What never ends takes a bounded part of memory, whatever it consists of.
func TestEndlessAnswersTakeBoundedMemory(t *testing.T) { // not parallel: the heap is everybody's
	const most = 200 << 20
	const stream = "text/event-stream"
	for name, fault := range map[string]llmtest.Fault{
		"line":  llmtest.Endless(stream, "data: x"),
		"lines": llmtest.Endless(stream, "\n"),
		"words": llmtest.Endless(stream, `data: {"choices":[{"delta":{"content":"x"}}]}`+"\n\n"),
		"calls": llmtest.Endless(stream, "data: "+
			`{"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}}]}`+"\n\n"),
		"words of a-": llmtest.Endless(stream, "data: "+
			`{"type":"content_block_delta","delta":{"type":"text_delta","text":"x"}}`+"\n\n"),
		"JSON":          llmtest.Endless("application/json", "[1,"),
		"deep JSON":     llmtest.Endless("application/json", `{"choices":[`),
		"header lines":  llmtest.EndlessHeader("x\r\nX-A: "),
		"a header line": llmtest.EndlessHeader("x"),
	} {
		both(t, func(t *testing.T, mode string) {
			var before, after runtime.MemStats
			debug.FreeOSMemory()
			runtime.ReadMemStats(&before)
			model := llmtest.Serve(t, says).Always(fault)
			o := model.Options(mode)
			o.Retry.Max = -1
			if _, err := dial(t, o).Generate(t.Context(), user("?")); !known(err) {
				t.Errorf("%s: %v", name, err)
			}
			runtime.ReadMemStats(&after)
			held := func(m runtime.MemStats) int64 { return int64(m.HeapSys - m.HeapReleased) }
			if took := held(after) - held(before); took > most {
				t.Errorf("%s: %d MB", name, took>>20)
			}
		})
	}
}

// Counts that a server makes up must not move the daily limit.
func TestAbsurdUsageIsNotBelieved(t *testing.T) {
	t.Parallel()
	for _, usage := range []string{`{"prompt_tokens":-9999999,"completion_tokens":1}`, `{"prompt_tokens":1e15,"completion_tokens":1}`, `{"prompt_tokens":0}`, `{"prompt_tokens":5,"completion_tokens":5,"cost":-3}`} {
		model := llmtest.Serve(t, says).Always(llmtest.Streams(`{"choices":[{"delta":{"content":"hello"},"finish_reason":"stop"}],"usage":`+usage+`}`, "[DONE]"))
		o := model.Options(llm.ModeOpenAI)
		o.Price = "999999/0"
		reply, err := dial(t, o).Generate(t.Context(), user("hello there"))
		if errors.Is(err, llm.ErrSetup) || err != nil && !known(err) {
			t.Fatal(err)
		}
		if err == nil && (reply.Usage.Input < 1 || reply.Usage.Input > 100 || reply.Usage.USD < 0) {
			t.Errorf("%s: %+v", usage, reply.Usage)
		}
	}
}

func TestAKeyIsNeverShown(t *testing.T) {
	t.Parallel()
	key := llm.Secret(llmtest.Key)
	o := llm.Options{Key: key}
	text := fmt.Sprintf("%v %s %+v %#v %q %x %X", o, key, o, o, key, key, key)
	for _, verb := range []string{"%d", "%t", "%c", "%U", "%f"} {
		text += fmt.Sprintf(verb, key)
	}
	if strings.Contains(text, llmtest.Key) || strings.Contains(text, fmt.Sprintf("%x", llmtest.Key)) {
		t.Error(text)
	}
}
