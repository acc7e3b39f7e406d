package gitindex

import "fmt"

// CacheNode is one decoded node of the cache-tree.
type CacheNode struct {
	Count int
	ID    [20]byte
}

// CacheTree decodes the whole cache-tree by directory, for tests.
func CacheTree(f *File) (map[string]CacheNode, error) {
	nodes := map[string]CacheNode{}
	b := f.tree
	var read func(dir string) error
	read = func(dir string) error {
		n, rest, ok := readNode(b)
		if !ok {
			return fmt.Errorf("cache-tree cut short at %q", dir)
		}
		b = rest
		if len(n.name) > 0 {
			dir = join(dir, string(n.name))
		}
		if _, twice := nodes[dir]; twice {
			return fmt.Errorf("two cache-tree nodes for %q", dir)
		}
		c := CacheNode{Count: n.count}
		copy(c.ID[:], n.id)
		nodes[dir] = c
		for range n.subtrees {
			if err := read(dir); err != nil {
				return err
			}
		}
		return nil
	}
	if len(b) == 0 {
		return nodes, nil
	}
	if err := read(""); err != nil {
		return nil, err
	}
	if len(b) > 0 {
		return nil, fmt.Errorf("%d bytes after the cache-tree", len(b))
	}
	return nodes, nil
}
