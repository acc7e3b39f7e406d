package imports

import (
	"cmp"
	"slices"

	"stet/markdown"
)

// A treeNode is one message of a conversation that is kept as a tree: who changes
// a prompt or asks for another answer begins a branch, and the old one stays.
type treeNode struct {
	id, parent string
	order      int64 // in the source: a number or a time; ids decide among equals
	messages   []markdown.Message

	errors, compactions int // see [Session]
}

// A tree is a whole conversation.
type tree struct {
	nodes map[string]*treeNode
	main  string // the end of the branch that is shown
}

// path lists the nodes from the root to an end, and stops at a circle.
func (t *tree) path(end string) []*treeNode {
	var out []*treeNode
	seen := map[string]bool{}
	for at := t.nodes[end]; at != nil && !seen[at.id]; at = t.nodes[at.parent] {
		seen[at.id] = true
		out = append(out, at)
	}
	slices.Reverse(out)
	return out
}

// A branch is what one way through the tree has that no way before it had.
type branch struct {
	first string // the id of its first node; "" for the branch that is shown
	nodes []*treeNode
}

// branches are the one that is shown and then, in the order of the source, what
// every other end adds.
func (t *tree) branches() []branch {
	children := map[string]int{}
	for _, n := range t.nodes {
		children[n.parent]++
	}
	var ends []*treeNode
	for _, n := range t.nodes {
		if children[n.id] == 0 && n.id != t.main {
			ends = append(ends, n)
		}
	}
	slices.SortFunc(ends, func(a, b *treeNode) int { return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.id, b.id)) })
	out := []branch{{nodes: t.path(t.main)}}
	seen := map[string]bool{}
	for _, n := range out[0].nodes {
		seen[n.id] = true
	}
	for _, end := range ends {
		var fresh []*treeNode
		for at := end; at != nil && !seen[at.id]; at = t.nodes[at.parent] {
			seen[at.id] = true
			fresh = append(fresh, at)
		}
		if len(fresh) == 0 {
			continue
		}
		slices.Reverse(fresh)
		out = append(out, branch{first: fresh[0].id, nodes: fresh})
	}
	return out
}

// newest is the end that came last in the source, for sources that do not say
// which branch is shown.
func (t *tree) newest() string {
	best := (*treeNode)(nil)
	for _, n := range t.nodes {
		if best == nil || n.order > best.order || n.order == best.order && n.id > best.id {
			best = n
		}
	}
	if best == nil {
		return ""
	}
	return best.id
}

// hand emits the branches of t as sessions made by begin; all but the shown one
// are children of that.
func (r *reading) tree(t *tree, begin func() *Session) error {
	main := begin()
	for i, b := range t.branches() {
		s := main
		if i > 0 {
			s = begin()
			s.Title, s.Ended = "", main.Ended
			s.fork = false
			s.ParentOrigin, s.ParentStarted = main.Origin, main.Started
			s.Origin = main.Origin + "/" + b.first
		}
		for _, n := range b.nodes {
			s.Messages = append(s.Messages, n.messages...)
			s.Errors, s.Compactions = s.Errors+n.errors, s.Compactions+n.compactions
		}
		if i > 0 {
			s.Started, s.Ended = main.Started, main.Ended
			for _, m := range s.Messages {
				if !m.Time.IsZero() {
					s.Started = m.Time
					break
				}
			}
		}
		if err := r.session(s); err != nil {
			return err
		}
	}
	return nil
}
