package index

import (
	"slices"
	"strings"

	"stet/index/document"
	"stet/index/query"
	"stet/index/store"
	"stet/vault"
)

// mapSource is what tests compare the index with: every file is read and analysed, and
// what a query can ask for stands in maps. It shares no segment code with the index.
type mapSource struct {
	recs     []document.Record
	lay      *document.Layout
	postings map[mapTerm][]document.Posting
}

type mapTerm struct {
	field int
	term  string
}

func newMapSource(
	src Source, lang *document.Language, files []vault.File, readings []*query.Query, byMessage bool,
) (*mapSource, error) {
	out := &mapSource{postings: map[mapTerm][]document.Posting{}}
	a := document.NewAnalyzer(lang)
	var terms []func(field int, term string) bool
	for _, q := range readings {
		terms = append(terms, q.Wants(byMessage).Has)
	}
	wanted := func(f int, term string) bool {
		return slices.ContainsFunc(terms, func(has func(int, string) bool) bool { return has(f, term) })
	}
	analyze := a.File
	if byMessage {
		analyze = a.Transcript
	}
	for _, f := range store.InOrder(files) {
		data, info, err := src.ReadFile(f.Path)
		if err != nil {
			out.recs = append(out.recs, document.Textless(f, err))
			continue
		}
		info.Path = f.Path
		docs, rec := analyze(data, info)
		first := int32(len(out.recs))
		if byMessage {
			first = document.NewLayout(out.recs).Base[len(out.recs)]
		}
		rec.Docs = uint32(len(docs))
		out.recs = append(out.recs, rec)
		for n, d := range docs {
			for f := range d.Bags {
				for _, t := range d.Bags[f].Terms {
					if k := (mapTerm{f, t.Term}); wanted(f, t.Term) {
						out.postings[k] = append(out.postings[k], document.Posting{
							Doc: first + int32(n), Freq: int32(t.Freq), Length: int32(d.Bags[f].Length), Positions: t.Positions,
						})
					}
				}
			}
		}
	}
	if byMessage {
		out.lay = document.NewLayout(out.recs)
	}
	return out, nil
}

func (s *mapSource) Records() []document.Record { return s.recs }

func (s *mapSource) Layout() *document.Layout { return s.lay }

func (s *mapSource) Superseded() []bool { return document.Superseded(s.recs) }

func (s *mapSource) Stats(field int) document.FieldStat { return document.FieldStats(s.recs)[field] }

// Term clones: places are kept with the postings, and whoever asks may change them.
func (s *mapSource) Term(field int, term string, _ []document.Posting) ([]document.Posting, error) {
	return slices.Clone(s.postings[mapTerm{field, term}]), nil
}

func (s *mapSource) Places(string, []document.Posting) error { return nil }

func (s *mapSource) Terms(
	field int, prefix string, keep func(string) bool,
) (out []string, _ error) {
	for k := range s.postings {
		if k.field == field && strings.HasPrefix(k.term, prefix) && (keep == nil || keep(k.term)) {
			out = append(out, k.term)
		}
	}
	slices.Sort(out)
	return out, nil
}
