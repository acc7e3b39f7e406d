package gitindex

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// A TreeChange is what a commit did to one directory: the ids of its tree before
// and after. A zero id means the directory did not, or does not, exist.
type TreeChange struct{ Old, New [20]byte }

// emptyTree is the id of a tree without entries.
const emptyTree = "\x4b\x82\x5d\xc6\x42\xcb\x6e\xb9\xa0\x60\xe5\x4b\xf8\xd6\x92\x88\xfb\xee\x49\x04"

// The TREE extension lists directories depth first, each as
//
//	name NUL count SP subtrees LF [id, 20 bytes, unless count is negative]
//
// A valid node (count >= 0) says: the count entries below are exactly tree id, and
// each directory below has a valid node. So a node is rewritten only when
// its old id proves that the index agreed with the old commit there, and one invalid
// node makes all above it invalid.
type cacheNode struct {
	name            []byte
	count, subtrees int
	id              []byte
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

// skipSubtrees passes over the n subtrees at the head of b and all below them.
func skipSubtrees(b []byte, n int) (rest []byte, ok bool) {
	for ; n > 0; n-- {
		var node cacheNode
		if node, b, ok = readNode(b); !ok {
			return nil, false
		}
		n += node.subtrees
	}
	return b, true
}

// A spineDir is a directory above an edit that changes content.
type spineDir struct {
	before, after int
	// announced: an intent-to-add entry below was touched.
	announced bool
	// below holds the names of the spine directories right inside.
	below []string
}

// treePatch rewrites one cache-tree.
type treePatch struct {
	trees map[string]TreeChange
	spine map[string]*spineDir
}

// patchTree returns the cache-tree after p, nil for none.
func (f *File) patchTree(p *plan, trees map[string]TreeChange) []byte {
	t := treePatch{trees: trees, spine: f.spine(p)}
	root := t.spine[""]
	if root == nil {
		return f.tree
	}
	if root.before == 0 {
		out, _ := t.create(nil, "", "")
		return out
	}
	if len(f.tree) == 0 {
		return nil
	}
	out, rest, _, ok := t.rewrite(make([]byte, 0, len(f.tree)+64), f.tree, "")
	if !ok || len(rest) > 0 {
		// Git ignores a cache-tree it cannot read; without one it computes anew.
		return nil
	}
	return out
}

func (f *File) spine(p *plan) map[string]*spineDir {
	spine := make(map[string]*spineDir)
	for _, c := range p.changes {
		if !c.content {
			continue
		}
		child, isNew := "", false
		for path := c.Path; path != ""; path = child {
			child = parent(path)
			d := spine[child]
			known := d != nil
			if !known {
				lo, hi := f.below(child)
				d = &spineDir{before: hi - lo, after: hi - lo + p.growth(child)}
				spine[child] = d
			}
			d.announced = d.announced || c.announced
			if isNew {
				d.below = append(d.below, path[strings.LastIndexByte(path, '/')+1:])
			}
			isNew = !known
		}
	}
	for _, d := range spine {
		slices.SortFunc(d.below, compareSubtree)
	}
	return spine
}

// compareSubtree is git's order of subtrees: shorter names first.
func compareSubtree(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// compareToNode is compareSubtree without a copy of the node's name.
func compareToNode(a string, node []byte) int {
	if c := cmp.Compare(len(a), len(node)); c != 0 {
		return c
	}
	switch {
	case a < string(node):
		return -1
	case a > string(node):
		return 1
	}
	return 0
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// rewrite reads the node of dir, a spine directory, with all below it from b and
// appends what it becomes. It reports whether the new node is valid.
func (t *treePatch) rewrite(out, b []byte, dir string) (_, rest []byte, valid, ok bool) {
	node, b, ok := readNode(b)
	if !ok {
		return nil, nil, false, false
	}
	d, tc := t.spine[dir], t.trees[dir]
	valid = node.count == d.before && string(node.id) == string(tc.Old[:]) &&
		tc.New != [20]byte{} && !d.announced

	w := spineWalk{treePatch: t, dir: dir, todo: d.below}
	for range node.subtrees {
		if b, ok = w.subtree(b); !ok {
			return nil, nil, false, false
		}
	}
	w.settle(nil)

	valid = valid && !w.invalid
	out = appendNode(out, string(node.name), d.after, w.subtrees, valid, tc.New)
	return append(out, w.body...), b, valid, true
}

// A spineWalk rewrites the subtrees of one spine directory, in their order.
type spineWalk struct {
	*treePatch
	dir string
	// todo are the spine directories right inside that have not been met.
	todo     []string
	body     []byte
	subtrees int
	// invalid: a subtree is not valid, or one that must be there is missing.
	invalid bool
}

// subtree passes over one subtree at the head of b and what is below it: copied,
// rewritten or, when it vanished or stands in the way of a new one, left out.
func (w *spineWalk) subtree(b []byte) (rest []byte, ok bool) {
	sub, below, ok := readNode(b)
	if !ok {
		return nil, false
	}
	w.settle(sub.name)
	at, onSpine := slices.BinarySearchFunc(w.spine[w.dir].below, sub.name, compareToNode)
	// Listed twice, or out of order, a directory is no longer to do.
	if onSpine && len(w.todo) > 0 && w.todo[0] == w.spine[w.dir].below[at] {
		child := join(w.dir, w.todo[0])
		if s := w.spine[child]; s.before > 0 && s.after > 0 {
			var valid bool
			w.body, rest, valid, ok = w.rewrite(w.body, b, child)
			w.todo, w.subtrees, w.invalid = w.todo[1:], w.subtrees+1, w.invalid || !valid
			return rest, ok
		}
	}
	if rest, ok = skipSubtrees(below, sub.subtrees); ok && !onSpine {
		w.body = append(w.body, b[:len(b)-len(rest)]...)
		w.subtrees++
	}
	return rest, ok
}

// settle creates the spine directories that come before name (nil: all) and had
// no node.
func (w *spineWalk) settle(name []byte) {
	for len(w.todo) > 0 && (name == nil || compareToNode(w.todo[0], name) < 0) {
		child := join(w.dir, w.todo[0])
		w.todo = w.todo[1:]
		s := w.spine[child]
		if s.after == 0 {
			continue
		}
		made := false
		if s.before == 0 {
			w.body, made = w.create(w.body, child, base(child))
		}
		if made {
			w.subtrees++
		}
		w.invalid = w.invalid || !made
	}
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// create appends nodes for dir, which had no entries before, and all below it; or
// nothing when the commit had the directory already, so that its tree holds more
// than the index.
func (t *treePatch) create(out []byte, dir, name string) ([]byte, bool) {
	d, tc := t.spine[dir], t.trees[dir]
	fresh := tc.Old == [20]byte{} || dir == "" && string(tc.Old[:]) == emptyTree
	if !fresh || tc.New == [20]byte{} {
		return out, false
	}
	start := len(out)
	out = appendNode(out, name, d.after, len(d.below), true, tc.New)
	for _, sub := range d.below {
		var ok bool
		if out, ok = t.create(out, join(dir, sub), sub); !ok {
			return out[:start], false
		}
	}
	return out, true
}

func appendNode(out []byte, name string, count, subtrees int, valid bool, id [20]byte) []byte {
	if !valid {
		count = -1
	}
	out = append(append(out, name...), 0)
	out = append(strconv.AppendInt(out, int64(count), 10), ' ')
	out = append(strconv.AppendInt(out, int64(subtrees), 10), '\n')
	if valid {
		out = append(out, id[:]...)
	}
	return out
}
