package store

import (
	"bytes"
	"context"
	"fmt"
	"math/bits"
	"slices"

	"github.com/RoaringBitmap/roaring"
)

// The bounds of segment merging.
const (
	// tierSegments is how many segments of like size may stand side by side:
	// every search looks into each.
	tierSegments = 8
	// quickBytes bounds what a one-shot write may spend on merging.
	quickBytes = 512 << 10
	// mergeBytes bounds one merge: it is put together in memory.
	mergeBytes = 32 << 20
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
		up, err := x.merge(s, st, group)
		if err != nil {
			x.o.Logger.Warn("search index segments not merged", "err", err)
			break
		}
		st, merged = up, true
	}
	if merged || !quick {
		if err := s.sweep(st.stamp.gen, st.man); err != nil {
			x.o.Logger.Debug("search index not swept", "err", err)
		}
	}
	return st
}

// chooseMerge picks the segments, by their place in m.segs, to merge next.
func chooseMerge(m *manifest, quick bool) []int {
	if quick {
		return tierGroup(m.segs, quickBytes)
	}
	if group := tierGroup(m.segs, mergeBytes); len(group) > 0 {
		return group
	}
	live := m.live()
	total, alive := uint64(0), uint64(0)
	var holed []int
	for i, s := range m.segs {
		total += uint64(s.docs)
		alive += uint64(live[s.id])
		if live[s.id] < s.docs {
			holed = append(holed, i)
		}
	}
	if dead := total - alive; dead > deadMin && dead*100 > total*deadShare {
		return within(m.segs, holed, mergeBytes, 1)
	}
	return nil
}

// tierGroup picks segments of like size, up to limit bytes in all, when there
// are too many of them. Sizes are alike within a factor of eight.
func tierGroup(segs []segmentInfo, limit uint64) []int {
	var tiers [20][]int
	for i, s := range segs {
		tier := min(bits.Len64(s.bytes>>15)/3, len(tiers)-1)
		tiers[tier] = append(tiers[tier], i)
	}
	for _, group := range tiers {
		if len(group) > tierSegments {
			return within(segs, group, limit, 2)
		}
	}
	return nil
}

// within cuts a group down to limit bytes; fewer than least segments are not
// worth a merge.
func within(segs []segmentInfo, group []int, limit uint64, least int) []int {
	sum := uint64(0)
	for n, i := range group {
		if sum += segs[i].bytes; sum > limit {
			group = group[:n]
			break
		}
	}
	if len(group) < least {
		return nil
	}
	return group
}

// merge replaces the segments of group by one without their dead documents.
func (x *Index) merge(s *Folder, st *State, group []int) (*State, error) {
	gen := st.stamp.gen
	var parts []*segmentFile
	for _, i := range group {
		f, err := st.segment(s, st.man.segs[i])
		if err != nil {
			return nil, err
		}
		parts = append(parts, f)
	}
	man, drops, docs := renumber(st.man, group)
	up := &State{byMessage: x.byMessage, man: man, mem: map[uint64]*segmentFile{}}
	if docs > 0 {
		var buf bytes.Buffer
		if err := mergeSegments(&buf, parts, drops); err != nil {
			return nil, err
		}
		info := segmentInfo{id: st.man.nextSeg, bytes: uint64(buf.Len()), docs: docs, crc: checksum(0, buf.Bytes())}
		if err := s.writeSegment(gen, info.id, buf.Bytes()); err != nil {
			return nil, fmt.Errorf("search index: %w", err)
		}
		man.segs = append(man.segs, info)
		up.mem[info.id] = &segmentFile{info: info, data: buf.Bytes()}
	}
	if err := x.writeWhole(s, gen, up); err != nil { // commit point
		return nil, fmt.Errorf("search index: %w", err)
	}
	var err error
	up.stamp, err = s.stamp()
	return up, err
}

// segment is one segment of the state, from memory if it is there.
func (st *State) segment(s *Folder, info segmentInfo) (*segmentFile, error) {
	if f := st.mem[info.id]; f != nil {
		return f, nil
	}
	if st.opened != nil {
		for _, f := range st.opened.segs {
			if f.info == info {
				return f, nil
			}
		}
	}
	f, err := s.openSegment(st.stamp.gen, info)
	if err != nil {
		return nil, err
	}
	return f, verify(f)
}

// renumber returns m without the segments of group and with their living
// documents in the segment m.nextSeg, in the order Bluge merges them: segment
// by segment, ascending. drops are the dead documents of each segment of the
// group, docs counts the living.
func renumber(m *manifest, group []int) (_ *manifest, drops []*roaring.Bitmap, docs uint32) {
	alive := make(map[uint64]*roaring.Bitmap, len(group))
	for _, i := range group {
		alive[m.segs[i].id] = roaring.New()
	}
	out := &manifest{nextSeg: m.nextSeg + 1, recs: slices.Clone(m.recs)}
	for i := range out.recs {
		if r := &out.recs[i]; r.Docs > 0 && alive[r.Seg] != nil {
			alive[r.Seg].AddRange(uint64(r.Doc), uint64(r.Doc)+uint64(r.Docs))
		}
	}
	base := make(map[uint64]uint32, len(group))
	for _, i := range group {
		s := m.segs[i]
		base[s.id] = docs
		docs += uint32(alive[s.id].GetCardinality())
		dead := roaring.New()
		dead.AddRange(0, uint64(s.docs))
		dead.AndNot(alive[s.id])
		drops = append(drops, dead)
	}
	for i := range out.recs {
		if r := &out.recs[i]; r.Docs > 0 && alive[r.Seg] != nil {
			r.Doc = base[r.Seg] + uint32(alive[r.Seg].Rank(r.Doc)) - 1
			r.Seg = m.nextSeg
		}
	}
	for i, s := range m.segs {
		if !slices.Contains(group, i) {
			out.segs = append(out.segs, s)
		}
	}
	return out, drops, docs
}
