package index

import (
	"context"
	"fmt"
	"time"

	"stet/vault"
)

// A Frozen index answers many queries about the vault as it stood at one moment,
// and walks its files once for all of them. What has changed since is found as it
// was or not at all: read a hit before acting on it.
type Frozen struct {
	x      *Index
	files  []vault.File
	denied []vault.Path
}

// Freeze walks the vault. The only errors are those of [Index.Search].
func (x *Index) Freeze(ctx context.Context) (*Frozen, error) {
	f := &Frozen{x: x}
	files, err := x.src.Files(ctx, vault.WalkOptions{Archive: true, Denied: func(p vault.Path, _ error) { f.denied = append(f.denied, p) }})
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	f.files = files
	return f, nil
}

// Search is [Index.Search] of that moment.
func (f *Frozen) Search(ctx context.Context, q Query) (*Result, error) {
	return f.x.search(ctx, q, f.files, f.denied, f.x.o.Now())
}

func (x *Index) search(ctx context.Context, q Query, files []vault.File, denied []vault.Path, began time.Time) (_ *Result, err error) {
	s := newSearching(ctx, x, q, began)
	s.passOver(denied)
	if s.wantsReports() {
		err = s.withReports(func() error { return s.indexed(files) })
	} else {
		err = s.indexed(files)
	}
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	s.res.Took = x.o.Now().Sub(began)
	return s.res, nil
}
