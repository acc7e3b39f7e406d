package llm_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"stet/agent/llm"
	"stet/agent/llm/llmtest"
)

// A loop carries out calls until there is none, shows each result to the model, and asks before it would pass a bound.
func TestLoop(t *testing.T) {
	t.Parallel()
	errFull := errors.New("full")
	for name, c := range map[string]struct {
		rounds int
		tokens int
		asked  int
		calls  string
		final  string
		err    error
	}{
		"to its end":       {rounds: 9, tokens: 1e6, asked: 3, calls: "1 2", final: "Done."},
		"until no rounds":  {rounds: 1, tokens: 1e6, asked: 1, calls: "1"},
		"until the bound":  {rounds: 9, tokens: 150 + 100, asked: 1, calls: "1", err: errFull},
		"not even once":    {rounds: 9, tokens: 10, err: errFull},
		"a call that ends": {rounds: 9, tokens: 1e6, asked: 2, calls: "1", err: context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.Serve(t, func(r *llmtest.Request) llm.Reply {
				usage := llm.Usage{Input: 50, Output: 50}
				switch n := len(r.Messages); n {
				case 1, 3:
					return llm.Reply{Calls: []llm.Call{{ID: "c", Name: "count", Arguments: `{"n":1}`}}, Usage: usage}
				default:
					if last := r.Messages[n-1]; last.Role != llm.ToolResult || last.Text != "2" {
						t.Errorf("the model is told %+v, want the result of its call", last)
					}
					return llm.Reply{Text: "Done.", Usage: usage}
				}
			}).Free()
			client, err := llm.New(s.Options(llm.ModeOpenAI))
			if err != nil {
				t.Fatal(err)
			}
			var calls []string
			l := llm.Loop{Client: client, Rounds: c.rounds,
				Call: func(_ context.Context, call llm.Call, _ int) (llm.Message, error) {
					n := string(rune('1' + len(calls)))
					if n == "2" && errors.Is(c.err, context.Canceled) {
						return llm.Message{}, c.err
					}
					calls = append(calls, n)
					return llm.Message{Role: llm.ToolResult, CallID: call.ID, Text: n}, nil
				},
				Before: func(most llm.Usage) error {
					if most.Input+most.Output > c.tokens {
						return errFull
					}
					return nil
				}}
			final, err := l.Run(t.Context(), llm.Request{Task: "test", MaxTokens: 100,
				Messages: []llm.Message{{Role: llm.User, Text: "Count."}},
				Tools:    []llm.Tool{{Name: "count", Schema: []byte(`{"type":"object"}`)}}})
			if final != c.final || !errors.Is(err, c.err) || strings.Join(calls, " ") != c.calls {
				t.Errorf("calls %q, final %q, %v, want %q, %q, %v", calls, final, err, c.calls, c.final, c.err)
			}
			if l.Asked != c.asked || len(s.Asked()) != c.asked || l.Usage.Input != 50*c.asked {
				t.Errorf("asked %d times (%d arrived), usage %+v, want %d", l.Asked, len(s.Asked()), l.Usage, c.asked)
			}
		})
	}
}
