package index

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"

	"stet/vault"
)

// scanSource evaluates on the files themselves, without an index: every file
// is read and taken apart, and what the query can ask for is kept. It is the
// answer when the index cannot be used, and the oracle its tests compare with.
type scanSource struct {
	recs     []record
	fields   [fieldCount]similarity
	postings map[leafKey][]posting
	prefixes map[leafKey][]string
	literals map[string][]posting
}

type leafKey struct {
	field int
	term  string
}

// wanted is what a query can ask a source for.
type wanted struct {
	terms    map[leafKey]bool
	prefixes []leafKey
	guesses  []string // words that may be misspelt
	literals []string
}

func (q *query) wants() *wanted {
	w := &wanted{terms: map[leafKey]bool{}}
	for i := range q.clauses {
		c := &q.clauses[i]
		if c.kind == literal {
			w.literals = append(w.literals, strings.ToLower(c.raw))
			continue
		}
		for _, f := range wordFields() {
			for _, s := range c.stems {
				w.terms[leafKey{f, s}] = true
			}
		}
		for _, t := range c.exact {
			w.terms[leafKey{fieldExact, t.term}] = true
		}
		if c.name != "" {
			w.terms[leafKey{fieldIdent, c.name}] = true
		}
		if c.mayBeMisspelt() {
			w.guesses = append(w.guesses, c.exact[0].term)
		}
		if c.kind == prefix && len(c.exact) == 1 {
			w.prefixes = append(w.prefixes, leafKey{fieldExact, c.exact[0].term})
		} else if c.kind == prefix {
			w.prefixes = append(w.prefixes, leafKey{fieldIdent, c.name})
		}
	}
	return w
}

// scanned is what is kept of one file.
type scanned struct {
	rec      record
	postings map[leafKey]posting
	literals []string
}

// scan reads files and keeps what q needs.
func scan(ctx context.Context, src Source, files []vault.File, q *query) (*scanSource, error) {
	w := q.wants()
	files = inOrder(files) // equal scores are shown in path order
	parts := make([]scanned, len(files))
	var wg sync.WaitGroup
	workers := max(1, min(runtime.GOMAXPROCS(0), 8))
	var mu sync.Mutex
	next := 0
	for range workers {
		wg.Go(func() {
			a := newAnalyzer()
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= len(files) || ctx.Err() != nil {
					return
				}
				parts[i] = scanFile(a, src, files[i], w)
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return gather(parts, w), nil
}

// scanFile takes one file apart. A file that cannot be read has no text.
func scanFile(a *analyzer, src Source, f vault.File, w *wanted) scanned {
	data, info, err := src.ReadFile(f.Path)
	if err != nil {
		return scanned{rec: record{path: f.Path}}
	}
	d := a.analyze(f.Path, data)
	out := scanned{rec: newRecord(d, data, info), postings: map[leafKey]posting{}}
	out.rec.docs = 1
	keep := func(k leafKey, t *termFreq) {
		length := d.bags[k.field].length
		out.postings[k] = posting{freq: int32(t.freq), length: int32(length), positions: t.positions}
	}
	for k := range w.terms {
		if t := d.bags[k.field].find(k.term); t != nil {
			keep(k, t)
		}
	}
	for _, p := range w.prefixes {
		for i := range d.bags[p.field].terms {
			if t := &d.bags[p.field].terms[i]; strings.HasPrefix(t.term, p.term) {
				keep(leafKey{p.field, t.term}, t)
			}
		}
	}
	for _, g := range w.guesses {
		for i := range d.bags[fieldExact].terms {
			if t := &d.bags[fieldExact].terms[i]; isSimilar(g, t.term) {
				keep(leafKey{fieldExact, t.term}, t)
			}
		}
	}
	out.literals = literalsIn(data, w.literals)
	return out
}

// literalsIn lists which of the lower-case texts stand in data.
func literalsIn(data []byte, texts []string) (out []string) {
	if len(texts) == 0 {
		return nil
	}
	lower := bytes.ToLower(data)
	for _, s := range texts {
		if bytes.Contains(lower, []byte(s)) {
			out = append(out, s)
		}
	}
	return out
}

// gather turns the parts into a source.
func gather(parts []scanned, w *wanted) *scanSource {
	s := &scanSource{
		recs: make([]record, len(parts)), postings: map[leafKey][]posting{},
		prefixes: map[leafKey][]string{}, literals: map[string][]posting{},
	}
	for i := range parts {
		s.recs[i] = parts[i].rec
		for k, p := range parts[i].postings {
			p.doc = int32(i)
			s.postings[k] = append(s.postings[k], p)
		}
		for _, l := range parts[i].literals {
			s.literals[l] = append(s.literals[l], posting{doc: int32(i)})
		}
	}
	for _, p := range w.prefixes {
		for k := range s.postings {
			if k.field == p.field && strings.HasPrefix(k.term, p.term) {
				s.prefixes[p] = append(s.prefixes[p], k.term)
			}
		}
		slices.Sort(s.prefixes[p])
	}
	s.fields = fieldStats(s.recs)
	return s
}

func (s *scanSource) records() []record { return s.recs }

func (s *scanSource) stats(field int) similarity { return s.fields[field] }

func (s *scanSource) term(field int, term string) ([]posting, error) {
	return s.postings[leafKey{field, term}], nil
}

// places has nothing to do: a scan keeps positions with the postings.
func (s *scanSource) places(string, []posting) error { return nil }

func (s *scanSource) expand(field int, prefix string) ([]string, error) {
	return s.prefixes[leafKey{field, prefix}], nil
}

func (s *scanSource) similar(word string) (out []string, _ error) {
	for k := range s.postings {
		if k.field == fieldExact && isSimilar(word, k.term) {
			out = append(out, k.term)
		}
	}
	slices.Sort(out)
	return out, nil
}

func (s *scanSource) literal(text string) ([]posting, error) {
	return s.literals[strings.ToLower(text)], nil
}

// literalPostings reads the files of recs for a text without words.
func literalPostings(ctx context.Context, src Source, recs []record, text string) ([]posting, error) {
	var out []posting
	for i := range recs {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		data, _, err := src.ReadFile(recs[i].path)
		if err != nil {
			continue // vanished or unreadable: no text, as when indexed
		}
		if len(literalsIn(data, []string{strings.ToLower(text)})) > 0 {
			out = append(out, posting{doc: int32(i)})
		}
	}
	return out, nil
}

// unreadable reports errors that say something about one file only.
func unreadable(err error) bool {
	return errors.Is(err, vault.ErrTooLarge) || errors.Is(err, vault.ErrNotRegular)
}
