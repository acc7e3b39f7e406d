package index

import (
	"slices"
	"time"

	"stet/index/document"
	"stet/index/query"
	"stet/vault"
)

// conversations answers with messages: all of them when the query asks for sessions only,
// else the best of a few conversations.
func (s *searching) conversations(src query.Source, e *query.Evaluation) (int, error) {
	recs, lay, hidden := src.Records(), src.Layout(), src.Superseded()
	keep := func(d int32) bool {
		rec, at := lay.Owner[d], query.Times{}
		if s.parsed.Filtered() {
			at.Changed = document.TimeOf(e.Conversations.Message(d).At)
			at.Made = at.Changed
		}
		superseded := hidden != nil && hidden[rec]
		if recs[rec].Flags&document.FlagSystem != 0 && !s.q.Archived &&
			e.Conversations.Message(d).Side == document.SideSystem {
			return false
		}
		return s.visible(&recs[rec], superseded) && s.parsed.Keeps(&recs[rec], superseded, at)
	}
	ask := s.ask()
	if s.apart {
		ask = query.MessageTexts // of few conversations, or what follows is far from the best
	}
	r, list, total, err := e.Rank(keep, ask, s.texts, s.res.Outdated.successors())
	if err != nil {
		return 0, err
	}
	lines := query.NewLiner(s.parsed, e)
	cut := func(m query.Match) (Hit, bool) { return s.message(r, m, lines) }
	for i := range recs {
		if r := &recs[i]; r.Flags&document.FlagUncovered != 0 && s.visible(r, hidden != nil && hidden[i]) {
			for _, m := range document.DecodeTranscript(r.Meta) {
				if m.Uncovered {
					s.res.Uncovered++
				}
			}
		}
	}
	var hits []Hit
	var docs []int32
	lost := 0
	if s.apart {
		agents := func(doc int32) bool { return e.Conversations.Message(doc).Side == document.SideAssistant }
		hits, docs = s.onePerConversation(list, lay, agents, cut)
		s.res.Sessions = hits
	} else {
		hits, docs, lost = s.pageOf(list, cut)
		s.res.Hits, s.res.Total, s.res.Tier = hits, total-lost, loosest(hits)
	}
	return len(hits), s.explain(e, hits, docs, r.Explain)
}

// onePerConversation makes hits of the best messages of a few conversations, each with the best one of the agent's
// where it is none. They stand on the first page.
func (s *searching) onePerConversation(
	list []query.Match, lay *document.Layout,
	agents func(doc int32) bool, cut func(query.Match) (Hit, bool),
) (hits []Hit, docs []int32) {
	taken, replied := map[int32]int{}, map[int32]bool{}
	for _, m := range list {
		rec := lay.Owner[m.Doc]
		at, again := taken[rec]
		if s.q.Offset > 0 || !again && len(hits) == apartLimit || again && (replied[rec] || !agents(m.Doc)) {
			continue
		}
		hit, ok := cut(m)
		switch {
		case !ok || again && len(hit.Highlights) == 0: // its neighbours match, and it does not
			continue
		case again:
			hits[at].Reply = &hit
		default:
			taken[rec] = len(hits)
			hits, docs = append(hits, hit), append(docs, m.Doc)
		}
		replied[rec] = agents(m.Doc)
	}
	return hits, docs
}

// message cuts a hit from its transcript as it is now.
func (s *searching) message(r *query.Ranking, m query.Match, lines *query.Liner) (Hit, bool) {
	rec := &r.Conversations.Records[r.Conversations.Layout.Owner[m.Doc]]
	file := s.texts.Transcript(rec)
	span := file.Message(r.Conversations.Message(m.Doc))
	if span == nil || !file.Is(rec) && !s.stillThere(rec, m.Doc-r.Conversations.Layout.Base[r.Conversations.Layout.Owner[m.Doc]], file) {
		return Hit{}, false
	}
	mem := file.Memory()
	best := lines.BestOf(file, span)
	h := Hit{
		Path: rec.Path, ID: mem.ID, Title: mem.Name(), Scope: mem.Scope, Categories: mem.Categories,
		Line: max(1, best.Number), Score: m.Score, Tier: m.Tier.String(), Class: vault.ClassSession, Private: mem.Private,
		Message: span.Number, Role: span.Role, Speaker: span.Name, Ref: span.Ref, Updated: span.Time,
		SupersededBy: r.Successor(m.Doc),
	}
	if h.Updated.IsZero() {
		h.Updated = mem.Created
	}
	if h.Updated.IsZero() {
		h.Updated = time.Unix(0, rec.MTime)
	}
	h.Snippet, h.Highlights = best.Snippet()
	return h, true
}

// stillThere evaluates the query on a transcript that has changed since it was
// compared.
func (s *searching) stillThere(rec *document.Record, n int32, file *query.Transcript) bool {
	one, err := s.scan([]vault.File{{Path: rec.Path, Size: file.Info.Size, ModTime: file.Info.ModTime}}, true)
	if err != nil {
		return false
	}
	found := false
	err = s.alone(one, func(e *query.Evaluation) error {
		_, list, _, err := e.Rank(func(int32) bool { return true }, 0, s.texts, nil)
		found = slices.ContainsFunc(list, func(m query.Match) bool { return m.Doc == n })
		return err
	})
	return err == nil && found
}
