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
	if x.o.Changed != nil && s.parsed.Timed() {
		if s.changed, err = x.o.Changed(ctx); err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
	}
	parts, err := s.parts(files)
	for ; err == nil && len(parts) > 0; parts = parts[1:] {
		err = s.from(parts[0], s.on)
	}
	if err == nil && s.page != nil {
		err = s.addReports()
	}
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	s.res.Took = x.o.Now().Sub(began)
	return s.res, nil
}

// A part is one of the two indexes and the files that belong to it.
type part struct {
	index *store.Index
	files []vault.File
}

// parts are those that the query is about.
func (s *searching) parts(files []vault.File) (out []part, err error) {
	notes, sessions := divide(files)
	wantsNotes, wantsSessions := s.wants()
	if wantsSessions {
		s.apart = wantsNotes
		if err := s.outdated(notes, sessions); err != nil {
			return nil, err
		}
		if len(sessions) > 0 || s.x.messages.Exists() {
			out = append(out, part{s.x.messages, sessions})
		}
	}
	if wantsNotes || !wantsSessions {
		out = append(out, part{s.x.notes, notes})
	}
	return out, nil
}

// A searching is one search under way.
type searching struct {
	x      *Index
	ctx    context.Context
	q      Query
	parsed *query.Query // as it is read now
	texts  *query.TranscriptCache
	apart  bool  // sessions are shown beside the notes
	page   *page // of the answer with reports, nil where none are asked for
	// readings are those of the query in the order in which they are tried: with its operators, with its phrases as
	// words, word by word where an operator could leave out what is pasted (first where it stands between words), and
	// with a bare minus as an exclusion.
	readings []*query.Query
	// reporting is set while reports are answered with, see addReports.
	reporting bool
	asked     *asked           // what meant returned, nil before
	fused     map[int32]string // by document: its places in the joined rankings
	res       *Result
	memory    *caughtUp  // the index of files, nil before it was looked at
	now       time.Time  // what has to be valid then
	secret    secret     // of the files looked at, where an agent asks
	changed   ChangeTime // nil where the query asks for no time
}

// at is when a file was last changed, and made, as a query that asks for a time means it; zero for what its record says.
func (s *searching) at(r *document.Record) (t query.Times) {
	if s.changed != nil {
		t.Changed, t.Made = s.changed(
			r.Path, document.TimeOf(document.DecodeMeta(r.Meta).Updated), r.Size, time.Unix(0, r.MTime))
	}
	return t
}

func newSearching(ctx context.Context, x *Index, q Query, now time.Time) *searching {
	if !x.o.AsOf.IsZero() {
		now = x.o.AsOf
	}
	parsed := query.Parse(q.Text, now, x.lang)
	parsed.Require(q.Scope, q.Kind, q.Category)
	q.Archived = q.Archived || parsed.WantsHidden()
	q.Limit = cmp.Or(q.Limit, defaultLimit)
	q.public = q.public || x.o.Public
	s := &searching{
		x: x, ctx: ctx, q: q, parsed: &parsed, texts: query.NewTranscriptCache(x.src),
		res: &Result{Warnings: parsed.Warnings}, now: now, secret: secret{hides: x.o.Hides},
	}
	pasted, typed := query.AsItStands(q.Text, &parsed), []*query.Query{&parsed, parsed.Loosened()}
	s.readings = append(typed, pasted)
	if parsed.Pasted {
		s.readings = append([]*query.Query{pasted}, typed...)
	}
	s.readings = slices.DeleteFunc(append(s.readings, query.Excluding(q.Text, now, &parsed)),
		func(q *query.Query) bool { return q == nil })
	if s.wantsReports() {
		s.widen()
	}
	return s
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

// from gives a part of the index to answer, or else its files, indexed in memory.
func (s *searching) from(p part, answer func(query.Source) error) error {
	st, err := s.fresh(p.index, p.files)
	if err == nil {
		if err = answer(st); err == nil {
			s.passed(st)
			return nil
		}
		if s.ctx.Err() == nil {
			p.index.Distrust(err)
		}
	}
	if err := context.Cause(s.ctx); err != nil {
		return err
	}
	if !s.x.o.ReadOnly || !errors.Is(err, store.ErrNone) || !store.IsFew(p.files) { // few files are read as quickly
		s.res.Degraded = reason(err)
		s.x.o.Logger.Warn("search index not used", "reason", err)
	}
	if st, err = s.scan(p.files, p.index == s.x.messages); err == nil {
		err = answer(st)
	}
	if err == nil {
		s.passed(st)
	}
	return err
}

// on answers from an open state, by the first reading of the query that finds something.
func (s *searching) on(src query.Source) (err error) {
	defer store.Guarded("search", &err)()
	defer runtime.KeepAlive(src)
	src = s.entriesOf(src)
	defer func(asked *query.Query) { s.parsed = asked }(s.parsed)
	for _, q := range s.readings {
		s.parsed = q
		e := query.New(s.ctx, src, s.x.src, q)
		if err = e.Run(); err != nil {
			return err
		}
		found := s.files
		if e.Conversations != nil {
			found = s.conversations
		}
		n, err := found(src, e)
		if n > 0 && len(q.Operators) > 0 {
			s.res.Operators = q.Operators
		}
		if err != nil || n > 0 {
			return err
		}
	}
	return nil
}

// ask is how many matches an answer is made of, 0 for all: some may have changed meanwhile.
func (s *searching) ask() int {
	if s.q.Limit < 0 {
		return 0
	}
	return max(0, s.q.Offset) + s.q.Limit + 8
}

// files answers with files.
func (s *searching) files(src query.Source, e *query.Evaluation) (int, error) {
	ask := s.ask()
	if s.x.meaning != nil && ask > 0 {
		ask = max(ask, meaningPool)
	}
	recs, hidden := src.Records(), src.Superseded()
	keep := func(d int32) bool {
		superseded := hidden != nil && hidden[d] || s.untimely(&recs[d])
		r := &recs[d]
		return r.Docs > 0 && s.visible(r, superseded) && s.parsed.Keeps(r, superseded, s.at(r))
	}
	e.Weigh = func(d int32) float64 { return s.standingOf(&recs[d]) }
	top, _ := e.Best(keep, 0)
	doubts := doubted(recs, hidden, s.q.public)
	top = newerFirst(recs, withoutWhole(recs, top), doubts)
	total := len(top)
	if ask > 0 {
		top = top[:min(ask, total)]
	}
	top, total = s.fuse(recs, e, keep, top, total)
	if s.x.meaning != nil {
		top = newerFirst(recs, top, doubts)
	}
	lines := query.NewLiner(s.parsed, e)
	hits, docs, lost := s.pageOf(top, func(m query.Match) (Hit, bool) {
		hit, ok := s.hit(recs, &recs[m.Doc], hidden != nil && hidden[m.Doc], m, lines)
		hit.doubt(doubts)
		return hit, ok
	})
	s.res.Hits, s.res.Total, s.res.Tier = hits, total-lost, loosest(hits)
	return len(hits), s.explain(e, hits, docs, func(d int32) []string {
		var first []string
		if place, ok := s.fused[d]; ok {
			first = append(first, place)
		}
		if by := s.standingOf(&recs[d]); by != 1 {
			first = append(first, fmt.Sprintf("%.4f times its words: importance and age", by))
		}
		return first
	})
}

// pageOf makes hits of the matches on the page that is asked for. lost counts those
// before its end that are no longer there.
func (s *searching) pageOf(list []query.Match, cut func(query.Match) (Hit, bool)) (hits []Hit, docs []int32, lost int) {
	skip := max(0, s.q.Offset)
	for _, m := range list {
		if s.q.Limit > 0 && len(hits) == s.q.Limit {
			break
		}
		hit, ok := cut(m)
		switch {
		case !ok:
			lost++
		case skip > 0:
			skip--
		default:
			hits, docs = append(hits, hit), append(docs, m.Doc)
		}
	}
	return hits, docs, lost
}

// loosest is the tier of the last of hits.
func loosest(hits []Hit) (tier string) {
	for _, h := range hits {
		if tier == "" || query.TierRank(h.Tier) > query.TierRank(tier) {
			tier = h.Tier
		}
	}
	return tier
}

// hit cuts a hit from its file as it is now. A file that changed since it was
// compared must still match, one that vanished is no hit.
func (s *searching) hit(recs []document.Record, r *document.Record, hidden bool, m query.Match, lines *query.Liner) (Hit, bool) {
	if r.Entry != nil {
		return entryHit(r, m, lines), true
	}
	data, info, err := s.x.src.ReadFile(r.Path)
	if err != nil {
		return Hit{}, false
	}
	if document.HashOf(data) != r.Hash && !s.matches(info, hidden) {
		return Hit{}, false
	}
	mem := vault.ReadMemory(r.Path, data)
	front, _ := document.SplitFront(data, mem.Body)
	best := lines.Best(document.Own(r.Path, data, len(front)), len(front))
	h := Hit{
		Path: r.Path, ID: mem.ID, Title: cmp.Or(mem.Headline(), mem.Name()), Kind: mem.Kind,
		Scope: vault.ScopeOf(r.Path), Class: vault.ClassOf(r.Path), Categories: mem.Categories,
		Line: max(1, best.Number), Score: m.Score, Tier: m.Tier.String(),
		Private: mem.Private, Updated: mem.Updated, ValidFrom: mem.ValidFrom, ValidUntil: mem.ValidUntil,
	}
	switch {
	case s.changed != nil:
		h.Updated, _ = s.changed(r.Path, mem.Updated, info.Size, info.ModTime)
	case h.Updated.IsZero():
		h.Updated = info.ModTime
	}
	if vault.IsReport(r.Path) {
		h.Kind = query.KindReport
	}
	if hidden {
		h.SupersededBy = s.told(cmp.Or(mem.SupersededBy, document.Successors(recs)[strings.ToLower(mem.ID)]))
	}
	h.Snippet, h.Highlights = best.Snippet()
	return h, true
}

// explain says what the score of each hit is made of, one part a line, if that is asked for.
func (s *searching) explain(e *query.Evaluation, hits []Hit, docs []int32, first func(doc int32) []string) error {
	if !s.q.Explain {
		return nil
	}
	notes, err := e.Explained(docs)
	for i := range hits {
		lines := append(first(docs[i]), notes[docs[i]]...)
		hits[i].Explain = fmt.Sprintf("%.4f score, %s\n%s", hits[i].Score, hits[i].Tier, strings.Join(lines, "\n"))
	}
	return err
}
