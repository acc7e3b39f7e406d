package index

import (
	"cmp"
	"context"
	"errors"
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

const (
	defaultLimit = 10 // a screenful
	apartLimit   = 3  // sessions shown apart from the notes
)

// Search answers q from the vault as it is on disk now. The only errors are
// those of ctx and of listing the vault.
func (x *Index) Search(ctx context.Context, q Query) (*Result, error) {
	began := x.o.Now()
	var wg sync.WaitGroup
	wg.Go(x.notes.Warm) // beside the walk, which mostly waits for the system
	wg.Go(x.messages.Warm)
	var denied []vault.Path
	files, err := x.src.Files(ctx, vault.WalkOptions{Archive: true, Denied: func(p vault.Path, _ error) { denied = append(denied, p) }})
	wg.Wait()
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	s := newSearching(ctx, x, q, began)
	s.passOver(denied)
	if s.wantsReports() {
		err = s.withReports(func() error { return s.indexed(files) })
	} else {
		err = s.indexed(files)
	}
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	s.res.Took = x.o.Now().Sub(began)
	return s.res, nil
}

// indexed answers from the two indexes.
func (s *searching) indexed(files []vault.File) (err error) {
	x := s.x
	notes, sessions := divide(files)
	if wantsMem, wantsTalk := s.wants(); wantsTalk {
		s.apart = wantsMem
		if err := s.outdated(notes, sessions); err != nil {
			return err
		}
		if len(sessions) > 0 || x.messages.Exists() {
			err = s.run(x.messages, sessions, s.talkAnswer)
		}
		if wantsMem && err == nil {
			err = s.run(x.notes, notes, s.answer)
		}
	} else {
		err = s.run(x.notes, notes, s.answer)
	}
	return err
}

// A searching is one search under way.
type searching struct {
	x      *Index
	ctx    context.Context
	q      Query
	parsed *query.Query
	texts  *query.TranscriptCache
	apart  bool // sessions are shown beside the notes
	// reporting is set while reports are answered with, see reports.
	reporting bool
	asked     *asked           // what meant returned, nil before
	fused     map[int32]string // by document: its places in the joined rankings
	res       *Result
	memory    *caughtUp // the index of files, nil before it was looked at
	now       time.Time // what has to be valid then
}

func newSearching(ctx context.Context, x *Index, q Query, now time.Time) *searching {
	if !x.o.AsOf.IsZero() {
		now = x.o.AsOf
	}
	parsed := query.Parse(q.Text, now, x.lang)
	parsed.Require(q.Scope, q.Kind, q.Category)
	q.Archived = q.Archived || parsed.WantsHidden()
	return &searching{x: x, ctx: ctx, q: q, parsed: &parsed, texts: query.NewTranscriptCache(x.src), res: &Result{Warnings: parsed.Warnings}, now: now}
}

// wants says which parts of the index the query is about.
func (s *searching) wants() (notes, sessions bool) {
	notes, sessions = len(s.q.Class) == 0, len(s.q.Class) == 0
	for _, c := range s.q.Class {
		notes, sessions = notes || c != vault.ClassSession, sessions || c == vault.ClassSession
	}
	in := s.parsed.Classes()
	if len(in) == 0 {
		return notes, sessions
	}
	return notes && slices.ContainsFunc(in, func(c string) bool { return c != string(vault.ClassSession) }),
		sessions && slices.Contains(in, string(vault.ClassSession))
}

// run tries the index and then the files.
func (s *searching) run(x *store.Index, files []vault.File, answer func(query.Source) error) error {
	st, err := s.fresh(x, files)
	if err == nil {
		if err = s.on(st, answer); err == nil {
			return nil
		}
		if s.ctx.Err() == nil {
			x.Distrust(err)
		}
	}
	if err := context.Cause(s.ctx); err != nil {
		return err
	}
	if !s.x.o.ReadOnly || !errors.Is(err, store.ErrNone) || !store.IsFew(files) { // few files are read as quickly
		s.res.Degraded = reason(err)
		s.x.o.Logger.Warn("search index not used", "reason", err)
	}
	if st, err = s.scan(files, x == s.x.messages); err != nil {
		return err
	}
	return s.on(st, answer)
}

// on answers from an open state.
func (s *searching) on(st *store.State, answer func(query.Source) error) error {
	err := store.Guard("search", func() error { return answer(st) })
	runtime.KeepAlive(st)
	if err == nil {
		s.passed(st.Unread())
	}
	return err
}

// answer evaluates the query on src and fills in the result. Where phrases
// leave nothing of a sentence, their words are looked for.
func (s *searching) answer(src query.Source) error {
	return s.orLoosened(func() error { return s.files(src) }, func() int { return len(s.res.Hits) })
}

// orLoosened asks again, more loosely, when an answer is empty.
func (s *searching) orLoosened(ask func() error, found func() int) error {
	if err := ask(); err != nil || found() > 0 {
		return err
	}
	loose := s.parsed.Loosened()
	if loose == nil {
		return nil
	}
	defer func(was *query.Query) { s.parsed = was }(s.parsed)
	s.parsed = loose
	return ask()
}

// files answers with files.
func (s *searching) files(src query.Source) error {
	limit := s.q.Limit
	if limit == 0 {
		limit = defaultLimit
	}
	ask := 0
	if limit > 0 {
		ask = max(0, s.q.Offset) + limit + 8 // some may have changed meanwhile
	}
	if s.x.meaning != nil && ask > 0 {
		ask = max(ask, meaningPool)
	}
	recs, hidden := src.Records(), src.Superseded()
	keep := func(d int32) bool {
		superseded := hidden != nil && hidden[d] || s.untimely(&recs[d])
		return recs[d].Docs > 0 && s.visible(&recs[d], superseded) && s.parsed.Keeps(&recs[d], superseded, 0)
	}
	if st, ok := src.(*store.State); ok && s.usual() {
		plain, slowly := st.Plain(), keep
		keep = func(d int32) bool { return plain[d] || slowly(d) }
	}
	e, top, total, err := query.Evaluate(s.ctx, src, s.x.src, s.parsed, keep, ask)
	if err != nil {
		return err
	}
	top, total = s.fuse(src, e, keep, top, total)
	s.res.Total, s.res.Hits, s.res.Tier = total, nil, ""
	lines := query.NewLiner(s.parsed, e)
	doubts := doubted(recs, hidden)
	skip := max(0, s.q.Offset)
	for _, m := range top {
		if skip > 0 {
			skip--
			continue
		}
		if limit > 0 && len(s.res.Hits) == limit {
			break
		}
		if hit, ok := s.hit(recs, &recs[m.Doc], hidden != nil && hidden[m.Doc], m, lines); ok {
			hit.doubt(doubts)
			s.res.Hits = append(s.res.Hits, hit)
			if s.res.Tier == "" || query.TierRank(hit.Tier) > query.TierRank(s.res.Tier) {
				s.res.Tier = hit.Tier
			}
		} else {
			s.res.Total--
		}
	}
	if s.q.Explain {
		return s.explain(src, top)
	}
	return nil
}

// hit cuts a hit from its file as it is now. A file that changed since it was
// compared must still match, one that vanished is no hit.
func (s *searching) hit(recs []document.Record, r *document.Record, hidden bool, m query.Match, lines *query.Liner) (Hit, bool) {
	data, info, err := s.x.src.ReadFile(r.Path)
	if err != nil {
		return Hit{}, false
	}
	if document.HashOf(data) != r.Hash && !s.matches(info, hidden) {
		return Hit{}, false
	}
	mem := vault.ReadMemory(r.Path, data)
	front, _ := document.SplitFront(data, mem.Body)
	best := lines.Best(data, len(front))
	h := Hit{
		Path: r.Path, ID: mem.ID, Title: mem.Name(), Kind: mem.Kind, Scope: vault.ScopeOf(r.Path),
		Categories: mem.Categories, Line: max(1, best.Number), Score: m.Score, Tier: m.Tier.String(), Class: vault.ClassOf(r.Path),
		Private: mem.Private, Updated: mem.Updated, ValidFrom: mem.ValidFrom, ValidUntil: mem.ValidUntil,
	}
	if h.Updated.IsZero() {
		h.Updated = info.ModTime
	}
	if vault.IsReport(r.Path) {
		h.Kind = query.KindReport
	}
	if hidden {
		h.SupersededBy = cmp.Or(mem.SupersededBy, successor(recs, strings.ToLower(mem.ID)))
	}
	h.Snippet, h.Highlights = best.Snippet()
	return h, true
}

// explain evaluates once more and writes down what each hit's score is made of.
func (s *searching) explain(src query.Source, top []query.Match) error {
	notes := make(map[int32][]string, len(top))
	for _, m := range top {
		notes[m.Doc] = nil
	}
	if err := query.ExplainScores(s.ctx, src, s.x.src, s.parsed, notes); err != nil {
		return err
	}
	byPath := map[vault.Path]int32{}
	recs := src.Records()
	for d := range notes {
		byPath[recs[d].Path] = d
	}
	for i := range s.res.Hits {
		h := &s.res.Hits[i]
		d := byPath[h.Path]
		lines := notes[d]
		if place, ok := s.fused[d]; ok {
			lines = append([]string{place}, lines...)
		}
		h.Explain = fmt.Sprintf("%.4f score, %s\n%s", h.Score, h.Tier, strings.Join(lines, "\n"))
	}
	return nil
}
