package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stet/agent/recall"
	"stet/vault"
	"stet/vault/session"
	"stet/vault/settings"
)

// Sessions holds the use cases of conversations, open and sealed.
type Sessions struct{ a *App }

// Roles are the roles that a turn may have.
func Roles() []string { return []string{"user", "assistant", "tool", "system"} }

// An Observed is a turn that is on disk.
type Observed struct {
	Session string    `json:"session"`
	Key     string    `json:"key"` // of its file in local state
	Role    string    `json:"role"`
	Time    time.Time `json:"time"` // UTC
	// Queued says that a review of the session became due with the turn. Background, that a process of
	// its own is to make it.
	Queued     bool `json:"queued,omitempty"`
	Background bool `json:"-"`
}

// Observe adds a turn to its session, which begins with its first turn; Time zero is now. Nothing
// is committed and no writer is waited for, so the App may be read-only. It fails with [ErrUsage]
// for an unknown role, and as [session.Append] does.
func (s Sessions) Observe(ctx context.Context, t session.Turn) (*Observed, error) {
	stands, err := s.a.mayObserve(ctx, t.Agent, t.Session, t.Parent)
	if err == nil && !t.Private {
		t.Private, err = session.Private(ctx, s.a.v.Whole(), t.Agent, t.Parent, nil)
	}
	if err == nil {
		err = s.standing(ctx, &t, stands)
	}
	if err != nil {
		return nil, err
	}
	if t.Ref == session.HookRef && s.a.o.Door != session.HookDoor {
		return nil, Usagef("--ref %q is what hooks of clients note", t.Ref).Suggest("give another")
	}
	if t.Role = strings.ToLower(t.Role); !slices.Contains(Roles(), t.Role) {
		return nil, Usagef("unknown role %q", t.Role).Suggest("one of %s", strings.Join(Roles(), ", "))
	}
	if t.Time.IsZero() {
		t.Time = s.a.o.Now()
	}
	if t.Time = t.Time.UTC(); s.a.o.Via != t.Agent {
		t.Via = s.a.o.Via
	}
	if err := session.Append(ctx, s.a.v, t); err != nil {
		return nil, err
	}
	out := &Observed{Session: t.Session, Key: session.Key(t.Agent, t.Session), Role: t.Role, Time: t.Time}
	if t.Private {
		return out, nil // what is private is learnt from by nobody
	}
	if out.Queued, err = s.a.count(ctx, t.Agent, out.Key); err != nil && ctx.Err() == nil {
		s.a.warn("count the turns of session %s: %v; the turn is kept", t.Session, err)
	}
	out.Background = out.Queued && s.a.Settings().Bool(settings.Background)
	return out, nil
}

// mayObserve asks the policy, and refuses an agent the conversation of somebody else: sealed, it
// would be the agent's. Nor may that, or one that hooks or the user recorded, be the parent of the agent's: it would
// stand below a title of theirs. Of the first it says what stands of it, unless hooks ask or nothing does.
func (a *App) mayObserve(ctx context.Context, agent string, ids ...string) (first *session.Standing, err error) {
	w := Write{Agent: agent}
	if err := a.check(w, "observe", ids[0]); err != nil || agent == "" {
		return nil, err
	}
	hook := a.o.Door == session.HookDoor
	for i, id := range ids {
		if id == "" || hook && !vault.IsID(id) {
			continue // what the client itself calls so
		}
		k, err := session.Stands(ctx, a.v, agent, id)
		switch {
		case err != nil:
			return nil, err
		case k != nil && k.Agent != agent:
			return nil, w.refused("observe", id, "the conversation is another one's")
		case hook:
		case i == 0:
			first = k
			if k == nil {
				err = a.mayBegin(ctx, w, id)
			}
			if err != nil {
				return nil, err
			}
		case k != nil && k.Foreign:
			return nil, w.refused("observe", id, foreign)
		}
	}
	return first, nil
}

// noting is the session that may note what it was given: none where an agent looks for itself at what hooks record.
func (a *App) noting(ctx context.Context, agent, id string) (string, error) {
	if k, err := a.mayObserve(ctx, agent, id); err != nil || k == nil || !k.Foreign {
		return id, err
	}
	return "", nil
}

// standing makes a turn one of the session that its id of ours is the id of, and private in a private one, and refuses
// an agent a conversation that hooks or the user recorded: what is said there is the user's word. Of an agent's k is
// what [App.mayObserve] found.
func (s Sessions) standing(ctx context.Context, t *session.Turn, k *session.Standing) (err error) {
	if s.a.o.Door == session.HookDoor {
		return nil
	}
	if t.Agent == "" {
		k, err = session.Stands(ctx, s.a.v, "", t.Session)
	}
	switch {
	case err != nil || k == nil:
		return err
	case t.Agent != "" && k.Foreign:
		return Write{Agent: t.Agent}.refused("observe", t.Session, foreign)
	case vault.IsID(t.Session):
		t.Agent, t.Session = k.Agent, k.Name
	}
	t.Private = t.Private || k.Private
	return nil
}

// foreign is why an agent adds nothing to a conversation.
const foreign = "hooks of a client or the user recorded the conversation"

// viewSession is what is known about a session, as a result shows it: times in UTC, and no path of
// a file that is not all of it.
func (a *App) viewSession(k session.Known) session.Known {
	if k.Open {
		k.Path = ""
	}
	k.Title, k.Started, k.Ended = a.marked(k.Title), utc(k.Started), utc(k.Ended)
	return k
}

// SessionFilter selects sessions; an empty field selects all.
type SessionFilter struct {
	Agent, Project string
	Since, Until   time.Time // of the last message
	OpenOnly       bool
	Limit          int // 0 is all
}

// A SessionList is sessions, the one last spoken in first.
type SessionList struct {
	Total    int             `json:"total"` // without the limit
	Sessions []session.Known `json:"sessions"`
}

// List lists sessions. An open one that cannot be read is a notice.
func (s Sessions) List(ctx context.Context, f SessionFilter) (*SessionList, error) {
	open, err := session.AllOpen(s.a.v)
	if err != nil {
		s.a.warn("%v", err)
	}
	all, err := session.All(ctx, s.a.v)
	if err != nil {
		return nil, err
	}
	all = session.GoOn(all, open)
	last := func(k session.Known) time.Time { return cmp.Or(k.Ended, k.Started) }
	all = slices.DeleteFunc(all, func(k session.Known) bool {
		return f.OpenOnly && !k.Open || f.Agent != "" && !strings.EqualFold(k.Agent, f.Agent) ||
			f.Project != "" && !k.About(f.Project) ||
			!f.Since.IsZero() && last(k).Before(f.Since) || !f.Until.IsZero() && !last(k).Before(f.Until)
	})
	slices.SortStableFunc(all, func(a, b session.Known) int { return last(b).Compare(last(a)) })
	out := &SessionList{Total: len(all), Sessions: []session.Known{}}
	for i, k := range all {
		if f.Limit > 0 && i == f.Limit {
			break
		}
		out.Sessions = append(out.Sessions, s.a.viewSession(k))
	}
	return out, nil
}

// SessionPart names a part of a session.
type SessionPart struct {
	Ref      string    // id, a unique part of it, path, or the id that the agent gave it
	From, To int       // message numbers; 0 is the first and the last
	Around   int       // this message and a few next to it; 0 is From and To
	Budget   int       // characters; 0 is [recall.Budget], negative is no limit
	Whole    bool      // results and arguments of tools whole; so they are of one message, and without a limit
	At       time.Time // From and To are numbers of then; zero is now
}

// around is how many messages [SessionPart].Around shows on either side.
const around = 5

// A SessionPage is a part of a session.
type SessionPage struct {
	Session  session.Known `json:"session"`
	Messages []Message     `json:"messages"`
	Next     int           `json:"next,omitempty"` // the first message that did not fit
	Total    int           `json:"total"`
}

// Show reads a part of a session, and names the memories that superseded what it led to. It fails
// with [session.ErrUnknownSession] or [vault.ErrAmbiguous].
func (s Sessions) Show(ctx context.Context, o SessionPart) (*SessionPage, error) {
	talk, err := recall.Read(ctx, s.a.v, o.Ref)
	if err != nil {
		return nil, err
	}
	budget := cmp.Or(o.Budget, recall.Budget)
	talk.Whole = o.Whole || budget < 0 || o.From > 0 && o.From == o.To
	page := talk.At(o.From, o.To, o.At, budget)
	if o.Around > 0 {
		page = talk.Around(o.Around, around, budget)
	}
	if err := s.outdate(ctx, talk, page.Lines); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		s.a.warn("superseded memories are not marked: %v", err)
	}
	out := &SessionPage{
		Session: s.a.viewSession(talk.Known), Messages: s.a.viewLines(talk.Known, page.Lines),
		Next: page.Next, Total: page.Total,
	}
	out.Session.Open = talk.Open
	return out, nil
}

// outdate marks lines that led to memories which were superseded. A vault without memories is not
// indexed for that.
func (s Sessions) outdate(ctx context.Context, talk *recall.Talk, lines []recall.Line) error {
	if !s.a.exists("archive") && !s.a.exists("memories") {
		return nil
	}
	x, err := s.a.Index(false)
	if err != nil {
		return err
	}
	old, err := x.Outdated(ctx)
	if err == nil {
		talk.Outdate(lines, old)
	}
	return err
}

// EndOptions select open sessions.
type EndOptions struct {
	Write
	Refs   []string
	Idle   bool // those that have ended by session.idle_minutes
	All    bool
	Reason string // why they ended, a word
}

// Ended is what [Sessions.End] did.
type Ended struct {
	Sealed  []*session.Sealed `json:"sealed"`
	Commits []Commit          `json:"commits"`
	DryRun  bool              `json:"dry_run,omitempty"`
	Plan    *Plan             `json:"plan,omitempty"`
}

// End seals sessions. One that cannot be sealed does not keep the others: then both the result
// and the error are set. It fails with [ErrUsage] when nothing is selected, or two things.
func (s Sessions) End(ctx context.Context, o EndOptions) (*Ended, error) {
	if err := s.a.check(o.Write, "end", ""); err != nil {
		return nil, err
	}
	if len(o.Refs) > 0 == (o.Idle || o.All) {
		return nil, Usagef("session end needs the name of an open session, or --idle, or --all").
			Suggest(`"stet session list --open" shows them`)
	}
	picked, err := s.toEnd(ctx, o)
	if err == nil && o.Agent != "" {
		picked, err = s.own(ctx, o, picked)
	}
	if err != nil {
		return nil, err
	}
	if len(picked) == 0 && len(o.Refs) == 0 {
		s.a.note("no session has ended")
	}
	out := &Ended{Sealed: []*session.Sealed{}, Commits: []Commit{}, DryRun: o.DryRun}
	if o.DryRun {
		out.Plan = &Plan{Ops: []vault.Change{}}
	}
	var changes []vault.Change
	var failed []error
	for _, open := range picked {
		sealed, err := session.Seal(ctx, s.a.v, open.Key,
			session.Options{Reason: o.Reason, Door: s.a.o.Door, Wait: true, DryRun: o.DryRun})
		switch {
		case errors.Is(err, vault.ErrNotFound): // another process was faster
		case err != nil:
			failed = append(failed, fmt.Errorf("end session %s: %w", open.Name, err))
		default:
			changes = append(changes, s.add(out, sealed)...)
		}
		if ctx.Err() != nil {
			break
		}
	}
	if !o.DryRun {
		s.a.updateIndex(ctx, changes)
	}
	return out, errors.Join(failed...)
}

// toEnd are the open sessions that o means.
func (s Sessions) toEnd(ctx context.Context, o EndOptions) ([]*session.Open, error) {
	var picked []*session.Open
	for _, ref := range o.Refs {
		open, err := session.FindOpen(s.a.v, ref)
		if errors.Is(err, session.ErrUnknownSession) {
			talk, known := recall.Read(ctx, s.a.v, ref)
			if known != nil {
				return nil, known
			}
			if !talk.Open {
				s.a.note("already sealed: %s", talk.Known.Path)
				continue
			}
			open, err = session.FindOpen(s.a.v, talk.Known.ID)
		}
		if err != nil {
			return nil, err
		}
		picked = append(picked, open)
	}
	if len(o.Refs) > 0 {
		return picked, nil
	}
	all, err := session.AllOpen(s.a.v)
	if err != nil {
		s.a.warn("%v", err)
	}
	idle := time.Duration(s.a.Settings().Int(settings.SessionIdle)) * time.Minute
	for _, open := range all {
		if o.All || s.a.o.Now().Sub(open.Last) >= idle {
			picked = append(picked, open)
		}
	}
	return picked, nil
}

// own are the sessions that the agent itself recorded, which alone it ends. It fails with [vault.ErrRefused] for
// another one that o names.
func (s Sessions) own(ctx context.Context, o EndOptions, picked []*session.Open) (own []*session.Open, err error) {
	for _, open := range picked {
		k, err := session.Stands(ctx, s.a.v, open.Agent, open.Name)
		switch {
		case err != nil:
			return nil, err
		case open.Agent == o.Agent && (k == nil || !k.Foreign):
			own = append(own, open)
		case len(o.Refs) > 0:
			return nil, o.refused("end", open.Name, "the agent did not record the conversation itself")
		}
	}
	if left := len(picked) - len(own); left > 0 {
		s.a.note("left open: %s that the agent did not record itself", Plural(left, "conversation"))
	}
	return own, nil
}

// add takes down one sealed session and returns what it changed.
func (s Sessions) add(out *Ended, sealed *session.Sealed) []vault.Change {
	out.Sealed = append(out.Sealed, sealed)
	changes := []vault.Change{{Status: vault.Modified, Path: sealed.Path}}
	if res := sealed.Result; res != nil {
		for _, w := range res.Warnings {
			s.a.warn("%s", w)
		}
		changes = res.Changes
		if out.Plan == nil {
			out.Commits = append(out.Commits, viewCommits(res.Commits)...)
		} else {
			out.Plan.Base = res.Base
		}
	}
	if out.Plan != nil {
		out.Plan.Ops = append(out.Plan.Ops, changes...)
	}
	return changes
}
