package main

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"stet/agent/llm"
	"stet/agent/llm/llmtest"
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
		r.Must(tb, llmtest.Expect{System: []string{"can be reached"}})
		quoted := regexp.MustCompile(`"(\w+)"`).FindStringSubmatch(r.Messages[len(r.Messages)-1].Text)
		if quoted == nil {
			tb.Errorf("the request quotes no word: %q", r.Text())
			return llm.Reply{Text: "?"}
		}
		return llm.Reply{Text: quoted[1], Usage: llm.Usage{Input: 1000, Output: 100}}
	})
	url := s.URL()
	code := 0
	switch fault := args[2]; {
	case fault == "fine":
	case fault == "down":
		url = "http://127.0.0.1:1"
	case fault == "silent":
		s.Always(llmtest.Silent())
		ts.Setenv("STET_MODELS_"+strings.ToUpper(args[0])+"_TIMEOUT", (50 * time.Millisecond).String())
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
	for key, value := range map[string]string{"PROVIDER": "custom", "MODEL": "test-model", "BASE_URL": url, "API_MODE": args[1], "KEY_ENV": "TEST_MODEL_KEY", "PRICE": "1/2"} {
		ts.Setenv("STET_MODELS_"+strings.ToUpper(args[0])+"_"+key, value)
	}
	ts.Setenv("TEST_MODEL_KEY", llmtest.Key)
}
