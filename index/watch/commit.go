package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"stet/vault"
)

// door is how commits say that they came through a watcher.
const door = "watch"

// The pauses before another try to commit.
const (
	retryBusy   = 2 * time.Second  // another writer, or git
	retryFailed = 30 * time.Second // a disk, a permission
	// lockPatience is how long git's lock is taken for a command at work; later
	// the vault is asked, which knows the lock of a dead stet from git's.
	lockPatience = 10 * time.Second
)

// An outcome is what one try to commit came to.
type outcome struct {
	res     *vault.Result
	err     error
	missing *vault.MassDeletionError // what was not believed
}

// commit starts to adopt what has been quiet long enough, unless git is in the
// middle of something. It goes on beside the loop: a second look at a deletion
// takes a second, in which edits must still reach the index.
func (s *session) commit(ctx context.Context, now time.Time) {
	if !s.sub.Commit || s.committing || now.Before(s.retry) {
		return
	}
	s.h.mu.Lock()
	next, waiting := s.h.quiet.next()
	s.h.mu.Unlock()
	if !waiting || now.Before(next) || !s.gitIsDone(now) {
		return
	}
	s.h.mu.Lock()
	paths, all, _ := s.h.quiet.take(now)
	s.h.mu.Unlock()
	if len(paths) == 0 && !all {
		return
	}
	s.committing = true
	s.jobs.Go(func() { s.outcomes <- s.adopt(ctx) })
}

// gitIsDone reports whether a commit may be tried, and when not, when to look
// again.
func (s *session) gitIsDone(now time.Time) bool {
	git := s.sub.Vault.Git()
	if git.Operation != "" {
		s.w.warn(operation, Event{Text: "an unfinished git " + git.Operation + ": hand edits are not committed before it ends",
			Hint: "finish or abort it with git"})
		s.retry = now.Add(retryBusy)
		return false
	}
	s.w.holds(operation, false)
	if !git.Locked {
		s.lockedAt = time.Time{}
		return true
	}
	if s.lockedAt.IsZero() {
		s.lockedAt = now
	}
	if now.Sub(s.lockedAt) < lockPatience {
		s.retry = now.Add(retryBusy / 4)
		return false
	}
	return true
}

// adopt commits what is quiet. Where so much vanished that it is not believed,
// the rest is committed alone.
func (s *session) adopt(ctx context.Context) (out outcome) {
	if s.vanished() {
		return outcome{res: &vault.Result{Unchanged: true}}
	}
	o := vault.AdoptOptions{Door: door, Leave: s.leave}
	out.res, out.err = s.sub.Vault.Adopt(ctx, o)
	if errors.As(out.err, &out.missing) {
		o.Leave = func(c vault.Change) bool { return c.Status == vault.Deleted || s.leave(c) }
		out.res, out.err = s.sub.Vault.Adopt(ctx, o)
	}
	return out
}

// leave reports what must not be committed yet: what changed again, what was
// written a moment ago though no event has said so, and what is nobody's text.
func (s *session) leave(c vault.Change) bool {
	if temporary(c.Path) || s.h.unsettled(c.Path) {
		return true
	}
	info, err := os.Lstat(filepath.Join(s.sub.Vault.Root(), filepath.FromSlash(string(c.Path))))
	if err != nil {
		return false // a deletion, which Adopt looks at twice
	}
	// A time in the future says nothing; the events have said what they could.
	if age := s.o.Now().Sub(info.ModTime()); age >= 0 && age < s.sub.Quiet {
		s.h.later(c.Path, info.ModTime())
		return true
	}
	return false
}

// committed takes up the outcome of a commit.
func (s *session) committed(out outcome) {
	s.committing = false
	now := s.o.Now()
	s.worked, s.idled = now, false
	s.w.holds(missing, out.missing != nil)
	if out.missing != nil {
		s.w.warn(missing, Event{Text: fmt.Sprintf("files vanished at once, %d of %d: they left the index, and their deletion is not committed", out.missing.Missing, out.missing.Total),
			Hint: out.missing.Hint()})
	}
	if out.err != nil {
		s.failed(out.err, now)
		return
	}
	s.w.holds(stuck, false)
	for _, c := range out.res.Commits {
		s.head = c.Rev
		s.o.Emit(Event{Kind: Committed, Commit: c})
	}
	for _, text := range out.res.Warnings {
		s.o.Emit(Event{Kind: Warning, Text: text})
	}
	left := map[string]bool{}
	for _, p := range out.res.Held {
		key := string(p.Path) + "\x00" + p.Text
		left[key] = true
		if !s.w.left[key] {
			s.o.Emit(Event{Kind: Left, Path: p.Path, Text: p.Text, Hint: p.Hint})
		}
	}
	s.w.left = left
}

// failed puts everything back that a commit was to take.
func (s *session) failed(err error, now time.Time) {
	if errors.Is(err, context.Canceled) {
		return
	}
	s.retry = now.Add(retryFailed)
	if errors.Is(err, vault.ErrBusy) || errors.Is(err, vault.ErrInProgress) {
		s.retry = now.Add(retryBusy)
	}
	s.h.with(func(time.Time) { s.h.quiet.addAll(now.Add(-s.sub.Quiet)) })
	if errors.Is(err, vault.ErrBusy) {
		return // it passes; edits are safe on disk meanwhile
	}
	e := Event{Text: "hand edits are not committed: " + err.Error()}
	var hinter interface{ Hint() string }
	if errors.As(err, &hinter) {
		e.Hint = hinter.Hint()
	}
	s.w.warn(stuck, e)
}

// A busyError says that the vault is watched already. It is a [vault.ErrBusy].
type busyError struct {
	root string
	err  error
}

func busy(root string, err error) error {
	switch {
	case errors.Is(err, vault.ErrReadOnly):
		return vault.WithHint(fmt.Errorf("watch %q: %w", root, err),
			"a watcher keeps its lock and the search index inside the vault; searches are right without one")
	case errors.Is(err, vault.ErrBusy):
		return &busyError{root, err}
	}
	return err
}

func (e *busyError) Error() string {
	return fmt.Sprintf("watch %q: it is watched already: %v", e.root, e.err)
}

func (e *busyError) Unwrap() error { return e.err }

// Hint names the next step.
func (e *busyError) Hint() string { return "one watcher a vault is enough; end the other one first" }
