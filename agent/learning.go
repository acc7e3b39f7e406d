package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"stet/agent/trigger"
	"stet/markdown"
	"stet/vault"
	"stet/vault/lineage"
	"stet/vault/session"
	"stet/vault/settings"
)

// every is after how much a conversation is reviewed; nothing where nothing is compared with what is stored.
func (a *App) every() trigger.Every {
	s := a.Settings()
	if !s.Bool(settings.Cognitive) {
		return trigger.Every{}
	}
	return trigger.Every{Turns: s.Int(settings.NudgeInterval), Steps: s.Int(settings.SkillInterval)}
}

// longTail is the number of messages that are rather counted once for all than with every turn.
const longTail = 200

// count counts the newest messages of an open session, and queues the review that is due with them.
func (a *App) count(ctx context.Context, agent, key string) (queued bool, err error) {
	every := a.every()
	if every == (trigger.Every{}) {
		return false, nil
	}
	marks, err := a.marks(ctx, agent, key)
	if err != nil {
		return false, err
	}
	tail, err := session.TailOf(a.v, key, marks)
	if err == nil {
		if _, due := trigger.Due(tail.Messages, marks, every); due.UpTo == 0 && len(tail.Messages) < longTail {
			return false, nil // what was counted is counted again next time, which costs less than a write
		}
	}
	err = a.counted(ctx, key, func(m *session.Marks, due trigger.Review) {
		if queued = due.UpTo > 0; queued {
			m.Ask(due.Memory, due.Skill, due.UpTo)
		}
	})
	if err == nil && queued {
		err = session.QueueReview(ctx, a.v, key)
	}
	return queued, err
}

// uncounted are the marks of a session with its newest messages counted, and nothing noted of it.
func (a *App) uncounted(key string) (session.Marks, error) {
	marks, _, err := session.MarksOf(a.v, key)
	if err != nil {
		return marks, err
	}
	tail, err := session.TailOf(a.v, key, marks)
	if errors.Is(err, vault.ErrNotFound) {
		return marks, nil // all of it is sealed
	}
	marks, _ = trigger.Due(tail.Messages, marks, a.every())
	return marks, err
}

// marks are those of a session, made up where they are lost or behind.
func (a *App) marks(ctx context.Context, agent, key string) (session.Marks, error) {
	marks, known, err := session.MarksOf(a.v, key)
	if err == nil && (!known || marks.At < marks.Sealed) {
		if err = a.recount(ctx, agent, key, marks, known); err == nil {
			marks, _, err = session.MarksOf(a.v, key)
		}
	}
	return marks, err
}

// counted sets the marks of a session once its open messages are counted. What is due is due once,
// however many processes count.
func (a *App) counted(ctx context.Context, key string, then func(*session.Marks, trigger.Review)) error {
	var failed error
	err := session.SetMarks(ctx, a.v, key, func(m *session.Marks, _ bool) bool {
		var tail session.Tail
		tail, failed = session.TailOf(a.v, key, *m)
		if errors.Is(failed, vault.ErrNotFound) {
			failed = nil // all of it is sealed
		}
		if failed != nil {
			return false
		}
		var due trigger.Review
		*m, due = trigger.Due(tail.Messages, *m, a.every())
		tail.Keep(m)
		then(m, due)
		return true
	})
	return errors.Join(err, failed)
}

// recount makes up the marks of a session from its messages and from the history: where they are lost, or
// end before its transcript does. What became due in lost marks was due when they were there; the newest
// turn is left to be counted.
func (a *App) recount(ctx context.Context, agent, key string, was session.Marks, known bool) error {
	sealed := known
	if !known {
		var err error
		if sealed, err = session.MayBeSealed(a.v, key); err != nil {
			return err
		}
	}
	if !sealed {
		tail, err := session.TailOf(a.v, key, was)
		if err != nil {
			return err
		}
		if len(tail.Messages) < 2 {
			begin := func(_ *session.Marks, known bool) bool { return !known }
			return session.SetMarks(ctx, a.v, key, begin)
		}
	}
	t, err := session.Whole(ctx, a.v, key, was)
	if err != nil {
		return err
	}
	now := was
	last := was.Sealed
	if !known {
		tail, err := session.TailOf(a.v, key, session.Marks{})
		if err != nil && !errors.Is(err, vault.ErrNotFound) {
			return err
		}
		now.Sealed = max(0, len(t.Messages)-len(tail.Messages))
		last = len(t.Messages)
		for last > 0 && t.Messages[last-1].Role != "user" {
			last--
		}
		last = max(last-1, 0)
	}
	messages := t.Messages[:min(last, len(t.Messages))]
	if !known && len(messages) > 0 {
		if now, messages, err = a.recountWrites(ctx, agent, t, now, messages); err != nil {
			return err
		}
	}
	now, _ = trigger.Due(messages, now, a.every())
	now.At = max(now.At, now.Sealed)
	return session.SetMarks(ctx, a.v, key, func(m *session.Marks, _ bool) bool {
		if changed := m.At != was.At || m.Asks != was.Asks; changed {
			return false // somebody was faster
		}
		*m = now
		return true
	})
}

// recountWrites counts messages up to the last memory or skill that the history has of the session, and
// returns those behind it.
func (a *App) recountWrites(
	ctx context.Context, agent string, t *markdown.Transcript, now session.Marks, messages []markdown.Message,
) (session.Marks, []markdown.Message, error) {
	var wrote []vault.Commit
	o := vault.LogOptions{Since: t.Started, Changes: true}
	for c, err := range a.v.History().Log(ctx, o) {
		if err != nil {
			return now, nil, err
		}
		if _, id := inSession(c); id == t.ID || id != "" && strings.HasSuffix(t.ID, session.Key(agent, id)) {
			wrote = append(wrote, c)
		}
	}
	for _, c := range slices.Backward(wrote) {
		memory, skill := wroteKinds(c.Changes)
		n := slices.IndexFunc(messages, func(m markdown.Message) bool { return m.Time.After(c.When) })
		if n < 0 {
			n = len(messages)
		}
		now, _ = trigger.Due(messages[:n], now, a.every())
		now, messages = trigger.Wrote(now, memory, skill), messages[n:]
	}
	return now, messages, nil
}

// wroteKinds says whether the files of a write are of memories and of skills.
func wroteKinds(changes []vault.Change) (memory, skill bool) {
	for _, c := range changes {
		switch vault.ClassOf(c.Path) {
		case vault.ClassMemory, vault.ClassCore, vault.ClassProfile:
			memory = true
		case vault.ClassSkill:
			skill = true
		}
	}
	return memory, skill
}

// inSession is the session that a commit was made in and whose it is, "" for none: neither of the commits of
// a review, which does not put off the next one, nor of sealing.
func inSession(c vault.Commit) (agent, id string) {
	switch c.Trailers.Get("Stet-Actor") {
	case vault.ActorUser:
	case "agent":
		agent = c.Author
	default:
		return "", ""
	}
	if c.Op == vault.OpSeal {
		return "", ""
	}
	return agent, c.Trailers.Get("Stet-Session")
}

// wrote counts a session anew in which something was written: its agent needs no reminder. It is no part of
// the write: a failure is a warning.
func (a *App) wrote(ctx context.Context, res *vault.Result) {
	memory, skill := wroteKinds(res.Changes)
	memory = memory || len(res.Proposed) > 0
	if !memory && !skill {
		return
	}
	for _, c := range res.Commits {
		agent, id := inSession(c)
		if id == "" {
			continue
		}
		err := a.wroteIn(ctx, agent, id, memory, skill)
		if err != nil && !errors.Is(err, vault.ErrNotFound) && ctx.Err() == nil {
			a.warn("note that session %s has written: %v", id, err)
		}
		return // a write is made in one session
	}
}

func (a *App) wroteIn(ctx context.Context, agent, id string, memory, skill bool) error {
	key := session.KeyOf(a.v, agent, id)
	if _, known, _ := session.MarksOf(a.v, key); !known { // a client's server may go by another name than its hooks
		if open, err := session.FindOpen(a.v.Whole(), id); err == nil && open.Name == id {
			agent, key = open.Agent, open.Key
		}
	}
	if _, err := a.marks(ctx, agent, key); err != nil {
		return err
	}
	return a.counted(ctx, key, func(m *session.Marks, _ trigger.Review) { *m = trigger.Wrote(*m, memory, skill) })
}

// Reviews is what is known of the reviews of a vault.
type Reviews struct {
	Queued  int     `json:"queued"` // sessions with a review to make
	Failure *Lately `json:"last_failure,omitempty"`
	Lesson  *Lately `json:"last_lesson,omitempty"`
}

// Lately is something that a review did.
type Lately struct {
	Session string    `json:"session"` // id
	Time    time.Time `json:"time"`    // UTC
	Text    string    `json:"text"`
	// Revs are the commits of a lesson.
	Revs []vault.Revision `json:"revs,omitempty"`
}

// lately is the name under which local state says what reviews did last.
const lately = "learning"

// Reviews returns the length of the queue, and what the last reviews did. A lesson that was
// taken back is left out. It reads a file, the newest commits, and two files for each queued session.
func (l Learning) Reviews(ctx context.Context) (*Reviews, error) {
	out := &Reviews{}
	data, err := l.a.v.State().Seen(lately)
	if json.Unmarshal(data, out) != nil {
		*out = Reviews{} // it is shown, and nothing depends on it
	}
	if l.a.o.Agent != "" {
		out.Lesson, out.Failure = nil, nil // of conversations that may be another's
	}
	if out.Lesson != nil && len(out.Lesson.Revs) > 0 {
		gone, gerr := lineage.TakenBack(ctx, l.a.v, out.Lesson.Revs, recent)
		if gerr == nil && gone {
			out.Lesson = nil
		}
	}
	jobs, _, qerr := l.queue()
	out.Queued = 0
	for key := range jobs {
		// What was asked for may have been reviewed since, as by "stet nudge".
		if m, known, merr := session.MarksOf(l.a.v, key); merr == nil && (!known || m.Waits()) {
			out.Queued++
		}
	}
	return out, errors.Join(err, qerr)
}

// maxFailure bounds what is kept of a failure or a lesson, in characters.
const maxFailure = 200

// record changes what is known of the last reviews.
func (l Learning) record(ctx context.Context, change func(*Reviews)) error {
	return l.a.v.State().SetSeen(context.WithoutCancel(ctx), lately, func(now []byte) ([]byte, error) {
		var r Reviews
		if json.Unmarshal(now, &r) != nil {
			r = Reviews{}
		}
		change(&r)
		r.Queued = 0
		return json.Marshal(r)
	})
}

// lesson is something that a review did, for [Learning.record].
func (l Learning) lesson(id, text string) *Lately {
	if text = strings.Join(strings.Fields(text), " "); utf8.RuneCountInString(text) > maxFailure {
		text = string([]rune(text)[:maxFailure-1]) + "…"
	}
	return &Lately{Session: id, Time: l.a.o.Now().UTC(), Text: text}
}

// steps counts the calls of tools that only the client's own record holds.
func (h Hooks) steps(ctx context.Context, v *vault.Vault, t *talk, key string, messages int) error {
	every := h.a.every().Steps
	marks, _, err := session.MarksOf(v, key)
	if err != nil || every == 0 || t.Steps >= messages {
		return err
	}
	whole, err := session.Whole(ctx, v, key, marks)
	if err != nil {
		return err
	}
	steps := 0
	for _, m := range whole.Messages[min(t.Steps, messages):min(messages, len(whole.Messages))] {
		if m.Role == "assistant" && len(m.Calls) > 0 {
			steps++
		}
	}
	t.Steps = messages
	due := false
	err = session.SetMarks(ctx, v, key, func(m *session.Marks, _ bool) bool {
		m.Steps += steps
		if due = m.Steps >= every; due {
			m.Steps = 0
			m.Ask(false, true, messages)
		}
		return true
	})
	if err == nil && due {
		err = session.QueueReview(ctx, v, key)
	}
	return err
}
