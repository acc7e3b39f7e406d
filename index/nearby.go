package index

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"stet/index/document"
	"stet/index/embed"
	"stet/index/query"
	"stet/vault"
)

// Nearby lists up to limit memories that share words with text, best first, for
// whoever is about to write one: neither replaced ones nor the archive. Unlike
// [Index.Search] it does not look at every file. It answers from the index as it
// was last written, after a look at those folders of memories where files came,
// went or were replaced since. What was changed inside a file is found as it was,
// or not at all, until the next search: read what is listed. Without a usable
// index it searches.
func (x *Index) Nearby(ctx context.Context, text string, limit int) ([]vault.Path, error) {
	q := Query{Text: text, Limit: limit, Class: []vault.Class{vault.ClassMemory}, words: true}
	if err := x.glance(ctx); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	s := newSearching(ctx, x, q, x.o.Now())
	s.parsed.AsSpelt = true
	if out, err := s.stored(limit); err == nil || ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	res, err := x.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	var out []vault.Path
	for _, h := range res.Hits {
		out = append(out, h.Path)
	}
	return out, nil
}

// A Likeness is a memory and the cosine of what it says with a text.
type Likeness struct {
	Path   vault.Path
	Cosine float64
}

const (
	// alikeWait bounds what a writer waits for the endpoint, alikeEach more for each
	// text: a model on the person's own machine takes that long.
	alikeWait = 5 * time.Second
	alikeEach = 50 * time.Millisecond
)

// Alike lists, for each of texts, up to limit memories that are nearest to it in
// meaning, nearest first, for whoever is about to write them. The texts go to the
// endpoint in one request, together with memories that have no vector yet, the
// newest first, as far as they fit; the others are not found this time. It finds
// what [Index.Nearby] could find but for private memories, and nothing without an
// embedder.
func (x *Index) Alike(ctx context.Context, texts []string, limit int) ([][]Likeness, error) {
	m := x.meaning
	if m == nil || len(texts) == 0 {
		return nil, nil
	}
	if err := x.glance(ctx); err != nil {
		return nil, err
	}
	st, err := x.notes.Known()
	if err != nil {
		return nil, nil // nothing is indexed yet
	}
	s := newSearching(ctx, x, Query{Class: []vault.Class{vault.ClassMemory}}, x.o.Now())
	var recs []*document.Record
	for d := range st.Records() {
		r := &st.Records()[d]
		if sendable(r) && s.visible(r, st.Superseded() != nil && st.Superseded()[d]) {
			recs = append(recs, r)
		}
	}
	if len(recs) == 0 {
		return make([][]Likeness, len(texts)), nil
	}
	cache, err := m.vectors()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, alikeWait+time.Duration(len(texts))*alikeEach)
	defer cancel()
	vectors, err := m.vectorsOf(ctx, cache, texts, recs)
	if err != nil {
		return nil, err
	}
	out := make([][]Likeness, len(texts))
	for i, v := range vectors {
		for _, r := range recs {
			if c := embed.Dot(v, cache.Get(r.Hash)); c > 0 {
				out[i] = append(out[i], Likeness{r.Path, c})
			}
		}
		slices.SortStableFunc(out[i], func(a, b Likeness) int { return cmp.Compare(b.Cosine, a.Cosine) })
		out[i] = out[i][:min(limit, len(out[i]))]
	}
	return out, nil
}

// vectorsOf asks for the vectors of texts and, in the same request, for missing ones
// of files.
func (m *semantics) vectorsOf(ctx context.Context, cache *embed.Cache, texts []string, recs []*document.Record) ([][]float32, error) {
	all := make([]string, 0, len(texts)+rebuildBatch)
	for _, t := range texts {
		if len(t) > meaningBytes {
			t = t[:meaningBytes]
		}
		all = append(all, strings.ToValidUTF8(t, " "))
	}
	missing := slices.DeleteFunc(slices.Clone(recs), func(r *document.Record) bool { return cache.Get(r.Hash) != nil })
	slices.SortStableFunc(missing, func(a, b *document.Record) int { return cmp.Compare(b.MTime, a.MTime) })
	var keys []embed.Key
	for _, r := range missing {
		if len(keys) == rebuildBatch {
			break
		}
		if text := m.text(r); text != "" {
			keys, all = append(keys, r.Hash), append(all, text)
		}
	}
	vectors, err := embed.Vectors(ctx, m.o.Embedder, all)
	if err != nil {
		return nil, err
	}
	if have := cache.Dims(); have > 0 && have != len(vectors[0]) {
		return nil, fmt.Errorf(`the vectors have length %d, and those in the cache %d, which "stet reindex" makes anew: %w`, len(vectors[0]), have, embed.ErrAbsurd)
	}
	return vectors[:len(texts)], cache.Add(ctx, keys, vectors[len(texts):])
}

// stored answers from the index as it was last written.
func (s *searching) stored(limit int) (out []vault.Path, err error) {
	st, err := s.x.notes.Written()
	if err != nil {
		return nil, err
	}
	err = s.alone(st, func(e *query.Evaluation) error {
		recs, hidden := st.Records(), st.Superseded()
		top, _ := e.Best(func(d int32) bool {
			return recs[d].Docs > 0 && s.visible(&recs[d], hidden != nil && hidden[d])
		}, limit)
		for _, m := range top {
			out = append(out, recs[m.Doc].Path)
		}
		return nil
	})
	if err != nil && s.ctx.Err() == nil {
		s.x.notes.Distrust(err)
	}
	return out, err
}

// glance indexes the memories in folders that changed after the index was written.
// A folder's time tells of files that came, went or were replaced, as most editors
// save; it costs one lstat a folder.
func (x *Index) glance(ctx context.Context) error {
	if x.o.ReadOnly {
		return nil
	}
	st, err := x.notes.Known()
	if err != nil {
		return nil // there is no index yet, or none to be used: a search makes one
	}
	var changed []vault.Path
	for _, dir := range memoryFolders(st.Records()) {
		at, err := x.src.FolderTime(dir)
		if err != nil || at.Before(st.WrittenAt()) {
			continue
		}
		files, err := x.src.Files(ctx, vault.WalkOptions{Under: dir})
		if err != nil {
			return err
		}
		changed = append(changed, st.Unlike(dir, files)...)
	}
	if len(changed) == 0 {
		return nil
	}
	_, err = x.Touch(ctx, changed)
	return err
}

// memoryFolders lists the folders that hold memories, that of all first.
func memoryFolders(recs []document.Record) []vault.Path {
	out := []vault.Path{"memories"}
	seen, last := map[vault.Path]bool{out[0]: true}, vault.Path("")
	for i := range recs {
		dir := vault.Path(recs[i].Path.Dir())
		if dir == last { // they are in path order
			continue
		}
		if last = dir; vault.ClassOf(recs[i].Path) == vault.ClassMemory && !seen[dir] {
			seen[dir] = true
			out = append(out, dir)
		}
	}
	return out
}
