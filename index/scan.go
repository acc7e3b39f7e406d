package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stet/markdown"
	"stet/vault"
)

type leafKey struct {
	field int
	term  string
}

// wanted is what a query can ask a source for.
type wanted struct {
	terms    map[leafKey]bool
	prefixes []leafKey
	guesses  []string // words that may be misspelt
	words    int      // the field in which they and prefixes are looked up
}

func (q *query) wants(byMessage bool) *wanted {
	w := &wanted{terms: map[leafKey]bool{}, words: wordsField(byMessage)}
	for i := range q.clauses {
		c := &q.clauses[i]
		if c.kind == literal {
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

// has reports whether the query can ask for a term.
func (w *wanted) has(field int, term string) bool {
	return w.terms[leafKey{field, term}] ||
		slices.ContainsFunc(w.prefixes, func(p leafKey) bool { return p.field == field && strings.HasPrefix(term, p.term) }) ||
		field == w.words && slices.ContainsFunc(w.guesses, func(g string) bool { return isSimilar(g, term) })
}

// scan reads files without the index on disk: it indexes in memory what the query can
// ask for.
func (s *searching) scan(files []vault.File, byMessage bool) (*state, error) {
	x := &part{src: s.x.src, o: s.x.o, lang: s.x.lang, byMessage: byMessage}
	b := x.builder(0, nil)
	b.keep = s.parsed.wants(byMessage).has
	ch := &changes{read: inOrder(files)}
	d, mem, err := ch.gather(s.ctx, b)
	if err != nil {
		return nil, err
	}
	st := &state{byMessage: byMessage, man: (&manifest{}).apply(d), mem: mem}
	return st, st.open(nil, nil)
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

// literal marks the documents whose text holds s, ignoring case. No index holds such
// text: it reads every file.
func (e *evaluation) literal(s string, found []bool) error {
	lower, lay := []byte(strings.ToLower(s)), e.src.layout()
	for i, r := range e.src.records() {
		if err := context.Cause(e.ctx); err != nil {
			return err
		}
		data, _, err := e.files.ReadFile(r.path)
		if err != nil {
			continue // vanished or unreadable: no text, as when indexed
		}
		first, end := int32(i), int32(i+1)
		if lay != nil {
			first, end = lay.base[i], lay.base[i+1]
		}
		for n, text := range textsOf(data, lay != nil) {
			if doc := first + int32(n); doc < end && bytes.Contains(bytes.ToLower(text), lower) {
				found[doc] = true
			}
		}
	}
	return nil
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
	one, err := s.scan([]vault.File{f}, false)
	if err != nil || len(one.man.recs) == 0 {
		return false
	}
	rec := &one.man.recs[0]
	found := false
	err = guard("search", func() error {
		keep := func(int32) bool { return rec.docs > 0 && s.parsed.keeps(rec, hidden, 0) }
		_, top, _, err := evaluate(s.ctx, one, s.x.src, s.parsed, keep, 1)
		found = len(top) == 1
		return err
	})
	return err == nil && found
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
