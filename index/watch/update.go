package watch

import (
	"context"
	"errors"
	"time"

	"stet/index"
	"stet/vault"
)

// moved looks at what a new HEAD means for the files: events of a checkout may
// have been lost.
func (s *session) moved(ctx context.Context) {
	head, err := s.sub.Vault.Head()
	if err != nil || head == s.head {
		return
	}
	before := s.head
	s.head = head
	changes, err := s.sub.Vault.Changes(ctx, before, head)
	if err != nil || len(changes) > manyPaths {
		s.h.with(func(now time.Time) { s.h.index.addAll(now) })
		return
	}
	s.h.with(func(now time.Time) {
		for _, c := range changes {
			s.h.index.add(c.Path, now)
			if c.From != "" {
				s.h.index.add(c.From, now)
			}
		}
	})
}

// update brings the index up to date with what was reported.
func (s *session) update(ctx context.Context, now time.Time) (again bool) {
	s.h.mu.Lock()
	paths, all, since := s.h.index.take(now)
	s.h.mu.Unlock()
	swept := now.Sub(s.swept) >= sweep || now.Before(s.swept)
	if !all && !swept && len(paths) == 0 {
		return false
	}
	if all || swept {
		if s.vanished() {
			return true
		}
		s.swept = now
	}
	stats, err := s.refresh(ctx, paths, all || swept)
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, vault.ErrBusy): // a search that catches up, as a rule
		s.h.with(func(now time.Time) {
			for _, p := range paths {
				s.h.index.add(p, now)
			}
		})
	case err != nil:
		s.w.warn("", Event{Text: err.Error(), Hint: "searches look at the files themselves"})
	default:
		if since.IsZero() {
			since = now
		}
		if s.indexed(stats, since) && swept && !all {
			s.h.with(func(now time.Time) { s.h.quiet.addAll(now) })
		}
	}
	s.worked, s.idled = s.o.Now(), false
	return false
}

func (s *session) refresh(ctx context.Context, paths []vault.Path, all bool) (index.Stats, error) {
	if all {
		return s.sub.Index.CatchUp(ctx)
	}
	files, err := s.sub.Vault.Pick(ctx, paths)
	if err != nil {
		return index.Stats{}, err
	}
	return s.sub.Index.Refresh(ctx, paths, files)
}

// indexed tells what an update did, if anything.
func (s *session) indexed(stats index.Stats, since time.Time) bool {
	if stats.Added+stats.Changed+stats.Removed == 0 {
		return false
	}
	s.o.Emit(Event{Kind: Indexed, Added: stats.Added, Changed: stats.Changed, Removed: stats.Removed, Took: s.o.Now().Sub(since)})
	return true
}

// due starts the due work when it is time and none is running.
func (s *session) due(ctx context.Context, now time.Time) {
	if s.o.Due == nil || now.Before(s.dueAt) {
		return
	}
	if s.dueBusy != nil {
		select {
		case <-s.dueBusy:
		default:
			return
		}
	}
	done := make(chan struct{})
	s.dueBusy, s.dueAt = done, now.Add(dueEvery)
	s.jobs.Go(func() {
		defer close(done)
		s.o.Due(ctx)
	})
}
