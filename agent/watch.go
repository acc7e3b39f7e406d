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

// LiveOptions describe a conversation that a program holds.
type LiveOptions struct {
	ID     string // what the program calls it
	Agent  string // the program's name; "" is the user
	Source string // how it is held: voice, sms…
	// Learnt is told of each review, from a goroutine of its own; nil is nobody.
	Learnt func(*Reviewed)
}

// A Live is a conversation that a program holds. It is safe for concurrent use, and learns beside the
// conversation: no turn waits for a model. It is closed.
type Live struct {
	o    LiveOptions
	mu   sync.Mutex // an App serves one goroutine
	a    *App
	due  chan struct{}
	stop func()
	wg   sync.WaitGroup
}

// Session begins a conversation, or goes on with the one of that id. The reviews that an earlier process
// left are made now.
func (a *App) Session(ctx context.Context, o LiveOptions) (*Live, error) {
	own := a.o
	own.Agent, own.Ask, own.Progress, own.Notify = o.Agent, nil, nil, nil
	s := &Live{o: o, due: make(chan struct{}, 1)}
	var err error
	if s.a, err = NewEnvironment(own).OpenAt(ctx, a.place, false); err != nil {
		return nil, err
	}
	reviewer, err := NewEnvironment(own).OpenAt(ctx, a.place, false)
	if err != nil {
		return nil, errors.Join(err, s.a.Close())
	}
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.due <- struct{}{}
	s.wg.Go(func() {
		s.learn(ctx, reviewer)
		_ = reviewer.Close() // what it wrote is durable
	})
	return s, nil
}

// learn makes the reviews that are due until ctx ends. What fails stands in [Learning.Reviews].
func (s *Live) learn(ctx context.Context, a *App) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.due:
			_, _ = a.Learning().Work(ctx, WorkOptions{Write: Write{Agent: s.o.Agent}, Each: s.o.Learnt})
		}
	}
}

// Turn adds what somebody said; role is one of [Roles]. It fails as [Sessions.Observe] does.
func (s *Live) Turn(ctx context.Context, role, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	done, err := s.a.Sessions().Observe(ctx, session.Turn{Session: s.o.ID, Agent: s.o.Agent, Source: s.o.Source,
		Role: role, Text: []byte(text)})
	if err == nil && done.Queued {
		select {
		case s.due <- struct{}{}:
		default: // it is looked already
		}
	}
	return err
}

// Flush learns from the conversation before a part of it is forgotten, see [Learning.Flush].
func (s *Live) Flush(ctx context.Context) (*Reviewed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.a.Learning().Flush(ctx, Write{Agent: s.o.Agent}, s.o.Agent, s.o.ID)
}

// Close ends the conversation and waits for no model: what nobody has reviewed is queued for the next
// process, and so is a review that is under way. A conversation in which nothing was said leaves nothing.
func (s *Live) Close() error {
	s.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	key := session.Key(s.o.Agent, s.o.ID)
	_, err := session.FindOpen(s.a.v, key)
	if err == nil {
		_, err = s.a.Sessions().End(context.Background(),
			EndOptions{Write: Write{Agent: s.o.Agent}, Refs: []string{key}, Reason: "ended"})
	}
	if errors.Is(err, session.ErrUnknownSession) {
		err = nil
	}
	s.wg.Wait()
	return errors.Join(err, s.a.Close())
}
