package index

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"stet/index/query"
	"stet/index/store"
	"stet/vault"
)

var _ query.Source = (*store.State)(nil)

// scan reads files without the index on disk: it indexes in memory what the query can
// ask for.
func (s *searching) scan(files []vault.File, byMessage bool) (*store.State, error) {
	var wanted []func(field int, term string) bool
	for _, q := range s.readings {
		wanted = append(wanted, q.Wants(byMessage).Has)
	}
	st, err := store.InMemory(s.ctx, s.x.src, s.x.o.Now, s.x.lang, files, byMessage, func(field int, term string) bool {
		return slices.ContainsFunc(wanted, func(has func(int, string) bool) bool { return has(field, term) })
	})
	if err == nil && s.q.public {
		s.secret.learn(st.Records())
	}
	return st, err
}

// passed notes which files have no text because they could not be read. What is
// too large or no file is left alone by rule and not told of here.
func (s *searching) passed(st *store.State) {
	var out []vault.Path
	for _, r := range st.Unread() {
		if s.visible(r, false) {
			out = append(out, r.Path)
		}
	}
	s.passOver(out)
}

func (s *searching) passOver(paths []vault.Path) {
	for _, p := range paths {
		class := vault.ClassOf(p + "/x.md")
		if scope := vault.ScopeOf(p + "/x.md"); s.q.Scope != "" && !vault.Scope(scope).In(s.q.Scope) && !vault.Scope(s.q.Scope).In(scope) ||
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
	if err != nil || len(one.Records()) == 0 {
		return false
	}
	rec := &one.Records()[0]
	found := false
	err = s.alone(one, func(e *query.Evaluation) error {
		keep := func(int32) bool { return rec.Docs > 0 && s.parsed.Keeps(rec, hidden, s.at(rec)) }
		top, _ := e.Best(keep, 1)
		found = len(top) == 1
		return nil
	})
	return err == nil && found
}

// alone evaluates the query on a state of its own.
func (s *searching) alone(st *store.State, f func(*query.Evaluation) error) (err error) {
	defer store.Guarded("search", &err)()
	defer runtime.KeepAlive(st)
	e := query.New(s.ctx, st, s.x.src, s.parsed)
	if err := e.Run(); err != nil {
		return err
	}
	return f(e)
}

// reason says in a few words why the index was not used.
func reason(err error) string {
	switch {
	case errors.Is(err, vault.ErrBusy):
		return "another process is indexing; the files were searched instead"
	case errors.Is(err, store.ErrReadOnly), errors.Is(err, store.ErrNone):
		return "there is no usable index and it may not be written; the files were searched instead"
	}
	return fmt.Sprintf("the index could not be used (%s); the files were searched instead", store.OneLine(err))
}
