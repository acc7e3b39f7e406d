package index

import (
	"context"
	"slices"
	"strings"

	"stet/vault"
)

// mapSource is what tests compare the index with: every file is read and analysed, and
// what a query can ask for stands in maps. It shares no segment code with the index.
type mapSource struct {
	recs     []record
	lay      *layout
	fields   [fieldCount]similarity
	postings map[leafKey][]posting
}

func newMapSource(ctx context.Context, src Source, files []vault.File, q *query, byMessage bool) (*mapSource, error) {
	out := &mapSource{postings: map[leafKey][]posting{}}
	w, a := q.wants(byMessage), newAnalyzer(q.lang)
	for _, f := range inOrder(files) {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		data, info, err := src.ReadFile(f.Path)
		if err != nil {
			out.recs = append(out.recs, textless(f, err))
			continue
		}
		info.Path = f.Path
		docs, rec := splitter(byMessage)(a, data, info)
		first := int32(len(out.recs))
		if byMessage {
			first = newLayout(out.recs).base[len(out.recs)]
		}
		rec.docs = uint32(len(docs))
		out.recs = append(out.recs, rec)
		for n, d := range docs {
			for f := range d.bags {
				for _, t := range d.bags[f].terms {
					if k := (leafKey{f, t.term}); w.has(f, t.term) {
						out.postings[k] = append(out.postings[k], posting{
							doc: first + int32(n), freq: int32(t.freq), length: int32(d.bags[f].length), positions: t.positions,
						})
					}
				}
			}
		}
	}
	if byMessage {
		out.lay = newLayout(out.recs)
	}
	out.fields = fieldStats(out.recs)
	return out, nil
}

func (s *mapSource) records() []record { return s.recs }

func (s *mapSource) layout() *layout { return s.lay }

func (s *mapSource) superseded() []bool { return superseded(s.recs) }

func (s *mapSource) stats(field int) similarity { return s.fields[field] }

// term clones: places are kept with the postings, and whoever asks may change them.
func (s *mapSource) term(field int, term string, _ []posting) ([]posting, error) {
	return slices.Clone(s.postings[leafKey{field, term}]), nil
}

func (s *mapSource) places(string, []posting) error { return nil }

func (s *mapSource) expand(field int, prefix string) ([]string, error) {
	return s.terms(field, func(term string) bool { return strings.HasPrefix(term, prefix) }), nil
}

func (s *mapSource) similar(word string) ([]string, error) {
	return s.terms(wordsField(s.lay != nil), func(term string) bool { return isSimilar(word, term) }), nil
}

func (s *mapSource) terms(field int, keep func(string) bool) (out []string) {
	for k := range s.postings {
		if k.field == field && keep(k.term) {
			out = append(out, k.term)
		}
	}
	slices.Sort(out)
	return out
}
