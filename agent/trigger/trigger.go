// Package trigger says when a conversation is to be reviewed for what is worth keeping: after so many turns of
// the user without a memory written, and after so many calls of tools without a skill written.
//
// A review never comes between a question and its answer: it is due at an answer that calls no tool, and where
// nobody records answers at the next turn of the user, of which it is no part.
//
//	marks, due := trigger.Due(messages, marks, trigger.Every{Turns: 10, Steps: 10})
package trigger

import (
	"stet/markdown"
	"stet/vault/session"
)

// Every is after how many turns of the user, and after how many steps, a review is due; 0 is never. A step is
// a message that calls tools, however many, or a result of a tool whose call nobody recorded.
type Every struct{ Turns, Steps int }

// A Review is what is due: of memories, of skills, or both, up to a message.
type Review struct {
	Memory, Skill bool
	UpTo          int
}

// Due counts messages that the marks have not counted yet and says what became due with them. Messages are in
// order; those up to marks.At are left out. The marks that it returns have counted all of them, from zero
// again where a review became due. What is due is not asked for yet.
func Due(messages []markdown.Message, marks session.Marks, every Every) (session.Marks, Review) {
	var due Review
	ask := func(upTo int) {
		if every.Turns > 0 && marks.Turns >= every.Turns {
			due.Memory, due.UpTo, marks.Turns = true, upTo, 0
		}
		if every.Steps > 0 && marks.Steps >= every.Steps {
			due.Skill, due.UpTo, marks.Steps = true, upTo, 0
		}
	}
	var calls calls
	for _, m := range messages {
		answers := calls.see(m)
		if m.Number <= marks.At {
			continue
		}
		switch m.Role {
		case "user":
			ask(marks.At)
			marks.Turns++
		case "assistant":
			if len(m.Calls) > 0 {
				marks.Steps++
			}
		case "tool":
			if !answers {
				marks.Steps++
			}
		}
		marks.At = m.Number
		if m.Role == "assistant" && len(m.Calls) == 0 {
			ask(m.Number)
		}
	}
	return marks, due
}

// Wrote is the marks of a session after a memory or a skill was written in it.
func Wrote(marks session.Marks, memory, skill bool) session.Marks {
	if memory {
		marks.Turns = 0
	}
	if skill {
		marks.Steps = 0
	}
	return marks
}

// calls are those that were recorded and not answered yet.
type calls struct {
	named   map[string]bool
	unnamed int
}

// see takes in a message and reports whether it is the result of a call that was recorded.
func (c *calls) see(m markdown.Message) (answers bool) {
	switch {
	case m.Role == "assistant":
		c.named, c.unnamed = map[string]bool{}, 0
		for _, call := range m.Calls {
			if call.ID == "" {
				c.unnamed++
			} else {
				c.named[call.ID] = true
			}
		}
	case m.Role == "tool" && m.Call != "" && c.named[m.Call]:
		return true
	case m.Role == "tool" && c.unnamed > 0:
		c.unnamed--
		return true
	case m.Role == "tool" && m.Call == "" && len(c.named) > 0:
		for id := range c.named { // whichever: nobody said
			delete(c.named, id)
			break
		}
		return true
	}
	return false
}
