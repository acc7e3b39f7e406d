package index

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"stet/vault"
)

// talkAnswer evaluates the query on messages and fills in the result: all of
// it when the query asks for sessions only, else the best of a few sessions.
func (s *searching) talkAnswer(src source) error {
	return s.orLoosened(func() error { return s.conversations(src) }, func() int { return len(s.res.Hits) + len(s.res.Sessions) })
}

// conversations answers with messages.
func (s *searching) conversations(src source) error {
	recs, lay, hidden := src.records(), src.layout(), src.superseded()
	facts := newTalk(recs, lay)
	keep := func(d int32) bool {
		rec := lay.owner[d]
		superseded := hidden != nil && hidden[rec]
		return s.visible(&recs[rec], superseded) && s.parsed.keeps(&recs[rec], superseded, s.timeOf(facts, d))
	}
	limit := s.q.Limit
	if limit == 0 {
		limit = defaultLimit
	}
	ask := 0
	switch {
	case s.apart:
		ask = talkTexts // of few conversations, or what follows is far from the best
	case limit > 0:
		ask = max(0, s.q.Offset) + limit + 8 // some may have changed meanwhile
	}
	r, list, total, err := evaluateTalk(s.ctx, src, s.parsed, keep, ask, s.texts, s.res.Outdated)
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
		if s.res.Tier == "" || tierRank(h.Tier) > tierRank(s.res.Tier) {
			s.res.Tier = h.Tier
		}
	}
	return nil
}

// pick makes hits of the best of list: a page of them, or one of each of a few
// conversations. lost counts those that are no longer there.
func (s *searching) pick(r *ranking, list []match, limit int) (hits []Hit, lost int) {
	lines := newLiner(s.parsed, r.evaluation)
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
		rec := r.talk.lay.owner[m.doc]
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
func (s *searching) ahead(r *ranking, list []match) {
	recs := make([]int32, len(list))
	for i, m := range list {
		recs[i] = r.talk.lay.owner[m.doc]
	}
	slices.Sort(recs)
	recs = slices.Compact(recs)
	var wg sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), 4, len(recs))
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(recs) && s.ctx.Err() == nil; i += workers {
				file := s.texts.of(r.talk.recs[recs[i]].path)
				file.hash()
				file.memory()
			}
		})
	}
	wg.Wait()
}

func tierRank(name string) tier {
	for t := strict; t < semantic; t++ {
		if t.String() == name {
			return t
		}
	}
	return semantic
}

// timeOf is when a message was written, 0 when it does not matter or is not
// known.
func (s *searching) timeOf(t *talk, doc int32) int64 {
	if len(s.parsed.filters) == 0 && len(s.parsed.required) == 0 {
		return 0
	}
	return t.of(doc).at
}

// message cuts a hit from its transcript as it is now.
func (s *searching) message(r *ranking, m match, lines *liner) (Hit, bool) {
	rec := &r.talk.recs[r.talk.lay.owner[m.doc]]
	file := s.texts.of(rec.path)
	span := file.message(r.talk.of(m.doc).number)
	if span == nil || file.hash() != rec.hash && !s.stillThere(rec, m.doc-r.talk.lay.base[r.talk.lay.owner[m.doc]], file) {
		return Hit{}, false
	}
	mem := file.memory()
	best := lines.bestIn(file.data, span.Start, span.End, span.TextStart)
	h := Hit{
		Path: rec.path, ID: mem.ID, Title: mem.Name(), Scope: mem.Scope, Categories: mem.Categories,
		Line: max(1, best.number), Score: m.score, Tier: m.tier.String(), Class: vault.ClassSession, Private: mem.Private,
		Message: span.Number, Role: span.Role, Speaker: span.Name, Ref: span.Ref, Updated: span.Time,
		SupersededBy: r.successor(m.doc),
	}
	if h.Updated.IsZero() {
		h.Updated = mem.Created
	}
	if h.Updated.IsZero() {
		h.Updated = time.Unix(0, rec.mtime)
	}
	h.Snippet, h.Highlights = best.snippet()
	return h, true
}

// stillThere evaluates the query on a transcript that has changed since it was
// compared.
func (s *searching) stillThere(rec *record, n int32, file *transcript) bool {
	one, err := s.scan([]vault.File{{Path: rec.path, Size: file.info.Size, ModTime: file.info.ModTime}}, true)
	if err != nil {
		return false
	}
	found := false
	err = guard("search", func() error {
		_, list, _, err := evaluateTalk(s.ctx, one, s.parsed, func(int32) bool { return true }, 0, s.texts, nil)
		found = slices.ContainsFunc(list, func(m match) bool { return m.doc == n })
		return err
	})
	return err == nil && found
}

// explainTalk says what the scores of hits are made of.
func (s *searching) explainTalk(src source, r *ranking, hits []Hit) error {
	notes, docs := map[int32][]string{}, make([]int32, len(hits))
	for i := range hits {
		rec, _ := slices.BinarySearchFunc(r.talk.recs, hits[i].Path, func(r record, p vault.Path) int { return cmp.Compare(r.path, p) })
		docs[i] = r.talk.lay.base[rec]
		for r.talk.of(docs[i]).number < hits[i].Message {
			docs[i]++
		}
		notes[docs[i]] = nil
	}
	if err := evaluateNotes(s.ctx, src, s.x.src, s.parsed, notes); err != nil {
		return err
	}
	for i := range hits {
		lines := append(r.explain(docs[i]), notes[docs[i]]...)
		hits[i].Explain = fmt.Sprintf("%.4f score, %s\n%s", hits[i].Score, hits[i].Tier, strings.Join(lines, "\n"))
	}
	return nil
}
