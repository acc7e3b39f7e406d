package index

import (
	"cmp"
	"slices"
	"time"

	"stet/index/document"
	"stet/index/query"
	"stet/vault"
)

// withEntries is a source of files and, behind them, of the entries of notebooks, each a document
// of its own. Notebooks are short, so that taking them apart for each search costs less than keeping
// what came out in step.
type withEntries struct {
	query.Source
	recs   []document.Record
	hidden []bool
	docs   []*document.Document
}

// entriesOf adds the entries of notebooks to a source of files.
func (s *searching) entriesOf(src query.Source) query.Source {
	if src.Layout() != nil {
		return src
	}
	recs := src.Records()
	w := &withEntries{Source: src, recs: recs[:len(recs):len(recs)], hidden: src.Superseded()}
	for _, p := range []vault.Path{"MEMORY.md", "USER.md"} {
		_, there := slices.BinarySearchFunc(recs, p, func(r document.Record, p vault.Path) int {
			return cmp.Compare(r.Path, p)
		})
		if !there {
			continue
		}
		data, info, err := s.x.src.ReadFile(p)
		if err != nil {
			continue // it went, or cannot be read: then the file itself is no hit either
		}
		info.Path = p
		docs, more := document.NewAnalyzer(s.x.lang).Entries(data, info)
		w.docs, w.recs = append(w.docs, docs...), append(w.recs, more...)
	}
	if len(w.docs) == 0 {
		return src
	}
	if w.hidden != nil {
		w.hidden = append(slices.Clip(w.hidden), make([]bool, len(w.docs))...)
	}
	return w
}

// Records are the files, then the entries.
func (w *withEntries) Records() []document.Record { return w.recs }

// Superseded marks superseded records, which no entry is.
func (w *withEntries) Superseded() []bool { return w.hidden }

// Stats are those of the files, with the entries counted.
func (w *withEntries) Stats(field int) document.FieldStat {
	stat := w.Source.Stats(field)
	stat.Docs += uint64(len(w.docs))
	return stat
}

// Term lists the files, then the entries.
func (w *withEntries) Term(field int, term string, room []document.Posting) ([]document.Posting, error) {
	out, err := w.Source.Term(field, term, room)
	for i, d := range w.docs {
		if t := d.Find(field, term); t != nil {
			out = append(out, document.Posting{Doc: w.first() + int32(i), Freq: int32(t.Freq),
				Length: int32(d.Bags[field].Length)})
		}
	}
	return out, err
}

func (w *withEntries) first() int32 { return int32(len(w.recs) - len(w.docs)) }

// Places fills in the positions in files, then those in entries.
func (w *withEntries) Places(term string, list []document.Posting) error {
	n := len(list)
	for n > 0 && list[n-1].Doc >= w.first() {
		n--
		if t := w.docs[list[n].Doc-w.first()].Find(document.FieldExact, term); t != nil {
			list[n].Positions = t.Positions
		}
	}
	return w.Source.Places(term, list[:n])
}

// Terms are the terms of both.
func (w *withEntries) Terms(field int, prefix string, keep func(string) bool) ([]string, error) {
	out, err := w.Source.Terms(field, prefix, keep)
	for _, d := range w.docs {
		out = append(out, d.Terms(field, prefix, keep)...)
	}
	slices.Sort(out)
	return slices.Compact(out), err
}

// withoutWhole leaves out a notebook of which an entry was found as strictly as the whole file.
func withoutWhole(recs []document.Record, found []query.Match) []query.Match {
	best := map[vault.Path]query.Match{}
	for _, m := range found {
		if r := &recs[m.Doc]; r.Entry != nil {
			if _, ok := best[r.Path]; !ok {
				best[r.Path] = m
			}
		}
	}
	if len(best) == 0 {
		return found
	}
	return slices.DeleteFunc(found, func(m query.Match) bool {
		r := &recs[m.Doc]
		b, ok := best[r.Path]
		return ok && r.Entry == nil && b.Tier <= m.Tier
	})
}

// entryHit makes a hit of an entry.
func entryHit(r *document.Record, m query.Match, lines *query.Liner) Hit {
	text := []byte(r.Entry.Text)
	best := lines.Best(text, 0)
	h := Hit{Path: r.Path, Entry: string(r.Path) + "#" + r.Entry.Hash(), Title: document.EntryTitle(*r.Entry),
		Kind: r.Entry.Kind, Scope: vault.ScopeOf(r.Path), Line: r.Entry.Line + max(1, best.Number) - 1, Score: m.Score,
		Tier: m.Tier.String(), Class: vault.ClassOf(r.Path), Private: r.Flags&document.FlagPrivate != 0,
		Updated: time.Unix(0, r.MTime)}
	h.Snippet, h.Highlights = best.Snippet()
	return h
}
