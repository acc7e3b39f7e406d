package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"stet/markdown"
	"stet/vault"
)

// scanSource evaluates on the files themselves, without an index: every file
// is read and taken apart, and what the query can ask for is kept. It is the
// answer when the index cannot be used, and the oracle its tests compare with.
type scanSource struct {
	recs     []record
	lay      *layout // nil where a document is a file
	fields   [fieldCount]similarity
	postings map[leafKey][]posting
	prefixes map[leafKey][]string
	literals map[string][]posting
	words    int // see wanted
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
	words    int // the field in which they and prefixes are looked up
}

func (q *query) wants(byMessage bool) *wanted {
	w := &wanted{terms: map[leafKey]bool{}, words: wordsField(byMessage)}
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
			w.guesses = append(w.guesses, c.first(byMessage))
		}
		if c.kind == prefix && len(c.exact) == 1 {
			w.prefixes = append(w.prefixes, leafKey{w.words, c.first(byMessage)})
		} else if c.kind == prefix {
			w.prefixes = append(w.prefixes, leafKey{fieldIdent, c.name})
		}
	}
	return w
}

// scanned is what is kept of one file.
type scanned struct {
	rec  record
	docs []scannedDoc
}

type scannedDoc struct {
	postings map[leafKey]posting
	literals []string
}

// scan reads files and keeps what q needs. byMessage is as in part.
func scan(ctx context.Context, src Source, files []vault.File, q *query, byMessage bool) (*scanSource, error) {
	w := q.wants(byMessage)
	files = inOrder(files) // equal scores are shown in path order
	parts := make([]scanned, len(files))
	var wg sync.WaitGroup
	workers := max(1, min(runtime.GOMAXPROCS(0), 8))
	var mu sync.Mutex
	next := 0
	for range workers {
		wg.Go(func() {
			a := newAnalyzer(q.lang)
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= len(files) || ctx.Err() != nil {
					return
				}
				parts[i] = scanFile(a, src, files[i], w, byMessage)
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return gather(parts, w, byMessage), nil
}

// scanFile takes one file apart. A file that cannot be read has no text.
func scanFile(a *analyzer, src Source, f vault.File, w *wanted, byMessage bool) scanned {
	data, info, err := src.ReadFile(f.Path)
	if err != nil {
		return scanned{rec: textless(f, err)}
	}
	info.Path = f.Path
	docs, rec := splitter(byMessage)(a, data, info)
	out := scanned{rec: rec, docs: make([]scannedDoc, len(docs))}
	out.rec.docs = uint32(len(docs))
	for i, d := range docs {
		out.docs[i].postings = w.postings(d)
	}
	if len(w.literals) == 0 {
		return out
	}
	for i, text := range textsOf(data, byMessage) {
		out.docs[i].literals = literalsIn(text, w.literals)
	}
	return out
}

// textsOf are the texts of the documents of a file.
func textsOf(data []byte, byMessage bool) [][]byte {
	if !byMessage {
		return [][]byte{data}
	}
	var out [][]byte
	for _, s := range messagesOf(markdown.Parse(data)) {
		out = append(out, data[s.Start:s.End])
	}
	return out
}

// postings are the terms of d that are wanted.
func (w *wanted) postings(d *document) map[leafKey]posting {
	out := map[leafKey]posting{}
	keep := func(k leafKey, t *termFreq) {
		length := d.bags[k.field].length
		out[k] = posting{freq: int32(t.freq), length: int32(length), positions: t.positions}
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
		for i := range d.bags[w.words].terms {
			if t := &d.bags[w.words].terms[i]; isSimilar(g, t.term) {
				keep(leafKey{w.words, t.term}, t)
			}
		}
	}
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
func gather(parts []scanned, w *wanted, byMessage bool) *scanSource {
	s := &scanSource{
		recs: make([]record, len(parts)), postings: map[leafKey][]posting{}, words: w.words,
		prefixes: map[leafKey][]string{}, literals: map[string][]posting{},
	}
	for i := range parts {
		s.recs[i] = parts[i].rec
	}
	if byMessage {
		s.lay = newLayout(s.recs)
	}
	for i := range parts {
		first := int32(i)
		if byMessage {
			first = s.lay.base[i]
		}
		for n, d := range parts[i].docs {
			for k, p := range d.postings {
				p.doc = first + int32(n)
				s.postings[k] = append(s.postings[k], p)
			}
			for _, l := range d.literals {
				s.literals[l] = append(s.literals[l], posting{doc: first + int32(n)})
			}
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

func (s *scanSource) layout() *layout { return s.lay }

func (s *scanSource) stats(field int) similarity { return s.fields[field] }

// term never writes into room: its lists are there already. Their room is not
// for others, who get none from a scan.
func (s *scanSource) term(field int, term string, _ []posting) ([]posting, error) {
	return s.postings[leafKey{field, term}], nil
}

// places has nothing to do: a scan keeps positions with the postings.
func (s *scanSource) places(string, []posting) error { return nil }

func (s *scanSource) expand(field int, prefix string) ([]string, error) {
	return s.prefixes[leafKey{field, prefix}], nil
}

func (s *scanSource) similar(word string) (out []string, _ error) {
	for k := range s.postings {
		if k.field == s.words && isSimilar(word, k.term) {
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
func literalPostings(ctx context.Context, src Source, recs []record, lay *layout, text string) ([]posting, error) {
	var out []posting
	lower := []string{strings.ToLower(text)}
	for i := range recs {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		data, _, err := src.ReadFile(recs[i].path)
		if err != nil {
			continue // vanished or unreadable: no text, as when indexed
		}
		first, end := int32(i), int32(i+1)
		if lay != nil {
			first, end = lay.base[i], lay.base[i+1]
		}
		for n, t := range textsOf(data, lay != nil) {
			if doc := first + int32(n); doc < end && len(literalsIn(t, lower)) > 0 {
				out = append(out, posting{doc: doc})
			}
		}
	}
	return out, nil
}

// unreadable reports errors that say something about one file only.
func unreadable(err error) bool {
	return errors.Is(err, vault.ErrTooLarge) || errors.Is(err, vault.ErrNotRegular)
}

// passed notes which files have no text because they could not be read. What is
// too large or no file is left alone by rule and not told of here.
func (s *searching) passed(unread []*record) {
	var out []vault.Path
	for _, r := range unread {
		if s.visible(r, false) {
			out = append(out, r.path)
		}
	}
	s.passOver(out)
}

// unread are the records of files that could not be read.
func unread(recs []record) (out []*record) {
	for i := range recs {
		if r := &recs[i]; r.flags&flagRacy != 0 && r.hash == [hashSize]byte{} {
			out = append(out, r)
		}
	}
	return out
}

func (s *searching) passOver(paths []vault.Path) {
	for _, p := range paths {
		class := vault.ClassOf(p + "/x.md")
		if scope := vault.ScopeOf(p + "/x.md"); s.q.Scope != "" && !vault.InScope(scope, s.q.Scope) && !vault.InScope(s.q.Scope, scope) ||
			class == vault.ClassArchive && !s.q.Archived || slices.Contains(s.res.Skipped, p) {
			continue
		}
		s.res.Skipped = append(s.res.Skipped, p)
	}
	slices.Sort(s.res.Skipped)
}

// matches evaluates the query on one file alone.
func (s *searching) matches(f vault.File, hidden bool) bool {
	one, err := scan(s.ctx, s.x.src, []vault.File{f}, s.parsed, false)
	if err != nil {
		return false
	}
	keep := func(int32) bool { return one.recs[0].docs > 0 && s.parsed.keeps(&one.recs[0], hidden, 0) }
	_, top, _, err := evaluate(s.ctx, one, s.parsed, keep, 1)
	return err == nil && len(top) == 1
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
