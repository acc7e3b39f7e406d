package upkeep

import (
	"context"
	"errors"
	"time"

	"stet/agent/ingest"
	"stet/agent/llm"
	"stet/cmd/stet/console"
	"stet/index/watch"
	"stet/vault"
	"stet/vault/session"
	"stet/vault/settings"
)

const (
	// finishEvery is the time between two looks for memories that a model failed:
	// every memory is read for it.
	finishEvery = 30 * time.Minute
	// finishAtOnce bounds what one look finishes. Specified in DESIGN.md 5.2.
	finishAtOnce = 20
)

// duties is what a watcher does beside following the files: it seals the sessions
// that have ended, and finishes memories when the model answers again.
type duties struct {
	e    *console.Env
	out  *watchOutput
	next time.Time // when to look for memories again
}

func (d *duties) do(ctx context.Context) {
	if err := d.try(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, vault.ErrBusy) {
		d.tell(watch.Event{Kind: watch.Warning, Text: "what is due: " + err.Error(), Hint: "it is tried again"})
	}
}

func (d *duties) try(ctx context.Context) (err error) {
	a, x, err := d.e.Beside(ctx, d.out.where())
	if err != nil {
		return err
	}
	v := a.Store()
	defer func() { err = errors.Join(err, x.Close(), a.Close()) }()
	sealed, err := session.SealEnded(ctx, v, d.e.Now(), session.Options{Door: "watch"})
	for _, s := range sealed {
		if s.Result != nil {
			d.told(s.Result.Commits)
		}
	}
	if err != nil || d.e.Now().Before(d.next) || !v.Settings().Bool(settings.Cognitive) {
		return err
	}
	d.next = d.e.Now().Add(finishEvery)
	return a.WithModel(func(model llm.Client) error {
		if model == nil {
			return nil
		}
		// A model that fails says so when somebody asks it.
		res, err := ingest.Finish(ctx, v, x, &ingest.Mind{Model: model, Now: d.e.Now()}, ingest.Choice{Limit: finishAtOnce}, vault.Write{Writer: vault.Writer{Door: "watch"}})
		if res != nil {
			d.told(res.Commits)
		}
		return err
	})
}

func (d *duties) told(commits []vault.Commit) {
	for _, c := range commits {
		d.tell(watch.Event{Kind: watch.Committed, Commit: c})
	}
}

// tell shows an event. Where nobody listens any more the watcher finds out.
func (d *duties) tell(ev watch.Event) { _ = d.out.show(ev) }
