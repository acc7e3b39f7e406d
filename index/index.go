package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"stet/vault"
)

// An Index answers searches over one vault. It is safe for concurrent use, by
// any number of goroutines and processes.
type Index struct {
	src       Source
	o         Options
	lang      *language
	mem, talk *part
	meaning   *semantics // nil unless an embedder is configured
}

// Open prepares the index of src. It is cheap and touches nothing: files are
// opened at the first use.
func Open(src Source, o Options) (*Index, error) {
	if o.Now == nil {
		return nil, errors.New("open search index: Options.Now is missing")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	lang, err := languageOf(o.Language)
	if err != nil {
		return nil, fmt.Errorf("open search index: %w", err)
	}
	dir := filepath.Join(src.StateDir(), "index")
	return &Index{
		src: src, o: o, lang: lang,
		mem:     &part{src: src, o: o, lang: lang, dir: dir},
		talk:    &part{src: src, o: o, lang: lang, dir: filepath.Join(dir, "talk"), byMessage: true},
		meaning: newMeaning(src, o, filepath.Join(dir, "vectors")),
	}, nil
}

// Close lets go of the index folders. Searches that are running finish.
func (x *Index) Close() error { return errors.Join(x.mem.close(), x.talk.close(), x.meaning.close()) }

// CatchUp brings the index up to date with the files on disk. A writer in
// another process is no error: it does the same work. Without one the errors
// are those of the disk. With Options.ReadOnly it does nothing.
func (x *Index) CatchUp(ctx context.Context) (Stats, error) {
	if x.o.ReadOnly {
		return Stats{}, nil
	}
	files, err := x.src.Files(ctx, vault.WalkOptions{Archive: true})
	if err != nil {
		return Stats{}, fmt.Errorf("catch up: %w", err)
	}
	return x.both(files, func(p *part, files []vault.File) (Stats, error) { return p.catchUp(ctx, files) })
}

// Rebuild makes the index anew from every file. It fails with [ErrBusy] while
// another process writes it.
func (x *Index) Rebuild(ctx context.Context) (Stats, error) {
	files, err := x.src.Files(ctx, vault.WalkOptions{Archive: true})
	if err != nil {
		return Stats{}, fmt.Errorf("rebuild search index: %w", err)
	}
	if x.o.ReadOnly {
		return Stats{}, fmt.Errorf("rebuild: %w", errReadOnly)
	}
	stats, err := x.both(files, func(p *part, files []vault.File) (Stats, error) { return p.rebuildAll(ctx, files) })
	if err == nil {
		err = x.embedAll(ctx, files, &stats)
	}
	return stats, err
}

// Touch brings the given files up to date without looking at any other: for
// the writer that has just written them. Where there is no usable index yet,
// or another process is writing it, Touch leaves everything to the next search.
// It may count a new file as a changed one: it does not look.
func (x *Index) Touch(ctx context.Context, paths []vault.Path) (Stats, error) {
	files := make([]vault.File, 0, len(paths))
	for _, p := range paths {
		if class := vault.ClassOf(p); p.IsMarkdown() && class != vault.ClassConfig && class != vault.ClassReport {
			files = append(files, vault.File{Path: p})
		}
	}
	if len(files) == 0 || x.o.ReadOnly {
		return Stats{}, nil
	}
	slices.SortFunc(files, func(a, b vault.File) int { return cmp.Compare(a.Path, b.Path) })
	files = slices.CompactFunc(files, func(a, b vault.File) bool { return a.Path == b.Path })
	return x.both(files, func(p *part, files []vault.File) (Stats, error) {
		if len(files) == 0 {
			return Stats{}, nil
		}
		return p.touchFiles(ctx, files)
	})
}

// Check reads the whole index and reports what is wrong with it. Every
// problem goes away by itself at the next search; Rebuild does it at once.
func (x *Index) Check(ctx context.Context) ([]vault.Problem, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	mem, err := x.mem.check()
	talk, terr := x.talk.check()
	return append(mem, talk...), errors.Join(err, terr)
}

// both does one thing to each part and adds up what it did. Where there are
// no transcripts and never were, there is no index of them.
func (x *Index) both(files []vault.File, f func(*part, []vault.File) (Stats, error)) (Stats, error) {
	mem, talk := divide(files)
	sum, err := f(x.mem, mem)
	if err != nil || len(talk) == 0 && !x.talk.exists() {
		return sum, err
	}
	more, err := f(x.talk, talk)
	sum.Added += more.Added
	sum.Changed += more.Changed
	sum.Removed += more.Removed
	sum.Total += more.Total
	sum.Took += more.Took
	sum.Rebuilt = sum.Rebuilt || more.Rebuilt
	return sum, err
}

const (
	defaultLimit = 10 // a screenful
	apartLimit   = 3  // sessions shown apart from the notes
)

// Search answers q from the vault as it is on disk now. The only errors are
// those of ctx and of listing the vault.
func (x *Index) Search(ctx context.Context, q Query) (*Result, error) {
	began := x.o.Now()
	var wg sync.WaitGroup
	wg.Go(x.mem.warm) // beside the walk, which mostly waits for the system
	wg.Go(x.talk.warm)
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
	mem, talk := divide(files)
	if wantsMem, wantsTalk := s.wants(); wantsTalk {
		s.apart = wantsMem
		if err := s.outdated(mem, talk); err != nil {
			return err
		}
		if len(talk) > 0 || x.talk.exists() {
			err = s.run(x.talk, talk, s.talkAnswer)
		}
		if wantsMem && err == nil {
			err = s.run(x.mem, mem, s.answer)
		}
	} else {
		err = s.run(x.mem, mem, s.answer)
	}
	return err
}

// A searching is one search under way.
type searching struct {
	x      *Index
	ctx    context.Context
	q      Query
	parsed *query
	texts  *texts
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
	parsed := parseQuery(q.Text, now, x.lang)
	for _, f := range []struct{ key, value string }{{keyScope, q.Scope}, {keyKind, q.Kind}, {keyCategory, q.Category}} {
		if f, ok := newFilter(f.key, f.value, now); ok {
			parsed.required = append(parsed.required, f)
		}
	}
	q.Archived = q.Archived || parsed.wantsHidden()
	return &searching{x: x, ctx: ctx, q: q, parsed: &parsed, texts: newTexts(x.src), res: &Result{Warnings: parsed.warnings}, now: now}
}

// wants says which parts of the index the query is about.
func (s *searching) wants() (mem, talk bool) {
	mem, talk = len(s.q.Class) == 0, len(s.q.Class) == 0
	for _, c := range s.q.Class {
		mem, talk = mem || c != vault.ClassSession, talk || c == vault.ClassSession
	}
	in := s.parsed.classes()
	if len(in) == 0 {
		return mem, talk
	}
	return mem && slices.ContainsFunc(in, func(c string) bool { return c != string(vault.ClassSession) }),
		talk && slices.Contains(in, string(vault.ClassSession))
}

// run tries the index and then the files.
func (s *searching) run(x *part, files []vault.File, answer func(source) error) error {
	st, err := s.fresh(x, files)
	if err == nil {
		if err = s.on(st, answer); err == nil {
			return nil
		}
		if s.ctx.Err() == nil {
			x.distrust(err)
		}
	}
	if err := context.Cause(s.ctx); err != nil {
		return err
	}
	if !x.o.ReadOnly || !errors.Is(err, errNone) || bytesOf(files) > overlayBytes { // few files are read as quickly
		s.res.Degraded = reason(err)
		x.o.Logger.Warn("search index not used", "reason", err)
	}
	if st, err = s.scan(files, x.byMessage); err != nil {
		return err
	}
	return s.on(st, answer)
}

// on answers from an open state.
func (s *searching) on(st *state, answer func(source) error) error {
	err := guard("search", func() error { return answer(st) })
	runtime.KeepAlive(st)
	if err == nil {
		s.passed(st.opened.unread)
	}
	return err
}

// answer evaluates the query on src and fills in the result. Where phrases
// leave nothing of a sentence, their words are looked for.
func (s *searching) answer(src source) error {
	return s.orLoosened(func() error { return s.files(src) }, func() int { return len(s.res.Hits) })
}

// orLoosened asks again, more loosely, when an answer is empty.
func (s *searching) orLoosened(ask func() error, found func() int) error {
	if err := ask(); err != nil || found() > 0 {
		return err
	}
	loose := s.parsed.loosened()
	if loose == nil {
		return nil
	}
	defer func(was *query) { s.parsed = was }(s.parsed)
	s.parsed = loose
	return ask()
}

// files answers with files.
func (s *searching) files(src source) error {
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
	recs, hidden := src.records(), src.superseded()
	keep := func(d int32) bool {
		superseded := hidden != nil && hidden[d] || s.untimely(&recs[d])
		return recs[d].docs > 0 && s.visible(&recs[d], superseded) && s.parsed.keeps(&recs[d], superseded, 0)
	}
	if st, ok := src.(*state); ok && s.usual() {
		plain, slowly := st.opened.plain(recs), keep
		keep = func(d int32) bool { return plain[d] || slowly(d) }
	}
	e, top, total, err := evaluate(s.ctx, src, s.x.src, s.parsed, keep, ask)
	if err != nil {
		return err
	}
	top, total = s.fuse(src, e, keep, top, total)
	s.res.Total, s.res.Hits, s.res.Tier = total, nil, ""
	lines := newLiner(s.parsed, e)
	doubts := doubtsIn(src, hidden)
	skip := max(0, s.q.Offset)
	for _, m := range top {
		if skip > 0 {
			skip--
			continue
		}
		if limit > 0 && len(s.res.Hits) == limit {
			break
		}
		if hit, ok := s.hit(recs, &recs[m.doc], hidden != nil && hidden[m.doc], m, lines); ok {
			hit.doubt(doubts)
			s.res.Hits = append(s.res.Hits, hit)
			if s.res.Tier == "" || tierRank(hit.Tier) > tierRank(s.res.Tier) {
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
func (s *searching) hit(recs []record, r *record, hidden bool, m match, lines *liner) (Hit, bool) {
	data, info, err := s.x.src.ReadFile(r.path)
	if err != nil {
		return Hit{}, false
	}
	if hashOf(data) != r.hash && !s.matches(info, hidden) {
		return Hit{}, false
	}
	mem := vault.ReadMemory(r.path, data)
	front, _ := splitFront(data, mem.Body)
	best := lines.best(data, len(front))
	h := Hit{
		Path: r.path, ID: mem.ID, Title: mem.Name(), Kind: mem.Kind, Scope: vault.ScopeOf(r.path),
		Categories: mem.Categories, Line: max(1, best.number), Score: m.score, Tier: m.tier.String(), Class: vault.ClassOf(r.path),
		Private: mem.Private, Updated: mem.Updated, ValidFrom: mem.ValidFrom, ValidUntil: mem.ValidUntil,
	}
	if h.Updated.IsZero() {
		h.Updated = info.ModTime
	}
	if vault.IsReport(r.path) {
		h.Kind = kindReport
	}
	if hidden {
		h.SupersededBy = cmp.Or(mem.SupersededBy, successor(recs, strings.ToLower(mem.ID)))
	}
	h.Snippet, h.Highlights = best.snippet()
	return h, true
}

// explain evaluates once more and writes down what each hit's score is made of.
func (s *searching) explain(src source, top []match) error {
	notes := make(map[int32][]string, len(top))
	for _, m := range top {
		notes[m.doc] = nil
	}
	if err := evaluateNotes(s.ctx, src, s.x.src, s.parsed, notes); err != nil {
		return err
	}
	byPath := map[vault.Path]int32{}
	recs := src.records()
	for d := range notes {
		byPath[recs[d].path] = d
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
