package index

import (
	"cmp"
	"slices"

	"stet/index/query"
	"stet/index/store"
	"stet/vault"
)

// wantsReports reports that the query asks for reports by name and for no
// other class of files.
func (s *searching) wantsReports() bool {
	if len(s.q.Class) > 0 {
		return slices.Contains(s.q.Class, vault.ClassReport)
	}
	return len(s.parsed.Classes()) == 0 && s.parsed.AsksForReports()
}

// A page is what part of an answer is asked for.
type page struct{ offset, limit int }

// widen asks for everything up to the end of the page: reports come between.
func (s *searching) widen() {
	s.page = &page{max(0, s.q.Offset), s.q.Limit}
	s.q.Offset = 0
	if s.q.Limit > 0 {
		s.q.Limit += s.page.offset
	}
}

// addReports puts the curator's reports between the hits. They are few and asked for by
// name alone, so they are read for this one answer and stand in no index: no other search
// looks at their folders, and their words weigh nothing in it.
func (s *searching) addReports() error {
	hits, total := s.res.Hits, s.res.Total
	s.res.Hits, s.res.Total = nil, 0
	files, err := s.x.src.Files(s.ctx, vault.WalkOptions{Reports: true})
	if err == nil && len(files) > 0 {
		var st *store.State
		if st, err = s.scan(files, false); err == nil {
			s.reporting, s.q.Limit = true, -1
			err = s.on(st)
			s.passed(st)
		}
	}
	if err != nil {
		return err
	}
	hits = append(s.res.Hits, hits...)
	// The path of a report begins with the time of its run: the newest first.
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(query.TierRank(a.Tier), query.TierRank(b.Tier)), cmp.Compare(b.Score, a.Score), cmp.Compare(b.Path, a.Path))
	})
	hits = hits[min(s.page.offset, len(hits)):]
	if s.page.limit > 0 {
		hits = hits[:min(s.page.limit, len(hits))]
	}
	s.res.Hits, s.res.Total, s.res.Tier = hits, s.res.Total+total, loosest(hits)
	return nil
}
