package gitstore

import (
	"container/heap"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem"
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

// Resolve turns a revision as git writes it (branch, tag, short id, HEAD~2,
// @{…} excepted) into a commit id. It fails with [ErrNoRevision].
func (r *Repo) Resolve(rev string) (ID, error) {
	rev, err := r.nameFirst(rev)
	if err != nil {
		return ID{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if id, err := ParseID(rev); err == nil && !id.IsZero() {
		switch _, err := r.read(plumbing.CommitObject, id); {
		case err == nil:
			return id, nil
		case isMachines(err):
			return ID{}, fmt.Errorf("read commit %s: %w", id, err)
		}
	}
	repo, err := git.Open(packsFirst{r.storage, r}, nil)
	if err != nil {
		return ID{}, err
	}
	hash, err := repo.ResolveRevision(plumbing.Revision(rev))
	if errors.Is(err, io.EOF) {
		err = errors.New("the history is not that long")
	}
	if err != nil {
		return ID{}, fmt.Errorf("%q: %w: %w", rev, ErrNoRevision, err)
	}
	return ID(*hash), nil
}

// nameFirst writes the id in place of a tag's or branch's name that could be
// read as the beginning of an id: for git the name wins, for go-git it does not.
func (r *Repo) nameFirst(rev string) (string, error) {
	end := strings.IndexFunc(rev, func(c rune) bool { return !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f') })
	if end < 0 {
		end = len(rev)
	}
	if suffix := rev[end:]; end == 0 || end == 2*len(ID{}) || suffix != "" && suffix[0] != '~' && suffix[0] != '^' {
		return rev, nil
	}
	for _, folder := range []string{"refs/tags/", "refs/heads/", "refs/remotes/"} {
		id, err := r.ReadRef(folder + rev[:end])
		if err != nil {
			return "", err
		}
		if !id.IsZero() {
			return id.String() + rev[end:], nil
		}
	}
	return rev, nil
}

// packsFirst is go-git's storage with packed objects read by us. r.mu is held.
type packsFirst struct {
	*filesystem.Storage
	repo *Repo
}

// EncodedObject reads one object.
func (s packsFirst) EncodedObject(kind plumbing.ObjectType, id plumbing.Hash) (plumbing.EncodedObject, error) {
	found, ok := s.repo.packs.object(ID(id))
	if !ok || kind != plumbing.AnyObject && kind != found.kind || plumbing.ComputeHash(found.kind, found.data) != id {
		return s.Storage.EncodedObject(kind, id)
	}
	obj := &plumbing.MemoryObject{}
	obj.SetType(found.kind)
	_, err := obj.Write(found.data)
	return obj, err
}
