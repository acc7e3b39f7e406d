package index

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"time"

	"stet/index/document"
	"stet/index/query"
	"stet/vault"
)

// A Doubt is a live memory whose may_outdate names another one.
type Doubt struct {
	Path    vault.Path
	ID      string
	Updated time.Time // zero when it does not say
}

// doubted lists by id the memories that others may outdate, with the last of those in
// path order; nil when there are none. Public leaves out those that are private.
func doubted(recs []document.Record, hidden []bool, public bool) map[string]Doubt {
	var out map[string]Doubt
	for i := range recs {
		r := &recs[i]
		if r.Flags&document.FlagDoubts == 0 || public && r.Flags&document.FlagPrivate != 0 ||
			hidden != nil && hidden[i] || vault.ClassOf(r.Path) != vault.ClassMemory {
			continue
		}
		m := document.DecodeMeta(r.Meta)
		d := Doubt{Path: r.Path, ID: m.ID}
		if m.Updated != 0 {
			d.Updated = time.Unix(m.Updated, 0).UTC()
		}
		if out == nil {
			out = map[string]Doubt{}
		}
		for _, id := range m.MayOutdate {
			if id != m.ID {
				out[id] = d
			}
		}
	}
	return out
}

// newerFirst puts a memory that may outdate another one of the list directly before it.
func newerFirst(recs []document.Record, top []query.Match, doubts map[string]Doubt) []query.Match {
	if len(doubts) == 0 {
		return top
	}
	at := map[vault.Path]int{}
	for i, m := range top {
		if r := &recs[m.Doc]; r.Flags&document.FlagDoubts != 0 {
			at[r.Path] = i
		}
	}
	if len(at) == 0 {
		return top
	}
	out, placed := make([]query.Match, 0, len(top)), make([]bool, len(top))
	var place func(i int)
	place = func(i int) {
		if placed[i] {
			return
		}
		placed[i] = true
		if d, ok := doubts[strings.ToLower(document.ID(recs[top[i].Doc].Meta))]; ok {
			if newer, ok := at[d.Path]; ok {
				place(newer)
			}
		}
		out = append(out, top[i])
	}
	for i := range top {
		place(i)
	}
	return out
}

func (h *Hit) doubt(doubts map[string]Doubt) {
	if d, ok := doubts[h.ID]; ok && h.ID != "" && h.SupersededBy == "" {
		h.DoubtedBy = &d
	}
}

// Flagging lists the memories whose may_outdate names an id, as the index was last written.
func (x *Index) Flagging(ctx context.Context, id string) (out []vault.Path) {
	if x.glance(ctx) != nil {
		return nil
	}
	st, err := x.notes.Known()
	if err != nil {
		return nil
	}
	defer runtime.KeepAlive(st)
	for _, r := range st.Records() {
		if r.Flags&document.FlagDoubts != 0 && slices.Contains(document.DecodeMeta(r.Meta).MayOutdate, strings.ToLower(id)) {
			out = append(out, r.Path)
		}
	}
	return out
}

// Doubting lists the live memories that may outdate or contradict others, and by id, in lower case, where the memories
// stand that they may name. It fails where it cannot answer from an index. Cost: a look at every file.
func (x *Index) Doubting(ctx context.Context) (doubting []vault.Path, byID map[string][]vault.Path, err error) {
	byID = map[string][]vault.Path{}
	err = x.each(ctx, nil, func(r *document.Record) {
		if vault.ClassOf(r.Path) != vault.ClassMemory {
			return
		}
		if r.Flags&document.FlagDoubts != 0 {
			doubting = append(doubting, r.Path)
		}
		if id := strings.ToLower(document.ID(r.Meta)); id != "" {
			byID[id] = append(byID[id], r.Path)
		}
	})
	return doubting, byID, err
}

// Waiting counts the live memories that a model is still to finish, and those that may outdate or
// contradict another one, as the index was last written; 0 where there is no index.
func (x *Index) Waiting() (pending, undecided int) {
	if !x.notes.Flagged() {
		return 0, 0
	}
	st, err := x.notes.Known()
	if err != nil {
		return 0, 0
	}
	defer runtime.KeepAlive(st)
	recs, superseded := st.Records(), st.Superseded()
	for i := range recs {
		r := &recs[i]
		if vault.ClassOf(r.Path) != vault.ClassMemory || superseded != nil && superseded[i] ||
			x.o.Public && r.Flags&document.FlagPrivate != 0 {
			continue
		}
		if r.Flags&document.FlagPending != 0 {
			pending++
		}
		if r.Flags&document.FlagDoubts != 0 {
			undecided++
		}
	}
	return pending, undecided
}

// Doubted tells which memory may outdate the one with an id, as the index was last
// written; nil for none, and where there is no index.
func (x *Index) Doubted(ctx context.Context, id string) *Doubt {
	if x.glance(ctx) != nil {
		return nil
	}
	st, err := x.notes.Known()
	if err != nil {
		return nil
	}
	defer runtime.KeepAlive(st)
	if d, ok := doubted(st.Records(), st.Superseded(), x.o.Public)[strings.ToLower(id)]; ok {
		return &d
	}
	return nil
}
