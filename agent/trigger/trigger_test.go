package trigger_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"stet/agent/trigger"
	"stet/markdown"
	"stet/vault/session"
)

// A play is a conversation as letters: u, a and t are turns of the user, the assistant and a tool, c an
// assistant that makes one call, m one that makes thirty, r the result of a recorded call; w and s are a
// memory and a skill that were written. It says after which message which part was due.
func play(script string, every trigger.Every) (fired []string, marks session.Marks) {
	var all []markdown.Message
	for _, letter := range script {
		msg := markdown.Message{Number: len(all) + 1}
		switch letter {
		case 'w', 's':
			marks = trigger.Wrote(marks, letter == 'w', letter == 's')
			continue
		case 'u':
			msg.Role = "user"
		case 'a', 'c', 'm':
			msg.Role = "assistant"
			for i := range map[rune]int{'c': 1, 'm': 30}[letter] {
				msg.Calls = append(msg.Calls, markdown.ToolCall{ID: fmt.Sprint(len(all), ".", i), Name: "grep"})
			}
		case 't':
			msg.Role = "tool"
		case 'r':
			msg.Role = "tool"
			for i := range slices.Backward(all) {
				if len(all[i].Calls) > 0 {
					msg.Call = all[i].Calls[0].ID
					break
				}
			}
		}
		all = append(all, msg)
		var due trigger.Review
		if marks, due = trigger.Due(all, marks, every); due.UpTo > 0 {
			fired = append(fired, fmt.Sprintf("%d:%v/%v", due.UpTo, due.Memory, due.Skill))
		}
	}
	return fired, marks
}

func TestWhatIsDueAndWhen(t *testing.T) {
	t.Parallel()
	ten := trigger.Every{Turns: 10, Steps: 10}
	for name, c := range map[string]struct {
		script string
		every  trigger.Every
		want   string // fired
		turns  int    // counted at the end
		steps  int
	}{
		"turn 10, after the reply": {strings.Repeat("ua", 10), ten, "20:true/false", 0, 0},
		"not before the reply":     {strings.Repeat("ua", 9) + "u", ten, "", 10, 0},
		"not between calls":        {strings.Repeat("ua", 9) + "ucr", ten, "", 10, 1},
		"turn 11 counts 1":         {strings.Repeat("ua", 11), ten, "20:true/false", 1, 0},
		"turns without replies":    {strings.Repeat("u", 11), ten, "10:true/false", 1, 0},
		"every ten turns":          {strings.Repeat("ua", 30), ten, "20:true/false 40:true/false 60:true/false", 0, 0},
		"a write at turn 7 moves it to 17": {strings.Repeat("ua", 6) + "uwa" + strings.Repeat("ua", 10), ten,
			"34:true/false", 0, 0},
		"a skill written moves no nudge of memories": {strings.Repeat("ua", 6) + "usa" + strings.Repeat("ua", 3), ten,
			"20:true/false", 0, 0},
		"ten steps in one turn":     {"u" + strings.Repeat("cr", 10) + "a", ten, "22:false/true", 1, 0},
		"ten steps, not in between": {"u" + strings.Repeat("cr", 10), ten, "", 1, 10},
		"thirty calls are one step": {"u" + strings.Repeat("mr", 9) + "a", ten, "", 1, 9},
		"results nobody called":     {"u" + strings.Repeat("t", 10) + "a", ten, "12:false/true", 1, 0},
		"a skill at 7 moves it to 17": {"u" + strings.Repeat("cr", 6) + "csr" + strings.Repeat("cr", 10) + "a", ten,
			"36:false/true", 1, 0},
		"a memory moves no skill": {"u" + strings.Repeat("cr", 6) + "cwr" + strings.Repeat("cr", 3) + "a", ten,
			"22:false/true", 0, 0},
		"both are one review":    {strings.Repeat("ucra", 10), ten, "40:true/true", 0, 0},
		"steps carry over turns": {strings.Repeat("ucrcra", 5), ten, "30:false/true", 5, 0},
		"memory off":             {strings.Repeat("ucra", 10), trigger.Every{Steps: 10}, "40:false/true", 10, 0},
		"skill off":              {strings.Repeat("ucra", 10), trigger.Every{Turns: 10}, "40:true/false", 0, 10},
		"all off":                {strings.Repeat("ucra", 30), trigger.Every{}, "", 30, 30},
		"every turn":             {"uaua", trigger.Every{Turns: 1}, "2:true/false 4:true/false", 0, 0},
	} {
		fired, marks := play(c.script, c.every)
		if got := strings.Join(fired, " "); got != c.want || marks.Turns != c.turns || marks.Steps != c.steps {
			t.Errorf("%s: %s fired %q and counts %d turns, %d steps, want %q, %d, %d", name, c.script, got,
				marks.Turns, marks.Steps, c.want, c.turns, c.steps)
		}
	}
}

// However many messages come at a time, the same is counted and the same parts become due.
func TestCountingInPartsIsCountingAtOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		few := rapid.IntRange(0, 4)
		every := trigger.Every{Turns: few.Draw(rt, "turns"), Steps: few.Draw(rt, "steps")}
		var all []markdown.Message
		said := rapid.SampledFrom([]string{"user", "assistant", "call", "tool"})
		for i, letter := range rapid.SliceOf(said).Draw(rt, "talk") {
			m := markdown.Message{Number: i + 1, Role: letter}
			if letter == "call" {
				m.Role, m.Calls = "assistant", []markdown.ToolCall{{Name: "grep"}}
			}
			all = append(all, m)
		}
		whole, due := trigger.Due(all, session.Marks{}, every)
		var parts session.Marks
		var memory, skill bool
		for n := 0; n <= len(all); n += 1 + rapid.IntRange(0, 5).Draw(rt, "more") {
			var d trigger.Review
			parts, d = trigger.Due(all[:n], parts, every)
			memory, skill = memory || d.Memory, skill || d.Skill
		}
		parts, d := trigger.Due(all, parts, every)
		if parts != whole || (memory || d.Memory) != due.Memory || (skill || d.Skill) != due.Skill {
			rt.Errorf("at once %+v, %+v; in parts %+v", whole, due, parts)
		}
	})
}
