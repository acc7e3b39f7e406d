package index

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"stet/index/query"
	"stet/index/store"
	"stet/vault"
)

// A Mention is a transcript with messages that have words of a text.
type Mention struct {
	Path vault.Path
	Time time.Time // of the newest of them; zero where no message says
	All  int       // messages with all of the words
	Some int       // messages with some of them, of those that score best
}

// mostSome is how many messages with some of the words count.
const mostSome = 300

// Mentions lists the transcripts that have a message with all words of a text, the newest first, and behind them those
// of the messages that score best among those with some of them. It reads no transcript where there is an index, so
// that a word may stand there in another form. It fails as [Index.Search] does.
func (x *Index) Mentions(ctx context.Context, text string) (out []Mention, degraded string, err error) {
	files, err := x.src.Files(ctx, vault.WalkOptions{Archive: true})
	if err != nil {
		return nil, "", fmt.Errorf("search transcripts: %w", err)
	}
	_, sessions := divide(files)
	if len(sessions) == 0 && !x.messages.Exists() {
		return nil, "", nil
	}
	s := newSearching(ctx, x, Query{Text: text, Class: []vault.Class{vault.ClassSession}}, x.o.Now())
	s.parsed = cmp.Or(query.AsItStands(text, s.parsed), s.parsed)
	s.readings = []*query.Query{s.parsed}
	err = s.from(part{x.messages, sessions}, func(src query.Source) (err error) {
		out, err = s.mentions(src)
		return err
	})
	if err != nil {
		return nil, "", fmt.Errorf("search transcripts: %w", err)
	}
	return out, s.res.Degraded, nil
}

func (s *searching) mentions(src query.Source) (out []Mention, err error) {
	defer store.Guarded("search transcripts", &err)()
	defer runtime.KeepAlive(src)
	e := query.New(s.ctx, src, s.x.src, s.parsed)
	if err := e.Run(); err != nil {
		return nil, err
	}
	recs, lay, hidden := src.Records(), src.Layout(), src.Superseded()
	keep := func(d int32) bool {
		rec := lay.Owner[d]
		return s.visible(&recs[rec], hidden != nil && hidden[rec])
	}
	best, _ := e.Best(keep, 0)
	at := map[int32]int{}
	for i, m := range best {
		whole := m.Whole()
		if !whole && i >= mostSome {
			break
		}
		rec := lay.Owner[m.Doc]
		n, known := at[rec]
		if !known {
			n, at[rec] = len(out), len(out)
			out = append(out, Mention{Path: recs[rec].Path})
		}
		if whole {
			out[n].All++
		} else {
			out[n].Some++
		}
		if t := e.Conversations.Message(m.Doc).At; t > 0 && out[n].Time.Unix() < t {
			out[n].Time = time.Unix(t, 0).UTC()
		}
	}
	slices.SortStableFunc(out, func(a, b Mention) int {
		if a.All > 0 && b.All > 0 {
			return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.Path, b.Path))
		}
		return cmp.Compare(min(b.All, 1), min(a.All, 1))
	})
	return out, nil
}
