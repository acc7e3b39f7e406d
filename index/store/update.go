package store

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"stet/index/document"
	"stet/vault"
)

// Stats say what an update did.
type Stats struct {
	Added, Changed, Removed int
	// Total counts the files in the index.
	Total   int
	Took    time.Duration
	Rebuilt bool
	// Embedded counts the files that got a vector; Warnings say why others did
	// not. Both are for Rebuild with an Embedder.
	Embedded int
	Warnings []string
}

// Add counts more as done besides.
func (s *Stats) Add(more Stats) {
	s.Added += more.Added
	s.Changed += more.Changed
	s.Removed += more.Removed
	s.Total += more.Total
	s.Took += more.Took
	s.Rebuilt = s.Rebuilt || more.Rebuilt
}

// A work brings the published state up to date while the writer lock is held.
type work func(*Folder) (*State, Stats, error)

// CatchUp brings the part up to date with files. A writer in another process
// is no error: it does the same work.
func (x *Index) CatchUp(ctx context.Context, files []vault.File) (Stats, error) {
	stats, err := x.write(ctx, 0, true, func(s *Folder) (*State, Stats, error) {
		st, stats, err := x.updateOrRebuild(ctx, s, files)
		if err == nil && !stats.Rebuilt {
			st = x.maintain(ctx, s, st, false)
		}
		return st, stats, err
	})
	return stats, unless(err, "catch up", ErrBusy)
}

// Touch brings files, which are in order, up to date. Without an index, or with a damaged
// one, it leaves them to the next search.
func (x *Index) Touch(ctx context.Context, files []vault.File) (Stats, error) {
	stats, err := x.write(ctx, 0, false, func(s *Folder) (*State, Stats, error) {
		st, err := x.load()
		if err != nil {
			return nil, Stats{}, err
		}
		ch := &changes{read: files}
		for _, f := range files {
			if _, known := st.man.find(f.Path); !known {
				ch.added++
			}
		}
		return x.publishQuick(ctx, s, st, ch)
	})
	return stats, unless(err, "touch", ErrBusy, ErrNone, ErrDamaged)
}

// Refresh is [Index.Refresh] for what of the paths, which are in order, belongs
// to the part.
func (x *Index) Refresh(ctx context.Context, paths []vault.Path, files []vault.File) (Stats, error) {
	return x.write(ctx, 0, false, func(s *Folder) (*State, Stats, error) {
		st, err := x.load()
		if err != nil {
			return nil, Stats{}, err
		}
		known := &manifest{}
		for _, p := range paths {
			if r, ok := st.man.find(p); ok {
				known.recs = append(known.recs, *r)
			}
		}
		ch, err := compare(ctx, x.src, x.o.Now, known, files)
		if err != nil {
			return nil, Stats{}, err
		}
		return x.publishQuick(ctx, s, st, ch)
	})
}

// Rebuild makes the part anew from files. It fails with [ErrBusy] while
// another process writes it.
func (x *Index) Rebuild(ctx context.Context, files []vault.File) (Stats, error) {
	stats, err := x.write(ctx, rebuildWait, true, func(s *Folder) (*State, Stats, error) { return x.rebuild(ctx, s, files) })
	return stats, unless(err, "rebuild search index")
}

// unless is err, which what met, or nil where it is one of those that pass.
func unless(err error, what string, pass ...error) error {
	for _, p := range pass {
		if errors.Is(err, p) {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// write runs f alone among writers. Without make there has to be an index folder.
func (x *Index) write(ctx context.Context, wait time.Duration, make bool, f work) (Stats, error) {
	began := x.o.Now()
	x.mu.Lock()
	defer x.mu.Unlock()
	st, stats, err := x.underLock(ctx, wait, make, f)
	if err == nil {
		stats.Total = len(st.man.recs)
	}
	stats.Took = x.o.Now().Sub(began)
	return stats, err
}

// underLock runs f with the writer lock held and remembers the state it returns.
func (x *Index) underLock(ctx context.Context, wait time.Duration, make bool, f work) (st *State, stats Stats, err error) {
	s, err := x.use(make)
	if err != nil {
		return nil, Stats{}, err
	}
	lock, err := s.lock(ctx, wait)
	if err != nil {
		return nil, Stats{}, fmt.Errorf("search index: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	st, stats, err = f(s)
	x.st = st // nil after an error: how far it came is for the next load to find out
	return st, stats, err
}

// updateOrRebuild brings the published state up to date. The lock is held.
func (x *Index) updateOrRebuild(ctx context.Context, s *Folder, files []vault.File) (*State, Stats, error) {
	st, err := x.load()
	if errors.Is(err, ErrNone) || errors.Is(err, ErrDamaged) {
		return x.rebuild(ctx, s, files)
	}
	if err != nil {
		return nil, Stats{}, err
	}
	ch, err := compare(ctx, x.src, x.o.Now, st.man, files)
	if err != nil {
		return nil, Stats{}, err
	}
	if len(ch.read) > batchFiles && len(ch.read) > len(files)/2 {
		return x.rebuild(ctx, s, files)
	}
	if ch.empty() {
		return st, Stats{}, nil
	}
	return x.publish(ctx, s, st, ch)
}

// publishQuick is publish with the small merges behind it.
func (x *Index) publishQuick(ctx context.Context, s *Folder, st *State, ch *changes) (*State, Stats, error) {
	if ch.empty() {
		return st, Stats{}, nil
	}
	up, stats, err := x.publish(ctx, s, st, ch)
	if err == nil {
		up = x.maintain(ctx, s, up, true)
	}
	return up, stats, err
}

// publish writes the segments of ch and then the manifest that names them.
func (x *Index) publish(ctx context.Context, s *Folder, st *State, ch *changes) (*State, Stats, error) {
	up, err := ch.onto(ctx, st, x.builder(st.man.nextSeg, x.progress(len(ch.read))))
	if err != nil {
		return nil, Stats{}, err
	}
	st.confirm(up.man.segs, x.o.Now())
	for id, f := range up.mem {
		if err := s.writeSegment(id, f.data); err != nil {
			return nil, Stats{}, fmt.Errorf("search index: %w", err)
		}
	}
	if up.stamp, err = s.publish(up.man); err != nil {
		return nil, Stats{}, fmt.Errorf("search index: %w", err)
	}
	stats := Stats{Added: ch.added, Changed: len(ch.read) - ch.added}
	for _, p := range ch.removed {
		if _, was := st.man.find(p); was {
			stats.Removed++
		}
	}
	return up, stats, nil
}

// progress reports batches to the person who waits; nil for small work.
func (x *Index) progress(total int) func(int) {
	if x.o.Progress == nil || total < batchFiles/4 {
		return nil
	}
	return func(done int) { x.o.Progress(vault.Event{Phase: "index", Done: done, Total: total}) }
}

// rebuild writes new segments beside those that are published and then the manifest that
// names them: the commit point. The lock is held.
func (x *Index) rebuild(ctx context.Context, s *Folder, files []vault.File) (*State, Stats, error) {
	next, err := s.unusedSegment()
	if err != nil {
		return nil, Stats{}, fmt.Errorf("search index: %w", err)
	}
	man, b := &manifest{recs: make([]document.Record, 0, len(files))}, x.builder(next, x.progress(len(files)))
	err = b.build(ctx, files, func(part *batch) error {
		man.recs = append(man.recs, part.recs...)
		if part.data == nil {
			return nil
		}
		man.segs = append(man.segs, part.info)
		return s.writeSegment(part.info.id, part.data)
	})
	man.recs, man.nextSeg = document.SortRecords(man.recs), b.nextSeg
	st := newState(man, x.byMessage)
	if err == nil {
		st.stamp, err = s.publish(man)
	}
	if err != nil {
		for _, seg := range man.segs { // best effort: the next writer sweeps what is left
			_ = s.Root.Remove("index.sweep", s.segmentPath(seg.id))
		}
		return nil, Stats{}, fmt.Errorf("search index: %w", err)
	}
	if len(man.segs) > 1 {
		// Searching maps all that was written: what writing it took is given back before.
		b.out = nil
		debug.FreeOSMemory()
	}
	return x.maintain(ctx, s, st, false), Stats{Added: len(man.recs), Rebuilt: true}, nil
}
