package gitstore

import (
	"iter"
	"strings"
	"time"
)

// A FileNode is one file as one commit has it. Blob is zero where the commit
// has no such file.
type FileNode struct {
	Commit ID
	Path   string
	Blob   ID
	// Last is the newest blob that was met on the way here, so that one can
	// tell whether a file behind a deletion is still the same thing.
	Last ID

	commit rawCommit
	chain  []ID // ids along Path, the root tree first
}

// Root is the tree of the node's commit.
func (n *FileNode) Root() ID { return n.commit.tree }

// When is the committer time of the node's commit.
func (n *FileNode) When() time.Time { return time.Unix(n.commit.time, 0) }

// A FileWalk goes back through the history of a file. It reads commits and the
// trees along the path, and of a tree only the one entry: a step where nothing
// above the file changed costs one commit and one tree. It is not safe for
// concurrent use.
type FileWalk struct {
	objects *Objects
	raw     rawReader
	origin  Origin
}

// Origin says under which path the file of node was known in a parent that has
// something else at this path, or nothing. ok is false when node is where the
// file began. It is asked only where the file changed against every parent.
type Origin func(node, parent *FileNode) (path string, ok bool, err error)

// WalkFile starts a walk. origin may be nil: paths are then taken as they are.
func (r *Repo) WalkFile(origin Origin) *FileWalk {
	objects := r.Stage()
	return &FileWalk{objects: objects, origin: origin, raw: rawReader{objects: objects}}
}

// At is the file at path in a commit.
func (w *FileWalk) At(commit ID, path string) (*FileNode, error) {
	c, err := w.raw.commit(commit)
	if err != nil {
		return nil, err
	}
	return w.node(c, path, nil)
}

// node looks path up in a commit. Where a tree on the way is the one that like
// has, so is everything below it.
func (w *FileWalk) node(c rawCommit, path string, like *FileNode) (*FileNode, error) {
	n := &FileNode{Commit: c.id, Path: path, commit: c, chain: make([]ID, 1, 2+strings.Count(path, "/"))}
	n.chain[0] = c.tree
	for rest := path; ; {
		depth := len(n.chain) - 1
		if like != nil && n.chain[depth] == like.chain[depth] {
			n.chain = append(n.chain, like.chain[depth+1:]...)
			break
		}
		if rest == "" {
			break
		}
		name, below, _ := strings.Cut(rest, "/")
		var id ID
		if at := n.chain[depth]; !at.IsZero() {
			var err error
			if id, err = w.raw.entry(at, name, below != ""); err != nil {
				return nil, err
			}
		}
		n.chain, rest = append(n.chain, id), below
	}
	n.Blob = n.chain[len(n.chain)-1]
	return n, nil
}

// Parents goes one commit back. If a parent has the very same file, that one
// alone is returned and changed is false: whatever happened on other branches
// did not reach this file. Otherwise every parent that knows the file under
// some name is returned, an absent file included where origin says so.
func (w *FileWalk) Parents(n *FileNode) (parents []*FileNode, changed bool, err error) {
	last := n.Blob
	if last.IsZero() {
		last = n.Last
	}
	nodes := make([]*FileNode, 0, len(n.commit.parents))
	for _, id := range n.commit.parents {
		c, err := w.raw.commit(id)
		if err != nil {
			return nil, false, err
		}
		p, err := w.node(c, n.Path, n)
		if err != nil {
			return nil, false, err
		}
		p.Last = last
		if p.Blob == n.Blob {
			return []*FileNode{p}, false, nil
		}
		nodes = append(nodes, p)
	}
	for _, p := range nodes {
		from, ok := n.Path, true
		if w.origin != nil {
			if from, ok, err = w.origin(n, p); err != nil {
				return nil, true, err
			}
		}
		if ok && from != n.Path {
			if p, err = w.node(p.commit, from, nil); err != nil {
				return nil, true, err
			}
			p.Last = last
		}
		if ok {
			parents = append(parents, p)
		}
	}
	return parents, true, nil
}

// A FileStep is a commit that changed the file: against every parent if it has
// several, as git log shows it.
type FileStep struct {
	*FileNode
	Parents []*FileNode
}

// History yields the commits that changed the file, newest committer time
// first, from a node on.
func (w *FileWalk) History(from *FileNode) iter.Seq2[FileStep, error] {
	return func(yield func(FileStep, error) bool) {
		type place struct {
			commit ID
			path   string
		}
		seen, queue := map[place]bool{}, []*FileNode(nil)
		push := func(n *FileNode) {
			if at := (place{n.Commit, n.Path}); !seen[at] {
				seen[at] = true
				queue = append(queue, n)
			}
		}
		push(from)
		for len(queue) > 0 {
			n := takeNewest(&queue, (*FileNode).When)
			parents, changed, err := w.Parents(n)
			if err != nil {
				yield(FileStep{}, err)
				return
			}
			// Absent, and no parent had it: what was there is another thing.
			never := n.Blob.IsZero() && len(parents) == 0
			if changed && !never && !yield(FileStep{n, parents}, nil) {
				return
			}
			for _, p := range parents {
				push(p)
			}
		}
	}
}
