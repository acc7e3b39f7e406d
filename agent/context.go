package agent

import (
	"context"
	"errors"
	"time"

	"stet/agent/snapshot"
	"stet/index"
	"stet/index/past"
	"stet/vault"
	"stet/vault/settings"
)

// ContextOptions say what an agent is given of the vault when a conversation begins.
type ContextOptions struct {
	Budget int       // tokens; 0 is the setting context.budget_tokens, negative no bound
	Query  string    // what the memories are about; "" takes the most important ones
	At     string    // as the vault was at a revision
	AsOf   time.Time // or at a time; without either, now
}

// noBudget is more than any vault holds.
const noBudget = 1 << 30

// Context makes a snapshot of the vault: USER.md, MEMORY.md, what is pinned and the best memories. It
// fails with [ErrUsage] for a budget that has no room for anything, and with [vault.ErrNoRevision].
func (m Memories) Context(ctx context.Context, o ContextOptions) (*snapshot.Snapshot, error) {
	a := m.a
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
	return s, err
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
