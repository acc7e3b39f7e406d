package gitstore

import (
	"iter"
	"slices"
	"time"
)

// history yields the commits reachable from a commit, newest committer time
// first and children before their parents where the clock allows, as git log
// does. It ends quietly where a shallow clone ends.
func (r *Repo) history(from ID) iter.Seq2[Commit, error] {
	return func(yield func(Commit, error) bool) {
		objects, seen, queue := r.Stage(), map[ID]bool{}, []Commit(nil)
		for next := []ID{from}; len(next) > 0 || len(queue) > 0; {
			for _, id := range next {
				if id.IsZero() || seen[id] {
					continue
				}
				seen[id] = true
				c, err := objects.Commit(id)
				if err != nil {
					yield(Commit{}, err)
					return
				}
				queue = append(queue, c)
			}
			if len(queue) == 0 {
				return
			}
			c := takeNewest(&queue, Commit.at)
			if !yield(c, nil) {
				return
			}
			next = c.Parents
		}
	}
}

func (c Commit) at() time.Time { return c.Committed }

// takeNewest takes the newest item out of a queue, the first of several. A queue is as long
// as there are lines of history side by side, so looking at all of it costs little.
func takeNewest[T any](queue *[]T, at func(T) time.Time) T {
	best := 0
	for i, x := range *queue {
		if at(x).After(at((*queue)[best])) {
			best = i
		}
	}
	x := (*queue)[best]
	*queue = slices.Delete(*queue, best, best+1)
	return x
}
