package index

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"stet/vault"
)

// The manifest file is rewritten once so many blocks stand behind its first
// one: reading a block costs a reader about as much as 64 records.
const maxBlocks = 64

// CatchUp brings the index up to date with the files on disk. A writer in
// another process is no error: it does the same work. Without one the errors
// are those of the disk. With Options.ReadOnly it does nothing.
func (x *Index) CatchUp(ctx context.Context) (Stats, error) {
	began := x.o.Now()
	if x.o.ReadOnly {
		return Stats{}, nil
	}
	files, err := x.src.Files(ctx, vault.WalkOptions{Archive: true})
	if err != nil {
		return Stats{}, fmt.Errorf("catch up: %w", err)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	_, stats, err := x.underLock(ctx, 0, func(s *store) (*state, Stats, error) {
		st, stats, err := x.updateOrRebuild(ctx, s, files)
		if err == nil && !stats.Rebuilt {
			st = x.maintain(s, st, false)
		}
		return st, stats, err
	})
	return x.finish(stats, began, "catch up", err)
}

// Touch brings the given files up to date without looking at any other: for
// the writer that has just written them. Where there is no usable index yet,
// or another process is writing it, Touch leaves everything to the next search.
// It may count a new file as a changed one: it does not look.
func (x *Index) Touch(ctx context.Context, paths []vault.Path) (Stats, error) {
	began := x.o.Now()
	files := make([]vault.File, 0, len(paths))
	for _, p := range paths {
		if class := vault.ClassOf(p); p.IsMarkdown() && class != vault.ClassConfig && class != vault.ClassReport {
			files = append(files, vault.File{Path: p})
		}
	}
	if len(files) == 0 || x.o.ReadOnly {
		return Stats{}, nil
	}
	slices.SortFunc(files, func(a, b vault.File) int {
		if a.Path < b.Path {
			return -1
		}
		return 1
	})
	files = slices.CompactFunc(files, func(a, b vault.File) bool { return a.Path == b.Path })
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
func (x *Index) touch(ctx context.Context, s *store, files []vault.File) (Stats, error) {
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
	x.st = x.maintain(s, up, true)
	return stats, nil
}

// touchBlind adds the files without reading a single record of the manifest,
// unless so many small updates stand behind it that it is time to tidy up.
func (x *Index) touchBlind(ctx context.Context, s *store, gen string, files []vault.File) (Stats, error) {
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
	b := &builder{src: x.src, now: x.o.Now, nextSeg: t.nextSeg}
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
func writeSegments(s *store, gen string, d *delta, mem map[uint64]*segmentFile) error {
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
	case errors.Is(err, ErrBusy), errors.Is(err, errNone):
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
func (x *Index) updateOrRebuild(ctx context.Context, s *store, files []vault.File) (*state, Stats, error) {
	st, err := x.load()
	if errors.Is(err, errNone) || errors.Is(err, ErrDamaged) {
		return x.rebuild(ctx, s, files)
	}
	if err != nil {
		return nil, Stats{}, err
	}
	ch := compare(x.src, x.o.Now, st.man, files)
	if len(ch.read) > batchFiles && len(ch.read) > len(files)/2 {
		return x.rebuild(ctx, s, files)
	}
	if ch.empty() {
		return st, Stats{}, nil
	}
	return x.publish(ctx, s, st, ch)
}

// publish writes the segments of ch and then the block that names them.
func (x *Index) publish(ctx context.Context, s *store, st *state, ch *changes) (*state, Stats, error) {
	b := &builder{src: x.src, now: x.o.Now, nextSeg: st.man.nextSeg, done: x.progress(len(ch.read))}
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
	up := &state{man: st.man.apply(d), mem: mem, tail: tail{blocks: st.tail.blocks + 1}}
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
func (x *Index) writeWhole(s *store, gen string, st *state) error {
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
	return func(done int) { x.o.Progress(Event{Phase: "index", Done: done, Total: total}) }
}

// Rebuild makes the index anew from every file. It fails with [ErrBusy] while
// another process writes it.
func (x *Index) Rebuild(ctx context.Context) (Stats, error) {
	began := x.o.Now()
	files, err := x.src.Files(ctx, vault.WalkOptions{Archive: true})
	if err != nil {
		return Stats{}, fmt.Errorf("rebuild search index: %w", err)
	}
	if x.o.ReadOnly {
		return Stats{}, fmt.Errorf("rebuild: %w", errReadOnly)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	_, stats, err := x.underLock(ctx, rebuildWait, func(s *store) (*state, Stats, error) { return x.rebuild(ctx, s, files) })
	if errors.Is(err, ErrBusy) {
		return stats, fmt.Errorf("rebuild search index: %w", err)
	}
	return x.finish(stats, began, "rebuild search index", err)
}

// rebuild writes a new generation beside the published one and then publishes
// it by renaming the file current: the commit point. The lock is held.
func (x *Index) rebuild(ctx context.Context, s *store, files []vault.File) (_ *state, _ Stats, err error) {
	gen, err := s.newGeneration()
	if err != nil {
		return nil, Stats{}, fmt.Errorf("search index: %w", err)
	}
	published := false
	defer func() {
		if err != nil && !published {
			// Best effort: the next writer sweeps what is left.
			s.removeExcept(versionDir()+"/"+gen, nil)
		}
	}()
	man := &manifest{}
	b := &builder{src: x.src, now: x.o.Now, done: x.progress(len(files))}
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
	man.recs = sortRecords(man.recs)
	man.nextSeg = b.nextSeg
	st := &state{man: man}
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
	return x.maintain(s, st, false), Stats{Added: len(man.recs), Rebuilt: true}, nil
}
