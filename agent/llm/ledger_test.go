package llm_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"stet/agent/llm"
	"stet/agent/llm/llmtest"
	"stet/vault/durable"
)

func noon() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }

func ledgerAt(t *testing.T, dir string, now func() time.Time) *llm.Ledger {
	t.Helper()
	root, err := durable.OpenRoot(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	})
	return llm.NewLedger(root, now, time.Minute)
}

func today(t *testing.T, l *llm.Ledger) (calls []llm.Entry, usd float64) {
	t.Helper()
	calls, damaged, err := l.Read(noon(), noon())
	if err != nil || damaged != 0 {
		t.Fatal(err, damaged)
	}
	for _, c := range calls {
		usd += c.USD
	}
	return calls, usd
}

// Twenty clients of one folder, as twenty processes would have it: together they
// never get above the limit, and whatever they spend is written down.
func TestTheDailyLimitHoldsForAllTogether(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, mode string) {
		const limit, price = 0.010, "1000/1000" // a tenth of a cent for a token
		model := llmtest.Serve(t, func(r *llmtest.Request) llm.Reply {
			return llm.Reply{Text: "yes", Usage: llm.Usage{Input: 1, Output: 1}}
		})
		dir := t.TempDir()
		o := model.Options(mode)
		o.Price = price
		var wg sync.WaitGroup
		errs := make([]error, 20)
		for i := range errs {
			c := llm.Metered(dial(t, o), ledgerAt(t, dir, noon), limit)
			wg.Go(func() {
				req := user("?")
				req.MaxTokens = 1
				_, errs[i] = c.Generate(context.Background(), req)
			})
		}
		wg.Wait()
		answered := 0
		for _, err := range errs {
			switch {
			case err == nil:
				answered++
			case !errors.Is(err, llm.ErrLimit):
				t.Error(err)
			}
		}
		calls, usd := today(t, ledgerAt(t, dir, noon))
		if answered == 0 || answered == len(errs) || len(calls) != answered || model.Tries() != answered || usd > limit {
			t.Errorf("%d answered, %d asked, %d written down, %g dollars", answered, model.Tries(), len(calls), usd)
		}
		// The next day begins anew.
		tomorrow := func() time.Time { return noon().Add(12 * time.Hour) }
		req := user("?")
		req.MaxTokens = 1
		if _, err := llm.Metered(dial(t, o), ledgerAt(t, dir, tomorrow), limit).Generate(t.Context(), req); err != nil {
			t.Error(err)
		}
	})
}

func TestWhatACallIsCountedAs(t *testing.T) {
	t.Parallel()
	const worst = 0.111 // more than the prompt of these calls costs
	for _, c := range []struct {
		name  string
		fault llmtest.Fault
		state string
		paid  bool
	}{
		{"answered", nil, llm.Done, true},
		{"refused", llmtest.Status(400, "no"), llm.Failed, false},
		{"wrong key", llmtest.Status(401, "no"), llm.Failed, false},
		{"broke off", llmtest.Torn(200), llm.Failed, true},
		{"no answer in time", llmtest.Silent(), llm.Failed, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			model := llmtest.Serve(t, says).Always(c.fault)
			l := ledgerAt(t, t.TempDir(), noon)
			o := model.Options(llm.ModeOpenAI)
			o.Price, o.Timeouts.FirstByte = "100/100", 10*time.Second
			if c.name == "no answer in time" {
				o.Timeouts.FirstByte = 20 * time.Millisecond
			}
			_, err := llm.Metered(dial(t, o), l, 100).Generate(t.Context(), user("hello hello hello"))
			calls, usd := today(t, l)
			if (err == nil) != (c.state == llm.Done) || len(calls) != 1 || calls[0].State != c.state || calls[0].Task != "test" || calls[0].Model != "test-model" {
				t.Fatalf("%v; %+v", err, calls)
			}
			if c.paid != (usd > 0) || usd > worst {
				t.Errorf("counted as %g dollars", usd)
			}
		})
	}
}

// A process that was killed between asking and writing down leaves the most
// that its call can have cost.
func TestAKilledCallCounts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	killed := ledgerAt(t, dir, noon)
	if _, err := killed.Begin(t.Context(), llm.Entry{Task: "killed", USD: 0.9, Status: llm.CostEstimated}, 1); err != nil {
		t.Fatal(err)
	}
	l := ledgerAt(t, dir, noon) // of the next process
	if _, err := l.Begin(t.Context(), llm.Entry{USD: 0.2}, 1); !errors.Is(err, llm.ErrLimit) || !strings.Contains(err.Error(), "$0.90 spent today") {
		t.Errorf("%v", err)
	}
	if _, err := l.Begin(t.Context(), llm.Entry{Task: "free"}, 0); err != nil {
		t.Errorf("what costs nothing is refused: %v", err)
	}
}

// What the calls of one process may cost at most is waited for: four at a time, where
// the limit has room for one alone, are all made.
func TestOwnReservationsAreWaitedFor(t *testing.T) {
	t.Parallel()
	model := llmtest.Serve(t, func(*llmtest.Request) llm.Reply {
		return llm.Reply{Text: "yes", Usage: llm.Usage{Input: 1, Output: 1}}
	})
	o := model.Options(llm.ModeOpenAI)
	o.Price = "1/1000" // a tenth of a cent for a token
	c := llm.Metered(dial(t, o), ledgerAt(t, t.TempDir(), noon), 0.15)
	var wg sync.WaitGroup
	errs := make([]error, 12)
	for i := range errs {
		wg.Go(func() {
			req := user("?")
			req.MaxTokens = 100 // ten cents at most, a tenth of a cent in the end
			_, errs[i] = c.Generate(t.Context(), req)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil || model.Tries() != len(errs) {
		t.Errorf("%d answers: %v", model.Tries(), err)
	}
}

func TestADamagedLedgerIsReadAsFarAsItGoes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := ledgerAt(t, dir, noon)
	e, err := l.Begin(t.Context(), llm.Entry{Task: "first", USD: 0.5}, 1)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "2026-11-21.jsonl")
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"}{\n", `{"id":"x","usd":-5}` + "\n", `{"id":"y","usd":1e999}` + "\n", `{"id":"torn","us`} {
		if _, err := f.WriteString(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	e.State, e.USD = llm.Done, 0.25
	if err := l.End(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	calls, damaged, err := l.Read(noon(), noon())
	if err != nil || len(calls) != 1 || calls[0].USD != 0.25 || damaged < 3 {
		t.Errorf("%+v, %d damaged, %v", calls, damaged, err)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, far := range []time.Duration{-24 * time.Hour, 24 * time.Hour} {
		if calls, _, err := l.Read(noon().Add(far), noon().Add(far)); err != nil || len(calls) != 0 {
			t.Errorf("%v: %+v, %v", far, calls, err)
		}
	}
}

// No prompt, no answer and no key stands in the ledger.
func TestTheLedgerHoldsNoWords(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, mode string) {
		dir := t.TempDir()
		model := llmtest.Serve(t, says)
		if _, err := llm.Metered(dial(t, model.Options(mode)), ledgerAt(t, dir, noon), 1).Generate(t.Context(), user("a confidence")); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, "2026-11-21.jsonl"))
		if err != nil || strings.Count(string(data), "\n") != 2 {
			t.Fatalf("%s, %v", data, err)
		}
		if strings.Contains(string(data), "confidence") || strings.Contains(string(data), llmtest.Key[:8]) {
			t.Errorf("%s", data)
		}
	})
}
