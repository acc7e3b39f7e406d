package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"stet/index/document"
	"stet/index/embed"
	"stet/index/query"
	"stet/index/store"
	"stet/vault"
)

const (
	// meaningWait bounds what one search waits for the endpoint, all told.
	meaningWait = 2 * time.Second
	// meaningPool is how far down both rankings are joined: what stands lower
	// in one cannot reach a first page.
	meaningPool = 100
	// meaningBytes is what is sent of one file: the beginning says what it is
	// about, and models take no more than some thousand words.
	meaningBytes = 8000
	// meaningFew is what is sent where that is refused: 512 tokens, all that small
	// models read, are at least that much in most languages.
	meaningFew   = 1000
	searchBatch  = 8  // small enough to be done within the wait
	rebuildBatch = 32 // big enough to be fast
)

// A semantics ranks files by vectors. Those it has none of yet are ranked by
// their words alone.
type semantics struct {
	src  Source
	o    Options
	wait time.Duration
	dir  string

	mu      sync.Mutex // guards what follows
	store   *store.Folder
	cache   *embed.Cache
	refused map[embed.Key]bool // by the endpoint, since this was opened
}

func newMeaning(src Source, o Options, dir string) *semantics {
	if o.Embedder == nil {
		return nil
	}
	return &semantics{src: src, o: o, dir: dir, wait: cmp.Or(o.EmbedWait, meaningWait), refused: map[embed.Key]bool{}}
}

func (m *semantics) close() error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.store == nil {
		return nil
	}
	err := m.store.Close()
	m.store, m.cache = nil, nil
	return err
}

// vectors is the cache with what others added since. It fails with [errNone]
// where there is none and it may not be made.
func (m *semantics) vectors() (*embed.Cache, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.store != nil && !m.store.Alive() {
		_ = m.store.Close() // of a folder that was deleted
		m.store = nil
	}
	if m.store == nil {
		s, err := store.OpenFolder(m.dir, "", m.o.Hook, !m.o.ReadOnly)
		if err != nil {
			return nil, err
		}
		m.store, m.cache = s, embed.NewCache(s.Root, m.o.Embedder.Model())
	}
	return m.cache, m.cache.Load()
}

// sendable reports a file whose text may be sent to the endpoint. What is
// archived is not worth it.
func sendable(r *document.Record) bool {
	return r.Docs > 0 && r.Flags&document.FlagPrivate == 0 && vault.ClassOf(r.Path) != vault.ClassArchive
}

// fill asks for the vectors that are missing, batch by batch until ctx ends. It
// returns how many it got. dims is the length they must have, 0 for any.
func (m *semantics) fill(ctx context.Context, cache *embed.Cache, recs []document.Record, batch, dims int) (n int, err error) {
	var missing []*document.Record
	m.mu.Lock()
	refused := maps.Clone(m.refused)
	m.mu.Unlock()
	for i := range recs {
		if r := &recs[i]; sendable(r) && cache.Get(r.Hash) == nil && !refused[r.Hash] {
			missing = append(missing, r)
		}
	}
	for done := 0; done < len(missing); done += batch {
		var keys []embed.Key
		var texts []string
		for _, r := range missing[done:min(done+batch, len(missing))] {
			if text := m.text(r); text != "" {
				keys, texts = append(keys, r.Hash), append(texts, text)
			}
		}
		if err := context.Cause(ctx); err != nil {
			return n, err
		}
		vectors, err := embed.Willing(ctx, m.o.Embedder, texts, meaningFew)
		if err != nil {
			return n, err
		}
		if keys, vectors, err = m.taken(keys, vectors, dims); err != nil {
			return n, err
		}
		if err := cache.Add(ctx, keys, vectors); err != nil {
			return n, err
		}
		n += len(vectors)
		if m.o.Progress != nil {
			m.o.Progress(Event{Phase: "embedding", Done: min(done+batch, len(missing)), Total: len(missing)})
		}
	}
	return n, nil
}

// taken leaves out the texts that the endpoint refused, which are not asked for
// again by this process.
func (m *semantics) taken(keys []embed.Key, vectors [][]float32, dims int) (k []embed.Key, v [][]float32, err error) {
	for i, vector := range vectors {
		switch {
		case vector == nil:
			m.mu.Lock()
			m.refused[keys[i]] = true
			m.mu.Unlock()
		case dims > 0 && len(vector) != dims:
			return nil, nil, fmt.Errorf("the vectors have length %d, and that of the query %d: %w", len(vector), dims, embed.ErrAbsurd)
		default:
			k, v = append(k, keys[i]), append(v, vector)
		}
	}
	return k, v, nil
}

// text is what is sent of a file: "" where nothing may be, which the bytes in
// hand decide, or where they are no longer those of r.
func (m *semantics) text(r *document.Record) string {
	data, _, err := m.src.ReadFile(r.Path)
	if err != nil || document.HashOf(data) != r.Hash {
		return ""
	}
	mem := vault.ReadMemory(r.Path, data)
	body := strings.TrimSpace(strings.ToValidUTF8(string(mem.Body), " "))
	if mem.Private || mem.Problem != "" || body == "" {
		return ""
	}
	text := mem.Name() + "\n" + body
	if len(text) > meaningBytes {
		text = strings.ToValidUTF8(text[:meaningBytes], "")
	}
	return text
}

// rebuild makes every vector that is missing and forgets those of contents that
// are gone. All of them are made anew when the endpoint's have another length
// now than those that are kept.
func (m *semantics) rebuild(ctx context.Context, recs []document.Record) (n int, err error) {
	cache, err := m.vectors()
	if err != nil {
		return 0, err
	}
	live := make(map[embed.Key]bool, len(recs))
	for i := range recs {
		live[recs[i].Hash] = sendable(&recs[i])
	}
	probe, err := embed.Vectors(ctx, m.o.Embedder, []string{"stet"})
	if err != nil {
		return 0, err
	}
	if have := cache.Dims(); have > 0 && have != len(probe[0]) {
		clear(live)
	}
	if err := cache.Keep(ctx, func(k embed.Key) bool { return live[k] }); err != nil {
		return 0, err
	}
	return m.fill(ctx, cache, recs, rebuildBatch, len(probe[0]))
}

// embedAll is the part of [Index.Rebuild] that is about meaning. What goes
// wrong is a warning: words find everything all the same.
func (x *Index) embedAll(ctx context.Context, files []vault.File, stats *store.Stats) error {
	if x.meaning == nil {
		return nil
	}
	notes, _ := divide(files)
	st, _, _, err := x.notes.Fresh(ctx, notes)
	if err != nil {
		return err
	}
	began := x.o.Now()
	n, err := x.meaning.rebuild(ctx, st.Records())
	stats.Embedded = n
	stats.Took += x.o.Now().Sub(began)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		stats.Warnings = append(stats.Warnings, fmt.Sprintf("not every vector could be made: %s; search ranks those files by words alone", store.OneLine(err)))
	}
	return nil
}

// asked is the query's vector, nil where there is none, with the vectors of
// files that it can be compared with.
type asked struct {
	vector []float32
	cache  *embed.Cache
}

// meant asks for the vector of the query, and then for vectors of files as long
// as the wait allows. It returns nil, and warns once, where there is none.
func (s *searching) meant(recs []document.Record) *asked {
	m := s.x.meaning
	text := s.parsed.Text()
	if m == nil || text == "" || s.q.words || s.wantsReports() {
		return nil
	}
	if s.asked != nil {
		return s.asked.usable()
	}
	s.asked = &asked{}
	cache, err := m.vectors()
	if errors.Is(err, store.ErrNone) && m.o.ReadOnly {
		return nil
	}
	ctx, cancel := context.WithTimeout(s.ctx, m.wait)
	defer cancel()
	var query [][]float32
	if err == nil {
		query, err = embed.Vectors(ctx, m.o.Embedder, []string{text})
	}
	if have := cacheDims(cache); err == nil && have > 0 && have != len(query[0]) {
		err = fmt.Errorf(`the vector has length %d, and those in the cache %d, which "stet reindex" makes anew: %w`, len(query[0]), have, embed.ErrAbsurd)
	}
	if err == nil && !m.o.ReadOnly {
		_, err = m.fill(ctx, cache, recs, searchBatch, len(query[0]))
		if ctx.Err() != nil {
			err = nil // the next search goes on
		}
	}
	if err != nil {
		s.warnWords(err)
		return nil
	}
	s.asked = &asked{query[0], cache}
	return s.asked
}

func (a *asked) usable() *asked {
	if a.vector == nil {
		return nil
	}
	return a
}

func cacheDims(c *embed.Cache) int {
	if c == nil {
		return 0
	}
	return c.Dims()
}

func (s *searching) warnWords(err error) {
	if s.ctx.Err() == nil {
		s.res.Warnings = append(s.res.Warnings, fmt.Sprintf("no ranking by meaning: %s; ranked by words alone", store.OneLine(err)))
	}
}

// fuse joins the ranking by words with one by meaning. Filters, what must be
// there and what must not bind both. total counts documents of either.
func (s *searching) fuse(
	recs []document.Record, e *query.Evaluation, keep func(int32) bool, words []query.Match, total int,
) ([]query.Match, int) {
	a := s.meant(recs)
	if a == nil {
		return words, total
	}
	required, _ := s.parsed.Count()
	var meanings []query.Match
	for d := range recs {
		r := &recs[d]
		if !sendable(r) || !e.Admits(int32(d), required) || !keep(int32(d)) {
			continue
		}
		// Opposite or at right angles says that it is about something else.
		if c := embed.Dot(a.vector, a.cache.Get(r.Hash)); c > 0 {
			meanings = append(meanings, query.Match{Doc: int32(d), Tier: query.Semantic, Score: c})
		}
	}
	slices.SortStableFunc(meanings, func(a, b query.Match) int { return cmp.Compare(b.Score, a.Score) })
	meanings = meanings[:min(len(meanings), meaningPool)]
	by := make(map[int32]query.Match, len(words)+len(meanings))
	cosine := make(map[int32]float64, len(meanings))
	ranking := func(list []query.Match) (docs []int32) {
		for _, m := range list {
			docs = append(docs, m.Doc)
			if _, ok := by[m.Doc]; !ok {
				by[m.Doc] = m
			}
		}
		return docs
	}
	wordDocs := ranking(words)
	more := 0
	for _, m := range meanings {
		cosine[m.Doc] = m.Score
		if !e.Matched(m.Doc) {
			more++
		}
	}
	s.fused = map[int32]string{}
	var out []query.Match
	for _, f := range embed.Fuse(wordDocs, ranking(meanings)) {
		m := by[f.Doc]
		m.Score = f.Score
		out = append(out, m)
		s.fused[f.Doc] = fmt.Sprintf("%.4f place %d by words, %d by meaning (0 is none), cosine %.4f", f.Score, f.Ranks[0], f.Ranks[1], cosine[f.Doc])
	}
	return out, total + more
}
