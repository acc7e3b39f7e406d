package store

import (
	"fmt"
	"math"
	"slices"

	segment "github.com/blugelabs/bluge_segment_api"
	"github.com/blugelabs/ice"

	"stet/index/document"
)

// Records are the files, in path order.
func (st *State) Records() []document.Record { return st.man.recs }

// Layout says which documents are messages of which record; nil where a document is a file.
func (st *State) Layout() *document.Layout { return st.opened.layout }

// Superseded marks superseded records; nil when there are none.
func (st *State) Superseded() []bool { return st.hidden() }

// Stats are the statistics of a field.
func (st *State) Stats(field int) document.FieldStat { return st.opened.stats[field] }

// Term lists the documents with a term, each once, by ascending number of the segment. It may use room.
func (st *State) Term(field int, term string, room []document.Posting) ([]document.Posting, error) {
	if len(st.opened.segs) == 0 {
		return nil, nil
	}
	it, err := st.opened.snap.PostingsIterator([]byte(term), document.FieldName(field), true, true, false)
	if err != nil {
		return nil, damaged(err)
	}
	out := slices.Grow(room[:0], int(it.Count()))
	for {
		p, err := it.Next()
		if err != nil {
			return nil, damaged(err)
		}
		if p == nil {
			return out, putBack(it)
		}
		if doc := st.opened.docOf[p.Number()]; doc >= 0 {
			out = append(out, document.Posting{
				Doc: doc, Freq: int32(p.Frequency()), Length: lengthOf(p), Number: uint32(p.Number()),
			})
		}
	}
}

// lengthOf is the length of the field, which the segment stores as the bits of the norm.
func lengthOf(p segment.Posting) int32 { return int32(math.Float32bits(float32(p.Norm()))) }

// Places fills in the positions of an exact term in documents that Term listed.
func (st *State) Places(term string, list []document.Posting) error {
	if len(list) == 0 {
		return nil
	}
	it, err := st.opened.snap.PostingsIterator([]byte(term), document.FieldName(document.FieldExact), true, true, true)
	if err != nil {
		return damaged(err)
	}
	for i := range list {
		p, err := it.Advance(uint64(list[i].Number))
		if err != nil {
			return damaged(err)
		}
		if p == nil || p.Number() != uint64(list[i].Number) {
			return fmt.Errorf("positions of %q: %w", term, ErrDamaged)
		}
		list[i].Positions = positionsOf(p)
	}
	return putBack(it)
}

// putBack hands an iterator that was read without trouble to the next lookup in
// its field: its dictionaries, bitmaps and buffers, for every segment, were half
// of what a query allocates. One that failed is left to the garbage collector.
func putBack(it segment.PostingsIterator) error {
	if err := it.Close(); err != nil {
		return damaged(err)
	}
	return nil
}

// damaged marks what Bluge says about verified bytes: it can only mean that
// they are not what they should be.
func damaged(err error) error { return fmt.Errorf("%w: %w", ErrDamaged, err) }

func positionsOf(p segment.Posting) []int32 {
	locs := p.Locations()
	out := make([]int32, len(locs))
	for i, l := range locs {
		out[i] = int32(l.Pos())
	}
	slices.Sort(out)
	return out
}

// Terms lists the terms of a field, see source. It asks segment by segment: Bluge's own iterator over all of them
// reads in goroutines, where a fault in a mapped file that somebody cut short
// would end the process.
func (st *State) Terms(field int, prefix string, keep func(string) bool) ([]string, error) {
	start := []byte(prefix)
	end := append([]byte(prefix), 0xff) // above any UTF-8 continuation of prefix
	var out []string
	for _, f := range st.opened.segs {
		seg, err := ice.Load(segment.NewDataBytes(f.data))
		if err != nil {
			return nil, damaged(err)
		}
		dict, err := seg.Dictionary(document.FieldName(field))
		if err != nil {
			return nil, damaged(err)
		}
		it := dict.Iterator(nil, start, end)
		for {
			e, err := it.Next()
			if err != nil {
				return nil, damaged(err)
			}
			if e == nil {
				break
			}
			if keep == nil || keep(e.Term()) {
				out = append(out, e.Term())
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
