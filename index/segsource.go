package index

import (
	"slices"

	segment "github.com/blugelabs/bluge_segment_api"
)

// segSource evaluates on Bluge's reader.
type segSource struct {
	st *state
	// files reads the vault for literal text, which no index holds.
	files func(s string) ([]posting, error)
}

func (s *segSource) records() []record { return s.st.man.recs }

func (s *segSource) stats(field int) similarity { return s.st.opened.stats[field] }

func (s *segSource) literal(text string) ([]posting, error) { return s.files(text) }

func (s *segSource) term(field int, term string, positions bool) ([]posting, error) {
	if len(s.st.opened.segs) == 0 {
		return nil, nil
	}
	it, err := s.st.opened.snap.PostingsIterator([]byte(term), fieldName(field), true, true, positions)
	if err != nil {
		return nil, err
	}
	out := make([]posting, 0, it.Count())
	for {
		p, err := it.Next()
		if err != nil || p == nil {
			return out, err
		}
		rec := s.st.opened.recOf[p.Number()]
		if rec < 0 {
			continue
		}
		x := posting{doc: rec, freq: int32(p.Frequency()), length: int32(normLength(p.Norm()))}
		if positions {
			x.positions = positionsOf(p)
		}
		out = append(out, x)
	}
}

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
	if len(s.st.opened.segs) == 0 {
		return nil, nil
	}
	end := []byte(prefix)
	end = append(end, 0xff) // above any UTF-8 continuation of prefix
	it, err := s.st.opened.snap.DictionaryIterator(fieldName(field), nil, []byte(prefix), end)
	if err != nil {
		return nil, err
	}
	var out []string
	for {
		e, err := it.Next()
		if err != nil || e == nil {
			return out, err
		}
		out = append(out, e.Term())
	}
}
