package store

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"time"

	"stet/vault/durable"
	"stet/vault/gitindex"
	"stet/vault/gitstore"
)

// A Snapshot is the vault as one commit has it. It is not safe for concurrent
// use and never changes.
type Snapshot struct {
	store   *Store
	Commit  Revision
	objects *gitstore.Objects
	tree    gitstore.ID
}

// View opens the vault as commit rev has it; "" is HEAD. Any revision that git
// understands will do; it fails with [ErrNoRevision].
func (s *Store) View(_ context.Context, rev string) (*Snapshot, error) {
	sn := &Snapshot{store: s, objects: s.repo.Stage()}
	if rev == EmptyTree {
		return sn, nil
	}
	id, err := s.Resolve(rev)
	if err != nil {
		return nil, err
	}
	sn.Commit = Revision(id.String())
	sn.tree, err = sn.objects.TreeOf(id)
	return sn, s.Explain(err)
}

// EmptyTree stands for the state before the first commit where a revision is asked for.
const EmptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// TreeOf is the tree of a revision, [EmptyTree] included.
func (s *Store) TreeOf(objects *gitstore.Objects, rev string) (gitstore.ID, error) {
	if rev == EmptyTree {
		return gitstore.ID{}, nil
	}
	id, err := s.Resolve(rev)
	if err != nil {
		return id, err
	}
	return objects.TreeOf(id)
}

// Read returns the bytes at p and their hash; nil and "" when the commit has
// no such file.
func (sn *Snapshot) Read(p Path) ([]byte, Hash, error) {
	e, ok, err := sn.objects.Lookup(sn.tree, sn.store.GitPath(p))
	if err != nil || !ok || e.IsDir() || e.Mode == gitstore.ModeSubmodule {
		return nil, "", err
	}
	data, err := sn.objects.Blob(e.ID)
	if data == nil {
		data = []byte{}
	}
	return data, Hash(e.ID.String()), err
}

// Executable reports whether the commit has an executable file at p.
func (sn *Snapshot) Executable(p Path) (bool, error) {
	e, _, err := sn.objects.Lookup(sn.tree, sn.store.GitPath(p))
	return e.Mode == gitstore.ModeExecutable, err
}

// Has reports whether the commit has a file or a folder at p.
func (sn *Snapshot) Has(p Path) (bool, error) {
	_, ok, err := sn.objects.Lookup(sn.tree, sn.store.GitPath(p))
	return ok, err
}

// Files yields the vault's files of the commit in git's order, symbolic links
// and submodules left out. It ends with the first error.
func (sn *Snapshot) Files() iter.Seq2[Path, error] {
	return func(yield func(Path, error) bool) {
		top, ok, err := sn.objects.Lookup(sn.tree, trimSlash(sn.store.prefix))
		if err != nil {
			yield("", sn.store.Explain(err))
			return
		}
		if !ok || !top.IsDir() {
			return
		}
		for e, err := range sn.objects.Walk(top.ID) {
			if err != nil {
				yield("", sn.store.Explain(err))
				return
			}
			if IsFile(e.Mode) && !yield(Path(e.Name), nil) {
				return
			}
		}
	}
}

// Resolve turns a revision into a commit id; "" and HEAD before the first
// commit are zero.
func (s *Store) Resolve(rev string) (gitstore.ID, error) {
	if rev == "" || rev == "HEAD" {
		h, err := s.repo.Head()
		return h.ID, err
	}
	id, err := s.repo.Resolve(rev)
	if err != nil {
		return id, WithHint(err, `"stet log" lists the commits`)
	}
	return id, nil
}

// TreeChanges lists the vault's files that differ between two trees, renames
// of unchanged bytes joined.
func (s *Store) TreeChanges(objects *gitstore.Objects, a, b gitstore.ID) ([]Change, error) {
	var out []Change
	for d, err := range objects.DiffTrees(a, b) {
		if err != nil {
			return nil, err
		}
		p, ok := s.Own(d.Path)
		if !ok || !IsFile(d.OldMode) || !IsFile(d.NewMode) {
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
	return JoinRenames(out), nil
}

// IsFile is true for files, and for the zero mode of a side that has none:
// links and submodules are none of stet's.
func IsFile(mode uint32) bool { return mode != gitstore.ModeSymlink && mode != gitstore.ModeSubmodule }

// JoinRenames turns an added and a deleted file of the same bytes into one
// rename. Of several candidates the first in path order is taken.
func JoinRenames(changes []Change) []Change {
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
// fails with fs.ErrNotExist, [errNotRegular], [errTooLarge] or [ErrBadPath].
func (s *Worktree) ReadFile(p Path) ([]byte, File, error) {
	if len(s.overlay) == 0 {
		if data, e, ok := durable.ReadStraight(s.tree, string(p), MaxFileSize); ok {
			return data, fileOf(p, &e), nil
		}
	}
	if err := s.checkParents(p); err != nil {
		return nil, File{}, err
	}
	data, info, err := s.tree.ReadFile(string(p), MaxFileSize)
	if f, ok := s.overlay[p]; ok && (err == nil || Absent(err)) {
		if f.Remove {
			return nil, File{}, &fs.PathError{Op: "open", Path: string(p), Err: fs.ErrNotExist}
		}
		return f.Data, File{Path: p, Size: int64(len(f.Data))}, nil
	}
	if err != nil {
		return nil, File{}, err
	}
	return data, fileAt(p, info), nil
}

// ReadHead reads the first n bytes of a file of the working tree, or all of a
// shorter one, and fails as [Worktree.ReadFile] does but for the size.
func (s *Worktree) ReadHead(p Path, n int) ([]byte, error) {
	if err := s.checkParents(p); err != nil {
		return nil, err
	}
	if _, ok := s.overlay[p]; ok {
		data, _, err := s.ReadFile(p)
		return data[:min(n, len(data))], err
	}
	f, _, err := s.tree.OpenRegular(string(p))
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
func (s *Worktree) FolderTime(p Path) (time.Time, error) {
	if err := s.checkParents(p); err != nil {
		return time.Time{}, err
	}
	info, err := s.tree.Lstat(string(p))
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// Committed knows what HEAD has of the working tree, as far as the git index tells. It is safe for concurrent use.
type Committed struct {
	tree  *Worktree
	index *gitindex.File
	apart map[string]bool // where the git index differs from HEAD
}

// Committed reads the git index and where it differs from HEAD, and looks at no file.
func (s *Worktree) Committed() (*Committed, error) {
	head, err := s.repo.Head()
	if err != nil {
		return nil, err
	}
	c := &Committed{tree: s, apart: map[string]bool{}}
	if c.index, _, err = s.repo.ReadGitIndex(head.ID); err != nil {
		return nil, err
	}
	objects := s.repo.Stage()
	tree, err := objects.TreeOf(head.ID)
	if err != nil {
		return nil, err
	}
	dir := trimSlash(s.prefix)
	top, _, err := objects.Lookup(tree, dir)
	if err != nil {
		return nil, err
	}
	if !top.IsDir() {
		top.ID = gitstore.ID{}
	}
	for d, err := range objects.IndexDiff(c.index, dir, top.ID) {
		if err != nil {
			return nil, err
		}
		c.apart[d.Path] = true
	}
	return c, nil
}

func (c *Committed) entry(p Path) (gitindex.Entry, bool) {
	name := c.tree.prefix + string(p)
	e, ok := c.index.Entry(name)
	return e, ok && !c.apart[name]
}

// Holds reports whether HEAD has a file that is not staged otherwise.
func (c *Committed) Holds(p Path) bool {
	_, ok := c.entry(p)
	return ok
}

// Has reports whether HEAD has a file with a content. What git converts when it checks a file out differs from its blob.
func (c *Committed) Has(p Path, h Hash) bool {
	e, ok := c.entry(p)
	return ok && gitstore.ID(e.Hash).String() == string(h)
}

// Stands reports whether HEAD has a file of a size and a time of change as it is: one that git compared last is not
// read.
func (c *Committed) Stands(p Path, size int64, changed time.Time) bool {
	e, ok := c.entry(p)
	if !ok || e.Stat.Size == uint32(size) && e.Stat.MtimeSec == uint32(changed.Unix()) &&
		e.Stat.MtimeNsec == uint32(changed.Nanosecond()) {
		return ok
	}
	data, _, err := c.tree.ReadFile(p)
	return err == nil && gitstore.HashBlob(data) == gitstore.ID(e.Hash)
}

// unchanged reports whether the file at p is still the one seen before.
func (s *Store) unchanged(p Path, before DiskFile) (bool, error) {
	if err := s.checkParents(p); err != nil {
		return false, err
	}
	info, err := s.tree.Lstat(string(p))
	if Absent(err) {
		return !before.Exists, nil
	}
	if err != nil || !before.Exists {
		return false, err
	}
	return info.Mode().IsRegular() && statOf(info).Matches(before.stat), nil
}

func sortedKeys[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

func trimSlash(sn string) string {
	if n := len(sn); n > 0 && sn[n-1] == '/' {
		return sn[:n-1]
	}
	return sn
}
