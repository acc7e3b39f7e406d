package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"stet/agent/learn"
	"stet/agent/llm"
	"stet/agent/route"
	"stet/agent/trigger"
	"stet/markdown"
	"stet/vault"
	"stet/vault/session"
)

// NudgeOptions name a conversation to review.
type NudgeOptions struct {
	Write
	// Ref is an id, a unique part of it, the id that the agent gave it, or the path of a transcript, in the
	// vault or outside of it.
	Ref string
	All bool // review also what was reviewed before
}

// Nudge reviews what of a conversation nobody has reviewed, every turn to its end, and waits for it. Without
// a model rules do what they can. It fails with [session.ErrUnknownSession], with [vault.ErrRefused] for a
// private conversation and for an agent that names the conversation of another, with [llm.ErrNoModel] where
// there is no model and the rules find nothing, and with what a model failed with; then the result says
// what was saved before.
func (l Learning) Nudge(ctx context.Context, o NudgeOptions) (*Reviewed, error) {
	if err := l.a.check(o.Write, "nudge", o.Ref); err != nil {
		return nil, err
	}
	r, err := l.conversation(ctx, o.Ref)
	switch {
	case err != nil:
		return nil, err
	case r.t.Private:
		return nil, fmt.Errorf("nudge %s: %w: the conversation is private, and nobody learns from it", o.Ref,
			vault.ErrRefused)
	case o.Agent != "" && o.Agent != r.t.Agent:
		return nil, o.refused("nudge", o.Ref, "the conversation is another one's")
	}
	r.all, r.dry, r.asked = o.All, o.DryRun, true
	err = l.alone(ctx, r.key, true, func() error {
		if r.marks, _, err = session.MarksOf(l.a.v, r.key); err != nil {
			return err
		}
		r.marks.Whole = true
		steps := trigger.Every{Steps: l.a.every().Steps}
		_, due := trigger.Due(r.t.Messages, session.Marks{At: r.marks.Skill.Done}, steps)
		return r.review(ctx, true, due.Skill)
	})
	if err == nil && !r.dry && r.out.Model == "" && r.out.From > 0 && r.found == 0 {
		_, _, err = llm.FromSettings(l.a.Settings(), llm.Auxiliary, l.a.o.Getenv)
	}
	return r.out, err
}

// conversation finds a conversation, open, sealed, or a transcript elsewhere, which has no marks.
func (l Learning) conversation(ctx context.Context, ref string) (*conversation, error) {
	r := &conversation{l: l}
	open, err := session.FindOpen(l.a.v, ref)
	switch {
	case err == nil:
		r.key = open.Key
	case errors.Is(err, session.ErrUnknownSession):
		known, _, ferr := session.Find(ctx, l.a.v, l.a.ref(ref))
		if errors.Is(ferr, session.ErrUnknownSession) {
			data, rerr := os.ReadFile(l.a.expand(ref))
			if r.t = markdown.ParseTranscript(data); rerr == nil && len(r.t.Messages) > 0 {
				return r, nil
			}
		}
		if ferr != nil {
			return nil, ferr
		}
		r.key = session.KeyOf(l.a.v, "", known.ID)
	default:
		return nil, err
	}
	marks, _, err := session.MarksOf(l.a.v, r.key)
	if err == nil {
		r.t, err = session.Whole(ctx, l.a.v, r.key, marks)
	}
	return r, err
}

// route lets the rules review: what they are sure of is written as it was said, and of the rest a little is
// proposed.
func (r *conversation) route(ctx context.Context, job learn.Job) (err error) {
	var staged *App
	defer func() {
		if staged != nil {
			err = errors.Join(err, staged.Close())
		}
	}()
	for i, t := range job.Turns {
		if !spoken(t) {
			continue
		}
		for _, found := range route.Turn(string(t.Text)) {
			app := r.as
			switch {
			case found.Confidence >= route.Sure, found.Direct:
			case found.Confidence < route.Likely, !found.Asked && r.marks.Proposed >= mostProposed:
				continue
			case staged == nil:
				if staged, err = r.opened(ctx, true); err != nil {
					return err
				}
				fallthrough
			default:
				app = staged
			}
			if err := r.keep(ctx, app, found, job, job.First+i); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep writes or proposes one sentence that the rules found in a message. One that may not be written is
// among the refused.
func (r *conversation) keep(ctx context.Context, app *App, found route.Routed, job learn.Job, number int) error {
	r.found++
	res, err := app.Memories().Remember(ctx, RememberOptions{
		Write: Write{Agent: app.Agent(), Actor: job.Actor, Session: job.Session, DryRun: r.dry},
		Notes: []vault.Note{{Text: found.Sentence, Source: fmt.Sprintf("session:%s#%d", job.Session, number)}},
	})
	switch {
	case err != nil && (ctx.Err() != nil || errors.Is(err, vault.ErrBusy)):
		return err
	case err != nil:
		r.out.Refused = append(r.out.Refused, err.Error())
	case len(res.Proposed) > 0:
		if !found.Asked {
			r.marks.Proposed++
		}
		r.out.Proposed = append(r.out.Proposed, found.Sentence)
	case !res.Unchanged:
		r.out.Saved = append(r.out.Saved, found.Sentence)
	}
	return nil
}

// flushWait is how long [Learning.Flush] keeps its caller waiting.
const flushWait = 30 * time.Second

// Flush reviews the conversation that an agent calls id before it forgets a part of it, and waits, at most
// half a minute. It fails with [vault.ErrRefused] and for nothing else: what could not be reviewed in time
// is queued, and the result says why.
func (l Learning) Flush(ctx context.Context, w Write, agent, id string) (*Reviewed, error) {
	if err := l.a.check(w, "nudge", id); err != nil {
		return nil, err
	}
	out := &Reviewed{Session: id}
	ctx, end := context.WithTimeout(ctx, flushWait)
	defer end()
	key, err := l.ask(ctx, agent, id)
	for err == nil {
		free := false
		err = l.alone(ctx, key, true, func() error {
			free = true
			done, err := l.perform(ctx, key, false)
			if done != nil {
				out = done
			}
			return err
		})
		if free || !errors.Is(err, vault.ErrBusy) || ctx.Err() != nil {
			break
		}
		err = nil // somebody is at another part of it
	}
	if err != nil {
		out.Error, out.Queued = err.Error(), !errors.Is(err, vault.ErrNotFound)
	}
	return out, nil
}

// ask asks for a review of every turn of an open session, and queues it.
func (l Learning) ask(ctx context.Context, agent, id string) (key string, err error) {
	key = session.KeyOf(l.a.v, agent, id)
	if _, err = l.a.marks(ctx, agent, key); err != nil {
		return key, err
	}
	asked := false
	err = l.a.counted(ctx, key, func(m *session.Marks, due trigger.Review) {
		if asked = m.Memory.Full < m.At; asked {
			m.Whole, m.Turns = true, 0
			m.Ask(true, due.Skill || m.Skill.Asked > m.Skill.Done, m.At)
		}
	})
	if err == nil && asked {
		err = session.QueueReview(ctx, l.a.v, key)
	}
	return key, err
}

// Worked is what a worker did.
type Worked struct {
	Reviews []*Reviewed `json:"reviews"`
	Left    int         `json:"left"`           // reviews that still wait
	Busy    bool        `json:"busy,omitempty"` // another worker is at it
}

// WorkOptions say what a worker does.
type WorkOptions struct {
	Write
	// Queued leaves out what the marks alone say: every session that there ever was has some.
	Queued bool
	// Rules asks no model: what a model is to review goes on waiting, once rules have read it.
	Rules bool
	Each  func(*Reviewed) // is called with each review; nil is not
}

// Work makes the reviews that wait, one after the other, until there is none. A failed one waits for the next
// time that its session asks; the daily limit of models ends the work. What cannot be done is in the
// results, and ctx alone an error.
func (l Learning) Work(ctx context.Context, o WorkOptions) (*Worked, error) {
	if err := l.a.check(o.Write, "worker", ""); err != nil {
		return nil, err
	}
	out := &Worked{Reviews: []*Reviewed{}}
	tried := map[string]bool{}
	for again := true; again && ctx.Err() == nil; {
		again = false
		err := l.a.v.State().Alone(ctx, "worker", false, func() error {
			keys, err := l.waiting(ctx, o.Queued)
			for _, key := range keys {
				if tried[key] || err != nil {
					continue
				}
				again, tried[key] = true, true
				var done *Reviewed
				if done, err = l.take(ctx, key, o.Rules); done == nil {
					continue
				}
				tried[key] = done.Error != "" || done.Queued // else it may have asked again meanwhile
				if out.Reviews = append(out.Reviews, done); o.Each != nil {
					o.Each(done)
				}
			}
			return err
		})
		switch out.Busy = errors.Is(err, vault.ErrBusy); {
		case out.Busy: // whoever works looks again when done
			again = false
		case errors.Is(err, llm.ErrLimit):
			l.a.warn("%v; the reviews wait", err)
			again = false
		case err != nil:
			return out, err
		}
	}
	keys, err := l.waiting(ctx, o.Queued)
	out.Left = len(keys)
	return out, errors.Join(err, context.Cause(ctx))
}

// take makes the review of one session. Only what ends the work is an error.
func (l Learning) take(ctx context.Context, key string, rules bool) (out *Reviewed, err error) {
	jobs, err := l.jobs(ctx)
	if err != nil {
		return nil, err
	}
	err = l.alone(ctx, key, false, func() error {
		out, err = l.perform(ctx, key, rules)
		if err == nil && out != nil && out.Queued {
			return nil // a model is to see it
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, llm.ErrLimit) {
			if out == nil {
				out = &Reviewed{Session: key}
			}
			out.Error, err = err.Error(), nil
		}
		for _, id := range jobs[key] {
			if err == nil { // what has come since is another job
				err = l.a.v.State().Done(ctx, session.Reviews, id)
			}
		}
		return err
	})
	if errors.Is(err, vault.ErrBusy) {
		err = nil // somebody reviews it now
	}
	return out, err
}

// jobs are the ids of queued jobs by the keys of their sessions. What cannot be read is dropped: the marks
// say what waits.
func (l Learning) jobs(ctx context.Context) (map[string][]string, error) {
	out, damaged, err := l.queue()
	for _, id := range damaged {
		l.a.warn("a damaged entry of the queue of reviews is dropped")
		err = errors.Join(err, l.a.v.State().Done(ctx, session.Reviews, id))
	}
	return out, err
}

// queue reads the queue: the ids of jobs by the keys of their sessions, and those of damaged ones.
func (l Learning) queue() (jobs map[string][]string, damaged []string, err error) {
	queued, err := l.a.v.State().Jobs(session.Reviews)
	jobs = map[string][]string{}
	for _, j := range queued {
		var job session.ReviewJob
		if json.Unmarshal(j.Data, &job) != nil || !session.IsKey(job.Session) {
			damaged = append(damaged, j.ID)
			continue
		}
		jobs[job.Session] = append(jobs[job.Session], j.ID)
	}
	return jobs, damaged, err
}

// waiting are the keys of the sessions with a review to make: those in the queue, and unless queued is set those
// of which only the marks say so.
func (l Learning) waiting(ctx context.Context, queued bool) ([]string, error) {
	jobs, err := l.jobs(ctx)
	if err != nil || queued {
		return slices.Sorted(maps.Keys(jobs)), err
	}
	marked, err := session.Marked(l.a.v)
	for _, key := range marked {
		m, _, merr := session.MarksOf(l.a.v, key)
		if err = errors.Join(err, merr); m.Waits() && jobs[key] == nil {
			jobs[key] = []string{}
		}
	}
	return slices.Sorted(maps.Keys(jobs)), err
}
