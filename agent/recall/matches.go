package recall

import (
	"context"
	"errors"
	"strings"

	"stet/index"
	"stet/vault"
	"stet/vault/session"
)

// searching is one query on one vault.
type searching struct {
	v     *vault.Vault
	x     Searcher
	q     Query
	known map[vault.Path]session.Known
	byID  map[string]session.Known // with a zero value for what is not there
	only  vault.Path
	old   *index.Outdated // what does not hold any more, nil for nothing
}

func (q Query) on(ctx context.Context, v *vault.Vault, x Searcher) (*searching, error) {
	s := &searching{v: v, x: x, q: q, known: map[vault.Path]session.Known{}, byID: map[string]session.Known{}}
	if q.Session != "" {
		k, _, err := session.Find(ctx, v, q.Session)
		if errors.Is(err, session.ErrUnknownSession) && q.Live != nil && q.Live.Any() {
			k, err = q.Live.find(q.Session)
		}
		if err != nil {
			return nil, err
		}
		s.only = k.Path
	}
	return s, nil
}

// FindMatches answers with messages, best first.
func FindMatches(ctx context.Context, v *vault.Vault, x Searcher, q Query) (*Matches, error) {
	s, err := q.on(ctx, v, x)
	if err != nil {
		return nil, err
	}
	if q.Limit == 0 {
		q.Limit = mostMatches
	}
	return s.matches(ctx, q.Limit)
}

// matches asks for more until enough pass the filters or there is no more.
func (s *searching) matches(ctx context.Context, want int) (*Matches, error) {
	ask := index.Query{Text: s.q.Text, Class: []vault.Class{vault.ClassSession}, Limit: want}
	ask.Archived = strings.EqualFold(s.q.Role, "system") // which are left out otherwise
	if s.only != "" {
		ask.Scope = vault.ScopeOf(s.only)
	}
	for {
		res, err := s.x.Search(ctx, ask)
		if err != nil {
			return nil, err
		}
		s.old = res.Outdated
		if err := s.meet(ctx, res.Hits); err != nil {
			return nil, err
		}
		out := &Matches{Total: res.Total, Tier: res.Tier, Degraded: res.Degraded, Warnings: res.Warnings,
			Operators: res.Operators, Uncovered: res.Uncovered}
		for _, h := range res.Hits {
			k := s.of(h.Path)
			if s.keeps(h, k) {
				out.List = append(out.List, Match{h, k})
			}
		}
		if len(out.List) >= want || len(res.Hits) >= res.Total || len(res.Hits) < ask.Limit {
			out.List = out.List[:min(want, len(out.List))]
			return out, nil
		}
		ask.Limit *= 8
	}
}

// meet reads what is known about the transcripts of hits, many at a time.
func (s *searching) meet(ctx context.Context, hits []index.Hit) error {
	var paths []vault.Path
	taken := map[vault.Path]bool{} // an answer without a limit has a million hits
	for _, h := range hits {
		if _, ok := s.known[h.Path]; !ok && !taken[h.Path] && !s.live(h.Path) {
			taken[h.Path], paths = true, append(paths, h.Path)
		}
	}
	heads, err := session.Heads(ctx, s.v, paths)
	for _, k := range heads {
		s.known[k.Path] = k
	}
	return err
}

// live reports a session that is open.
func (s *searching) live(p vault.Path) bool { return s.q.Live != nil && s.q.Live.text[p] != nil }

// of reads what is known about the transcript at p, once.
func (s *searching) of(p vault.Path) session.Known {
	k, ok := s.known[p]
	if ok {
		return k
	}
	k = session.Known{Path: p}
	if s.live(p) {
		k = session.Read(p, s.q.Live.text[p])
		k.Open = true
	} else if head, err := session.Head(s.v, p); err == nil {
		k = head
	}
	s.known[p] = k
	return k
}

// read reads a transcript, of an open session all of it.
func (s *searching) read(p vault.Path) ([]byte, error) {
	if s.q.Live != nil {
		data, _, err := s.q.Live.ReadFile(p)
		return data, err
	}
	data, _, err := s.v.ReadFile(p)
	return data, err
}

func (s *searching) keeps(h index.Hit, k session.Known) bool {
	q := &s.q
	return (s.only == "" || h.Path == s.only) &&
		(q.Agent == "" || strings.EqualFold(k.Agent, q.Agent)) &&
		(q.Project == "" || k.About(q.Project)) &&
		(q.Role == "" || strings.EqualFold(h.Role, q.Role)) &&
		(q.Since.IsZero() || !h.Updated.Before(q.Since)) &&
		(q.Until.IsZero() || h.Updated.Before(q.Until))
}

// root walks to the conversation that k is a part of. A parent that is not there
// ends the walk, and so does one that was met before.
func (s *searching) root(ctx context.Context, k session.Known) (session.Known, error) {
	met := map[string]bool{k.ID: true}
	for k.Parent != "" && !met[k.Parent] {
		met[k.Parent] = true
		up, err := s.session(ctx, k.Parent)
		if err != nil {
			return k, err
		}
		if up.Path == "" {
			return k, nil
		}
		k = up
	}
	return k, nil
}

// session is the transcript with that id, one without a path when there is none.
func (s *searching) session(ctx context.Context, id string) (session.Known, error) {
	if k, ok := s.byID[id]; ok {
		return k, nil
	}
	paths, err := session.Transcripts(ctx, s.v, id)
	if err != nil {
		return session.Known{}, err
	}
	if s.q.Live != nil {
		for p := range s.q.Live.text {
			paths = append(paths, p)
		}
	}
	for _, p := range paths {
		if k := s.of(p); k.ID == id {
			s.byID[id] = k
			return k, nil
		}
	}
	s.byID[id] = session.Known{}
	return session.Known{}, nil
}
