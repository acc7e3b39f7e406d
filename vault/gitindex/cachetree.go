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

	var body []byte
	subtrees := 0
	todo := d.below
	// settle creates the spine directories that come before name and had no node.
	settle := func(before func(string) bool) {
		for len(todo) > 0 && before(todo[0]) {
			child := join(dir, todo[0])
			todo = todo[1:]
			s := t.spine[child]
			if s.after == 0 {
				continue
			}
			made := false
			if s.before == 0 {
				body, made = t.create(body, child, base(child))
			}
			if made {
				subtrees++
			}
			valid = valid && made
		}
	}
	for range node.subtrees {
		sub, after, ok := readNode(b)
		if !ok {
			return nil, nil, false, false
		}
		name := string(sub.name)
		settle(func(s string) bool { return compareSubtree(s, name) < 0 })
		s := t.spine[join(dir, name)]
		if s != nil && s.before > 0 && s.after > 0 && len(todo) > 0 && todo[0] == name {
			var good bool
			if body, b, good, ok = t.rewrite(body, b, join(dir, name)); !ok {
				return nil, nil, false, false
			}
			todo, subtrees, valid = todo[1:], subtrees+1, valid && good
			continue
		}
		end, ok := skipSubtrees(after, sub.subtrees)
		if !ok {
			return nil, nil, false, false
		}
		// A directory that vanished, or whose stale node is in the way of
		// a new one, loses its node.
		if s == nil {
			body = append(body, b[:len(b)-len(end)]...)
			subtrees++
		}
		b = end
	}
	settle(func(string) bool { return true })

	out = appendNode(out, string(node.name), d.after, subtrees, valid, tc.New)
	return append(out, body...), b, valid, true
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
