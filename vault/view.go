package vault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"stet/vault/gitstore"
)

// A Snapshot is the vault as one commit has it. It is not safe for concurrent
// use and never changes.
type Snapshot struct {
	v       *Vault
	Commit  Revision
	objects *gitstore.Objects
	tree    gitstore.ID
}

// View opens the vault as commit rev has it; "" is HEAD. Any revision that git
// understands will do; it fails with [ErrNoRevision].
func (v *Vault) View(_ context.Context, rev string) (*Snapshot, error) {
	id, err := v.resolveID(rev)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{v: v, Commit: Revision(id.String()), objects: v.repo.Stage()}
	s.tree, err = gitTree(s.objects, id)
	return s, v.writeError(err)
}

// HeadAt is the commit that HEAD was at a time, as far as history tells: the newest
// made by then on the line of first parents, with the time it was made as When. It fails with [ErrNoRevision] when
// history begins later.
func (v *Vault) HeadAt(ctx context.Context, at time.Time) (Commit, error) {
	id, err := v.resolveID("")
	objects := v.repo.Stage()
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
			return c, nil
		}
		began, id = gc.Committed.UTC().Format(time.RFC3339), gitstore.ID{}
		if len(gc.Parents) > 0 {
			id = gc.Parents[0]
		}
	}
	if err != nil && began == "" {
		return Commit{}, v.writeError(err)
	}
	// The end of a shallow clone is the end of history as well.
	return Commit{}, WithHint(fmt.Errorf("as of %s: %w", at.UTC().Format(time.RFC3339), ErrNoRevision), "the history of this vault begins at %s", began)
}

// Read returns the bytes at p and their hash; nil and "" when the commit has
// no such file.
func (s *Snapshot) Read(p Path) ([]byte, Hash, error) {
	e, ok, err := s.objects.Lookup(s.tree, s.v.git(p))
	if err != nil || !ok || e.IsDir() || e.Mode == gitstore.ModeSubmodule {
		return nil, "", err
	}
	data, err := s.objects.Blob(e.ID)
	if data == nil {
		data = []byte{}
	}
	return data, Hash(e.ID.String()), err
}

// Files yields the vault's files of the commit in git's order, symbolic links
// and submodules left out. It ends with the first error.
func (s *Snapshot) Files() iter.Seq2[Path, error] {
	return func(yield func(Path, error) bool) {
		top, ok, err := s.objects.Lookup(s.tree, trimSlash(s.v.prefix))
		if err != nil {
			yield("", s.v.writeError(err))
			return
		}
		if !ok || !top.IsDir() {
			return
		}
		for e, err := range s.objects.Walk(top.ID) {
			if err != nil {
				yield("", s.v.writeError(err))
				return
			}
			if isFile(e.Mode) && !yield(Path(e.Name), nil) {
				return
			}
		}
	}
}

// resolveID turns a revision into a commit id; "" and HEAD before the first
// commit are zero.
func (v *Vault) resolveID(rev string) (gitstore.ID, error) {
	if rev == "" || rev == "HEAD" {
		h, err := v.repo.Head()
		return h.ID, err
	}
	id, err := v.repo.Resolve(rev)
	if err != nil {
		return id, WithHint(err, `"stet log" lists the commits`)
	}
	return id, nil
}

// ResolveRevision turns a revision as git writes it into a full id.
func (v *Vault) ResolveRevision(rev string) (Revision, error) {
	id, err := v.resolveID(rev)
	return Revision(id.String()), err
}

// treeChanges lists the vault's files that differ between two trees, renames
// of unchanged bytes joined.
func (v *Vault) treeChanges(objects *gitstore.Objects, a, b gitstore.ID) ([]Change, error) {
	var out []Change
	for d, err := range objects.DiffTrees(a, b) {
		if err != nil {
			return nil, err
		}
		p, ok := v.own(d.Path)
		if !ok || !isFile(d.OldMode) || !isFile(d.NewMode) {
			continue
		}
		c := Change{Status: Modified, Path: p, Old: Hash(d.OldID.String()), New: Hash(d.NewID.String())}
		switch {
		case d.OldID.IsZero():
			c.Status = Added
		case d.NewID.IsZero():
			c.Status = Deleted
		case d.OldID == d.NewID:
			continue // only its mode changed
		}
		out = append(out, c)
	}
	return joinRenames(out), nil
}

// isFile is true for files, and for the zero mode of a side that has none:
// links and submodules are none of stet's.
func isFile(mode uint32) bool { return mode != gitstore.ModeSymlink && mode != gitstore.ModeSubmodule }

// joinRenames turns an added and a deleted file of the same bytes into one
// rename. Of several candidates the first in path order is taken.
func joinRenames(changes []Change) []Change {
	gone := map[Hash][]int{}
	for i, c := range changes {
		if c.Status == Deleted {
			gone[c.Old] = append(gone[c.Old], i)
		}
	}
	dead := map[int]bool{}
	for i, c := range changes {
		if from := gone[c.New]; c.Status == Added && len(from) > 0 {
			changes[i] = Change{Status: Renamed, Path: c.Path, From: changes[from[0]].Path, Old: c.New, New: c.New}
			dead[from[0]] = true
			gone[c.New] = from[1:]
		}
	}
	out := make([]Change, 0, len(changes)-len(dead))
	for i, c := range changes {
		if !dead[i] {
			out = append(out, c)
		}
	}
	return out
}

// ReadFile reads a file of the working tree, at most [MaxFileSize] bytes. It
// fails with fs.ErrNotExist, [ErrNotRegular], [ErrTooLarge] or [ErrBadPath].
func (v *Vault) ReadFile(p Path) ([]byte, File, error) {
	if err := v.checkParents(p); err != nil {
		return nil, File{}, err
	}
	data, info, err := v.tree.ReadFile(string(p), MaxFileSize)
	if f, ok := v.overlay[p]; ok && (err == nil || absent(err)) {
		if f.remove {
			return nil, File{}, &fs.PathError{Op: "open", Path: string(p), Err: fs.ErrNotExist}
		}
		return f.data, File{Path: p, Size: int64(len(f.data))}, nil
	}
	if err != nil {
		return nil, File{}, err
	}
	return data, fileAt(p, info), nil
}

// ReadHead reads the first n bytes of a file of the working tree, or all of a
// shorter one, and fails as [Vault.ReadFile] does but for the size.
func (v *Vault) ReadHead(p Path, n int) ([]byte, error) {
	if err := v.checkParents(p); err != nil {
		return nil, err
	}
	if _, ok := v.overlay[p]; ok {
		data, _, err := v.ReadFile(p)
		return data[:min(n, len(data))], err
	}
	f, _, err := v.tree.OpenRegular(string(p))
	if err != nil {
		return nil, err
	}
	defer f.Close() // opened for reading: nothing to lose
	head := make([]byte, n)
	n, err = io.ReadFull(f, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return head[:n], err
}

// FolderTime is when a file last came to, left or was replaced in a folder: its
// own time of modification.
func (v *Vault) FolderTime(p Path) (time.Time, error) {
	if err := v.checkParents(p); err != nil {
		return time.Time{}, err
	}
	info, err := v.tree.Lstat(string(p))
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// unchanged reports whether the file at p is still the one seen before.
func (v *Vault) unchanged(p Path, before diskFile) (bool, error) {
	if err := v.checkParents(p); err != nil {
		return false, err
	}
	info, err := v.tree.Lstat(string(p))
	if absent(err) {
		return !before.exists, nil
	}
	if err != nil || !before.exists {
		return false, err
	}
	return info.Mode().IsRegular() && statOf(info).Matches(before.stat), nil
}

func sortedKeys[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

func trimSlash(s string) string {
	if n := len(s); n > 0 && s[n-1] == '/' {
		return s[:n-1]
	}
	return s
}

// notFound is the error for a path that neither disk nor HEAD has.
func notFound(ref string, near ...string) error {
	return &NotFoundError{Ref: ref, Near: near}
}

// pathErrorf wraps an error with the operation and the path it failed on.
func pathErrorf(op string, p Path, err error) error { return fmt.Errorf("%s %q: %w", op, p, err) }

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
	folded := FoldName(ref)
	for p, err := range s.Files() {
		if err != nil {
			return Memory{}, nil, err
		}
		if !p.IsMarkdown() || ClassOf(p) == ClassConfig { // a proposal has the id of what it is about
			continue
		}
		all = append(all, p)
		if FoldName(slugOf(p)) == folded {
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
		return nil, s.v.writeError(err)
	}
	return f.choose(all, less, func(Path) time.Time { return when }), nil
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
