package index

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/blevesearch/vellum/levenshtein"
	segment "github.com/blugelabs/bluge_segment_api"
	"github.com/blugelabs/ice"
)

// A state is a source once it is open.
var _ source = (*state)(nil)

func (st *state) records() []record { return st.man.recs }

func (st *state) layout() *layout { return st.opened.layout }

func (st *state) superseded() []bool { return st.opened.hidden }

func (st *state) stats(field int) similarity { return st.opened.stats[field] }

func (st *state) term(field int, term string, room []posting) ([]posting, error) {
	if len(st.opened.segs) == 0 {
		return nil, nil
	}
	it, err := st.opened.snap.PostingsIterator([]byte(term), fieldName(field), true, true, false)
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
			out = append(out, posting{
				doc: doc, freq: int32(p.Frequency()), length: lengthOf(p), number: uint32(p.Number()),
			})
		}
	}
}

// lengthOf is the length of the field, which the segment stores as the bits of the norm.
func lengthOf(p segment.Posting) int32 { return int32(math.Float32bits(float32(p.Norm()))) }

// members lists the documents with a term, none where there are more than most.
func (st *state) members(field int, term string, most int, room []int32) ([]int32, error) {
	out := room[:0]
	if len(st.opened.segs) == 0 {
		return out, nil
	}
	it, err := st.opened.snap.PostingsIterator([]byte(term), fieldName(field), false, false, false)
	if err != nil {
		return nil, damaged(err)
	}
	if it.Count() > uint64(most) {
		return out, putBack(it)
	}
	for {
		p, err := it.Next()
		if err != nil {
			return nil, damaged(err)
		}
		if p == nil {
			return out, putBack(it)
		}
		if doc := st.opened.docOf[p.Number()]; doc >= 0 {
			out = append(out, doc)
		}
	}
}

func (st *state) places(term string, list []posting) error {
	if len(list) == 0 {
		return nil
	}
	it, err := st.opened.snap.PostingsIterator([]byte(term), fieldName(fieldExact), true, true, true)
	if err != nil {
		return damaged(err)
	}
	for i := range list {
		p, err := it.Advance(uint64(list[i].number))
		if err != nil {
			return damaged(err)
		}
		if p == nil || p.Number() != uint64(list[i].number) {
			return fmt.Errorf("positions of %q: %w", term, ErrDamaged)
		}
		list[i].positions = positionsOf(p)
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

func (st *state) expand(field int, prefix string) ([]string, error) {
	return st.dictionary(field, prefix, nil, func(string) bool { return true })
}

func (st *state) similar(word string) ([]string, error) {
	_, first := utf8.DecodeRuneInString(word)
	return st.dictionary(wordsField(st.byMessage), word[:first], similarAutomaton(word), func(term string) bool { return isSimilar(word, term) })
}

// similarAutomaton steers the walk through a dictionary past what cannot be
// similar; nil lets all of it pass.
func similarAutomaton(word string) segment.Automaton {
	most := uint8(maxEdits(utf8.RuneCountInString(word)))
	b, err := levenshtein.NewLevenshteinAutomatonBuilder(most, true)
	if err != nil {
		return nil
	}
	dfa, err := b.BuildDfa(word, most)
	if err != nil {
		return nil
	}
	return dfa
}

// dictionary lists the terms of a field that begin with prefix and that a (if
// any) and keep let pass. It asks segment by segment: Bluge's own iterator over all of them
// reads in goroutines, where a fault in a mapped file that somebody cut short
// would end the process.
func (st *state) dictionary(field int, prefix string, a segment.Automaton, keep func(string) bool) ([]string, error) {
	start := []byte(prefix)
	end := append([]byte(prefix), 0xff) // above any UTF-8 continuation of prefix
	var out []string
	for _, f := range st.opened.segs {
		seg, err := ice.Load(segment.NewDataBytes(f.data))
		if err != nil {
			return nil, damaged(err)
		}
		dict, err := seg.Dictionary(fieldName(field))
		if err != nil {
			return nil, damaged(err)
		}
		it := dict.Iterator(a, start, end)
		for {
			e, err := it.Next()
			if err != nil {
				return nil, damaged(err)
			}
			if e == nil {
				break
			}
			if keep(e.Term()) {
				out = append(out, e.Term())
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
