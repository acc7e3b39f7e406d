package index

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/blevesearch/vellum/levenshtein"
	segment "github.com/blugelabs/bluge_segment_api"
	"github.com/blugelabs/ice"
)

// segSource evaluates on Bluge's reader.
type segSource struct {
	st *state
	// files reads the vault for literal text, which no index holds.
	files func(s string) ([]posting, error)
}

func (s *segSource) records() []record { return s.st.man.recs }

func (s *segSource) layout() *layout { return s.st.opened.layout }

func (s *segSource) stats(field int) similarity { return s.st.opened.stats[field] }

func (s *segSource) literal(text string) ([]posting, error) { return s.files(text) }

func (s *segSource) term(field int, term string, room []posting) ([]posting, error) {
	if len(s.st.opened.segs) == 0 {
		return nil, nil
	}
	it, err := s.st.opened.snap.PostingsIterator([]byte(term), fieldName(field), true, true, false)
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
		if doc := s.st.opened.docOf[p.Number()]; doc >= 0 {
			out = append(out, posting{
				doc: doc, freq: int32(p.Frequency()), length: int32(normLength(p.Norm())), number: uint32(p.Number()),
			})
		}
	}
}

// members lists the documents with a term, none where there are more than most.
func (s *segSource) members(field int, term string, most int, room []int32) ([]int32, error) {
	out := room[:0]
	if len(s.st.opened.segs) == 0 {
		return out, nil
	}
	it, err := s.st.opened.snap.PostingsIterator([]byte(term), fieldName(field), false, false, false)
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
		if doc := s.st.opened.docOf[p.Number()]; doc >= 0 {
			out = append(out, doc)
		}
	}
}

func (s *segSource) places(term string, list []posting) error {
	if len(list) == 0 {
		return nil
	}
	it, err := s.st.opened.snap.PostingsIterator([]byte(term), fieldName(fieldExact), true, true, true)
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

func (s *segSource) expand(field int, prefix string) ([]string, error) {
	return s.dictionary(field, prefix, nil, func(string) bool { return true })
}

func (s *segSource) similar(word string) ([]string, error) {
	_, first := utf8.DecodeRuneInString(word)
	return s.dictionary(wordsField(s.st.byMessage), word[:first], similarAutomaton(word), func(term string) bool { return isSimilar(word, term) })
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
func (s *segSource) dictionary(field int, prefix string, a segment.Automaton, keep func(string) bool) ([]string, error) {
	start := []byte(prefix)
	end := append([]byte(prefix), 0xff) // above any UTF-8 continuation of prefix
	var out []string
	for _, f := range s.st.opened.segs {
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
