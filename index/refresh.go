package index

import (
	"context"
	"errors"
	"slices"

	"stet/vault"
)

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
