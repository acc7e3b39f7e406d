package gitindex

import (
	"iter"
	"sort"
)

// A Row is an entry where it stands in the index: a look at one copies nothing.
type Row struct {
	f *File
	i int
}

// Rows yields the entries whose path begins with prefix, in git's order, as
// [File.Under] does.
func (f *File) Rows(prefix string) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for i := f.search(prefix); i < f.Len(); i++ {
			if name := f.name(i); len(name) < len(prefix) || string(name[:len(prefix)]) != prefix || !yield(Row{f, i}) {
				return
			}
		}
	}
}

// Name is the entry's path. It must not be changed.
func (r Row) Name() []byte { return r.f.name(r.i) }

// Bare is the entry without its path.
func (r Row) Bare() Entry { return r.f.bare(r.i) }

// A TreeItem is what a tree holds under one name.
type TreeItem struct {
	Name string
	Mode uint32
	Hash [20]byte
}

const modeDir = 0o040000

// A Difference is a path that a tree and the index do not hold alike.
type Difference struct {
	Path string
	// Tree is what the tree holds, Mode 0 for nothing. Its Name is not set.
	Tree TreeItem
	// Entry is what the index holds merged (stage 0), Mode 0 for nothing. Its
	// Path is not set.
	Entry Entry
}

// Diff yields where the tree root of the folder dir ("" is the top) and the index
// below dir differ, by path in git's order; a zero root is an empty tree. A path
// that is only announced (intent-to-add) differs always, one in conflict when
// the tree holds it. read returns the items of a tree in git's order. Folders of
// which the cache-tree says that they agree are not read: where HEAD is what was
// committed last, that is all of them.
func (f *File) Diff(dir string, root [20]byte, read func([20]byte) ([]TreeItem, error)) iter.Seq2[Difference, error] {
	return func(yield func(Difference, error) bool) {
		d := differ{f: f, read: read, yield: yield, known: f.cached()}
		lo, hi := f.below(dir)
		d.folder(dir, root, lo, hi)
	}
}

// cached lists the folders whose trees the cache-tree gives.
func (f *File) cached() map[string]cacheNode {
	out := map[string]cacheNode{}
	rest := f.tree
	var walk func(dir string, top bool) bool
	walk = func(dir string, top bool) bool {
		n, r, ok := readNode(rest)
		if !ok {
			return false
		}
		from := rest
		if rest = r; !top {
			dir = join(dir, string(n.name))
		}
		for range n.subtrees {
			if !walk(dir, false) {
				return false
			}
		}
		if n.whole = from[:len(from)-len(rest)]; n.count >= 0 {
			out[dir] = n
		}
		return true
	}
	if len(rest) > 0 && (!walk("", true) || len(rest) > 0) {
		return nil // git ignores one that it cannot read
	}
	return out
}

type differ struct {
	f     *File
	read  func([20]byte) ([]TreeItem, error)
	yield func(Difference, error) bool
	known map[string]cacheNode
}

// folder compares the tree id with the entries lo to hi, which are those below
// dir. It reports whether to go on.
func (d *differ) folder(dir string, id [20]byte, lo, hi int) bool {
	if n, ok := d.known[dir]; ok && n.count == hi-lo && string(n.id) == string(id[:]) {
		return true
	}
	var items []TreeItem
	if id != [20]byte{} {
		var err error
		if items, err = d.read(id); err != nil {
			return d.yield(Difference{Path: dir}, err)
		}
	}
	for _, item := range items {
		name := join(dir, item.Name)
		if item.Mode == modeDir {
			from, to := d.upTo(name+"/", lo, hi), d.upTo(name+"0", lo, hi) // '0' follows '/'
			if !d.added(lo, from) || !d.folder(name, item.Hash, from, to) {
				return false
			}
			lo = to
			continue
		}
		at := d.upTo(name, lo, hi)
		if !d.added(lo, at) {
			return false
		}
		var e Entry
		for lo = at; lo < hi && string(d.f.name(lo)) == name; lo++ {
			if d.f.stage(lo) == 0 {
				e = d.f.bare(lo)
			}
		}
		if e.Mode == item.Mode && e.Hash == item.Hash && !e.IntentToAdd {
			continue
		}
		if !d.yield(Difference{name, TreeItem{Mode: item.Mode, Hash: item.Hash}, e}, nil) {
			return false
		}
	}
	return d.added(lo, hi)
}

// upTo is the first of the entries lo to hi whose path is not before name.
func (d *differ) upTo(name string, lo, hi int) int {
	return lo + sort.Search(hi-lo, func(i int) bool { return string(d.f.name(lo+i)) >= name })
}

// added yields entries that the tree does not have.
func (d *differ) added(lo, hi int) bool {
	for ; lo < hi; lo++ {
		if d.f.stage(lo) == 0 && !d.yield(Difference{Path: string(d.f.name(lo)), Entry: d.f.bare(lo)}, nil) {
			return false
		}
	}
	return true
}
