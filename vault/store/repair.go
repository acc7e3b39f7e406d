package store

import (
	"context"
	"errors"

	"stet/vault/gitindex"
)

// Dropped lists the files that HEAD and the disk hold and that git's index does not
// hold at all, of those that own accepts, in path order.
func (sc *Scan) Dropped(own func(Path) bool) []Path {
	var out []Path
	for _, e := range sc.dropped(own) {
		p, _ := sc.store.Own(e.Path)
		out = append(out, p)
	}
	return out
}

func (sc *Scan) dropped(own func(Path) bool) []gitindex.Edit {
	var out []gitindex.Edit
	for _, d := range sc.apart {
		p, _ := sc.store.Own(d.Path)
		if d.Entry.Mode != 0 || !regular(d.Tree.Mode) || !own(p) || !sc.store.tree.Exists(string(p)) ||
			sc.index.Conflicted(d.Path) {
			continue
		}
		out = append(out, gitindex.Edit{Path: d.Path, Hash: d.Tree.Hash, Mode: d.Tree.Mode})
	}
	return out
}

// RepairIndex builds an unreadable git index anew from HEAD, and adds what
// [Scan.Dropped] finds missing in a readable one.
func (s *Store) RepairIndex(ctx context.Context, f Filter, own func(Path) bool) error {
	return s.Locked(ctx, func(ctx context.Context) error {
		mark, err := s.ensureState()
		if err != nil {
			return err
		}
		lock, err := mark.Lock(ctx, s.repo.GitIndexPath(), s.o.LockWait)
		if err != nil {
			return err
		}
		return errors.Join(s.publishRepaired(ctx, f, own), lock.Unlock())
	})
}

func (s *Store) publishRepaired(ctx context.Context, f Filter, own func(Path) bool) error {
	sc, err := s.Scan(ctx, f)
	if err != nil {
		return err
	}
	data, err := sc.index.Apply(sc.dropped(own))
	if err != nil {
		return err
	}
	return s.repo.PublishGitIndex(s.tmp("index"), data, func() error { return nil })
}
