package store

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"

	"stet/index/document"
	"stet/vault"
)

// Check reads the whole part and reports what is wrong with it.
func (x *Index) Check() ([]vault.Problem, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	s, err := x.use(false)
	if errors.Is(err, ErrNone) || errors.Is(err, fs.ErrPermission) {
		return nil, nil // none, or that of somebody else: there is nothing to mend
	}
	problem := func(err error) []vault.Problem {
		return []vault.Problem{{
			ID: "search-index", Text: fmt.Sprintf("the search index cannot be used: %v", err),
			Hint: `the next search rebuilds it, "stet reindex" does so now; no note is affected`, Fixable: true,
		}}
	}
	if err != nil {
		return problem(err), nil
	}
	man, at, err := s.load()
	switch {
	case errors.Is(err, ErrNone):
		return nil, nil
	case err != nil:
		return problem(err), nil
	}
	// Opened anew, sharing nothing, so that every byte on disk is verified.
	st := newState(man, x.byMessage)
	st.stamp, st.doubted = at, true
	if err := st.open(s, nil); err != nil {
		return problem(err), nil
	}
	if err := st.identify(); err != nil {
		return problem(err), nil
	}
	return nil, nil
}

// identify compares the stored name of every living document with its record.
func (st *State) identify() (err error) {
	defer Guarded("check", &err)()
	defer runtime.KeepAlive(st)
	for n, doc := range st.opened.docOf {
		if doc < 0 {
			continue
		}
		var id string
		err := st.opened.snap.VisitStoredFields(uint64(n), func(field string, value []byte) bool {
			if field == idName {
				id = string(value)
			}
			return true
		})
		if err != nil {
			return err
		}
		if want := st.nameOf(doc); id != want {
			return fmt.Errorf("document %d is %q, not %q: %w", n, id, want, ErrDamaged)
		}
	}
	return nil
}

// nameOf is the name under which a document is stored: the path of a file, the
// number of a message.
func (st *State) nameOf(doc int32) string {
	if !st.byMessage {
		return string(st.man.recs[doc].Path)
	}
	l := st.opened.layout
	rec := l.Owner[doc]
	return document.MessageName(document.DecodeTranscript(st.man.recs[rec].Meta)[doc-l.Base[rec]].Number)
}
