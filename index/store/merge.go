package store

import (
	"context"
	"math/bits"

	"stet/vault"
)

// The bounds of segment merging. The files of the segments are indexed again, which
// takes some 300 ms for a megabyte.
const (
	// tierSegments is how many segments of like size may stand side by side:
	// every search looks into each.
	tierSegments = 8
	// quickBytes bounds what a one-shot write may spend on merging.
	quickBytes = 256 << 10
	// mergeBytes bounds one merge.
	mergeBytes = 4 << 20
	// maxMerges bounds the merges after one update.
	maxMerges = 16
	// deadShare is the tolerated share of deleted documents, in percent.
	deadShare = 10
	// deadMin keeps small vaults from merging all the time.
	deadMin = 64
)

// maintain merges segments where that pays and sweeps what nobody names. The
// lock is held and st is the published state; quick allows only the small
// merges that keep single writes from piling up. A merge that fails, or that ctx
// has no time for, is left out: the state is as right without it.
func (x *Index) maintain(ctx context.Context, s *Folder, st *State, quick bool) *State {
	merged := false
	for range maxMerges {
		group := chooseMerge(st.man, quick)
		if len(group) == 0 || ctx.Err() != nil {
			break
		}
		up, err := x.merge(ctx, s, st, group)
		if err != nil {
			x.o.Logger.Warn("search index segments not merged", "err", err)
			break
		}
		st, merged = up, true
	}
	if merged || !quick {
		if err := s.sweep(st.man); err != nil {
			x.o.Logger.Debug("search index not swept", "err", err)
		}
	}
	return st
}

// chooseMerge picks the segments to merge next.
func chooseMerge(m *manifest, quick bool) map[uint64]bool {
	alive := m.live()
	if quick {
		return tierGroup(m.segs, alive, quickBytes)
	}
	if group := tierGroup(m.segs, alive, mergeBytes); len(group) > 0 {
		return group
	}
	total, dead := uint64(0), uint64(0)
	var holed []segmentInfo
	for _, s := range m.segs {
		total += uint64(s.docs)
		if n := s.docs - alive[s.id]; n > 0 {
			dead += uint64(n)
			holed = append(holed, s)
		}
	}
	if dead > deadMin && dead*100 > total*deadShare {
		return within(holed, alive, mergeBytes, 1)
	}
	return nil
}

// tierGroup picks segments of like size, up to limit bytes in all, when there
// are too many of them. Sizes are alike within a factor of eight.
func tierGroup(segs []segmentInfo, alive map[uint64]uint32, limit uint64) map[uint64]bool {
	var tiers [20][]segmentInfo
	for _, s := range segs {
		tier := min(bits.Len64(s.bytes>>15)/3, len(tiers)-1)
		tiers[tier] = append(tiers[tier], s)
	}
	for _, group := range tiers {
		if len(group) > tierSegments {
			return within(group, alive, limit, 2)
		}
	}
	return nil
}

// within picks the first segments of a group whose living documents take up to limit
// bytes; fewer than least segments are not worth a merge.
func within(group []segmentInfo, alive map[uint64]uint32, limit uint64, least int) map[uint64]bool {
	out, sum := map[uint64]bool{}, uint64(0)
	for _, s := range group {
		if sum += s.bytes * uint64(alive[s.id]) / uint64(max(1, s.docs)); sum > limit {
			break
		}
		out[s.id] = true
	}
	if len(out) < least {
		return nil
	}
	return out
}

// merge replaces the segments of group by one, without their dead documents. Indexing
// their files again takes longer than Bluge's merge, but it is what updates do anyway.
func (x *Index) merge(ctx context.Context, s *Folder, st *State, group map[uint64]bool) (*State, error) {
	rest, ch := &manifest{nextSeg: st.man.nextSeg, recs: st.man.recs}, &changes{}
	for _, seg := range st.man.segs {
		if !group[seg.id] {
			rest.segs = append(rest.segs, seg)
		}
	}
	for i := range rest.recs {
		if r := &rest.recs[i]; r.Docs > 0 && group[r.Seg] {
			ch.read = append(ch.read, vault.File{Path: r.Path, Size: r.Size})
		}
	}
	up, _, err := x.publish(ctx, s, newState(rest, x.byMessage), ch)
	return up, err
}
