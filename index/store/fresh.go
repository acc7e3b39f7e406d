package store

import (
	"context"
	"errors"
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
	var damage error
	for range loadTries {
		st, read, err = x.freshOnce(ctx, files)
		if err == nil || !errors.Is(err, ErrDamaged) || x.o.ReadOnly {
			return st, read, rebuilt, err
		}
		damage = err
		if rebuilt, err = x.afterDamage(ctx, files, damage); err != nil && !errors.Is(err, ErrBusy) {
			break
		}
		// Busy: the process that holds the lock may have swept what was missed.
	}
	return nil, 0, "", errors.Join(damage, err)
}

// ErrBusy reports that another process holds the writer lock. Search never
// returns it.
var ErrBusy = filelock.ErrBusy

// afterDamage rebuilds, unless somebody else was quicker. With the lock in hand damage
// is real: no writer can be in the middle of anything.
func (x *Index) afterDamage(ctx context.Context, files []vault.File, cause error) (rebuilt string, err error) {
	x.o.Logger.Warn("search index rebuilt", "reason", cause)
	x.st = nil
	_, _, err = x.underLock(ctx, 0, true, func(s *Folder) (*State, Stats, error) {
		if st, err := x.load(); err == nil && st.open(s, nil) == nil {
			return st, Stats{}, nil
		}
		rebuilt = OneLine(cause)
		return x.rebuild(ctx, s, files)
	})
	return rebuilt, err
}

// Warm loads what the index holds. What goes wrong here goes wrong again where
// it can be dealt with.
func (x *Index) Warm() {
	if _, err := x.Written(); err != nil && !errors.Is(err, ErrNone) {
		x.o.Logger.Debug("search index not warmed", "reason", err)
	}
}

func (x *Index) freshOnce(ctx context.Context, files []vault.File) (st *State, read int, err error) {
	ch := &changes{read: files}
	if st, err = x.load(); err == nil {
		ch, err = compare(ctx, x.src, x.o.Now, st.man, files)
	}
	old := x.st
	switch {
	case err != nil && !errors.Is(err, ErrNone):
		return nil, 0, err
	case err == nil && ch.empty():
		return st, 0, st.open(x.store, old)
	case !x.o.ReadOnly:
		up, _, werr := x.underLock(ctx, 0, true, func(s *Folder) (*State, Stats, error) { return x.updateOrRebuild(ctx, s, files) })
		if werr == nil {
			return up, len(ch.read), up.open(x.store, old)
		}
		if errors.Is(werr, ErrDamaged) || ctx.Err() != nil || st == nil {
			return nil, 0, werr
		}
		x.o.Logger.Debug("search index not written", "reason", werr)
		err = werr
	case err == nil:
		err = ErrReadOnly
	}
	if st == nil || !IsFew(ch.read) {
		return nil, 0, err
	}
	if len(ch.read)+len(ch.removed) > 0 {
		// The changes in memory only. Not remembered in x.st: the stamp is that of the
		// written state.
		if st, err = ch.onto(ctx, st, x.builder(st.man.nextSeg, nil)); err != nil {
			return nil, 0, err
		}
	}
	return st, len(ch.read), st.open(x.store, old)
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
	man, at, err := s.load()
	if err != nil {
		return nil, err
	}
	st := newState(man, x.byMessage)
	st.stamp = at
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
			// Without a manifest the next search makes a new one.
			err := errors.Join(s.Root.Remove("index.discard", s.manifestPath()), lock.Release())
			x.o.Logger.Warn("search index discarded", "reason", cause, "err", err)
		}
	}
}

// Known is the published state for who asks for its records alone: no segment is read.
func (x *Index) Known() (*State, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.load()
}

// Flagged reports whether any record of the published state has [document.FlagPending] or
// [document.FlagDoubts], as the head of its file says.
func (x *Index) Flagged() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	s, err := x.use(false)
	if err != nil {
		return false
	}
	at, err := s.stamp()
	return err == nil && flagged(at.head[:]) > 0
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
