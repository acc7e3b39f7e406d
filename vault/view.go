package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"stet/markdown"
	"stet/vault/gitstore"
	"stet/vault/store"
)

// A Snapshot is the vault as one commit has it. It is not safe for concurrent
// use and never changes.
type Snapshot struct {
	*store.Snapshot
	v *Vault
}

// View opens the vault as commit rev has it; "" is HEAD. Any revision that git
// understands will do; it fails with [ErrNoRevision].
func (h *History) View(ctx context.Context, rev string) (*Snapshot, error) {
	s, err := h.v.store.View(ctx, rev)
	if err != nil {
		return nil, err
	}
	if h.v.o.Reader != "" {
		_, err = h.v.privateEver(ctx)
	}
	return &Snapshot{s, h.v}, err
}

// Read is [store.Snapshot.Read]. It fails with [ErrRefused] for what is withheld from the agent that asks.
func (s *Snapshot) Read(p Path) ([]byte, Hash, error) {
	data, hash, err := s.Snapshot.Read(p)
	if err == nil {
		var hidden bool
		if hidden, err = s.v.hidesVersion(context.Background(), p, hash); hidden {
			err = withheld(string(p))
		}
	}
	if err != nil {
		return nil, "", err
	}
	return data, hash, nil
}

// Files is [store.Snapshot.Files], without what is withheld.
func (s *Snapshot) Files() iter.Seq2[Path, error] {
	if s.v.o.Reader == "" {
		return s.Snapshot.Files()
	}
	return func(yield func(Path, error) bool) {
		for p, err := range s.Snapshot.Files() {
			if err == nil {
				var data []byte
				var hash Hash
				if data, hash, err = s.Read(p); err == nil {
					var hid bool
					if hid, err = s.v.hid(context.Background(), p, hash, data); hid {
						continue // what stands there now is to be read now
					}
				}
			}
			if !errors.Is(err, ErrRefused) && !yield(p, err) {
				return
			}
		}
	}
}

// HeadAt is the commit that HEAD was at a time, as far as history tells: the newest
// made by then on the line of first parents, with the time it was made as When. It fails with [ErrNoRevision] when
// history begins later.
func (h *History) HeadAt(ctx context.Context, at time.Time) (Commit, error) {
	id, err := h.v.store.Resolve("")
	objects := h.v.store.Repo().Stage()
	began := ""
	for err == nil && !id.IsZero() {
		var gc gitstore.Commit
		if gc, err = objects.Commit(id); err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			break
		}
		if !gc.Committed.After(at) {
			c := commitOf(gc)
			c.When = gc.Committed
			if h.v.o.Reader != "" {
				c.Subject, c.Body, c.Trailers = "", "", nil
			}
			return c, nil
		}
		began, id = gc.Committed.UTC().Format(time.RFC3339), gitstore.ID{}
		if len(gc.Parents) > 0 {
			id = gc.Parents[0]
		}
	}
	if err != nil && began == "" {
		return Commit{}, h.v.store.Explain(err)
	}
	// The end of a shallow clone is the end of history as well.
	return Commit{}, WithHint(fmt.Errorf("as of %s: %w", at.UTC().Format(time.RFC3339), ErrNoRevision),
		"the history of this vault begins at %s", began)
}

// ResolveRevision turns a revision as git writes it into a full id.
func (h *History) ResolveRevision(rev string) (Revision, error) {
	id, err := h.v.store.Resolve(rev)
	return Revision(id.String()), err
}

// notFound is the error for a path that neither disk nor HEAD has.
func notFound(ref string, near ...string) error {
	return &NotFoundError{Ref: ref, Near: near}
}

// pathErrorf wraps an error with the operation and the path it failed on.
func pathErrorf(op string, p Path, err error) error { return fmt.Errorf("%s %q: %w", op, p, err) }

// ReadAt finds what ref names as the vault was at a revision, and returns its
// bytes: a path, an id or part of one, a unique slug, or the name of an attachment with its extension. Cost: an id that is
// neither path nor slug needs every Markdown file of the revision.
func (h *History) ReadAt(ctx context.Context, rev, ref string) (Memory, []byte, error) {
	s, err := h.View(ctx, rev)
	if err != nil {
		return Memory{}, nil, err
	}
	if p, err := ParsePath(ref); err == nil {
		for _, p := range []Path{p, p + ".md"} {
			data, hash, err := s.Read(p)
			if err != nil {
				return Memory{}, nil, h.v.store.Explain(err)
			}
			if hash != "" {
				return ReadMemory(p, data), data, nil
			}
		}
	}
	var all, named []Path
	folded := markdown.Fold(ref)
	for p, err := range s.Files() {
		if err != nil {
			return Memory{}, nil, err
		}
		if !p.IsMarkdown() && markdown.Fold(p.Base()) == folded {
			named = append(named, p) // an attachment by its name
		}
		if !p.IsMarkdown() || ClassOf(p) == ClassConfig { // a proposal has the id of what it is about
			continue
		}
		all = append(all, p)
		if markdown.Fold(slugOf(p)) == folded {
			named = append(named, p)
		}
	}
	found, err := s.memories(ctx, named, func([]byte) bool { return true })
	if err == nil && len(found) == 0 {
		found, err = s.memories(ctx, all, func(data []byte) bool { return containsFold(data, ref) })
		found = matchID(found, ref)
	}
	switch {
	case err != nil:
		return Memory{}, nil, h.v.store.Explain(err)
	case len(found) == 0:
		return Memory{}, nil, notFound(ref)
	}
	m, err := pick(ref, preferLive(found))
	if err != nil {
		return Memory{}, nil, err
	}
	data, _, err := s.Read(m.Path)
	return m, data, h.v.store.Explain(err)
}

// List is [Vault.List] of the commit; when is its time, for memories that do not say
// when they were updated. Cost: every file of the classes asked for is read.
func (s *Snapshot) List(ctx context.Context, f Filter, when time.Time) ([]Memory, error) {
	less, err := f.order()
	if err != nil {
		return nil, err
	}
	var paths []Path
	for p, err := range s.Files() {
		if err != nil {
			return nil, err
		}
		hidden := strings.Contains("/"+string(p), "/.")
		if p.IsMarkdown() && !hidden && f.wantsClass(ClassOf(p)) {
			paths = append(paths, p)
		}
	}
	all, err := s.memories(ctx, paths, func([]byte) bool { return true })
	if err != nil {
		return nil, s.v.store.Explain(err)
	}
	for i, m := range all {
		all[i].Changed, all[i].Created = cmp.Or(m.Updated, m.Created, when), cmp.Or(m.Created, m.Date)
	}
	return f.choose(all, less), nil
}

// memories reads those of the files that want accepts.
func (s *Snapshot) memories(ctx context.Context, paths []Path, want func([]byte) bool) ([]Memory, error) {
	var out []Memory
	for _, p := range paths {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		data, _, err := s.Read(p)
		if err != nil {
			return nil, err
		}
		if want(data) {
			out = append(out, ReadMemory(p, data))
		}
	}
	return out, nil
}
