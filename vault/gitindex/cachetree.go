package gitindex

import (
	"bytes"
	"strconv"
)

// The TREE extension lists directories depth first, each as
//
//	name NUL count SP subtrees LF [id, 20 bytes, unless count is negative]
//
// A valid node (count >= 0) says: the count entries below are exactly tree id, and
// each directory below has a valid node. An edit makes all nodes above it invalid, as
// git's own edits do; git computes them anew with its next commit, [File.ApplyTo] at once.
type cacheNode struct {
	name            []byte
	count, subtrees int
	id              []byte
	whole           []byte // it and all nodes below it; set by [File.cached]
}

// readNode cuts one node off b.
func readNode(b []byte) (n cacheNode, rest []byte, ok bool) {
	name, rest, ok1 := bytes.Cut(b, []byte{0})
	count, rest, ok2 := bytes.Cut(rest, []byte{' '})
	subtrees, rest, ok3 := bytes.Cut(rest, []byte{'\n'})
	if !ok1 || !ok2 || !ok3 || len(count) > 11 || len(subtrees) > 11 {
		return n, nil, false
	}
	c, err1 := strconv.ParseInt(string(count), 10, 32)
	s, err2 := strconv.ParseInt(string(subtrees), 10, 32)
	if err1 != nil || err2 != nil || s < 0 {
		return n, nil, false
	}
	n = cacheNode{name: name, count: int(c), subtrees: int(s)}
	if c >= 0 {
		if len(rest) < hashSize {
			return n, nil, false
		}
		n.id, rest = rest[:hashSize], rest[hashSize:]
	}
	return n, rest, true
}

// editedTree is the cache-tree after the edits of p, nil for none: git ignores one that
// it cannot read.
func (f *File) editedTree(p *plan) []byte {
	edited := map[string]bool{} // directories above an edit; false when none of their entries is left
	for _, c := range p.changes {
		for dir := c.Path; c.content && dir != ""; {
			dir = parent(dir)
			if _, known := edited[dir]; known {
				break
			}
			lo, hi := f.below(dir)
			edited[dir] = hi-lo+p.growth(dir) > 0
		}
	}
	if len(edited) == 0 || len(f.tree) == 0 {
		return f.tree
	}
	out, rest, ok := invalidate(f.tree, "", edited)
	if !ok || len(rest) > 0 {
		return nil
	}
	return out
}

// invalidate copies the first node of b, which is of dir, with all below it. Nodes of
// edited directories lose their id, those of directories without entries are left out.
func invalidate(b []byte, dir string, edited map[string]bool) (out, rest []byte, ok bool) {
	n, rest, ok := readNode(b)
	var below []byte
	subtrees := 0
	for i := 0; ok && i < n.subtrees; i++ {
		name, _, _ := bytes.Cut(rest, []byte{0})
		var sub []byte
		if sub, rest, ok = invalidate(rest, join(dir, string(name)), edited); len(sub) > 0 {
			below, subtrees = append(below, sub...), subtrees+1
		}
	}
	stays, on := edited[dir]
	if !ok || on && !stays {
		return nil, rest, ok
	}
	if on {
		n.count, n.id = -1, nil
	}
	out = append(append(out, n.name...), 0)
	out = append(strconv.AppendInt(out, int64(n.count), 10), ' ')
	out = append(strconv.AppendInt(out, int64(subtrees), 10), '\n')
	return append(append(out, n.id...), below...), rest, true
}

// trees is the cache-tree of an index of which the folder dir, the entries lo to hi, is to hold the tree id. Nodes are
// valid where it does; of folders for which the cache-tree that f has says so already, no tree is read.
func (d *differ) trees(dir, name string, id [hashSize]byte, lo, hi int) (out []byte, valid bool, err error) {
	if n, ok := d.known[dir]; ok && n.count == hi-lo && string(n.id) == string(id[:]) {
		return n.whole, true, nil
	}
	items, err := d.read(id)
	if err != nil {
		return nil, false, err
	}
	count, subtrees, valid := hi-lo, 0, true
	var below []byte
	for _, item := range items {
		path := join(dir, item.Name)
		if item.Mode != modeDir {
			if valid = valid && lo < hi && d.f.holds(lo, path, item); valid {
				lo++
			}
			continue
		}
		from, to := d.upTo(path+"/", lo, hi), d.upTo(path+"0", lo, hi) // '0' follows '/'
		valid = valid && from == lo
		if lo = to; from == to {
			valid = false // git knows no empty folders
			continue
		}
		sub, whole, err := d.trees(path, item.Name, item.Hash, from, to)
		if err != nil {
			return nil, false, err
		}
		below, subtrees, valid = append(below, sub...), subtrees+1, valid && whole
	}
	if valid = valid && lo == hi; !valid {
		count = -1
	}
	out = append(append(out, name...), 0)
	out = append(strconv.AppendInt(out, int64(count), 10), ' ')
	out = append(strconv.AppendInt(out, int64(subtrees), 10), '\n')
	if valid {
		out = append(out, id[:]...)
	}
	return append(out, below...), valid, nil
}

// holds reports that entry i is what a tree holds under that path.
func (f *File) holds(i int, path string, item TreeItem) bool {
	e := f.bare(i)
	return string(f.name(i)) == path && e.Stage == 0 && !e.IntentToAdd && e.Mode == item.Mode && e.Hash == item.Hash
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
