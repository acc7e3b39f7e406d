package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"stet/agent/snapshot"
	"stet/index"
	"stet/index/past"
	"stet/markdown"
	"stet/vault"
	"stet/vault/session"
	"stet/vault/settings"
)

// ContextOptions say what an agent is given of the vault when a conversation begins.
type ContextOptions struct {
	Budget int       // tokens; 0 is the setting context.budget_tokens, negative no bound
	Query  string    // what the memories are about; "" takes the most important ones
	At     string    // as the vault was at a revision
	AsOf   time.Time // or at a time; without either, now
	// Session is noted to have been given the snapshot; it begins with that if need be.
	Session string
	Agent   string // whose session it is
}

// noBudget is more than any vault holds.
const noBudget = 1 << 30

// Context makes a snapshot of the vault: USER.md, MEMORY.md, what is pinned and the best memories. It
// fails with [ErrUsage] for a budget that has no room for anything, and with [vault.ErrNoRevision].
func (m Memories) Context(ctx context.Context, o ContextOptions) (*snapshot.Snapshot, error) {
	a := m.a
	if o.Session != "" {
		if err := a.check(Write{Agent: o.Agent}, "observe", o.Session); err != nil {
			return nil, err
		}
	}
	then, err := a.moment(ctx, o.AsOf)
	if err != nil {
		return nil, err
	}
	if then != nil {
		o.At = string(then.Rev)
	}
	take := snapshot.Options{Query: o.Query, Budget: o.Budget, Now: a.o.Now()}
	switch {
	case o.Budget == 0:
		take.Budget = a.Settings().Int(settings.ContextBudget)
	case o.Budget < 0:
		take.Budget = noBudget
	}
	x, err := a.openIndex(false, nil)
	if o.At != "" && err == nil {
		x, take.Past, err = a.pastOf(ctx, o.At)
	}
	if err != nil {
		return nil, err
	}
	s, err := snapshot.Take(ctx, a.v, x, take)
	if errors.Is(err, snapshot.ErrBudget) {
		return nil, Usagef("%v", err).Suggest("give more to --budget; 0 is no bound")
	}
	if err == nil && s.LeftOut.Entries > 0 {
		a.warn("%s of USER.md and MEMORY.md do not fit into %d tokens: give a larger budget, or shorten the notebooks",
			Plural(s.LeftOut.Entries, "entry", "entries"), s.Budget)
	}
	if err == nil && o.Session != "" {
		err = session.NoteContext(ctx, a.v, o.Agent, o.Session, a.o.Now(), markdown.FrozenContext{
			Commit: string(s.Commit), Budget: s.Budget, Query: s.Query, SHA256: s.SHA256, Dirty: texts(s.Dirty)})
	}
	return s, err
}

func texts(paths []vault.Path) (out []string) {
	for _, p := range paths {
		out = append(out, string(p))
	}
	return out
}

// ContextOf makes the snapshot that a session was given once more. It fails where it comes out
// otherwise: what was not committed then is nowhere.
func (m Memories) ContextOf(ctx context.Context, ref string) (*snapshot.Snapshot, error) {
	known, c, err := m.noted(ctx, ref)
	if err == nil && known.Private && m.a.o.Agent != "" {
		err = m.a.withheld(known.Path)
	}
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, vault.WithHint(fmt.Errorf("session %s: %w: it noted no snapshot", known.ID, vault.ErrNotFound),
			`"stet context --session ID" notes what a session is given`)
	}
	s, err := m.Context(ctx, ContextOptions{Budget: c.Budget, Query: c.Query, At: c.Commit})
	if err != nil || s.SHA256 == c.SHA256 {
		return s, err
	}
	why := "the settings, or what may be shown, have changed since"
	if len(c.Dirty) > 0 {
		why = "not committed then: " + strings.Join(c.Dirty, ", ")
	}
	return nil, vault.WithHint(
		fmt.Errorf("session %s: the snapshot that it was given cannot be made again: %s", known.ID, why),
		`"stet context --at %.10s" shows what was committed`, c.Commit)
}

// noted is what a session, sealed or open, says of its snapshot; nil is nothing.
func (m Memories) noted(ctx context.Context, ref string) (session.Known, *markdown.FrozenContext, error) {
	open, err := session.FindOpen(m.a.v, ref)
	if err == nil && open.Facts.Context != nil {
		return open.Known(), open.Facts.Context, nil
	}
	if err != nil && !errors.Is(err, session.ErrUnknownSession) {
		return session.Known{}, nil, err
	}
	known, data, ferr := session.Find(ctx, m.a.v, ref)
	if errors.Is(ferr, session.ErrUnknownSession) && err == nil {
		return open.Known(), nil, nil
	}
	return known, markdown.ParseTranscript(data).Context, ferr
}

// pastOf is the vault as a revision has it, and an index of that.
func (a *App) pastOf(ctx context.Context, rev string) (*index.Index, *snapshot.Past, error) {
	c, err := a.v.History().CommitAt(ctx, rev)
	if err != nil {
		return nil, nil, err
	}
	files, err := a.v.History().View(ctx, string(c.Rev))
	if err != nil {
		return nil, nil, err
	}
	src := past.New(files, c.When)
	x, err := a.sourceIndex(src, c.When)
	hides := func(ctx context.Context, p vault.Path, h vault.Hash) (bool, error) {
		return a.hidesPast(ctx, vault.Change{Path: p, New: h})
	}
	return x, &snapshot.Past{Files: files, Commit: c, List: src.Files, Hides: hides}, err
}
