package watch

import (
	"context"
	"errors"
	"time"
)

// claim names the lock that makes a watcher the only one of its vault.
const claim = "watch"

// Run watches until ctx ends, which is no error. It fails with [vault.ErrBusy]
// when the vault is watched already, and with what Options.Open says at first.
func Run(ctx context.Context, o Options) error {
	if o.Now == nil || o.Open == nil || o.Emit == nil {
		return errors.New("watch: Options.Now, Open and Emit are required")
	}
	w := &watcher{o: o, said: map[string]bool{}}
	for first := true; ; first = false {
		again, err := w.once(ctx, first)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if !again || ctx.Err() != nil {
			o.Emit(Event{Kind: Stopped})
			return nil
		}
	}
}

// A watcher is what outlives one opening of the vault.
type watcher struct {
	o    Options
	said map[string]bool // warnings that still hold
	left map[string]bool // hand edits that were reported as left alone
	poll time.Duration   // of the last opening
}

// once opens the vault and follows it until it must be opened anew.
func (w *watcher) once(ctx context.Context, first bool) (again bool, err error) {
	sub, err := w.o.Open(ctx)
	if err != nil {
		if first || ctx.Err() != nil {
			return false, err
		}
		w.warn(away, Event{Text: "the vault is away: " + err.Error(), Hint: "watching goes on when it is back"})
		return pause(ctx, w.poll), nil
	}
	defer func() { err = errors.Join(err, sub.Close()) }()
	w.holds(away, false)
	w.poll = sub.Poll
	release, err := sub.Vault.Claim(ctx, claim)
	if err != nil {
		return false, busy(sub.Vault.Root(), err)
	}
	defer func() { err = errors.Join(err, release()) }()
	s := &session{w: w, o: w.o, sub: sub, h: newHints(w.o.Now, sub), outcomes: make(chan outcome, 1), idled: true}
	return s.run(ctx)
}

// The troubles that are told of once, until they are over.
const (
	away      = "away"      // the vault's folder
	operation = "operation" // an unfinished one of git's
	stuck     = "stuck"     // commits fail
	missing   = "missing"   // deletions that are not believed
)

// warn emits a warning unless trouble of that name, or else of that text, has
// been told of and still holds.
func (w *watcher) warn(name string, e Event) {
	e.Kind = Warning
	if name == "" {
		name = e.Text
	}
	if !w.said[name] {
		w.said[name] = true
		w.o.Emit(e)
	}
}

// holds ends a trouble when it holds no more.
func (w *watcher) holds(name string, still bool) {
	if !still {
		delete(w.said, name)
	}
}

// pause waits and reports whether to go on.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
