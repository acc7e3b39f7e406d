package agent

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"stet/agent/learn"
	"stet/agent/llm"
	"stet/agent/recall"
	"stet/markdown"
	"stet/vault"
	"stet/vault/session"
	"stet/vault/settings"
)

// Learning holds the use cases by which stet learns from conversations.
type Learning struct{ a *App }

// Learning holds the use cases by which stet learns from conversations.
func (a *App) Learning() Learning { return Learning{a} }

// ToolsOptions say for which review tools work.
type ToolsOptions struct {
	Actor   string // of the commits
	Session string // id, noted in the commits
}

// A Reviewed conversation, or what would be reviewed of it.
type Reviewed struct {
	Session  string   `json:"session"` // id
	Title    string   `json:"title"`
	From     int      `json:"from"` // messages, the first and the last; 0 where there was nothing to review
	To       int      `json:"to"`
	Memory   bool     `json:"memory"` // what it was reviewed for
	Skills   bool     `json:"skills"`
	Model    string   `json:"model,omitempty"` // "" for rules
	Saved    []string `json:"saved"`
	Proposed []string `json:"proposed"` // what waits for the user
	Skill    string   `json:"skill,omitempty"`
	Refused  []string `json:"refused"` // calls of the model that did nothing, and why
	Commits  []Commit `json:"commits"`
	Requests int      `json:"requests"`
	// Queued says that it could not be made now, and waits for a worker.
	Queued bool   `json:"queued,omitempty"`
	Error  string `json:"error,omitempty"`
	DryRun bool   `json:"dry_run,omitempty"`
	made   []vault.Commit
}

// Nothing reports that a review wrote and proposed nothing.
func (r *Reviewed) Nothing() bool { return len(r.Saved)+len(r.Proposed) == 0 && r.Skill == "" }

// The actors of reviews.
const (
	actorNudge = "nudge"
	actorSkill = "skill-nudge"
	actorFlush = "flush"
)

const (
	mostShown    = 60 // turns that a review of beginnings is about
	mostProposed = 3  // sentences that rules propose in one session, beside what the user asks to remember
	mostAlike    = 5  // turns of earlier sessions
)

// A conversation is one that is being reviewed.
type conversation struct {
	l     Learning
	as    *App   // with the rights of the session's agent
	key   string // "" of a transcript from elsewhere
	t     *markdown.Transcript
	marks session.Marks
	all   bool // what was reviewed before as well
	dry   bool
	asked bool // by somebody who waits
	rules bool // no model is asked
	found int  // sentences that the rules know
	out   *Reviewed
}

// reviewer is the author of what is learnt from a conversation of no agent: "stet" is the user where git knows
// no name of theirs.
const reviewer = "reviewer"

// opened opens the vault again with the rights of the conversation's agent. staged makes everything wait that is
// written then.
func (r *conversation) opened(ctx context.Context, staged bool) (*App, error) {
	l, o := r.l, r.l.a.o
	o.Agent, o.Notify, o.Ask, o.Progress = cmp.Or(r.t.Agent, reviewer), nil, nil, nil
	o.Via = cmp.Or(r.marks.Via, o.Via)
	if staged {
		o.Flags = o.Flags.With(settings.WriteApproval, "stage", "the rules are not sure that you want it kept")
	}
	return NewEnvironment(o).OpenAt(ctx, Place{Root: l.a.Root()}, false)
}

// alone runs do for one session at a time. Without wait another process at it is a [vault.ErrBusy] at once,
// else after the time that commands wait.
func (l Learning) alone(ctx context.Context, key string, wait bool, do func() error) error {
	if key == "" {
		return do()
	}
	return l.a.v.State().Alone(ctx, "review-"+key[len(key)-1:], wait, do)
}

// perform makes the review of a session that is asked for, if there is one, and notes how far it came. One
// that ctx or the daily limit ended waits as before; of any other failure the marks say why.
func (l Learning) perform(ctx context.Context, key string, rules bool) (*Reviewed, error) {
	marks, known, err := session.MarksOf(l.a.v, key)
	if err != nil || known && (!marks.Waits() || rules && marks.Memory.Asked <= marks.Memory.Read) {
		return nil, err // or only a model can add to it
	}
	t, err := session.Whole(ctx, l.a.v, key, marks)
	if errors.Is(err, session.ErrUnknownSession) || err == nil && t.Private {
		return nil, l.setMarks(ctx, key, marks, func(m *session.Marks) {
			m.Memory.Done, m.Skill.Done = marks.Memory.Asked, marks.Skill.Asked
		})
	}
	r := &conversation{l: l, key: key, t: t, marks: marks, rules: rules}
	if err == nil && !known { // of a job whose marks are lost
		r.marks.Ask(true, false, len(t.Messages))
	}
	if err == nil {
		err = r.review(ctx, r.marks.Memory.Asked > r.marks.Memory.Done, r.marks.Skill.Asked > r.marks.Skill.Done)
	}
	if err == nil || ctx.Err() != nil || errors.Is(err, llm.ErrLimit) {
		return r.out, err
	}
	id := key
	if t != nil {
		id = t.ID
	}
	why := l.lesson(id, err.Error())
	return r.out, errors.Join(err,
		l.setMarks(ctx, key, marks, func(m *session.Marks) { m.Failed = why.Text }),
		l.record(ctx, func(now *Reviews) { now.Failure = why }))
}

// setMarks changes the marks of a session after a review. What was asked for meanwhile is still asked for.
func (l Learning) setMarks(ctx context.Context, key string, was session.Marks, change func(*session.Marks)) error {
	return session.SetMarks(context.WithoutCancel(ctx), l.a.v, key, func(m *session.Marks, _ bool) bool {
		asks := m.Asks
		change(m)
		if asks != was.Asks {
			m.Failed = ""
		} else if !m.Open() {
			m.Whole = false
		}
		return true
	})
}

// review reviews what of the conversation nobody has reviewed, by the model for small tasks or, where none
// is configured, by rules.
func (r *conversation) review(ctx context.Context, memory, skill bool) (err error) {
	r.out = &Reviewed{Session: r.t.ID, Title: r.t.Title, Memory: memory, Skills: skill, Saved: []string{},
		Proposed: []string{}, Refused: []string{}, Commits: []Commit{}}
	if r.key != "" {
		if err = r.marks.Hear(r.l.a.v, r.key); err != nil {
			return err
		}
	}
	model, done := r.l.a.auxiliary(r.l.a.Settings())
	defer done()
	if r.rules && model != nil || model == nil && r.l.a.withheld(llm.Auxiliary, llm.Chat) {
		model, r.out.Queued = nil, true
	}
	job := r.job(memory, skill, model != nil)
	if r.out.To = len(r.t.Messages); !slices.ContainsFunc(job.Turns, spoken) {
		r.out.From, r.out.To = 0, 0
		return r.finish(ctx, job, len(r.t.Messages), model != nil)
	}
	if r.out.From = job.First; model != nil {
		r.out.Model = model.Model().Name
	}
	if r.out.DryRun = r.dry; r.dry && model != nil {
		return nil
	}
	if r.as, err = r.opened(ctx, false); err != nil {
		return err
	}
	defer func() {
		r.out.made = r.commits()
		r.out.Commits = viewCommits(r.out.made)
		err = errors.Join(err, r.as.Close())
	}()
	upTo := len(r.t.Messages)
	if model == nil {
		err = r.route(ctx, job)
	} else {
		upTo, err = r.ask(ctx, model, &job)
	}
	if err != nil && upTo < job.First {
		return err
	}
	return errors.Join(err, r.finish(ctx, job, upTo, model != nil))
}

// commits are those that the review made.
func (r *conversation) commits() []vault.Commit {
	return slices.DeleteFunc(r.as.made, func(c vault.Commit) bool { return c.Trailers.Get("Stet-Session") != r.t.ID })
}

// spoken reports a turn of the user that is left to review.
func spoken(t session.Turn) bool { return t.Role == "user" && len(t.Text) > 0 }

// job is what a review is about. A turn without text is left out of it.
func (r *conversation) job(memory, skill, model bool) learn.Job {
	s, m := r.l.a.Settings(), r.marks.Memory
	j := learn.Job{Session: r.t.ID, Memory: memory, Skill: skill, Whole: r.marks.Whole,
		Mode: s.Text(settings.NudgeMode), MaxRounds: s.Int(settings.NudgeRounds)}
	from := len(r.t.Messages)
	if memory {
		switch {
		case !model:
			from = m.Read
		case j.Whole:
			from = m.Full
		default:
			from = max(m.Shown, from-mostShown)
		}
	}
	if skill {
		from = min(from, r.marks.Skill.Done)
	}
	switch {
	case r.marks.Whole && !r.asked:
		j.Actor = actorFlush
	case memory:
		j.Actor = actorNudge
	default:
		j.Actor = actorSkill
	}
	if r.all {
		from = 0
	}
	j.First = from + 1
	byAgent := r.t.Source == session.HookDoor || strings.HasPrefix(r.t.Source, "import:")
	for i, msg := range r.t.Messages[min(from, len(r.t.Messages)):] {
		n := from + i + 1
		t := session.Turn{Session: r.t.ID, Role: msg.Role, Name: msg.Name, Time: msg.Time, Call: msg.Call}
		shown := n > m.Cut && n <= m.Shown && utf8.RuneCount(msg.Content) <= learn.LightText && !skill && !r.all
		switch {
		case msg.Role == "system", !slices.Contains(Roles(), msg.Role), shown && model:
		case !model && msg.Role == "user" && byAgent && !r.marks.Heard(msg): // nothing shows that the user said it
		default:
			t.Text, t.Calls = msg.Content, msg.Calls
		}
		j.Turns = append(j.Turns, t)
	}
	if i := slices.IndexFunc(r.t.Messages, func(m markdown.Message) bool { return m.Role == "system" }); i >= 0 {
		j.System = string(r.t.Messages[i].Content)
	}
	return j
}

// finish notes how far a review came, and whether a model made it.
func (r *conversation) finish(ctx context.Context, job learn.Job, upTo int, model bool) error {
	if r.dry || r.key == "" {
		return nil
	}
	total := len(r.t.Messages)
	err := r.l.setMarks(ctx, r.key, r.marks, func(m *session.Marks) {
		m.Proposed = r.marks.Proposed
		if r.out.Queued { // the rules alone have read it
			m.Memory.Read = total
			return
		}
		if m.Failed = ""; job.Memory && upTo == total {
			m.Memory.Done, m.Memory.Asked = total, max(total, m.Memory.Asked)
		}
		if job.Skill && upTo == total {
			m.Skill.Done, m.Skill.Asked = total, max(total, m.Skill.Asked)
		}
		switch k := &m.Memory; {
		case !job.Memory:
		case !model:
			k.Read = total
		case job.Whole:
			k.Full, k.Shown = max(k.Full, upTo), max(k.Shown, upTo)
		default:
			if job.First-1 > k.Shown {
				k.Cut = job.First - 1
			}
			k.Shown = total
		}
	})
	if lesson := cmp.Or(append(slices.Clone(r.out.Saved), r.out.Skill)...); lesson != "" {
		err = errors.Join(err, r.l.record(ctx, func(now *Reviews) {
			now.Lesson = r.l.lesson(r.t.ID, lesson)
			for _, c := range r.commits() {
				now.Lesson.Revs = append(now.Lesson.Revs, c.Rev)
			}
		}))
	}
	return err
}

// ask lets a model review, and returns the last message up to which it did. Messages before the first that it was
// shown are no longer in the job.
func (r *conversation) ask(ctx context.Context, model llm.Client, job *learn.Job) (upTo int, err error) {
	if job.Frozen, err = r.frozen(ctx); err != nil {
		return 0, err
	}
	if job.Related, err = r.related(ctx, *job); err != nil {
		return 0, err
	}
	box := r.l.a.o.Tools(r.as, ToolsOptions{Actor: job.Actor, Session: job.Session})
	done, err := learn.Review(ctx, model, box, *job)
	job.First = max(job.First, done.From)
	r.out.Saved, r.out.Proposed = append(r.out.Saved, done.Saved...), append(r.out.Proposed, done.Proposed...)
	r.out.Skill, r.out.Refused, r.out.Requests = done.Skill, append(r.out.Refused, done.Refused...), done.Calls
	return done.Upto, err
}

// frozen is the snapshot that the conversation began with, as far as it can be made again, else the one of
// today.
func (r *conversation) frozen(ctx context.Context) (string, error) {
	if r.t.Context != nil {
		if s, err := r.as.Memories().ContextOf(ctx, r.t.ID); err == nil {
			return s.Text, nil
		}
	}
	s, err := r.as.Memories().Context(ctx, ContextOptions{})
	if err != nil {
		return "", err
	}
	return s.Text, nil
}

// related are turns of the user's in earlier sessions that are like those of the job, best first.
func (r *conversation) related(ctx context.Context, job learn.Job) (out []learn.Related, err error) {
	var found []SessionMatch
	asked := 0
	for _, t := range slices.Backward(job.Turns) {
		if !spoken(t) || asked == 2*mostAlike {
			continue
		}
		asked++
		q := SessionQuery{Matches: true, Query: recall.Query{Text: words(t.Text), Role: "user", Limit: 2 * mostAlike}}
		res, err := r.as.Sessions().Search(ctx, q)
		if err != nil {
			return nil, err
		}
		found = append(found, res.Matches...)
	}
	slices.SortStableFunc(found, func(a, b SessionMatch) int { return cmp.Compare(b.Score, a.Score) })
	for _, m := range found {
		again := slices.ContainsFunc(out, func(have learn.Related) bool {
			return have.Session == m.Session && have.Number == m.Message
		})
		later := len(r.t.Messages) > 0 && m.Time.After(r.t.Messages[0].Time)
		if again || later || m.Session == r.t.ID || len(out) == mostAlike {
			continue
		}
		page, err := r.as.Sessions().Show(ctx, SessionPart{Ref: m.Session, From: m.Message, To: m.Message})
		if err == nil && len(page.Messages) == 1 {
			out = append(out, learn.Related{Session: m.Session, Number: m.Message, Time: m.Time,
				Text: page.Messages[0].Text})
		}
	}
	slices.SortStableFunc(out, func(a, b learn.Related) int { return a.Time.Compare(b.Time) })
	return out, ctx.Err()
}

// words are the first words of a turn, and nothing that a query would take for an operator.
func words(text []byte) string {
	plain := strings.FieldsFunc(string(markdown.StripInjected(text)), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsNumber(c)
	})
	return strings.Join(plain[:min(len(plain), 30)], " ")
}
