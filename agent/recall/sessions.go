package recall

import (
	"cmp"
	"context"
	"slices"

	"stet/vault"
	"stet/vault/session"
)

// sessionLimit is how many conversations an answer shows unless asked for more.
const sessionLimit = 5

// An Answer is what was said about a question, by conversation.
type Answer struct {
	Found     []Found
	Total     int
	Tier      string
	Degraded  string
	Warnings  []string
	Operators []string // see [index.Result]
	Uncovered int      // likewise
}

// Sessions answers with the conversations that a question is about, best first,
// and what was said there. All text together is within the budget.
func Sessions(ctx context.Context, v *vault.Vault, x Searcher, q Query) (*Answer, error) {
	s, err := q.on(ctx, v, x)
	if err != nil {
		return nil, err
	}
	m, err := s.matches(ctx, mostMatches)
	if err != nil {
		return nil, err
	}
	a := &Answer{Total: m.Total, Tier: m.Tier, Degraded: m.Degraded, Warnings: m.Warnings, Operators: m.Operators,
		Uncovered: m.Uncovered}
	if a.Found, err = s.group(ctx, m.List); err != nil {
		return nil, err
	}
	if limit := cmp.Or(q.Limit, sessionLimit); len(a.Found) > limit {
		a.Found = a.Found[:limit]
	}
	left := cmp.Or(q.Budget, Budget)
	for i := range a.Found {
		if q.Alone {
			break
		}
		// What one does not use is for those after it.
		used := s.quote(&a.Found[i], left/(len(a.Found)-i))
		left -= used
	}
	return a, nil
}

// group puts matches of one conversation together; that of the best match is
// first.
func (s *searching) group(ctx context.Context, list []Match) ([]Found, error) {
	var out []Found
	at := map[vault.Path]int{}
	for _, m := range list {
		root, err := s.root(ctx, m.In)
		if err != nil {
			return nil, err
		}
		// In a circle each is the root of the other: the first in order stands for both.
		if back, err := s.root(ctx, root); err != nil {
			return nil, err
		} else if back.Path != root.Path && back.Path < root.Path {
			root = back
		}
		i, ok := at[root.Path]
		if !ok {
			i = len(out)
			at[root.Path] = i
			out = append(out, Found{Root: root, Score: m.Score})
		}
		out[i].Matches = append(out[i].Matches, m)
	}
	return out, nil
}

// beside is how many messages are shown on either side of one that matches.
const beside = 1

// quote fills in the segments of a conversation within a budget and returns how
// much of it they take: matches first, best first, then what stands around them.
func (s *searching) quote(f *Found, budget int) int {
	type place struct {
		path   vault.Path
		number int
	}
	hits, shown := map[place]string{}, map[place]*Line{} // hits with the line that matches
	talks := map[vault.Path]*Talk{}
	used := 0
	take := func(p place, in session.Known) {
		t := talks[p.path]
		if t == nil {
			t = s.load(in)
			talks[p.path] = t
		}
		if shown[p] != nil || used >= budget {
			return
		}
		snippet, hit := hits[p]
		if l, ok := t.line(p.number, min(budget-used, mostOfOne), snippet); ok {
			l.Hit, l.SupersededBy = hit, s.old.By(in.ID, in.Origin, p.number)
			shown[p] = &l
			used += l.size()
		}
	}
	for _, m := range f.Matches {
		hits[place{m.Path, m.Message}] = m.Snippet
	}
	for _, m := range f.Matches {
		take(place{m.Path, m.Message}, m.In)
	}
	for _, m := range f.Matches {
		for d := 1; d <= beside; d++ {
			take(place{m.Path, m.Message - d}, m.In)
			take(place{m.Path, m.Message + d}, m.In)
		}
	}
	places := make([]place, 0, len(shown))
	for p := range shown {
		places = append(places, p)
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.number, b.number)) })
	for i, p := range places {
		if i == 0 || places[i-1].path != p.path || places[i-1].number+1 != p.number {
			f.Segments = append(f.Segments, Segment{In: s.of(p.path)})
		}
		last := &f.Segments[len(f.Segments)-1]
		last.Lines = append(last.Lines, *shown[p])
	}
	return used
}
