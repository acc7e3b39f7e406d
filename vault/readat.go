package vault

import (
	"context"
	"strings"
)

// ReadAt finds what ref names as the vault was at a revision, and returns its
// bytes: a path, an id or part of one, or a unique slug. Cost: an id that is
// neither path nor slug needs every Markdown file of the revision.
func (v *Vault) ReadAt(ctx context.Context, rev, ref string) (Memory, []byte, error) {
	s, err := v.View(ctx, rev)
	if err != nil {
		return Memory{}, nil, err
	}
	if p, err := ParsePath(ref); err == nil {
		for _, p := range []Path{p, p + ".md"} {
			data, hash, err := s.Read(p)
			if err != nil {
				return Memory{}, nil, v.writeError(err)
			}
			if hash != "" {
				return ReadMemory(p, data), data, nil
			}
		}
	}
	var all, named []Path
	folded := foldName(ref)
	for p, err := range s.Files() {
		if err != nil {
			return Memory{}, nil, err
		}
		if !p.IsMarkdown() {
			continue
		}
		all = append(all, p)
		if foldName(slugOf(p)) == folded {
			named = append(named, p)
		}
	}
	found, err := s.memories(ctx, named, func([]byte) bool { return true })
	if err == nil && len(found) == 0 {
		found, err = s.memories(ctx, all, func(data []byte) bool { return containsFold(data, ref) })
		found = matchID(found, strings.ToLower(ref))
	}
	switch {
	case err != nil:
		return Memory{}, nil, v.writeError(err)
	case len(found) == 0:
		return Memory{}, nil, notFound(ref)
	}
	m, err := pick(ref, preferLive(found))
	if err != nil {
		return Memory{}, nil, err
	}
	data, _, err := s.Read(m.Path)
	return m, data, v.writeError(err)
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
