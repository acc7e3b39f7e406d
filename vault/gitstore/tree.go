package gitstore

import (
	"bytes"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
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
// of a folder, or the other way round, is replaced. Cost: one pass over the bytes
// of the touched folders; the entries that stay are copied as they are.
func (o *Objects) EditTree(old ID, edits []TreeEdit) (ID, error) {
	t, err := o.encodedTree(old)
	if err != nil {
		return ID{}, err
	}
	below, now := map[string][]TreeEdit{}, map[string]TreeEntry{} // the zero id is none
	var order []string
	for _, e := range edits {
		name, rest, deeper := strings.Cut(e.Path, "/")
		now[name] = TreeEntry{}
		if !deeper {
			continue
		}
		if below[name] == nil {
			order = append(order, name)
		}
		e.Path = rest
		below[name] = append(below[name], e)
	}
	if err := t.find(old, now); err != nil {
		return ID{}, err
	}
	for _, e := range edits {
		if !strings.Contains(e.Path, "/") {
			now[e.Path] = TreeEntry{Name: e.Path, Mode: e.Mode, ID: e.id()}
		}
	}
	for _, name := range order {
		var sub ID
		if was := now[name]; was.IsDir() {
			sub = was.ID
		} else if !was.ID.IsZero() && allRemovals(below[name]) {
			continue // a file stands where the removed folder was
		}
		next, err := o.EditTree(sub, below[name])
		if err != nil {
			return ID{}, err
		}
		now[name] = TreeEntry{Name: name, Mode: ModeDir, ID: next}
	}
	switch data := t.with(now); {
	case bytes.Equal(data, t.data):
		return old, nil // a tree that is there costs no fsync
	case len(data) == 0:
		return ID{}, nil
	default:
		before := len(o.order)
		id := o.put(plumbing.TreeObject, data)
		if _, staged := o.staged[old]; staged && len(o.order) > before { // a base is older: none builds on itself
			o.staged[id] = stagedObject{kind: plumbing.TreeObject, data: data, base: old}
		}
		return id, nil
	}
}

// Without is the tree that another one is without the files and folders at these paths, the zero id where nothing is
// left. Nothing is staged.
func (o *Objects) Without(tree ID, paths []string) (ID, error) {
	if len(paths) == 0 {
		return tree, nil
	}
	aside := &Objects{repo: o.repo, staged: maps.Clone(o.staged), trees: map[ID]*knownTree{}}
	for _, p := range paths { // one by one: of two, one may hold the other
		next, err := aside.EditTree(tree, []TreeEdit{{Path: p, Remove: true}})
		if err != nil {
			return ID{}, err
		}
		tree = next
	}
	return tree, nil
}

// find fills in the entries of these names.
func (t *knownTree) find(id ID, now map[string]TreeEntry) error {
	wanted := has(now)
	for data := t.data; len(data) > 0; data = data[entryLen(data):] {
		wanted := wanted(entryName(data))
		if whole := bytes.IndexByte(data, 0)+1+len(id) <= len(data); wanted || !whole {
			e, err := decodeEntry(id, data)
			if err != nil {
				return err
			}
			now[e.Name] = e
		}
	}
	return nil
}

// has tells which names there are entries for. Where these are few it compares: it is asked for each of thousands.
func has(now map[string]TreeEntry) func(name []byte) bool {
	const few = 4
	if len(now) > few {
		return func(name []byte) bool { _, ok := now[string(name)]; return ok }
	}
	names := slices.Collect(maps.Keys(now))
	return func(name []byte) bool {
		for _, n := range names {
			if n == string(name) {
				return true
			}
		}
		return false
	}
}

// with is the encoded tree with these entries in place of those of their names.
func (t *knownTree) with(now map[string]TreeEntry) []byte {
	all := slices.DeleteFunc(slices.Collect(maps.Values(now)), func(e TreeEntry) bool { return e.ID.IsZero() })
	slices.SortFunc(all, func(a, b TreeEntry) int { return strings.Compare(sortKey(a), sortKey(b)) })
	out, gone := make([]byte, 0, len(t.data)+64*len(all)), has(now)
	for data := t.data; len(data) > 0; {
		n, name := entryLen(data), entryName(data)
		if !gone(name) {
			for len(all) > 0 && before(all[0], name, data[0] == '4') {
				out, all = appendEntry(out, all[0]), all[1:]
			}
			out = append(out, data[:n]...)
		}
		data = data[n:]
	}
	for _, e := range all {
		out = appendEntry(out, e)
	}
	return out
}

// before reports whether an entry stands before that of another name, a folder's or not.
func before(e TreeEntry, name []byte, folder bool) bool {
	if n := min(len(e.Name), len(name)); e.Name[:n] != string(name[:n]) {
		return e.Name[:n] < string(name[:n])
	}
	other := TreeEntry{Name: string(name)}
	if folder {
		other.Mode = ModeDir
	}
	return sortKey(e) < sortKey(other)
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
