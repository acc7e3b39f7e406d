package gitstore

import (
	"errors"
	"iter"
	"slices"
)

// History yields the commits reachable from one commit and not from
// another, newest committer time first. A zero other, or one that the repository
// does not have any more, leaves nothing out. Cost: the commits that differ and
// those of the same age in the other's history. It ends quietly where a shallow clone ends.
func (r *Repo) History(from, other ID) iter.Seq2[Commit, error] {
	objects := r.Stage()
	if other.IsZero() {
		return r.history(from)
	}
	switch _, err := objects.Commit(other); {
	case errors.Is(err, ErrMissing):
		return r.history(from)
	case err != nil: // it may well be there, and everything would look new
		return func(yield func(Commit, error) bool) { yield(Commit{}, err) }
	}
	return func(yield func(Commit, error) bool) {
		p := painter{objects: objects, hidden: map[ID]bool{}}
		found, err := p.run(from, other)
		if err != nil {
			yield(Commit{}, err)
			return
		}
		for _, c := range found {
			if !yield(c, nil) {
				return
			}
		}
	}
}

// A painter walks two histories at once, newest first, and hides what both have.
type painter struct {
	objects *Objects
	hidden  map[ID]bool // every commit met; true when the other history has it
	queue   []Commit
	open    int // commits in the queue that are not hidden
}

func (p *painter) run(from, other ID) ([]Commit, error) {
	if err := p.push(other, true); err != nil {
		return nil, err
	}
	if err := p.push(from, false); err != nil {
		return nil, err
	}
	var found []Commit
	for len(p.queue) > 0 {
		c := takeNewest(&p.queue, Commit.at)
		// Where the clock went backwards a commit of the other history may stand
		// behind one it is above of, so the walk goes on to the oldest found.
		if p.open == 0 && (len(found) == 0 || c.Committed.Before(found[len(found)-1].Committed)) {
			break
		}
		hide := p.hidden[c.ID]
		if !hide {
			p.open--
			found = append(found, c)
		}
		for _, parent := range c.Parents {
			if err := p.push(parent, hide); err != nil {
				return nil, err
			}
		}
	}
	return slices.DeleteFunc(found, func(c Commit) bool { return p.hidden[c.ID] }), nil
}

// push queues a commit; one that turns out to be hidden is queued again, so that
// what is below it is hidden as well.
func (p *painter) push(id ID, hide bool) error {
	was, met := p.hidden[id]
	if id.IsZero() || met && (was || !hide) {
		return nil
	}
	c, err := p.objects.Commit(id)
	if err != nil {
		return err
	}
	p.hidden[id] = hide
	if !hide {
		p.open++
	}
	if met {
		p.open -= p.waiting(id)
	}
	p.queue = append(p.queue, c)
	return nil
}

// waiting counts the places of a commit in the queue.
func (p *painter) waiting(id ID) int {
	n := 0
	for _, q := range p.queue {
		if q.ID == id {
			n++
		}
	}
	return n
}
