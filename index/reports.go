package index

import (
	"cmp"
	"slices"

	"stet/index/query"
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

// withReports answers with the curator's reports beside what ask finds. They
// are few and asked for by name alone, so they are read for this one answer and
// stand in no index: no other search looks at their folders, and their words
// weigh nothing in it.
func (s *searching) withReports(ask func() error) error {
	offset, limit := max(0, s.q.Offset), s.q.Limit
	if limit == 0 {
		limit = defaultLimit
	}
	s.q.Offset, s.q.Limit = 0, limit
	if limit > 0 {
		s.q.Limit = offset + limit
	}
	if err := ask(); err != nil {
		return err
	}
	hits, total := s.res.Hits, s.res.Total
	if err := s.reports(); err != nil {
		return err
	}
	hits = append(s.res.Hits, hits...)
	// The path of a report begins with the time of its run: the newest first.
	slices.SortStableFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(query.TierRank(a.Tier), query.TierRank(b.Tier)), cmp.Compare(b.Score, a.Score), cmp.Compare(b.Path, a.Path))
	})
	hits = hits[min(offset, len(hits)):]
	if limit > 0 {
		hits = hits[:min(limit, len(hits))]
	}
	s.res.Hits, s.res.Total, s.res.Tier = hits, s.res.Total+total, ""
	if n := len(hits); n > 0 {
		s.res.Tier = hits[n-1].Tier
	}
	return nil
}

// reports answers with reports alone, all of them.
func (s *searching) reports() error {
	s.res.Hits, s.res.Total = nil, 0
	files, err := s.x.src.Files(s.ctx, vault.WalkOptions{Reports: true})
	if err != nil || len(files) == 0 {
		return err
	}
	st, err := s.scan(files, false)
	if err != nil {
		return err
	}
	s.reporting, s.q.Limit = true, -1
	return s.on(st, s.answer)
}
