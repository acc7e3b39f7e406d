package store

import (
	"sync"

	"github.com/RoaringBitmap/roaring"
	blugeindex "github.com/blugelabs/bluge/index"

	"stet/index/document"
)

// A State is one manifest with, once asked for, Bluge's reader over it. It
// never changes after it was made; searches may share it.
type State struct {
	byMessage bool // see part
	stamp     stamp
	man       *manifest
	mem       map[uint64]*segmentFile // segments that are in memory only
	doubted   bool                    // every byte is to be verified, whatever was found before
	hidden    func() []bool           // superseded records; nil when there are none
	opened    *opened
}

// newState is the state of a manifest, not opened.
func newState(man *manifest, byMessage bool) *State {
	hidden := sync.OnceValue(func() []bool { return document.Superseded(man.recs) })
	return &State{man: man, byMessage: byMessage, hidden: hidden}
}

// An opened state can be searched.
type opened struct {
	segs   []*segmentFile
	snap   *blugeindex.Snapshot
	docOf  []int32          // Bluge's document number → ours, or -1
	layout *document.Layout // nil where a document is a file
	stats  [document.FieldCount]document.FieldStat
	unread []*document.Record
}

// open loads what a search needs. reuse is an earlier state whose segments may
// be shared; it may be nil.
func (st *State) open(s *Folder, reuse *State) error {
	if st.opened != nil {
		return nil
	}
	have := map[uint64]*segmentFile{}
	if reuse != nil && reuse.opened != nil {
		for _, f := range reuse.opened.segs {
			have[f.info.id] = f
		}
	}
	o := &opened{}
	if st.byMessage {
		o.layout = document.NewLayout(st.man.recs)
	}
	var unverified []*segmentFile
	for _, info := range st.man.segs {
		f := st.mem[info.id]
		if f == nil {
			if f = have[info.id]; f != nil && (f.info.crc != info.crc || f.info.bytes != info.bytes) {
				f = nil
			}
		}
		if f == nil {
			var err error
			if f, err = s.openSegment(info); err != nil {
				return err
			}
			if st.doubted || f.found == 0 || f.found != info.found {
				unverified = append(unverified, f)
			}
		}
		o.segs = append(o.segs, f)
	}
	if err := verify(unverified...); err != nil {
		return err
	}
	deleted := o.number(st.man)
	snap, err := openBluge(o.segs, deleted)
	if err != nil {
		return err
	}
	o.snap = snap
	o.stats = document.FieldStats(st.man.recs)
	o.unread = document.Unread(st.man.recs)
	st.opened = o
	return nil
}

// number maps Bluge's document numbers, which run through the segments in
// order, to ours, and returns the documents that no record points at.
func (o *opened) number(m *manifest) []*roaring.Bitmap {
	base := make(map[uint64]uint32, len(o.segs))
	total := uint32(0)
	for _, f := range o.segs {
		base[f.info.id] = total
		total += f.info.docs
	}
	o.docOf = make([]int32, total)
	for i := range o.docOf {
		o.docOf[i] = -1
	}
	for i := range m.recs {
		r := &m.recs[i]
		first := int32(i)
		if o.layout != nil {
			first = o.layout.Base[i]
		}
		for d := range r.Docs {
			o.docOf[base[r.Seg]+r.Doc+d] = first + int32(d)
		}
	}
	deleted := make([]*roaring.Bitmap, len(o.segs))
	for i, f := range o.segs {
		deleted[i] = roaring.New()
		at := base[f.info.id]
		for d, doc := range o.docOf[at : at+f.info.docs] {
			if doc < 0 {
				deleted[i].Add(uint32(d))
			}
		}
	}
	return deleted
}

// Unread are the records of files that could not be read.
func (st *State) Unread() []*document.Record { return st.opened.unread }
