package index

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"stet/vault"
)

// An Index answers searches over one vault. It is safe for concurrent use, by
// any number of goroutines and processes.
type Index struct {
	src Source
	o   Options
	dir string

	mu    sync.Mutex // guards what follows; not held while a query is evaluated
	store *store     // nil until used
	st    *state     // the newest published state seen

	rebuilt string // why the search under way had to rebuild the index
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
	return &Index{src: src, o: o, dir: filepath.Join(src.StateDir(), "index")}, nil
}

// Close lets go of the index folder. Searches that are running finish.
func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.st = nil
	if x.store == nil {
		return nil
	}
	err := x.store.close()
	x.store = nil
	return err
}

// defaultLimit is a screenful.
const defaultLimit = 10

// Search answers q from the vault as it is on disk now. The only errors are
// those of ctx and of listing the vault.
func (x *Index) Search(ctx context.Context, q Query) (*Result, error) {
	began := x.o.Now()
	var wg sync.WaitGroup
	wg.Go(x.warm) // beside the walk, which mostly waits for the system
	files, err := x.src.Files(ctx, vault.WalkOptions{Archive: true})
	wg.Wait()
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	parsed := parseQuery(q.Text, began)
	for _, f := range []struct{ key, value string }{{keyScope, q.Scope}, {keyKind, q.Kind}, {keyCategory, q.Category}} {
		if f, ok := newFilter(f.key, f.value, began); ok {
			parsed.required = append(parsed.required, f)
		}
	}
	q.Archived = q.Archived || parsed.wantsHidden()
	s := &searching{x: x, ctx: ctx, q: q, parsed: &parsed, files: files, res: &Result{}}
	if err := s.run(); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	s.res.Took = x.o.Now().Sub(began)
	return s.res, nil
}

// A searching is one search under way.
type searching struct {
	x      *Index
	ctx    context.Context
	q      Query
	parsed *query
	files  []vault.File
	res    *Result
}

// run tries the index and then the files.
func (s *searching) run() error {
	st, n, rebuilt, err := s.x.fresh(s.ctx, s.files)
	s.res.Indexed, s.res.Rebuilt = n, rebuilt
	if err == nil {
		src := &segSource{st: st, files: func(text string) ([]posting, error) {
			return literalPostings(s.ctx, s.x.src, st.man.recs, text)
		}}
		err = guard("search", func() error { return s.answer(src, st.opened.hidden) })
		runtime.KeepAlive(st)
		if err == nil {
			return nil
		}
		if s.ctx.Err() == nil {
			s.x.distrust(err)
		}
	}
	if err := context.Cause(s.ctx); err != nil {
		return err
	}
	s.res.Degraded = reason(err)
	s.x.o.Logger.Warn("search index not used", "reason", err)
	src, err := scan(s.ctx, s.x.src, s.files, s.parsed)
	if err != nil {
		return err
	}
	return s.answer(src, superseded(src.recs))
}

// reason says in a few words why the index was not used.
func reason(err error) string {
	switch {
	case errors.Is(err, vault.ErrBusy):
		return "another process is indexing; the files were searched instead"
	case errors.Is(err, errReadOnly), errors.Is(err, errNone):
		return "there is no usable index and it may not be written; the files were searched instead"
	}
	return fmt.Sprintf("the index could not be used (%s); the files were searched instead", oneLine(err))
}

// oneLine is the text of an error that may be several joined ones.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

// answer evaluates the query on src and fills in the result.
func (s *searching) answer(src source, hidden []bool) error {
	limit := s.q.Limit
	if limit == 0 {
		limit = defaultLimit
	}
	ask := 0
	if limit > 0 {
		ask = max(0, s.q.Offset) + limit + 8 // some may have changed meanwhile
	}
	recs := src.records()
	keep := func(d int32) bool {
		superseded := hidden != nil && hidden[d]
		return s.visible(&recs[d], superseded) && s.parsed.keeps(&recs[d], superseded)
	}
	e, top, total, err := evaluate(s.ctx, src, s.parsed, keep, ask)
	if err != nil {
		return err
	}
	s.res.Total, s.res.Hits, s.res.Tier = total, nil, ""
	lines := newLiner(s.parsed, e)
	skip := max(0, s.q.Offset)
	for _, m := range top {
		if skip > 0 {
			skip--
			continue
		}
		if limit > 0 && len(s.res.Hits) == limit {
			break
		}
		if hit, ok := s.hit(&recs[m.doc], hidden != nil && hidden[m.doc], m, lines); ok {
			s.res.Hits = append(s.res.Hits, hit)
			s.res.Tier = hit.Tier // the loosest comes last
		} else {
			s.res.Total--
		}
	}
	if s.q.Explain {
		return s.explain(src, top)
	}
	return nil
}

// visible applies what the query says about classes, archive and supersession.
func (s *searching) visible(r *record, superseded bool) bool {
	class := vault.ClassOf(r.path)
	if len(s.q.Class) > 0 {
		asked := false
		for _, c := range s.q.Class {
			asked = asked || c == class
		}
		return asked && (s.q.Archived || !superseded)
	}
	switch class {
	case vault.ClassArchive:
		return s.q.Archived
	case vault.ClassReport, vault.ClassConfig:
		return false
	}
	return s.q.Archived || !superseded
}

// hit cuts a hit from its file as it is now. A file that changed since it was
// compared must still match, one that vanished is no hit.
func (s *searching) hit(r *record, hidden bool, m match, lines *liner) (Hit, bool) {
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
		Private: mem.Private, Updated: mem.Updated,
	}
	if h.Updated.IsZero() {
		h.Updated = info.ModTime
	}
	h.Snippet, h.Highlights = best.snippet()
	return h, true
}

// matches evaluates the query on one file alone.
func (s *searching) matches(f vault.File, hidden bool) bool {
	one, err := scan(s.ctx, s.x.src, []vault.File{f}, s.parsed)
	if err != nil {
		return false
	}
	keep := func(int32) bool { return s.parsed.keeps(&one.recs[0], hidden) }
	_, top, _, err := evaluate(s.ctx, one, s.parsed, keep, 1)
	return err == nil && len(top) == 1
}

// explain evaluates once more and writes down what each hit's score is made of.
func (s *searching) explain(src source, top []match) error {
	notes := make(map[int32][]string, len(top))
	for _, m := range top {
		notes[m.doc] = nil
	}
	if err := evaluateNotes(s.ctx, src, s.parsed, notes); err != nil {
		return err
	}
	byPath := map[vault.Path]int32{}
	recs := src.records()
	for d := range notes {
		byPath[recs[d].path] = d
	}
	for i := range s.res.Hits {
		h := &s.res.Hits[i]
		h.Explain = fmt.Sprintf("%.4f score, %s\n%s", h.Score, h.Tier, strings.Join(notes[byPath[h.Path]], "\n"))
	}
	return nil
}
