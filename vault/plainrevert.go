package vault

import (
	"fmt"
	"slices"
	"stet/templates"
	"stet/vault/store"

	"stet/vault/gitstore"
	"stet/vault/tombstone"
)

// A plainRevert is a commit that a person made with "git revert" and that no
// writer of stet's has read yet. Its file gets parts, or goes when there are
// none: then the person has taken the revert itself back.
type plainRevert struct {
	file    Path
	parts   []tombstone.Part
	subject string // of the commit that was taken back, or brought back
	back    bool   // a revert of a revert
}

// plainReverts reads what people took back with plain git since stet last
// wrote. Every commit of stet's that reads tombstones has done so for all
// history before it, so the walk ends there: no cursor has to be kept, and a
// fresh clone knows as much as an old one.
func (t *Tx) plainReverts() ([]plainRevert, error) {
	commits, err := t.unread()
	if err != nil || len(commits) == 0 {
		return nil, err
	}
	var out []plainRevert
	for _, gc := range slices.Backward(commits) {
		for _, rev := range commitOf(gc).Reverts() {
			next, err := t.plainRevert(gc, rev)
			if err != nil {
				return nil, err
			}
			if next.file == "" {
				continue
			}
			out = slices.DeleteFunc(out, func(p plainRevert) bool { return p.file == next.file })
			out = append(out, next)
		}
	}
	return out, nil
}

// unread lists the plain commits back to the nearest that read tombstones,
// newest first.
func (t *Tx) unread() ([]gitstore.Commit, error) {
	var out []gitstore.Commit
	seen, queue := map[gitstore.ID]bool{}, []gitstore.ID{t.tx.Head().ID}
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		if id.IsZero() || seen[id] {
			continue
		}
		seen[id] = true
		gc, err := t.tx.Objects.Commit(id)
		if err != nil {
			return nil, err
		}
		c := commitOf(gc)
		if c.Op.known().settled {
			continue
		}
		if c.Op == OpConfig {
			// What was taken back before there was a vault rejects nothing.
			born, err := t.bornIn(gc)
			if err != nil {
				return nil, err
			}
			if born {
				continue
			}
		}
		queue = append(queue, gc.Parents...)
		if c.Op == "" && len(c.Reverts()) > 0 {
			out = append(out, gc)
		}
	}
	slices.SortStableFunc(out, func(a, b gitstore.Commit) int { return b.Committed.Compare(a.Committed) })
	return out, nil
}

// bornIn reports whether a commit made the vault.
func (t *Tx) bornIn(gc gitstore.Commit) (bool, error) {
	if len(gc.Parents) == 0 {
		return true, nil
	}
	before, err := t.tx.Objects.TreeOf(gc.Parents[0])
	if err != nil {
		return false, err
	}
	_, had, err := t.tx.Objects.Lookup(before, t.v.store.GitPath(Marker))
	return !had, err
}

// tookBack reports whether a commit took something back, and did not bring back what
// another had taken: it follows reverts of reverts to the first. own says that one of
// them is stet's, which keeps its tombstones in the commits themselves. first is where
// it ends: the commit itself when it took nothing back.
func (t *Tx) tookBack(c Commit) (first Commit, took, own bool) {
	for again := c.Reverts(); len(again) > 0; again = c.Reverts() {
		took, own = !took, own || c.Op != ""
		id, err := gitstore.ParseID(string(again[0]))
		if err != nil || own || len(again) > 1 {
			break
		}
		before, err := t.tx.Objects.Commit(id)
		if err != nil {
			break // not in this clone
		}
		c = commitOf(before)
	}
	return c, took, own
}

// plainRevert says what one of them leaves. file is "" when that is nothing.
func (t *Tx) plainRevert(gc gitstore.Commit, rev Revision) (plainRevert, error) {
	id, err := gitstore.ParseID(string(rev))
	if err != nil {
		return plainRevert{}, nil // a message that a person made up
	}
	taken, err := t.tx.Objects.Commit(id)
	if err != nil {
		return plainRevert{}, nil // not in this clone: nothing is known of it
	}
	c := commitOf(taken)
	_, took, own := t.tookBack(c)
	again := c.Reverts()
	if own || len(again) > 1 {
		return plainRevert{}, nil // git took the tombstone out, or brought it back, itself
	}
	if took {
		back := plainRevert{file: plainName(taken, again[0]), subject: c.Subject, back: true}
		if id, err := gitstore.ParseID(string(again[0])); err == nil {
			if first, err := t.tx.Objects.Commit(id); err == nil { // not in every clone
				back.subject = commitOf(first).Subject
			}
		}
		return back, nil
	}
	changes, err := t.takenBy(gc, taken)
	if err != nil {
		return plainRevert{}, err
	}
	c.Changes = changes
	stones, err := t.stones(c, joinMoves(changes, c.Trailers.moves()), tombstone.Revert)
	if err != nil || len(stones) == 0 {
		return plainRevert{}, err
	}
	for i := range stones {
		stones[i].At, stones[i].By, stones[i].Actor = keptTime(gc.Committed), gc.Author.Name, ActorUser
	}
	parts, err := tombstone.Decode(tombstone.Encode(stones))
	return plainRevert{file: plainName(gc, rev), parts: parts, subject: c.Subject}, err
}

// takenBy are the changes of a commit that another took back; none at the end of a
// shallow clone. Of a merge they are what the other one took away: its message names a
// side of the merge by a number at best.
func (t *Tx) takenBy(gc, taken gitstore.Commit) ([]Change, error) {
	before, after := gitstore.ID{}, taken.Tree
	switch {
	case len(taken.Parents) > 1:
		parent, err := t.tx.Objects.TreeOf(gc.Parents[0])
		if err != nil {
			return nil, nil
		}
		before, after = gc.Tree, parent
	case len(taken.Parents) == 1:
		parent, err := t.tx.Objects.TreeOf(taken.Parents[0])
		if err != nil {
			return nil, nil
		}
		before = parent
	}
	return t.v.store.TreeChanges(t.tx.Objects, before, after)
}

// plainName is the same in every clone.
func plainName(gc gitstore.Commit, rev Revision) Path {
	return stoneName(gc.Committed, []byte(gc.ID.String()+" "+string(rev)))
}

// writePlain puts what was read into a commit of its own before the others: it
// is a person's, and taking back the write that found it must not take it back.
func (r *rejections) writePlain() error {
	why := Why{Op: OpAdopt, Writer: Writer{Door: r.t.why.Door, Via: r.t.why.via()}}
	g := store.Group{Why: &why, Files: map[Path]store.Content{}}
	for _, p := range r.plain {
		var data []byte
		for _, f := range r.files {
			if f.path == p.file && len(f.parts) > 0 {
				data = tombstone.Join(f.parts)
			}
		}
		at, err := r.t.tx.Touch(p.file)
		if err != nil {
			return err
		}
		if len(data) == 0 && !at.Disk.Exists {
			continue
		}
		if err := r.t.tx.StageInto(&g, p.file, data); err != nil {
			return err
		}
		did := "taken"
		if p.back {
			did = "brought"
		}
		whyOf(g.Why).Subject = fmt.Sprintf("%s back with git revert: %q", did, p.subject)
	}
	if len(g.Paths) == 0 {
		return nil
	}
	if len(g.Paths) > 1 {
		whyOf(g.Why).Subject = fmt.Sprintf("%s taken back with git revert", templates.Plural(len(g.Paths), "commit"))
	}
	r.t.tx.Groups = slices.Insert(r.t.tx.Groups, 0, g)
	return nil
}
