package index

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"

	"stet/index/document"
	"stet/index/query"
	"stet/index/store"
	"stet/vault"
)

// A Standing is a memory as the index knows it, without its file being read.
type Standing struct {
	Path       vault.Path
	ID         string    // in small letters
	Importance *float64  // 0 to 1; nil where the memory does not say
	Updated    time.Time // or made, UTC; zero where the memory does not say
	Pinned     bool
	DoubtedBy  *Doubt
	Place      int // in the ranking of a text, from 1; 0 for a memory that it does not find
}

// Standing lists in path order the memories that hold at a time: neither archived nor private,
// replaced or outside of their valid_from and valid_until. Text is a query as [Index.Search] takes
// it, "" for none. List lists the files as they are, with the archive. The answer is the same for the
// same files: no embedder is asked. It fails as Search does, and as list.
func (x *Index) Standing(
	ctx context.Context, list func() ([]vault.File, error), text string, at time.Time,
) ([]Standing, error) {
	files, err := x.warmed(list)
	if err != nil {
		return nil, fmt.Errorf("list memories: %w", err)
	}
	notes, _ := divide(files)
	s := newSearching(ctx, x, Query{Text: text, Class: []vault.Class{vault.ClassMemory}, public: true}, at)
	st, err := s.fresh(x.notes, notes)
	var out []Standing
	if err == nil {
		if out, err = s.standing(st); err != nil && ctx.Err() == nil {
			x.notes.Distrust(err)
		}
	}
	if err != nil && ctx.Err() == nil { // the files are right in any case
		if st, err = s.scan(notes, false); err == nil {
			out, err = s.standing(st)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("list memories: %w", err)
	}
	return out, nil
}

func (s *searching) standing(st query.Source) (out []Standing, err error) {
	defer store.Guarded("list memories", &err)()
	defer runtime.KeepAlive(st)
	recs, hidden := st.Records(), st.Superseded()
	holds := func(d int32) bool {
		r := &recs[d]
		return r.Docs > 0 && (hidden == nil || !hidden[d]) && s.visible(r, false) && !s.untimely(r)
	}
	places := map[int32]int{}
	if strings.TrimSpace(s.q.Text) != "" {
		if places, err = s.places(st, holds); err != nil {
			return nil, err
		}
	}
	doubts := doubted(recs, hidden, s.q.public)
	out = make([]Standing, 0, len(recs))
	for d := range recs {
		if !holds(int32(d)) {
			continue
		}
		m := document.DecodeMeta(recs[d].Meta)
		one := Standing{Path: recs[d].Path, ID: m.ID, Importance: m.Importance,
			Updated: document.TimeOf(m.Updated), Pinned: recs[d].Flags&document.FlagPinned != 0,
			Place: places[int32(d)]}
		if by, ok := doubts[m.ID]; ok && m.ID != "" {
			one.DoubtedBy = &by
		}
		out = append(out, one)
	}
	return out, nil
}

// places are the documents that the query finds and holds accepts, with their places.
func (s *searching) places(src query.Source, holds func(int32) bool) (map[int32]int, error) {
	recs, out := src.Records(), map[int32]int{}
	for _, q := range [...]*query.Query{s.parsed, s.parsed.Loosened()} {
		if q == nil || len(out) > 0 {
			break
		}
		e := query.New(s.ctx, src, s.x.src, q)
		e.Weigh = func(d int32) float64 { return s.standingOf(&recs[d]) }
		if err := e.Run(); err != nil {
			return nil, err
		}
		top, _ := e.Best(func(d int32) bool { return holds(d) && q.Keeps(&recs[d], false, query.Times{}) }, 0)
		for i, m := range top {
			out[m.Doc] = i + 1
		}
	}
	return out, nil
}

// The bounds of what importance and age of a memory make of its score: of memories that match alike
// the one that matters more, and the newer one, comes first, and neither outranks a better match.
const (
	importanceShare = 0.02
	recencyShare    = 0.01
	recencyHalf     = 180 // days
)

// standingOf is by how much the score of a document counts: 1 but for memories.
func (s *searching) standingOf(r *document.Record) float64 {
	if vault.ClassOf(r.Path) != vault.ClassMemory {
		return 1
	}
	m, by := document.DecodeMeta(r.Meta), 1.0
	if m.Importance != nil {
		by += importanceShare * (2**m.Importance - 1)
	}
	if m.Updated != 0 {
		days := max(int(s.now.Sub(document.TimeOf(m.Updated)).Hours()/24), 0) // so that a score holds for a day
		by += recencyShare * math.Exp2(-float64(days)/recencyHalf)
	}
	return by
}
