package index

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"stet/vault"
)

// changes are the differences between a manifest and the files on disk.
type changes struct {
	read    []vault.File // new, or with other contents
	restat  []record     // same contents, other description
	removed []vault.Path
	added   int // of read
}

func (c *changes) empty() bool {
	return len(c.read) == 0 && len(c.restat) == 0 && len(c.removed) == 0
}

// onlyRestat reports that an answer from the old manifest is right already.
func (c *changes) onlyRestat() bool { return len(c.read) == 0 && len(c.removed) == 0 }

// bytes is the size of what must be read.
func (c *changes) bytes() (n int64) {
	for _, f := range c.read {
		n += f.Size
	}
	return n
}

// compare finds what changed. Files that only look changed, or that could have
// changed unseen, are read and told apart by their hash. It fails with what ended
// ctx and with nothing else.
func compare(ctx context.Context, src Source, now func() time.Time, m *manifest, files []vault.File) (*changes, error) {
	out := &changes{}
	recs := m.recs
	known := func(f vault.File) {
		if r := &recs[0]; (!r.sameFile(f) || r.flags&flagRacy != 0) && ctx.Err() == nil {
			out.look(src, now, r, f)
		}
		recs = recs[1:]
	}
	if same(recs, files) {
		return out, context.Cause(ctx)
	}
	// Where nothing came or went the lists run side by side, and equality is
	// cheaper to see than order.
	for len(files) > 0 && len(recs) > 0 && recs[0].path == files[0].Path {
		known(files[0])
		files = files[1:]
	}
	for _, f := range inOrder(files) {
		for len(recs) > 0 && recs[0].path < f.Path {
			out.removed = append(out.removed, recs[0].path)
			recs = recs[1:]
		}
		if len(recs) > 0 && recs[0].path == f.Path {
			known(f)
			continue
		}
		out.read = append(out.read, f)
		out.added++
	}
	for i := range recs {
		out.removed = append(out.removed, recs[i].path)
	}
	return out, context.Cause(ctx)
}

// same reports, on all processors, that files are what records say. It may be false
// where they are, and a longer look is needed.
func same(recs []record, files []vault.File) bool {
	if len(recs) != len(files) {
		return false
	}
	var wg sync.WaitGroup
	var differ atomic.Bool
	workers := min(runtime.GOMAXPROCS(0), 4, 1+len(recs)/sameAtOnce)
	for w := range workers {
		wg.Go(func() {
			for i := len(recs) * w / workers; i < len(recs)*(w+1)/workers; i++ {
				if r := &recs[i]; r.flags&flagRacy != 0 || !r.sameFile(files[i]) || r.path != files[i].Path {
					differ.Store(true)
					return
				}
			}
		})
	}
	wg.Wait()
	return !differ.Load()
}

// sameAtOnce is how many files are compared in less time than it takes to hand some
// of them to another processor.
const sameAtOnce = 8000

// inOrder sorts files where the Source did not keep its promise to.
func inOrder(files []vault.File) []vault.File {
	for i := 1; i < len(files); i++ {
		if files[i-1].Path >= files[i].Path {
			files = slices.SortedFunc(slices.Values(files), func(a, b vault.File) int { return cmp.Compare(a.Path, b.Path) })
			return slices.CompactFunc(files, func(a, b vault.File) bool { return a.Path == b.Path })
		}
	}
	return files
}

// look decides by contents whether a file changed.
func (c *changes) look(src Source, now func() time.Time, r *record, f vault.File) {
	at := now()
	data, info, err := src.ReadFile(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.removed = append(c.removed, r.path)
	case err != nil:
		if r.docs > 0 || !r.sameFile(f) {
			c.read = append(c.read, f)
		}
	case r.docs == 0 || hashOf(data) != r.hash:
		c.read = append(c.read, f)
	default:
		fresh := *r
		fresh.size, fresh.mtime, fresh.identity = info.Size, info.ModTime.UnixNano(), info.Identity
		fresh.flags &^= flagRacy
		if racy(info, at) {
			fresh.flags |= flagRacy
		}
		if fresh != *r {
			c.restat = append(c.restat, fresh)
		}
	}
}

// gather builds what c asks for in memory: the delta and its segments.
func (c *changes) gather(ctx context.Context, b *builder) (*delta, map[uint64]*segmentFile, error) {
	d := &delta{recs: c.restat, removed: c.removed}
	mem := map[uint64]*segmentFile{}
	err := b.build(ctx, c.read, func(part *batch) error {
		if part.data != nil {
			mem[part.info.id] = &segmentFile{info: part.info, data: part.data}
			d.segs = append(d.segs, part.info)
		}
		d.recs = append(d.recs, part.recs...)
		d.removed = append(d.removed, part.gone...)
		return nil
	})
	d.recs = sortRecords(slices.Clone(d.recs))
	return d, mem, err
}

// Refresh brings the named paths up to date and looks at no other: files are
// those of them that stand there now, the rest is gone. What the index knows
// already is told by its stat and costs nothing more. Where there is no index
// yet it does what [Index.CatchUp] does. It fails with [ErrBusy] while another
// process writes the index.
func (x *Index) Refresh(ctx context.Context, paths []vault.Path, files []vault.File) (sum Stats, err error) {
	if x.o.ReadOnly {
		return Stats{}, nil
	}
	mem, talk := divide(inOrder(files))
	notes, sessions := make([]vault.Path, 0, len(paths)), []vault.Path(nil)
	for _, p := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		if vault.ClassOf(p) == vault.ClassSession {
			sessions = append(sessions, p)
		} else {
			notes = append(notes, p)
		}
	}
	for _, r := range []struct {
		part  *part
		paths []vault.Path
		files []vault.File
	}{{x.mem, notes, mem}, {x.talk, sessions, talk}} {
		if len(r.paths) == 0 || len(r.files) == 0 && !r.part.exists() {
			continue
		}
		stats, err := r.part.refresh(ctx, r.paths, r.files)
		if errors.Is(err, errNone) || errors.Is(err, ErrDamaged) {
			return x.CatchUp(ctx)
		}
		sum.Added += stats.Added
		sum.Changed += stats.Changed
		sum.Removed += stats.Removed
		sum.Total += stats.Total
		sum.Took += stats.Took
		if err != nil {
			return sum, err
		}
	}
	return sum, nil
}

// refresh is [Index.Refresh] for what of the paths, which are in order, belongs
// to the part.
func (x *part) refresh(ctx context.Context, paths []vault.Path, files []vault.File) (_ Stats, err error) {
	began := x.o.Now()
	x.mu.Lock()
	defer x.mu.Unlock()
	s, err := x.use(false)
	if err != nil {
		return Stats{}, err
	}
	lock, err := s.lock(ctx, 0)
	if err != nil {
		return Stats{}, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	st, err := x.load()
	if err != nil {
		return Stats{}, err
	}
	known := &manifest{}
	for _, p := range paths {
		if r, ok := st.man.find(p); ok {
			known.recs = append(known.recs, *r)
		}
	}
	ch, err := compare(ctx, x.src, x.o.Now, known, files)
	if err != nil {
		return Stats{}, err
	}
	if ch.empty() {
		return Stats{}, nil
	}
	up, stats, err := x.publish(ctx, s, st, ch)
	if err != nil {
		return stats, err
	}
	x.st = x.maintain(ctx, s, up, true)
	return x.finish(stats, began, "refresh", nil)
}
