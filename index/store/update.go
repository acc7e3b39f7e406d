package store

import (
	"context"
	"errors"
	"fmt"
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

// The manifest file is rewritten once so many blocks stand behind its first
// one: reading a block costs a reader about as much as 64 records.
const maxBlocks = 64

// CatchUp brings the part up to date with files. A writer in another process
// is no error: it does the same work.
func (x *Index) CatchUp(ctx context.Context, files []vault.File) (Stats, error) {
	began := x.o.Now()
	x.mu.Lock()
	defer x.mu.Unlock()
	_, stats, err := x.underLock(ctx, 0, func(s *Folder) (*State, Stats, error) {
		st, stats, err := x.updateOrRebuild(ctx, s, files)
		if err == nil && !stats.Rebuilt {
			st = x.maintain(ctx, s, st, false)
		}
		return st, stats, err
	})
	return x.finish(stats, began, "catch up", err)
}

// Touch brings files, which are in order, up to date.
func (x *Index) Touch(ctx context.Context, files []vault.File) (Stats, error) {
	began := x.o.Now()
	x.mu.Lock()
	defer x.mu.Unlock()
	s, err := x.use(false)
	if err != nil {
		return x.finish(Stats{}, began, "touch", err)
	}
	lock, err := s.lock(ctx, 0)
	if err != nil {
		return x.finish(Stats{}, began, "touch", err)
	}
	stats, err := x.touch(ctx, s, files)
	return x.finish(stats, began, "touch", errors.Join(err, lock.Release()))
}

// touch adds the files to the published index. Only a writer that has the
// manifest in hand anyway looks at its records.
func (x *Index) touch(ctx context.Context, s *Folder, files []vault.File) (Stats, error) {
	at, err := s.stamp()
	if err != nil {
		return Stats{}, err
	}
	if x.st == nil || x.st.stamp != at {
		return x.touchBlind(ctx, s, at.gen, files)
	}
	ch := &changes{read: files}
	for _, f := range files {
		if _, known := x.st.man.find(f.Path); !known {
			ch.added++
		}
	}
	up, stats, err := x.publish(ctx, s, x.st, ch)
	if err != nil {
		return stats, err
	}
	x.st = x.maintain(ctx, s, up, true)
	return stats, nil
}

// touchBlind adds the files without reading a single record of the manifest,
// unless so many small updates stand behind it that it is time to tidy up.
func (x *Index) touchBlind(ctx context.Context, s *Folder, gen string, files []vault.File) (Stats, error) {
	x.st = nil
	t, err := s.loadTail(gen)
	if err != nil {
		return Stats{}, err
	}
	small := tierGroup(t.segs, quickBytes)
	if t.torn || t.blocks >= maxBlocks || len(small) > 0 {
		if _, err := x.load(); err != nil {
			return Stats{}, err
		}
		return x.touch(ctx, s, files)
	}
	ch := &changes{read: files}
	b := x.builder(t.nextSeg, nil)
	d, mem, err := ch.gather(ctx, b)
	if err != nil || d.empty() {
		return Stats{}, err
	}
	if err := writeSegments(s, gen, d, mem); err != nil {
		return Stats{}, err
	}
	block, _ := encodeDelta(d, t.sum)
	if err := s.appendManifest(gen, block); err != nil { // commit point
		return Stats{}, fmt.Errorf("search index: %w", err)
	}
	return Stats{Changed: len(d.recs), Removed: len(d.removed)}, nil
}

// writeSegments writes the segments of d, which nothing names yet.
func writeSegments(s *Folder, gen string, d *delta, mem map[uint64]*segmentFile) error {
	for _, info := range d.segs {
		if err := s.writeSegment(gen, info.id, mem[info.id].data); err != nil {
			return fmt.Errorf("search index: %w", err)
		}
	}
	return nil
}

// finish completes stats. That another process is at work, or that there is no
// index yet, is no failure.
func (x *Index) finish(stats Stats, began time.Time, what string, err error) (Stats, error) {
	stats.Took = x.o.Now().Sub(began)
	if x.st != nil && err == nil {
		stats.Total = len(x.st.man.recs)
	}
	switch {
	case errors.Is(err, ErrBusy), errors.Is(err, ErrNone):
		return stats, nil
	case err != nil && what == "touch" && errors.Is(err, ErrDamaged):
		x.st = nil // the next search looks at the damage
		return stats, nil
	case err != nil:
		return stats, fmt.Errorf("%s: %w", what, err)
	}
	return stats, nil
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

// publish writes the segments of ch and then the block that names them.
func (x *Index) publish(ctx context.Context, s *Folder, st *State, ch *changes) (*State, Stats, error) {
	b := x.builder(st.man.nextSeg, x.progress(len(ch.read)))
	d, mem, err := ch.gather(ctx, b)
	if err != nil {
		return nil, Stats{}, err
	}
	if d.empty() {
		return st, Stats{}, nil
	}
	gen := st.stamp.gen
	if err := writeSegments(s, gen, d, mem); err != nil {
		return nil, Stats{}, err
	}
	up := &State{byMessage: x.byMessage, man: st.man.apply(d), mem: mem, tail: tail{blocks: st.tail.blocks + 1}}
	if st.tail.torn || up.tail.blocks > maxBlocks {
		err = x.writeWhole(s, gen, up)
	} else {
		var block []byte
		block, up.tail.sum = encodeDelta(d, st.tail.sum)
		err = s.appendManifest(gen, block) // commit point
	}
	if err != nil {
		x.st = nil // how far the append came is for the next load to find out
		return nil, Stats{}, fmt.Errorf("search index: %w", err)
	}
	if up.stamp, err = s.stamp(); err != nil {
		return nil, Stats{}, err
	}
	removed := 0
	for _, p := range d.removed {
		if _, was := st.man.find(p); was {
			removed++
		}
	}
	return up, Stats{Added: ch.added, Changed: len(ch.read) - ch.added, Removed: removed}, nil
}

// writeWhole replaces the manifest file by one block.
func (x *Index) writeWhole(s *Folder, gen string, st *State) error {
	var file []byte
	file, st.tail.sum = encodeManifest(st.man)
	st.tail.blocks, st.tail.torn = 0, false
	return s.writeManifest(gen, file)
}

// progress reports batches to the person who waits; nil for small work.
func (x *Index) progress(total int) func(int) {
	if x.o.Progress == nil || total < batchFiles/4 {
		return nil
	}
	return func(done int) { x.o.Progress(vault.Event{Phase: "index", Done: done, Total: total}) }
}

// Rebuild makes the part anew from files. It fails with [ErrBusy] while
// another process writes it.
func (x *Index) Rebuild(ctx context.Context, files []vault.File) (Stats, error) {
	began := x.o.Now()
	x.mu.Lock()
	defer x.mu.Unlock()
	_, stats, err := x.underLock(ctx, rebuildWait, func(s *Folder) (*State, Stats, error) { return x.rebuild(ctx, s, files) })
	if errors.Is(err, ErrBusy) {
		return stats, fmt.Errorf("rebuild search index: %w", err)
	}
	return x.finish(stats, began, "rebuild search index", err)
}

// rebuild writes a new generation beside the published one and then publishes
// it by renaming the file current: the commit point. The lock is held.
func (x *Index) rebuild(ctx context.Context, s *Folder, files []vault.File) (_ *State, _ Stats, err error) {
	gen, err := s.newGeneration()
	if err != nil {
		return nil, Stats{}, fmt.Errorf("search index: %w", err)
	}
	published := false
	defer func() {
		if err != nil && !published {
			// Best effort: the next writer sweeps what is left.
			s.removeExcept(s.version+"/"+gen, nil)
		}
	}()
	man := &manifest{}
	b := x.builder(0, x.progress(len(files)))
	err = b.build(ctx, files, func(part *batch) error {
		man.recs = append(man.recs, part.recs...)
		if part.data == nil {
			return nil
		}
		man.segs = append(man.segs, part.info)
		return s.writeSegment(gen, part.info.id, part.data)
	})
	if err != nil {
		return nil, Stats{}, err
	}
	man.recs = document.SortRecords(man.recs)
	man.nextSeg = b.nextSeg
	st := &State{byMessage: x.byMessage, man: man}
	if err := x.writeWhole(s, gen, st); err != nil {
		return nil, Stats{}, fmt.Errorf("search index: %w", err)
	}
	if err := s.publish(gen); err != nil {
		return nil, Stats{}, fmt.Errorf("search index: %w", err)
	}
	published = true
	if st.stamp, err = s.stamp(); err != nil {
		return nil, Stats{}, err
	}
	return x.maintain(ctx, s, st, false), Stats{Added: len(man.recs), Rebuilt: true}, nil
}
