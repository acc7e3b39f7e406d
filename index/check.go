package index

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"stet/vault"
)

// Check reads the whole index and reports what is wrong with it. Every
// problem goes away by itself at the next search; Rebuild does it at once.
func (x *Index) Check(ctx context.Context) ([]vault.Problem, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	s, err := x.use(false)
	if errors.Is(err, errNone) {
		return nil, nil
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
	dec, at, err := s.load()
	switch {
	case errors.Is(err, errNone):
		return nil, nil
	case err != nil:
		return problem(err), nil
	}
	// Opened anew, sharing nothing, so that every byte on disk is verified.
	st := &state{stamp: at, man: dec.man}
	if err := st.open(s, nil); err != nil {
		return problem(err), nil
	}
	if err := guard("check", func() error { return st.identify() }); err != nil {
		return problem(err), nil
	}
	return nil, nil
}

// identify compares the stored path of every living document with its record.
func (st *state) identify() error {
	defer runtime.KeepAlive(st)
	for n, rec := range st.opened.recOf {
		if rec < 0 {
			continue
		}
		var id string
		err := st.opened.snap.VisitStoredFields(uint64(n), func(field string, value []byte) bool {
			if field == "_id" {
				id = string(value)
			}
			return true
		})
		if err != nil {
			return err
		}
		if want := st.man.recs[rec].path; id != string(want) {
			return fmt.Errorf("document %d is %q, not %q: %w", n, id, want, ErrDamaged)
		}
	}
	return nil
}
