package learn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"stet/agent/learn"
	"stet/agent/llm"
	"stet/agent/llm/llmtest"
	"stet/vault/session"
)

// sixty is a conversation of sixty long turns, in the third of which the user says something at
// character 5,000.
func sixty() learn.Job {
	job := usual()
	job.Actor, job.Whole, job.First, job.Related = "flush", true, 1, nil
	job.Turns = nil
	for n := 1; n <= 60; n++ {
		text := strings.Repeat("Row 12 of the log: ok; ", 300)
		if n == 3 {
			text = text[:5000] + "\nMy wife's birthday is March 15th.\n" + text[5000:]
		}
		job.Turns = append(job.Turns, turn([]string{"assistant", "user"}[n%2], text, 20))
	}
	return job
}

func TestAFlushReadsEveryTurnToItsEnd(t *testing.T) {
	t.Parallel()
	job := sixty()
	b := &box{}
	out, s, err := review(t, reviewer(job).Answer(t), b, job)
	want := saved("fact", "3", "My wife's birthday is March 15th")
	if err != nil || !slices.Equal(b.calls, []string{want}) || out.Upto != 60 || out.Calls < 4 || out.Calls > 12 {
		t.Errorf("%v: %+v, %q", err, out, b.calls)
	}
	for i, r := range s.Asked() {
		if n := r.Request.Tokens() + r.MaxTokens; n > 24_000 {
			t.Errorf("request %d has %d tokens", i, n)
		}
		if i > 0 && strings.Contains(r.Messages[0].Text, `"turn":"3"`) {
			t.Errorf("turn 3 stands in request %d as well", i)
		}
	}
	job.Whole = false
	if out, _, err := review(t, says(llm.Reply{Text: "Nothing to save."}), &box{}, job); err != nil || out.Calls != 1 {
		t.Errorf("light: %v: %+v", err, out)
	}
}

// heard puts together what a model was shown of the turns, by label.
func heard(t *testing.T, asked []llmtest.Request) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, r := range asked {
		text := r.Messages[0].Text
		var data struct{ Turns []struct{ Turn, Says string } }
		if err := json.Unmarshal([]byte(text[strings.Index(text, "\n{"):]), &data); err != nil {
			t.Fatal(err)
		}
		for _, turn := range data.Turns {
			_, said, _ := strings.Cut(turn.Says, ": ")
			out[turn.Turn] += said
		}
	}
	return out
}

func TestNoLetterOfAHugeTurnIsDropped(t *testing.T) {
	t.Parallel()
	size := 1 << 20
	if !testing.Short() {
		size = session.MaxTurn
	}
	for name, unit := range map[string]string{"ascii": "word ", "wide": "猫", "torn": "\"\\\n\x01é "} {
		job := usual()
		job.Whole = true
		huge := strings.TrimSpace(strings.Repeat(unit, size/len(unit)/map[bool]int{true: 1, false: 8}[name == "ascii"]))
		job.Turns = append(job.Turns, turn("user", huge, 20), turn("assistant", "Noted.", 20))
		_, s, err := review(t, says(llm.Reply{Text: "Nothing to save."}), &box{}, job)
		got := heard(t, s.Asked())
		if err != nil || got["11"] != huge || got["12"] != "Noted." || got["8"] != "Four." {
			t.Errorf("%s: %v: %d of %d bytes in %d requests", name, err, len(got["11"]), len(huge), len(s.Asked()))
		}
		for i, r := range s.Asked() {
			if n := r.Request.Tokens() + r.MaxTokens; n > 24_000 {
				t.Errorf("%s: request %d has %d tokens", name, i, n)
			}
		}
	}
}

// A small model is one that takes no more than so many tokens, and fails after so many requests.
type small struct {
	llm.Client
	window, after int
	err           error
	asked         []llm.Request
}

func (m *small) Generate(_ context.Context, r llm.Request) (llm.Reply, error) {
	if r.Tokens()+r.MaxTokens > m.window {
		return llm.Reply{}, fmt.Errorf("too much: %w", llm.ErrTooLong)
	}
	if m.asked = append(m.asked, r); len(m.asked) > m.after {
		return llm.Reply{}, m.err
	}
	return llm.Reply{Text: "Nothing to save.", Usage: llm.Usage{Input: 1}}, nil
}

func (m *small) Model() llm.Model { return llm.Model{Name: "small"} }

func TestAFlushFitsIntoAWindowThatIsSmallerThanWasThought(t *testing.T) {
	t.Parallel()
	job := sixty()
	job.System = strings.Repeat("Be brief. ", 2000)
	m := &small{window: 8000, after: 1000}
	out, err := learn.Review(t.Context(), m, &box{}, job)
	if err != nil || out.Upto != 60 || len(m.asked) < 20 {
		t.Errorf("%v: %+v in %d requests", err, out, len(m.asked))
	}
	if last := m.asked[len(m.asked)-1]; last.System != "" || last.Task != "flush" {
		t.Errorf("task %q with a system prompt of %d bytes", last.Task, len(last.System))
	}
	m = &small{window: 3000}
	if _, err := learn.Review(t.Context(), m, &box{}, job); !errors.Is(err, llm.ErrTooLong) || len(m.asked) > 0 {
		t.Errorf("a window without room: %v", err)
	}
}

func TestANudgeShowsTheBeginningOfATurnThatDoesNotFit(t *testing.T) {
	t.Parallel()
	job := usual()
	job.Mode, job.Related = learn.ModeFull, nil
	job.Turns = append(job.Turns, turn("user", strings.Repeat("пластинка ", 1000), 20))
	asked := 0
	for window := 3000; window <= 12_000; window += 500 {
		m := &small{window: window, after: 1000}
		if _, err := learn.Review(t.Context(), m, &box{}, job); errors.Is(err, llm.ErrTooLong) {
			continue
		} else if err != nil || len(m.asked) != 1 {
			t.Fatalf("window %d: %v, %d requests", window, err, len(m.asked))
		}
		if asked++; !strings.Contains(m.asked[0].Messages[0].Text, "пластинка") {
			t.Errorf("window %d: no turn is shown", window)
		}
	}
	if asked == 0 {
		t.Error("no window was large enough")
	}
}

func TestAFlushThatFailsSaysHowFarItCame(t *testing.T) {
	t.Parallel()
	for after, want := range map[int]int{0: 0, 1: 10, 2: 20} {
		job := sixty()
		m := &small{window: 24_000, after: after, err: llm.ErrUnavailable}
		out, err := learn.Review(t.Context(), m, &box{}, job)
		if !errors.Is(err, llm.ErrUnavailable) || out.Upto != want || out.Usage.Input != after {
			t.Errorf("after %d requests: %v: %+v", after, err, out)
		}
	}
	job := sixty()
	job.Turns = []session.Turn{turn("user", "Hello.", 20), turn("user", strings.Repeat("word ", 40_000), 20)}
	m := &small{window: 24_000, after: 2, err: llm.ErrUnavailable}
	if out, err := learn.Review(t.Context(), m, &box{}, job); err == nil || out.Upto != 1 {
		t.Errorf("in the middle of a turn: %v: %+v", err, out)
	}
}

// What a loop saved in a portion would be saved again if the portion were shown once more.
func TestALoopThatBeganIsNotBegunAgain(t *testing.T) {
	t.Parallel()
	job := sixty()
	job.Mode = learn.ModeFull
	long := save("preference", `,"evidence":["1"]`)
	long.Stop = llm.StopLength
	b := &box{}
	out, _, err := review(t, says(save("preference", `,"evidence":["1"]`), long), b, job)
	if !errors.Is(err, llm.ErrTooLong) || out.Calls != 2 || len(b.calls) != 1 || out.Upto != 0 {
		t.Errorf("%v: %+v", err, out)
	}
}
