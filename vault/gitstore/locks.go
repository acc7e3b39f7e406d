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
// recognised for certain: it is the same inode. Whoever holds the vault lock
// may remove it, since a living holder would be holding the vault lock.
//
//	<state>/lockmark ──link──► index.lock      (contents: who this is)

// Mark names our permanent lock file, relative to the repository's root.
type Mark string

// markText is what a person sees who looks into a lock file of ours.
const markText = "stet holds this lock; if no stet is running, the next stet command removes it\n"

// EnsureMark makes the lock mark in folder dir durable; it exists already in
// all but the first run. What is in it may be lost: it is known by its inode.
func (r *Repo) EnsureMark(dir string) (Mark, error) {
	mark := markIn(dir)
	if r.root.Exists(mark) {
		return Mark(mark), nil
	}
	temp := mark + ".new"
	if err := r.root.Remove("lockmark", temp); err != nil {
		return "", err
	}
	if err := r.root.Create("lockmark", temp, []byte(markText), 0o444); err != nil {
		return "", err
	}
	if err := r.root.Rename("lockmark", temp, mark); err != nil {
		return "", err
	}
	return Mark(mark), r.root.SyncDir("lockmark", dir)
}

func markIn(dir string) string { return path.Join(dir, "lockmark") }

// IsOurLock reports whether target+".lock" was made from the lock mark in folder
// dir.
func (r *Repo) IsOurLock(dir, target string) bool {
	return r.isOurs(Mark(markIn(dir)), target+".lock")
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

// LockFile takes target+".lock", waiting at most wait. The caller holds the
// vault lock. It fails with a [LockedError] and never removes a lock of
// another program.
func (r *Repo) LockFile(ctx context.Context, mark Mark, target string, wait time.Duration) (*FileLock, error) {
	lock := target + ".lock"
	if err := r.root.MkdirAll("lock", path.Dir(lock), 0o777); err != nil {
		return nil, err
	}
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	for pause := time.Millisecond; ; pause = min(2*pause, lockPoll) {
		err := r.root.Link(path.Base(lock), string(mark), lock)
		if err == nil {
			return &FileLock{repo: r, path: lock}, nil
		}
		if !exists(err) {
			return nil, err
		}
		if r.isOurs(mark, lock) {
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

// DropDead removes target+".lock" when it is ours. The caller holds the vault
// lock, so its maker is dead. It reports whether there was one.
func (r *Repo) DropDead(mark Mark, target string) (bool, error) {
	lock := target + ".lock"
	if !r.isOurs(mark, lock) {
		return false, nil // absent, or another program's
	}
	return true, r.root.Remove(path.Base(lock), lock)
}

// ResumeLock takes target+".lock" for recovery: one that a dead process of ours
// left is taken over without ever being absent, so that no git command can act
// on the stale git index in between.
func (r *Repo) ResumeLock(ctx context.Context, mark Mark, target string, wait time.Duration) (*FileLock, error) {
	lock := target + ".lock"
	if r.isOurs(mark, lock) {
		return &FileLock{repo: r, path: lock}, nil
	}
	return r.LockFile(ctx, mark, target, wait)
}

func (r *Repo) isOurs(mark Mark, lock string) bool {
	have, err := r.root.Lstat(lock)
	if err != nil {
		return false
	}
	ours, err := r.root.Lstat(string(mark))
	return err == nil && os.SameFile(have, ours)
}
