package index

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"stet/index/document"
	"stet/index/query"
	"stet/index/store"
	"stet/vault"
)

// talkAnswer evaluates the query on messages and fills in the result: all of
// it when the query asks for sessions only, else the best of a few sessions.
func (s *searching) talkAnswer(src query.Source) error {
	return s.orLoosened(func() error { return s.conversations(src) }, func() int { return len(s.res.Hits) + len(s.res.Sessions) })
}

// conversations answers with messages.
func (s *searching) conversations(src query.Source) error {
	recs, lay, hidden := src.Records(), src.Layout(), src.Superseded()
	facts := query.NewConversations(recs, lay)
	keep := func(d int32) bool {
		rec := lay.Owner[d]
		superseded := hidden != nil && hidden[rec]
		return s.visible(&recs[rec], superseded) && s.parsed.Keeps(&recs[rec], superseded, s.timeOf(facts, d))
	}
	limit := s.q.Limit
	if limit == 0 {
		limit = defaultLimit
	}
	ask := 0
	switch {
	case s.apart:
		ask = query.MessageTexts // of few conversations, or what follows is far from the best
	case limit > 0:
		ask = max(0, s.q.Offset) + limit + 8 // some may have changed meanwhile
	}
	r, list, total, err := query.EvaluateMessages(s.ctx, src, s.parsed, keep, ask, s.texts, s.res.Outdated.successors())
	if err != nil {
		return err
	}
	hits, lost := s.pick(r, list, limit)
	if s.q.Explain {
		if err := s.explainTalk(src, r, hits); err != nil {
			return err
		}
	}
	if s.apart {
		s.res.Sessions = hits
		return nil
	}
	s.res.Hits, s.res.Total = hits, total-lost
	for _, h := range hits {
		if s.res.Tier == "" || query.TierRank(h.Tier) > query.TierRank(s.res.Tier) {
			s.res.Tier = h.Tier
		}
	}
	return nil
}

// pick makes hits of the best of list: a page of them, or one of each of a few
// conversations. lost counts those that are no longer there.
func (s *searching) pick(r *query.Ranking, list []query.Match, limit int) (hits []Hit, lost int) {
	lines := query.NewLiner(s.parsed, r.Evaluation)
	skip := max(0, s.q.Offset)
	if s.apart {
		if skip > 0 {
			return nil, 0 // they stand on the first page
		}
		limit = apartLimit
	}
	taken := map[int32]bool{}
	for i, m := range list {
		if limit > 0 && len(hits) == limit {
			break
		}
		rec := r.Conversations.Layout.Owner[m.Doc]
		if s.apart && taken[rec] {
			continue
		}
		if i%pickAhead == 0 && !s.apart {
			n := min(pickAhead, len(list)-i)
			if limit > 0 {
				n = min(n, skip+limit-len(hits))
			}
			s.ahead(r, list[i:i+n])
		}
		hit, ok := s.message(r, m, lines)
		switch {
		case !ok:
			lost++
		case skip > 0:
			skip--
		default:
			taken[rec] = true
			hits = append(hits, hit)
		}
	}
	return hits, lost
}

// pickAhead is how many matches have their transcripts read at a time: enough for
// all processors, and few enough that an answer without a limit stays small.
const pickAhead = 64

// ahead reads the transcripts of some matches on all processors.
func (s *searching) ahead(r *query.Ranking, list []query.Match) {
	recs := make([]int32, len(list))
	for i, m := range list {
		recs[i] = r.Conversations.Layout.Owner[m.Doc]
	}
	slices.Sort(recs)
	recs = slices.Compact(recs)
	var wg sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), 4, len(recs))
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(recs) && s.ctx.Err() == nil; i += workers {
				file := s.texts.Transcript(r.Conversations.Records[recs[i]].Path)
				file.Hash()
				file.Memory()
			}
		})
	}
	wg.Wait()
}

// timeOf is when a message was written, 0 when it does not matter or is not
// known.
func (s *searching) timeOf(t *query.Conversations, doc int32) int64 {
	if !s.parsed.Filtered() {
		return 0
	}
	return t.Message(doc).At
}

// message cuts a hit from its transcript as it is now.
func (s *searching) message(r *query.Ranking, m query.Match, lines *query.Liner) (Hit, bool) {
	rec := &r.Conversations.Records[r.Conversations.Layout.Owner[m.Doc]]
	file := s.texts.Transcript(rec.Path)
	span := file.Message(r.Conversations.Message(m.Doc).Number)
	if span == nil || file.Hash() != rec.Hash && !s.stillThere(rec, m.Doc-r.Conversations.Layout.Base[r.Conversations.Layout.Owner[m.Doc]], file) {
		return Hit{}, false
	}
	mem := file.Memory()
	best := lines.BestIn(file.Data, span.Start, span.End, span.TextStart)
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
	err = store.Guard("search", func() error {
		_, list, _, err := query.EvaluateMessages(s.ctx, one, s.parsed, func(int32) bool { return true }, 0, s.texts, nil)
		found = slices.ContainsFunc(list, func(m query.Match) bool { return m.Doc == n })
		return err
	})
	return err == nil && found
}

// explainTalk says what the scores of hits are made of.
func (s *searching) explainTalk(src query.Source, r *query.Ranking, hits []Hit) error {
	notes, docs := map[int32][]string{}, make([]int32, len(hits))
	for i := range hits {
		rec, _ := slices.BinarySearchFunc(r.Conversations.Records, hits[i].Path, func(r document.Record, p vault.Path) int { return cmp.Compare(r.Path, p) })
		docs[i] = r.Conversations.Layout.Base[rec]
		for r.Conversations.Message(docs[i]).Number < hits[i].Message {
			docs[i]++
		}
		notes[docs[i]] = nil
	}
	if err := query.ExplainScores(s.ctx, src, s.x.src, s.parsed, notes); err != nil {
		return err
	}
	for i := range hits {
		lines := append(r.Explain(docs[i]), notes[docs[i]]...)
		hits[i].Explain = fmt.Sprintf("%.4f score, %s\n%s", hits[i].Score, hits[i].Tier, strings.Join(lines, "\n"))
	}
	return nil
}
