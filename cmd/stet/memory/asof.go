package memory

import (
	"context"
	"fmt"
	"time"

	"stet/cmd/stet/console"
	"stet/index"
	"stet/index/past"
	"stet/vault"
)

// An asOfView is the revision that --as-of meant.
type asOfView struct {
	Rev  vault.Revision `json:"rev"`
	When string         `json:"when"` // of the commit
	At   string         `json:"at"`   // what was asked for
}

// asOf finds the commit that was HEAD at the time of --as-of, and says which.
func asOf(ctx context.Context, e *console.Env, v *vault.Vault, text string) (vault.Commit, *asOfView, error) {
	at, err := e.Time(text)
	if err != nil {
		return vault.Commit{}, nil, err
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		at = day.AddDate(0, 0, 1).Add(-time.Second) // a day counts to its end
	}
	if now := e.Now(); at.After(now) {
		at = now
	}
	c, err := v.HeadAt(ctx, at)
	if err != nil {
		return c, nil, err
	}
	view := &asOfView{c.Rev, c.When.UTC().Format(time.RFC3339), at.UTC().Format(time.RFC3339)}
	e.Note("as of %s: commit %s of %s; its files are read one by one", view.At, c.Rev.Short(), view.When)
	return c, view, nil
}

// snapshotAt is [asOf] with the files of the commit.
func snapshotAt(ctx context.Context, e *console.Env, v *vault.Vault, text string) (vault.Commit, *asOfView, *vault.Snapshot, error) {
	c, view, err := asOf(ctx, e, v, text)
	if err != nil {
		return c, nil, nil, err
	}
	snap, err := v.View(ctx, string(c.Rev))
	return c, view, snap, err
}

// openSearch opens what is to be searched: the index of the files as they are, or
// with --as-of the files of a commit.
func openSearch(ctx context.Context, e *console.Env, in *console.Input, v *vault.Vault) (*index.Index, *asOfView, error) {
	if !in.IsSet("as-of") {
		x, err := e.Index(v, false)
		return x, nil, err
	}
	c, view, snap, err := snapshotAt(ctx, e, v, in.String("as-of"))
	if err != nil {
		return nil, nil, err
	}
	at, err := time.Parse(time.RFC3339, view.At)
	if err != nil {
		return nil, nil, fmt.Errorf("read %q: %w", view.At, err)
	}
	x, err := e.PastIndex(v, past.New(snap, c.When), at)
	return x, view, err
}
