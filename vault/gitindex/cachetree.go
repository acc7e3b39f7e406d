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
// git's own edits do; git computes them anew with its next commit.
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

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
