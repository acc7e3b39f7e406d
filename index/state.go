package index

import (
	"cmp"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring"
	blugeindex "github.com/blugelabs/bluge/index"
)

// A state is one manifest with, once asked for, Bluge's reader over it. It
// never changes after it was made; searches may share it.
type state struct {
	byMessage bool // see part
	stamp     stamp
	man       *manifest
	tail      tail
	mem       map[uint64]*segmentFile // segments that are in memory only
	opened    *opened
}

// An opened state can be searched.
type opened struct {
	segs   []*segmentFile
	snap   *blugeindex.Snapshot
	docOf  []int32 // Bluge's document number → ours, or -1
	layout *layout // nil where a document is a file
	stats  [fieldCount]similarity
	hidden []bool // superseded records; nil when there are none
	// doubts are the memories that others may outdate, by id.
	doubts map[string]Doubt
	unread []*record

	plainOnce sync.Once
	plainDocs []bool // see plain
}

// open loads what a search needs. reuse is an earlier state whose segments may
// be shared; it may be nil.
func (st *state) open(s *store, reuse *state) error {
	if st.opened != nil {
		return nil
	}
	have := map[uint64]*segmentFile{}
	if reuse != nil && reuse.opened != nil && reuse.stamp.gen == st.stamp.gen {
		for _, f := range reuse.opened.segs {
			have[f.info.id] = f
		}
	}
	o := &opened{}
	if st.byMessage {
		o.layout = newLayout(st.man.recs)
	}
	for _, info := range st.man.segs {
		f := st.mem[info.id]
		if f == nil {
			if f = have[info.id]; f != nil && f.info != info {
				f = nil
			}
		}
		if f == nil {
			var err error
			if f, err = s.openSegment(st.stamp.gen, info); err != nil {
				return err
			}
		}
		o.segs = append(o.segs, f)
	}
	deleted := o.number(st.man)
	snap, err := openBluge(o.segs, deleted)
	if err != nil {
		return err
	}
	o.snap = snap
	o.stats = fieldStats(st.man.recs)
	o.hidden = superseded(st.man.recs)
	o.doubts = doubted(st.man.recs, o.hidden)
	o.unread = unread(st.man.recs)
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
			first = o.layout.base[i]
		}
		for d := range r.docs {
			o.docOf[base[r.seg]+r.doc+d] = first + int32(d)
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

// A layout says which documents are messages of which record: documents are
// numbered through all records in order.
type layout struct {
	base  []int32 // record → its first document; one more at the end
	owner []int32 // document → record
}

func newLayout(recs []record) *layout {
	l := &layout{base: make([]int32, len(recs)+1)}
	for i := range recs {
		l.base[i+1] = l.base[i] + int32(recs[i].docs)
	}
	l.owner = make([]int32, l.base[len(recs)])
	for i := range recs {
		for d := l.base[i]; d < l.base[i+1]; d++ {
			l.owner[d] = int32(i)
		}
	}
	return l
}

// fieldStats are the statistics of the living documents.
func fieldStats(recs []record) (out [fieldCount]similarity) {
	var total, having [lengthFields]uint64
	docs := uint64(0)
	for i := range recs {
		if recs[i].docs == 0 {
			continue
		}
		docs += uint64(recs[i].docs)
		for s, n := range recs[i].lens {
			total[s] += uint64(n)
			if n > 0 {
				having[s] += uint64(recs[i].docs)
			}
		}
	}
	for f := range fieldCount {
		out[f].docs = docs
		if s := lengthSlot(f); s >= 0 && having[s] > 0 {
			out[f].avgLen = float64(total[s]) / float64(having[s])
		}
	}
	return out
}

// superseded marks the records that another record's supersedes names, and
// those that name their successor themselves.
func superseded(recs []record) []bool {
	ids := map[string]bool{}
	marked := false
	for i := range recs {
		if recs[i].flags&flagSupersedes != 0 {
			for _, id := range decodeMeta(recs[i].meta).supersedes {
				ids[id] = true
			}
		}
		marked = marked || recs[i].flags&flagSuperseded != 0
	}
	if len(ids) == 0 && !marked {
		return nil
	}
	out := make([]bool, len(recs))
	for i := range recs {
		out[i] = recs[i].flags&flagSuperseded != 0 || len(ids) > 0 && ids[decodeMeta(recs[i].meta).id]
	}
	return out
}

// successor is the id, or the path, of the record whose supersedes names id;
// the last of several in path order.
func successor(recs []record, id string) (by string) {
	for i := range recs {
		if recs[i].flags&flagSupersedes == 0 {
			continue
		}
		if m := decodeMeta(recs[i].meta); slices.Contains(m.supersedes, id) {
			by = cmp.Or(m.id, string(recs[i].path))
		}
	}
	return by
}
