package gitstore

import (
	"bytes"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Lookup finds path in the tree root; an empty path is the root itself.
func (o *Objects) Lookup(root ID, path string) (TreeEntry, bool, error) {
	at := TreeEntry{Mode: ModeDir, ID: root}
	for path != "" {
		if !at.IsDir() {
			return TreeEntry{}, false, nil
		}
		tree, err := o.tree(at.ID)
		if err != nil {
			return TreeEntry{}, false, err
		}
		name, rest, _ := strings.Cut(path, "/")
		i, ok := tree.at[name]
		if !ok {
			return TreeEntry{}, false, nil
		}
		at, path = tree.entries[i], rest
	}
	return at, !at.ID.IsZero(), nil
}

// A TreeEdit puts a blob at a path, or removes what is there.
type TreeEdit struct {
	Path   string
	Mode   uint32
	ID     ID
	Remove bool
}

// EditTree stages the trees along the spine of the edits and returns the new
// root. A folder that becomes empty disappears; a file in the way
// of a folder, or the other way round, is replaced. Cost: the touched folders.
func (o *Objects) EditTree(old ID, edits []TreeEdit) (ID, error) {
	f, err := o.openFolder(old)
	if err != nil {
		return ID{}, err
	}
	below := map[string][]TreeEdit{}
	var order []string
	for _, e := range edits {
		name, rest, deeper := strings.Cut(e.Path, "/")
		if !deeper {
			f.set(TreeEntry{Name: name, Mode: e.Mode, ID: e.id()})
			continue
		}
		if below[name] == nil {
			order = append(order, name)
		}
		e.Path = rest
		below[name] = append(below[name], e)
	}
	for _, name := range order {
		var sub ID
		if i, ok := f.at[name]; ok && f.entries[i].IsDir() {
			sub = f.entries[i].ID
		} else if ok && !f.entries[i].ID.IsZero() && allRemovals(below[name]) {
			continue // a file stands where the removed folder was
		}
		next, err := o.EditTree(sub, below[name])
		if err != nil {
			return ID{}, err
		}
		f.set(TreeEntry{Name: name, Mode: ModeDir, ID: next})
	}
	if kept := f.kept(); old.IsZero() || !slices.Equal(kept, f.was) { // a tree that is there costs no fsync
		return o.PutTree(kept)
	}
	return old, nil
}

// A folder is one tree being edited.
type folder struct {
	was     []TreeEntry // as it is stored
	entries []TreeEntry // a zero id is a removed entry
	at      map[string]int
}

func (o *Objects) openFolder(id ID) (*folder, error) {
	t, err := o.tree(id)
	if err != nil {
		return nil, err
	}
	f := &folder{was: t.entries, entries: slices.Clone(t.entries), at: maps.Clone(t.at)}
	if f.at == nil {
		f.at = map[string]int{}
	}
	return f, nil
}

func (f *folder) set(e TreeEntry) {
	if i, ok := f.at[e.Name]; ok {
		f.entries[i] = e
		return
	}
	f.at[e.Name] = len(f.entries)
	f.entries = append(f.entries, e)
}

func (f *folder) kept() []TreeEntry {
	return slices.DeleteFunc(f.entries, func(e TreeEntry) bool { return e.ID.IsZero() })
}

func (e TreeEdit) id() ID {
	if e.Remove {
		return ID{}
	}
	return e.ID
}

func allRemovals(edits []TreeEdit) bool {
	for _, e := range edits {
		if !e.Remove {
			return false
		}
	}
	return true
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// A Delta is one file that differs between two trees. The zero ID means that
// the file does not exist on that side.
type Delta struct {
	Path             string
	OldID, NewID     ID
	OldMode, NewMode uint32
}

// DiffTrees yields the files that differ between two trees, in path order of
// each folder, descending only where the ids differ.
func (o *Objects) DiffTrees(a, b ID) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) { o.diff("", a, b, yield) }
}

func (o *Objects) diff(dir string, a, b ID, yield func(Delta, error) bool) bool {
	if a == b {
		return true
	}
	x, err := o.encodedTree(a)
	if err != nil {
		return yield(Delta{}, err)
	}
	y, err := o.encodedTree(b)
	if err != nil {
		return yield(Delta{}, err)
	}
	olds, news := x.data, y.data
	for len(olds) > 0 || len(news) > 0 {
		m, n := entryLen(olds), entryLen(news)
		if bytes.Equal(olds[:m], news[:n]) { // nearly all are
			olds, news = olds[m:], news[n:]
			continue
		}
		var was, is TreeEntry
		if m > 0 {
			was, err = decodeEntry(a, olds)
		}
		if n > 0 && err == nil {
			is, err = decodeEntry(b, news)
		}
		if err != nil {
			return yield(Delta{}, err)
		}
		switch {
		case n == 0 || m > 0 && sortKey(was) < sortKey(is):
			is, n = TreeEntry{}, 0
		case m == 0 || sortKey(is) < sortKey(was):
			was, m = TreeEntry{}, 0
		}
		if olds, news = olds[m:], news[n:]; !o.diffEntry(dir, was, is, yield) {
			return false
		}
	}
	return true
}

// diffEntry compares two entries of one sort key, so either both are folders,
// both are not, or one of them is absent.
func (o *Objects) diffEntry(dir string, x, y TreeEntry, yield func(Delta, error) bool) bool {
	name := x.Name + y.Name
	if x.Name != "" && y.Name != "" {
		name = x.Name
	}
	if x.IsDir() || y.IsDir() {
		return o.diff(join(dir, name), x.ID, y.ID, yield)
	}
	return yield(Delta{join(dir, name), x.ID, y.ID, x.Mode, y.Mode}, nil)
}

// sortKey orders entries as git does: a folder sorts as if its name ended in
// a slash. A file and a folder of one name have different keys.
func sortKey(e TreeEntry) string {
	if e.IsDir() {
		return e.Name + "/"
	}
	return e.Name
}

// Walk yields every file below the tree root with its full path.
func (o *Objects) Walk(root ID) iter.Seq2[TreeEntry, error] {
	return func(yield func(TreeEntry, error) bool) { o.walk("", root, yield) }
}

func (o *Objects) walk(dir string, id ID, yield func(TreeEntry, error) bool) bool {
	entries, err := o.Tree(id)
	if err != nil {
		return yield(TreeEntry{}, err)
	}
	for _, e := range entries {
		e.Name = join(dir, e.Name)
		if e.IsDir() {
			if !o.walk(e.Name, e.ID, yield) {
				return false
			}
			continue
		}
		if !yield(e, nil) {
			return false
		}
	}
	return true
}
