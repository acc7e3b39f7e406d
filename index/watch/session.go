package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"stet/vault"
)

// A session is one opening of the vault.
type session struct {
	w   *watcher
	o   Options
	sub Subject
	h   *hints
	src closer
	// here tells the vault's folder from another one at its place.
	here os.FileInfo
	head vault.Revision
	mode string

	last     time.Time // the last step
	beat     time.Time // the last look at the vault's folder
	swept    time.Time // the last look at everything
	worked   time.Time // when something last happened
	idled    bool      // memory has been given back since
	dueAt    time.Time
	dueBusy  chan struct{} // closed when the due work ends; nil without any
	retry    time.Time     // no commit before
	lockedAt time.Time     // since when git's lock has been seen

	committing bool
	outcomes   chan outcome
	jobs       sync.WaitGroup
}

// run follows the vault; again says that it must be opened anew.
func (s *session) run(ctx context.Context) (again bool, err error) {
	ctx, end := context.WithCancel(ctx)
	defer func() {
		end()
		s.jobs.Wait()
		select {
		case out := <-s.outcomes: // made in the last moment
			s.committed(out)
		default:
		}
		if s.src != nil {
			err = errors.Join(err, s.src.Close())
		}
	}()
	if s.here, err = os.Stat(s.sub.Vault.Root()); err != nil && s.o.gone == nil {
		return true, nil
	}
	if err := s.start(ctx); err != nil {
		return false, err
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return false, nil
		case <-s.h.wake:
		case <-timer.C:
		case out := <-s.outcomes:
			s.committed(out)
		}
		if again := s.step(ctx); again {
			return true, nil
		}
		s.last = s.o.Now()
		timer.Reset(s.nextStep().Sub(s.last))
	}
}

// start begins to follow and looks at everything once.
func (s *session) start(ctx context.Context) error {
	if err := s.listen(ctx); err != nil {
		return err
	}
	began := s.o.Now()
	head, err := s.sub.Vault.Head()
	if err != nil {
		return err
	}
	s.head = head
	stats, err := s.sub.Index.CatchUp(ctx)
	if err != nil {
		return err
	}
	now := s.o.Now()
	s.last, s.beat, s.swept, s.worked, s.idled, s.dueAt = now, now, now, now, false, now
	started := Event{Kind: Started, Mode: s.mode, Commits: s.sub.Commit, Files: stats.Total, Took: now.Sub(began)}
	if t, ok := s.src.(*tree); ok {
		started.Folders = t.folders()
	}
	s.indexed(stats, began)
	s.o.Emit(started)
	// What was edited while nobody watched.
	s.h.with(func(now time.Time) { s.h.quiet.addAll(now) })
	return nil
}

// listen starts the source of hints: events, or looking where there are none.
func (s *session) listen(ctx context.Context) (err error) {
	s.mode = "events"
	if s.o.source != nil {
		s.src, err = s.o.source(ctx, s.sub, s.h)
		return err
	}
	t, err := follow(ctx, s.sub.Vault, s.h, s.o.add)
	var limit *LimitError
	if errors.As(err, &limit) {
		s.look(ctx, limit)
		return nil
	}
	if err == nil {
		s.src = t
	}
	return err
}

// look takes up polling after the system's limit was met.
func (s *session) look(ctx context.Context, limit *LimitError) {
	s.w.warn("", Event{Text: fmt.Sprintf("%v; looking every %s instead", limit, s.sub.Poll), Hint: limit.Hint()})
	s.mode = "polling"
	s.src = poll(ctx, s.sub.Vault, s.h, s.sub.Poll)
}

// nextStep is when there is something to do next, a hint apart.
func (s *session) nextStep() time.Time {
	next := s.beat.Add(heartbeat)
	sooner := func(t time.Time) {
		if t.Before(next) {
			next = t
		}
	}
	s.h.mu.Lock()
	defer s.h.mu.Unlock()
	if t, ok := s.h.index.next(); ok {
		sooner(t)
	}
	if t, ok := s.h.quiet.next(); ok && s.sub.Commit && !s.committing {
		if t.Before(s.retry) {
			t = s.retry
		}
		sooner(t)
	}
	if !s.idled {
		sooner(s.worked.Add(idle))
	}
	return next
}

// step does everything that is to be done now.
func (s *session) step(ctx context.Context) (again bool) {
	now := s.o.Now()
	// Measured on the wall: the clock of timers stands still while a machine
	// sleeps.
	if passed := now.Round(0).Sub(s.last.Round(0)); passed > heartbeat+slack || passed < -slack {
		s.h.lost()
	}
	if now.Sub(s.beat) >= heartbeat || now.Before(s.beat) {
		if s.beat = now; s.vanished() {
			return true
		}
	}
	if again := s.news(ctx); again {
		return true
	}
	if s.update(ctx, now) {
		return true
	}
	s.commit(ctx, now)
	s.due(ctx, now)
	if now = s.o.Now(); !s.idled && now.Sub(s.worked) >= idle && !s.committing {
		s.idled = true
		if err := s.sub.Index.Close(); err != nil {
			s.w.warn("", Event{Text: "close the search index: " + err.Error()})
		}
		debug.FreeOSMemory()
	}
	return false
}

// vanished reports that the vault's folder is not the one that was opened, or
// holds no vault: unmounted, moved, or on a branch without one. Nothing may be
// concluded then from files that are missing.
func (s *session) vanished() bool {
	if s.o.gone != nil {
		return s.o.gone()
	}
	root := s.sub.Vault.Root()
	info, err := os.Stat(root)
	if err != nil || !os.SameFile(info, s.here) {
		return true
	}
	_, err = os.Stat(filepath.Join(root, filepath.FromSlash(string(vault.Marker))))
	return errors.Is(err, os.ErrNotExist)
}

// news takes up what the source reports beside changed files.
func (s *session) news(ctx context.Context) (again bool) {
	s.h.mu.Lock()
	git, trouble, failed, config := s.h.git, s.h.trouble, s.h.failed, s.h.config
	s.h.git, s.h.trouble, s.h.failed, s.h.config = false, nil, nil, false
	s.h.mu.Unlock()
	for _, e := range trouble {
		s.w.warn("", e)
	}
	var limit *LimitError
	if errors.As(failed, &limit) {
		if err := s.src.Close(); err != nil {
			s.w.warn("", Event{Text: "end the system's events: " + err.Error()})
		}
		s.look(ctx, limit)
		s.h.lost()
	}
	if git {
		s.moved(ctx)
		s.retry = time.Time{} // what was waited for may be over
	}
	return config
}
