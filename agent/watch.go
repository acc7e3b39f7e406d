package agent

import (
	"context"
	"errors"
	"sync"
	"time"

	"stet/agent/ingest"
	"stet/index/watch"
	"stet/vault"
	"stet/vault/session"
	"stet/vault/settings"
)

// WatchOptions say what a watcher does.
type WatchOptions struct {
	Write // who starts it: the user
	// NoCommit leaves edits by hand, ended sessions and pending memories to others, whatever the
	// setting watch.commit says.
	NoCommit bool
	// Due does what else is due now and then, for a package above; nil is nothing.
	Due func(context.Context, *App) error
	// Opened says which vault is watched, and after how long an edit counts as finished.
	Opened func(root string, quiet time.Duration)
	// Emit receives the events, from several goroutines. An error ends the watcher: nobody listens.
	Emit func(watch.Event) error
}

const (
	// finishEvery is the time between two looks for memories that a model failed:
	// every memory is read for it.
	finishEvery = 30 * time.Minute
	// finishAtOnce bounds what one look finishes.
	finishAtOnce = 20
)

// A watcher follows one vault. Its duties beside the files are its sessions and pending memories.
type watcher struct {
	e    *Environment
	o    WatchOptions
	mu   sync.Mutex
	root string
	next time.Time // when to look for pending memories again
}

// Watch indexes files as they change until ctx ends, commits finished edits, seals sessions that
// have ended and finishes memories that a model failed. It fails with [vault.ErrBusy] where
// another watcher runs.
func (e *Environment) Watch(ctx context.Context, o WatchOptions) error {
	if err := e.check(o.Write, "watch", ""); err != nil {
		return err
	}
	w := &watcher{e: e, o: o}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	options := watch.Options{Now: e.o.Now, Open: w.open, Emit: func(ev watch.Event) {
		if err := o.Emit(ev); err != nil {
			end(err)
		}
	}}
	if !o.NoCommit {
		options.Due = w.due
	}
	err := watch.Run(ctx, options)
	if cause := context.Cause(ctx); err == nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	return err
}

// beside opens the vault for one goroutine, without progress or notices. The first time it is the
// vault in question and from then on that one: one that goes away is not mistaken for one above.
func (w *watcher) beside(ctx context.Context) (a *App, first bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if first = w.root == ""; first {
		place, err := w.e.Locate()
		if err != nil {
			return nil, false, err
		}
		w.root = place.Root
	}
	o := w.e.o
	o.Progress, o.Notify, o.Door = nil, nil, "watch"
	a, err = NewEnvironment(o).OpenAt(ctx, Place{Root: w.root}, false)
	return a, first, err
}

func (w *watcher) open(ctx context.Context) (watch.Subject, error) {
	a, first, err := w.beside(ctx)
	if err != nil {
		return watch.Subject{}, err
	}
	x, err := a.writerIndex(false)
	if err != nil {
		return watch.Subject{}, errors.Join(err, a.Close())
	}
	if first && w.e.o.Notify != nil {
		a.greet(w.e.o.Notify)
	}
	s := a.Settings()
	seconds := func(n settings.Name) time.Duration { return time.Duration(s.Int(n)) * time.Second }
	subject := watch.Subject{
		Vault: a.v.Whole(), Index: x, Commit: !w.o.NoCommit && s.Bool(settings.WatchCommit),
		Debounce: time.Duration(s.Int(settings.WatchDebounce)) * time.Millisecond,
		Quiet:    seconds(settings.WatchQuiet), Poll: seconds(settings.WatchPoll),
		Close: a.Close,
	}
	w.o.Opened(a.Root(), subject.Quiet)
	return subject, nil
}

func (w *watcher) due(ctx context.Context) {
	if err := w.tryDue(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, vault.ErrBusy) {
		w.tell(watch.Event{Kind: watch.Warning, Text: "what is due: " + err.Error(), Hint: "it is tried again"})
	}
}

func (w *watcher) tryDue(ctx context.Context) (err error) {
	a, _, err := w.beside(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	sealed, err := session.SealEnded(ctx, a.v, w.e.o.Now(), session.Options{Door: a.o.Door})
	for _, s := range sealed {
		if s.Result != nil {
			w.committed(s.Result.Commits)
		}
	}
	if err != nil {
		return err
	}
	rarely := !w.e.o.Now().Before(w.next)
	if _, err := a.Learning().Work(ctx, WorkOptions{Queued: !rarely, Each: w.reviewed}); err != nil {
		return err
	}
	if !rarely {
		return nil
	}
	w.next = w.e.o.Now().Add(finishEvery)
	if w.o.Due != nil {
		err = w.o.Due(ctx, a)
		w.committed(a.made)
	}
	if err != nil || !a.Settings().Bool(settings.Cognitive) {
		return err
	}
	c, err := a.compare(true)
	if err != nil {
		return err
	}
	defer c.done()
	if c.mind != nil {
		c.mind.Wait = 0 // nobody waits, and a model that fails says so when somebody asks it
		var res *ingest.Finished
		if res, err = ingest.Finish(ctx, a.v, c, c.mind, ingest.Choice{Limit: finishAtOnce},
			Write{}.vault(a.Environment)); res != nil {
			w.committed(res.Commits)
		}
	}
	return err
}

func (w *watcher) reviewed(r *Reviewed) {
	w.committed(r.made)
	if r.Error != "" {
		w.tell(watch.Event{Kind: watch.Warning, Text: "review of session " + r.Session + ": " + r.Error,
			Hint: "it waits for the next one of the session, or for \"stet nudge\""})
	}
}

func (w *watcher) committed(commits []vault.Commit) {
	for _, c := range commits {
		w.tell(watch.Event{Kind: watch.Committed, Commit: c})
	}
}

// tell shows an event. Where nobody listens any more the watcher finds out.
func (w *watcher) tell(ev watch.Event) { _ = w.o.Emit(ev) }
