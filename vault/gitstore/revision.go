package gitstore

import (
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Resolve turns a revision as git writes it (gitrevisions(7)) into a commit id: a
// branch, a tag, another ref, HEAD or @, an id or the first four or more digits of
// one, and behind any of them ~N, ^N, ^{commit} and ^{}. It fails with
// [ErrNoRevision], also for what else git understands: reflogs (@{…}), searches
// (:/TEXT) and ranges.
func (r *Repo) Resolve(rev string) (ID, error) {
	base, steps, err := splitRevision(rev)
	if err != nil {
		return ID{}, fmt.Errorf("%q: %w: %w", rev, ErrNoRevision, err)
	}
	id, err := r.base(base)
	for i := 0; err == nil && i < len(steps); i++ {
		id, err = r.step(id, steps[i])
	}
	if err == nil {
		_, err = r.Stage().Commit(id) // the parent of a commit may not be here
	}
	switch {
	case err == nil:
		return id, nil
	case isMachines(err), isBadRef(err):
		return ID{}, fmt.Errorf("read revision %q: %w", rev, err)
	}
	return ID{}, fmt.Errorf("%q: %w: %w", rev, ErrNoRevision, err)
}

// A parentStep goes from a commit to an ancestor: up to the nth parent, 0 is the
// commit itself, or n times to the first.
type parentStep struct {
	nth bool
	n   int
}

// splitRevision takes the steps to ancestors off a revision.
func splitRevision(rev string) (base string, steps []parentStep, err error) {
	end := strings.IndexAny(rev, "~^")
	if end < 0 {
		end = len(rev)
	}
	base = rev[:end]
	if base == "@" {
		base = "HEAD"
	}
	if base == "" || strings.ContainsAny(base, ": \t\n") || strings.Contains(base, "..") || strings.Contains(base, "@{") {
		return "", nil, errors.New("a branch, a tag or an id is understood, with ~N and ^N behind it")
	}
	for rest := rev[end:]; rest != ""; {
		s := parentStep{nth: rest[0] == '^', n: 1}
		rest = rest[1:]
		if s.nth && strings.HasPrefix(rest, "{") { // a commit is what stands here anyway
			what, more, closed := strings.Cut(rest[1:], "}")
			if !closed || what != "" && what != "commit" {
				return "", nil, fmt.Errorf("\"^{%s\" is not understood behind a revision", what)
			}
			rest = more
			continue
		}
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		if digits > 0 {
			if s.n, err = strconv.Atoi(rest[:digits]); err != nil {
				return "", nil, fmt.Errorf("no history goes back %s commits", rest[:digits])
			}
		}
		if rest = rest[digits:]; rest != "" && rest[0] != '~' && rest[0] != '^' {
			return "", nil, fmt.Errorf("%q is not understood behind a revision", rest)
		}
		steps = append(steps, s)
	}
	return base, steps, nil
}

func (r *Repo) step(id ID, s parentStep) (ID, error) {
	times, nth := s.n, 1
	if s.nth {
		times, nth = min(s.n, 1), s.n
	}
	for range times {
		c, err := r.Stage().Commit(id)
		if err != nil {
			return ID{}, err
		}
		if len(c.Parents) < nth {
			return ID{}, fmt.Errorf("commit %s has no parent %d", id, nth)
		}
		id = c.Parents[nth-1]
	}
	return id, nil
}

// base finds the commit that a name or an id means. A name wins over the beginning
// of an id, a whole id over a name.
func (r *Repo) base(name string) (ID, error) {
	if id, err := ParseID(name); err == nil && !id.IsZero() {
		return r.peel(id)
	}
	if name == "HEAD" {
		h, err := r.Head()
		if err == nil && h.ID.IsZero() {
			err = errors.New("there is no commit yet")
		}
		return h.ID, err
	}
	// The order of gitrevisions(7), "<refname>".
	if isPath(name) {
		for _, ref := range []string{name, "refs/" + name, "refs/tags/" + name, "refs/heads/" + name, "refs/remotes/" + name, "refs/remotes/" + name + "/HEAD"} {
			id, err := r.follow(ref)
			if err != nil {
				return ID{}, err
			}
			if !id.IsZero() {
				return r.peel(id)
			}
		}
	}
	return r.abbreviated(name)
}

// isPath reports that name stays below the folder that it is looked for in.
func isPath(name string) bool {
	return !strings.ContainsAny(name, "\\\x00") && path.Clean("/"+name) == "/"+name && len(name) < 256
}

// follow reads a ref and the refs that it names; zero where there is none.
func (r *Repo) follow(ref string) (ID, error) {
	if !strings.HasPrefix(ref, "refs/") && strings.ToUpper(ref) != ref {
		return ID{}, nil // above refs/ there are HEAD and its like, and files that are no refs
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	name := plumbing.ReferenceName(ref)
	for range symrefDepth {
		at, err := r.reference(name)
		switch {
		case isMachines(err), isBadRef(err):
			return ID{}, err
		case err != nil:
			return ID{}, nil
		case at.Type() == plumbing.HashReference:
			return ID(at.Hash()), nil
		}
		name = at.Target()
	}
	return ID{}, nil
}

// peel is the commit that an id is of, or that the tag which it is of points at.
func (r *Repo) peel(id ID) (ID, error) {
	for range symrefDepth {
		_, err := r.object(plumbing.CommitObject, id)
		if err == nil || isMachines(err) {
			return id, err
		}
		tag, err := r.object(plumbing.TagObject, id)
		if isMachines(err) {
			return id, err
		}
		if err != nil {
			return ID{}, fmt.Errorf("%s is no commit that is here", id)
		}
		line, _, _ := strings.Cut(string(tag), "\n")
		if id, err = ParseID(strings.TrimPrefix(line, "object ")); err != nil {
			return ID{}, err
		}
	}
	return ID{}, fmt.Errorf("%s is a tag of too many tags", id)
}

// minAbbreviation is how many digits of an id git wants at least.
const minAbbreviation = 4

// abbreviated is the one commit whose id begins with those digits.
func (r *Repo) abbreviated(digits string) (ID, error) {
	whole := strings.ToLower(digits[:len(digits)/2*2])
	prefix, err := hex.DecodeString(whole)
	if err != nil || len(digits) < minAbbreviation || len(digits) >= 2*len(ID{}) {
		return ID{}, errors.New("no branch, tag or id is called so")
	}
	var found []ID
	for again := range 2 {
		r.mu.Lock()
		if again > 0 {
			r.newPacks() // another process may have merged them since
		}
		hashes, err := r.storage.HashesWithPrefix(prefix)
		r.mu.Unlock()
		if err != nil {
			return ID{}, err
		}
		for _, h := range hashes {
			if !strings.HasPrefix(h.String(), strings.ToLower(digits)) {
				continue
			}
			id, err := r.peel(ID(h))
			if isMachines(err) {
				return ID{}, err
			}
			if err == nil && !slices.Contains(found, id) {
				found = append(found, id)
			}
		}
		if len(found) > 0 {
			break
		}
	}
	switch len(found) {
	case 0:
		return ID{}, errors.New("no branch, tag or id is called so")
	case 1:
		return found[0], nil
	}
	return ID{}, fmt.Errorf("more than one commit begins like that, %s and %s among them; give more digits", found[0], found[1])
}
