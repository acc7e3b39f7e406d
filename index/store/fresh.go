package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"stet/vault"
	"stet/vault/filelock"
)

// ErrDamaged reports index files that are torn, corrupt, of another version or
// not what they claim to be. Search never returns it: it rebuilds the index or
// reads the files instead.
var ErrDamaged = errors.New("search index is damaged")

// errNone reports that there is no index yet.
var ErrNone = errors.New("no search index yet")

// errReadOnly reports that the index may not be written.
var ErrReadOnly = errors.New("search index may not be written")

// overlayBytes bounds the changed text that is indexed in memory for one
// search: some two seconds of work. Beyond it reading the files is quicker.
const overlayBytes = 6 << 20

// IsFew reports files that are indexed in memory in that time.
func IsFew(files []vault.File) bool {
	n := int64(0)
	for i := range files {
		n += files[i].Size
	}
	return n <= overlayBytes
}

// loadTries is how often a reader starts over when a writer swept away what it
// was about to open.
const loadTries = 3

// Fresh returns a state that is open and agrees with files. Along the way the
// index on disk is brought up to date if that can be done; if not the state
// lives in memory only. read counts the files that had to be read, rebuilt is
// "" or why the index had to be made anew.
func (x *Index) Fresh(ctx context.Context, files []vault.File) (st *State, read int, rebuilt string, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	defer func() { rebuilt, x.rebuilt = x.rebuilt, "" }()
	for range loadTries {
		st, read, err = x.freshOnce(ctx, files)
		if err == nil || !errors.Is(err, ErrDamaged) {
			return st, read, "", err
		}
		if st, read, err = x.afterDamage(ctx, files, err); err == nil || !errors.Is(err, ErrBusy) {
			return st, read, "", err
		}
		// Another process holds the lock: it may have swept what was missed.
		x.st = nil
	}
	return nil, 0, "", err
}

// ErrBusy reports that another process holds the writer lock. Search never
// returns it.
var ErrBusy = filelock.ErrBusy

// afterDamage rebuilds. With the lock in hand damage is real: no writer can be
// in the middle of anything.
func (x *Index) afterDamage(ctx context.Context, files []vault.File, cause error) (*State, int, error) {
	if x.o.ReadOnly {
		return nil, 0, cause
	}
	x.o.Logger.Warn("search index rebuilt", "reason", cause)
	_, _, err := x.underLock(ctx, 0, func(s *Folder) (*State, Stats, error) {
		if st, err := x.load(); err == nil && st.open(s, nil) == nil {
			return st, Stats{}, nil // somebody else was quicker
		}
		x.rebuilt = OneLine(cause)
		return x.rebuild(ctx, s, files)
	})
	if err != nil {
		return nil, 0, errors.Join(cause, err)
	}
	// The files may have changed while somebody else rebuilt.
	return x.freshOnce(ctx, files)
}

// Warm loads what the index holds. What goes wrong here goes wrong again where
// it can be dealt with.
func (x *Index) Warm() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if st, err := x.load(); err == nil {
		if err := st.open(x.store, nil); err != nil {
			x.o.Logger.Debug("search index not warmed", "reason", err)
		}
	}
}

func (x *Index) freshOnce(ctx context.Context, files []vault.File) (*State, int, error) {
	st, err := x.load()
	if errors.Is(err, ErrNone) {
		if x.o.ReadOnly {
			return nil, 0, err
		}
		st, _, err = x.underLock(ctx, 0, func(s *Folder) (*State, Stats, error) { return x.updateOrRebuild(ctx, s, files) })
		return st, len(files), err
	}
	if err != nil {
		return nil, 0, err
	}
	ch, err := compare(ctx, x.src, x.o.Now, st.man, files)
	if err != nil {
		return nil, 0, err
	}
	if ch.empty() {
		return st, 0, st.open(x.store, x.st)
	}
	if !x.o.ReadOnly {
		up, _, err := x.underLock(ctx, 0, func(s *Folder) (*State, Stats, error) { return x.updateOrRebuild(ctx, s, files) })
		if err == nil {
			return up, len(ch.read), nil
		}
		if errors.Is(err, ErrDamaged) || ctx.Err() != nil {
			return nil, 0, err
		}
		x.o.Logger.Debug("search index not written", "reason", err)
		if !ch.onlyRestat() && !IsFew(ch.read) {
			return nil, 0, err
		}
	} else if !IsFew(ch.read) {
		return nil, 0, ErrReadOnly
	}
	if ch.onlyRestat() {
		return st, 0, st.open(x.store, x.st)
	}
	over, err := x.overlay(ctx, st, ch)
	return over, len(ch.read), err
}

// overlay is st with the changes in memory only. Its documents mask the old
// ones, and the statistics count what is alive: the answer is the one the
// written index would give.
func (x *Index) overlay(ctx context.Context, st *State, ch *changes) (*State, error) {
	b := x.builder(st.man.nextSeg, nil)
	d, mem, err := ch.gather(ctx, b)
	if err != nil {
		return nil, err
	}
	// Not remembered in x.st: its stamp is that of the written state.
	over := &State{byMessage: x.byMessage, stamp: st.stamp, man: st.man.apply(d), mem: mem}
	return over, over.open(x.store, st)
}

// load returns the published state, the one in hand when nothing happened
// since.
func (x *Index) load() (*State, error) {
	s, err := x.use(false)
	if err != nil {
		return nil, err
	}
	now, err := s.stamp()
	if err != nil {
		return nil, err
	}
	if x.st != nil && x.st.stamp == now {
		return x.st, nil
	}
	dec, got, err := s.load()
	if err != nil {
		return nil, err
	}
	st := &State{byMessage: x.byMessage, stamp: got, man: dec.man, tail: dec.tail}
	if x.st != nil && x.st.opened != nil {
		// Segments never change: what is open already can be shared.
		if err := st.open(s, x.st); err != nil {
			return nil, err
		}
	}
	x.st = st
	return st, nil
}

// use opens the index folder.
func (x *Index) use(make bool) (*Folder, error) {
	if x.store != nil {
		// The folder may have been deleted under a long-lived process.
		if x.store.Alive() {
			return x.store, nil
		}
		if err := x.store.Close(); err != nil {
			return nil, err
		}
		x.store, x.st = nil, nil
	}
	s, err := OpenFolder(x.dir, versionDir(x.lang), x.o.Hook, make)
	if err != nil {
		return nil, err
	}
	x.store = s
	return s, nil
}

// underLock runs f with the writer lock held and remembers the state it
// returns, opened.
func (x *Index) underLock(ctx context.Context, wait time.Duration, f func(*Folder) (*State, Stats, error)) (_ *State, _ Stats, err error) {
	s, err := x.use(true)
	if err != nil {
		return nil, Stats{}, err
	}
	lock, err := s.lock(ctx, wait)
	if err != nil {
		return nil, Stats{}, fmt.Errorf("search index: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	old := x.st
	st, stats, err := f(s)
	if err != nil {
		return nil, stats, err
	}
	if err := st.open(s, old); err != nil {
		return nil, stats, err
	}
	x.st = st
	return st, stats, nil
}

// Distrust forgets the state after Bluge failed on it, so that the next search
// loads and verifies everything again, and rebuilds if it can.
func (x *Index) Distrust(cause error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.st = nil
	if x.o.ReadOnly || !errors.Is(cause, ErrDamaged) {
		return
	}
	if s, err := x.use(false); err == nil {
		if lock, err := s.lock(context.Background(), 0); err == nil {
			// Without a current generation the next search makes a new one.
			err := errors.Join(s.Root.Remove("index.current", s.currentPath()), lock.Release())
			x.o.Logger.Warn("search index discarded", "reason", cause, "err", err)
		}
	}
}

// Written is the published state, opened.
func (x *Index) Written() (*State, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	st, err := x.load()
	if err != nil {
		return nil, err
	}
	return st, st.open(x.store, nil)
}

// WrittenAt is when the manifest was last written.
func (st *State) WrittenAt() time.Time { return time.Unix(0, st.stamp.mtime) }

// OneLine is the text of an error that may be several joined ones.
func OneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
