package gitstore

import (
	"container/heap"
	"iter"
)

// History yields the commits reachable from a commit, newest committer time
// first and children before their parents where the clock allows, as git log
// does. It ends quietly where a shallow clone ends.
func (r *Repo) History(from ID) iter.Seq2[Commit, error] {
	return func(yield func(Commit, error) bool) {
		objects, seen := r.Stage(), map[ID]bool{}
		queue := &byTime{}
		push := func(id ID) error {
			if id.IsZero() || seen[id] {
				return nil
			}
			seen[id] = true
			c, err := objects.Commit(id)
			if err != nil {
				return err
			}
			queue.next++
			heap.Push(queue, queued{c, queue.next})
			return nil
		}
		if err := push(from); err != nil {
			yield(Commit{}, err)
			return
		}
		for queue.Len() > 0 {
			c := heap.Pop(queue).(queued).Commit
			if !yield(c, nil) {
				return
			}
			for _, p := range c.Parents {
				if err := push(p); err != nil {
					yield(Commit{}, err)
					return
				}
			}
		}
	}
}

type queued struct {
	Commit
	seq int
}

// byTime is a heap of commits: newest first, then first come.
type byTime struct {
	items []queued
	next  int
}

func (h *byTime) Len() int { return len(h.items) }
func (h *byTime) Less(i, j int) bool {
	a, b := h.items[i], h.items[j]
	if !a.Committed.Equal(b.Committed) {
		return a.Committed.After(b.Committed)
	}
	return a.seq < b.seq
}
func (h *byTime) Swap(i, j int) { h.items[i], h.items[j] = h.items[j], h.items[i] }
func (h *byTime) Push(x any)    { h.items = append(h.items, x.(queued)) }
func (h *byTime) Pop() any {
	last := h.items[len(h.items)-1]
	h.items = h.items[:len(h.items)-1]
	return last
}
