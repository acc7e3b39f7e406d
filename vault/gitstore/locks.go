package gitstore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"time"
)

// Git's lock on X is the existence of X.lock. Ours is made by link(2) from one
// permanent file of our own, so a lock left behind by a dead process is
// recognised: it is the same inode or, in a copy that broke the link, holds the
// same words. Whoever holds the vault lock may remove it, since a living holder
// would be holding the vault lock.
//
//	<state>/lockmark ──link──► index.lock      (contents: who this is)

// A Mark is our permanent lock file. Whoever uses it holds the vault lock.
type Mark struct {
	repo *Repo
	path string // relative to the repository's root
}

// markText is what a person sees who looks into a lock file of ours.
const markText = "stet holds this lock; if no stet is running, the next stet command removes it\n"

// EnsureMark makes the lock mark in folder dir durable; it exists already in
// all but the first run. A power cut may lose what is in it: it is known by its inode.
func (r *Repo) EnsureMark(dir string) (Mark, error) {
	mark := r.markIn(dir)
	if r.root.Exists(mark.path) {
		return mark, nil
	}
	temp := mark.path + ".new"
	if err := r.root.Remove("lockmark", temp); err != nil {
		return mark, err
	}
	if err := r.root.Create("lockmark", temp, []byte(markText), 0o444); err != nil {
		return mark, err
	}
	if err := r.root.Rename("lockmark", temp, mark.path); err != nil {
		return mark, err
	}
	return mark, r.root.SyncDir("lockmark", dir)
}

func (r *Repo) markIn(dir string) Mark { return Mark{r, path.Join(dir, "lockmark")} }

// IsOurLock reports whether target+".lock" was made from the lock mark in folder
// dir.
func (r *Repo) IsOurLock(dir, target string) bool {
	return r.markIn(dir).made(target + ".lock")
}

// A FileLock is one held <name>.lock.
type FileLock struct {
	repo *Repo
	path string
}

// LockedError is an [ErrLocked] with the lock file and when it was made.
type LockedError struct {
	Path  string
	Since time.Time
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("%q: %v since %s", e.Path, ErrLocked, e.Since.Format(time.DateTime))
}

// Unwrap makes errors.Is(err, ErrLocked) true.
func (e *LockedError) Unwrap() error { return ErrLocked }

// lockPoll is the longest pause between two tries at a lock file.
const lockPoll = 20 * time.Millisecond

// Lock takes target+".lock", waiting at most wait. One that a dead process of ours left is
// taken over without ever being absent, so that no git command can act on the stale git
// index in between. It fails with a [LockedError] and never removes a lock of another
// program.
func (m Mark) Lock(ctx context.Context, target string, wait time.Duration) (*FileLock, error) {
	r, lock := m.repo, target+".lock"
	if err := r.root.MkdirAll("lock", path.Dir(lock), 0o777); err != nil {
		return nil, err
	}
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	for pause := time.Millisecond; ; pause = min(2*pause, lockPoll) {
		err := r.root.Link(path.Base(lock), m.path, lock)
		if err == nil {
			return &FileLock{repo: r, path: lock}, nil
		}
		if !exists(err) {
			return nil, err
		}
		if m.made(lock) {
			// A dead process's: the caller holds the vault lock. A power cut can
			// bring one back after its removal, with nothing else to tell of it.
			return &FileLock{repo: r, path: lock}, nil
		}
		again := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-ctx.Done():
			again.Stop()
			return nil, context.Cause(ctx)
		case <-deadline.C:
			again.Stop()
			return nil, r.lockedError(lock)
		case <-again.C:
		}
	}
}

func (r *Repo) lockedError(lock string) error {
	e := &LockedError{Path: r.root.Abs(lock)}
	if info, err := r.root.Lstat(lock); err == nil {
		e.Since = info.ModTime()
	}
	return e
}

// Unlock removes the lock file.
func (l *FileLock) Unlock() error {
	return l.repo.root.Remove(path.Base(l.path), l.path)
}

// DropDead removes target+".lock" when it is ours: its maker is dead. It reports whether
// there was one.
func (m Mark) DropDead(target string) (bool, error) {
	lock := target + ".lock"
	if !m.made(lock) {
		return false, nil // absent, or another program's
	}
	return true, m.repo.root.Remove(path.Base(lock), lock)
}

// made reports whether a file was made from the mark, or is a copy of one that was.
func (m Mark) made(lock string) bool {
	have, err := m.repo.root.Lstat(lock)
	if err != nil {
		return false
	}
	if ours, err := m.repo.root.Lstat(m.path); err == nil && os.SameFile(have, ours) {
		return true
	}
	text, _, err := m.repo.root.ReadFile(lock, int64(len(markText)))
	return err == nil && string(text) == markText
}
