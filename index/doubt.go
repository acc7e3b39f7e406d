package index

import (
	"context"
	"runtime"
	"strings"
	"time"

	"stet/vault"
)

// A Doubt is a live memory whose may_outdate names another one.
type Doubt struct {
	Path    vault.Path
	ID      string
	Updated time.Time // zero when it does not say
}

// doubted lists by id the memories that others may outdate, with the last of those in
// path order; nil when there are none.
func doubted(recs []record, hidden []bool) map[string]Doubt {
	var out map[string]Doubt
	for i := range recs {
		r := &recs[i]
		if r.flags&flagDoubts == 0 || hidden != nil && hidden[i] || vault.ClassOf(r.path) != vault.ClassMemory {
			continue
		}
		m := decodeMeta(r.meta)
		d := Doubt{Path: r.path, ID: m.id}
		if m.updated != 0 {
			d.Updated = time.Unix(m.updated, 0).UTC()
		}
		if out == nil {
			out = map[string]Doubt{}
		}
		for _, id := range m.mayOutdate {
			out[id] = d
		}
	}
	return out
}

// doubtsIn is doubted of a source, which an opened index has at hand.
func doubtsIn(src source, hidden []bool) map[string]Doubt {
	if st, ok := src.(*state); ok {
		return st.opened.doubts
	}
	return doubted(src.records(), hidden)
}

func (h *Hit) doubt(doubts map[string]Doubt) {
	if d, ok := doubts[h.ID]; ok && h.ID != "" && h.SupersededBy == "" {
		h.DoubtedBy = &d
	}
}

// Pending counts the live memories that a model is still to finish, as the index was last
// written; 0 where there is no index.
func (x *Index) Pending() (n int) {
	st, err := x.mem.written()
	if err != nil {
		return 0
	}
	defer runtime.KeepAlive(st)
	for i := range st.man.recs {
		r := &st.man.recs[i]
		if r.flags&flagPending != 0 && vault.ClassOf(r.path) == vault.ClassMemory && (st.opened.hidden == nil || !st.opened.hidden[i]) {
			n++
		}
	}
	return n
}

// Doubted tells which memory may outdate the one with an id, as the index was last
// written; nil for none, and where there is no index.
func (x *Index) Doubted(ctx context.Context, id string) *Doubt {
	if x.glance(ctx) != nil {
		return nil
	}
	st, err := x.mem.written()
	if err != nil {
		return nil
	}
	defer runtime.KeepAlive(st)
	if d, ok := st.opened.doubts[strings.ToLower(id)]; ok {
		return &d
	}
	return nil
}
