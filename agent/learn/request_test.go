package learn_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stet/agent/learn"
	"stet/agent/llm"
)

// asked is the first request that a job leads to.
func asked(t *testing.T, job learn.Job) (llm.Request, string) {
	t.Helper()
	m := &small{window: 1 << 30, after: 1000}
	if _, err := learn.Review(t.Context(), m, &box{}, job); err != nil {
		t.Fatal(err)
	}
	return m.asked[0], m.asked[0].Messages[0].Text
}

func TestAReviewShowsTheBeginningsOfTurns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		characters int
		change     func(*learn.Job)
	}{
		{200, func(*learn.Job) {}},
		{2000, func(j *learn.Job) { j.Mode = learn.ModeFull }},
		{2000, func(j *learn.Job) { j.Memory, j.Skill = false, true }},
		{6000, func(j *learn.Job) { j.Whole = true }},
	} {
		job := usual()
		c.change(&job)
		all, exact := strings.Repeat("é", 6000), strings.Repeat("ü", c.characters)
		job.Turns = append(job.Turns, turn("user", all, 20), turn("user", exact, 20))
		_, text := asked(t, job)
		shown := strings.Repeat("é", c.characters)
		if shown != all {
			shown += "…"
		}
		if !strings.Contains(text, `"user: `+shown+`"`) || !strings.Contains(text, `"user: `+exact+`"`) {
			t.Errorf("%d characters: %.300s", c.characters, text[strings.Index(text, `"11"`):])
		}
	}
}

func TestARequestIsCountedAsItsActorAndHoldsNothingTwice(t *testing.T) {
	t.Parallel()
	for _, actor := range []string{"nudge", "skill-nudge", "flush"} {
		job := usual()
		job.Actor, job.Mode = actor, learn.ModeFull
		job.System += job.Frozen
		r, text := asked(t, job)
		if r.Task != actor || r.System != job.System || strings.Contains(text, `frozen_memory":`) {
			t.Errorf("%s: task %q, %s", actor, r.Task, text)
		}
		for _, tool := range r.Tools {
			if s := string(tool.Schema); strings.Contains(s, `"source"`) || strings.Contains(s, `"because"`) {
				t.Errorf("%s lets the model name its source: %s", tool.Name, s)
			}
		}
	}
}

// A loop leaves room for what its tools answer.
func TestALoopTakesHalfOfTheRoomForTurns(t *testing.T) {
	t.Parallel()
	count := func(mode string) int {
		job := sixty()
		job.Mode = mode
		m := &small{window: 24_000, after: 1000}
		if _, err := learn.Review(t.Context(), m, &box{}, job); err != nil {
			t.Fatal(err)
		}
		return len(m.asked)
	}
	if light, full := count("light"), count(learn.ModeFull); full < 2*light-1 {
		t.Errorf("%d requests of a loop and %d of a light review", full, light)
	}
}

func TestALessonRestsOnNoTurnOfAnotherRequest(t *testing.T) {
	t.Parallel()
	b := &box{}
	out, s, err := review(t, says(save("fact", `,"evidence":["3"]`)), b, sixty())
	n := len(s.Asked())
	if err != nil || len(out.Saved) != 1 || len(out.Refused) != n-1 || n < 3 {
		t.Errorf("%v: %+v of %d requests", err, out, n)
	}
}

func TestOneAnswerMakesSoManyCallsAndNoMore(t *testing.T) {
	t.Parallel()
	var all []string
	for n := range 40 {
		all = append(all, "memory_save", fmt.Sprintf(`{"text":"Fact %d","evidence":["7"]}`, n))
	}
	b := &box{}
	out, _, err := review(t, says(calls(all...)), b, usual())
	if err != nil || len(out.Saved) != 32 || len(b.calls) != 32 || len(out.Refused) != 8 {
		t.Errorf("%v: %d saved, %d refused", err, len(out.Saved), len(out.Refused))
	}
	if !slices.Contains(out.Refused, "memory_save: more than 32 calls in one answer") {
		t.Errorf("%q", out.Refused)
	}
}
