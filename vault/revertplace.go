package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"stet/markdown"
	"stet/vault/tombstone"
)

// where is the present place of a file that commit c left at p with the bytes
// base; "" when nobody can say. A file with an id is the one that has it, whatever
// it is called; one without is followed by what commits say of their moves.
func (r *reverter) where(ctx context.Context, c Commit, p Path, base []byte) (Path, error) {
	places := []Path{p}
	if to, ok := r.moved[c.Rev][p]; ok {
		places = []Path{to, p} // p: other commits of this revert may have moved it back
	}
	id := frontID(base)
	for _, at := range places {
		data, _, err := r.tx.Read(at)
		if err != nil && !errors.Is(err, ErrNotRegular) {
			return "", err
		}
		if data == nil {
			continue
		}
		if is := frontID(data); id == "" || is == "" || is == id {
			return at, nil
		}
	}
	if id == "" {
		return places[len(places)-1], nil
	}
	found, err := r.withID(ctx, id)
	switch {
	case err != nil:
		return "", err
	case len(found) > 1:
		r.conflict(p, fmt.Sprintf("both %q and %q have its id", found[0], found[1]))
		return "", nil
	case len(found) == 1:
		return found[0], nil
	}
	// Nothing has the id: what stands at the old place is another thing.
	data, _, err := r.tx.Read(p)
	if err == nil && data != nil {
		return r.missing(c, p), nil
	}
	return p, nil
}

// missing decides about a file that is gone while another one stands in its
// place: what only made it is taken back by that, anything else is undecidable.
func (r *reverter) missing(c Commit, p Path) Path {
	for _, ch := range c.Changes {
		if ch.Path == p && ch.Status == Added {
			return ""
		}
	}
	r.conflict(p, "it was removed since, and another file stands in its place")
	return ""
}

// withID lists the files that have an id, as this transaction sees them, live
// ones alone if there are any.
func (r *reverter) withID(ctx context.Context, id string) ([]Path, error) {
	files, err := r.tx.v.Files(ctx, WalkOptions{Archive: true})
	if err != nil {
		return nil, err
	}
	candidates := map[Path]bool{}
	for _, f := range files {
		data, _, err := r.tx.v.ReadFile(f.Path)
		if err == nil && bytes.Contains(data, []byte(id)) {
			candidates[f.Path] = true
		}
	}
	for p := range r.tx.tx.Staged() {
		candidates[p] = true
	}
	var live, cold []Path
	for _, name := range slices.Sorted(maps.Keys(candidates)) {
		data, _, err := r.tx.Read(name)
		if err != nil {
			return nil, err
		}
		switch {
		case data == nil || frontID(data) != id || ClassOf(name) == ClassConfig:
		case ClassOf(name) == ClassArchive:
			cold = append(cold, name)
		default:
			live = append(live, name)
		}
	}
	if len(live) > 0 {
		return live, nil
	}
	return cold, nil
}

// sameButStamp reports whether nothing but the time of the last update differs:
// a change of scope sets that as well.
func sameButStamp(x, y []byte) bool {
	if bytes.Equal(x, y) {
		return true
	}
	a, b := markdown.Parse(x), markdown.Parse(y)
	v, ok := a.Meta("updated")
	if _, has := b.Meta("updated"); !ok || !has {
		return false
	}
	return b.SetMeta("updated", v) == nil && bytes.Equal(a.Bytes(), b.Bytes())
}

// bringBack undoes a deletion. A memory that is there again under its id needs
// nothing, wherever it is and whatever it says by now.
func (r *reverter) bringBack(ctx context.Context, p Path, theirs []byte, before *Snapshot) error {
	if IsTombstone(p) || isProposal(p) { // neither is a memory that could be somewhere else
		ours, was, err := r.tx.Read(p)
		if err != nil || ours != nil {
			return err
		}
		return r.tx.Put(p, was, theirs)
	}
	have, _, err := r.tx.Read(p)
	if err != nil && !errors.Is(err, ErrNotRegular) {
		return err
	}
	if have != nil && string(have) == string(theirs) {
		return nil
	}
	if id := frontID(theirs); id != "" {
		found, err := r.withID(ctx, id)
		// Two copies may have gone in one commit.
		found = slices.DeleteFunc(found, func(p Path) bool { return r.brought[p] })
		if err != nil || len(found) > 0 {
			return err
		}
	}
	target, free, err := r.freePlace(p, theirs)
	if err != nil || !free {
		return err
	}
	r.brought[target] = true
	return errors.Join(r.tx.Put(target, "", theirs), r.tx.tx.PermitAs(target, before.Snapshot, p))
}

// checkPurged refuses to bring back what a person purged: an undo that counts one
// step too far must not. c took the file away, by the purge itself or before it.
func (r *reverter) checkPurged(c Commit, p Path, theirs []byte) error {
	if r.again || IsTombstone(p) {
		return nil
	}
	purged := c.Trailers.Get("Stet-Mode") == "purge"
	if id := frontID(theirs); !purged && id != "" {
		rejected, err := r.tx.rejections()
		if err != nil {
			return err
		}
		purged = slices.ContainsFunc(rejected.files, func(f *stoneFile) bool {
			return slices.ContainsFunc(f.parts, func(s tombstone.Part) bool {
				return s.Action == tombstone.Purge && slices.Contains(s.IDs, id)
			})
		})
	}
	if !purged {
		return nil
	}
	return WithHint(fmt.Errorf("revert %s: %w: it would bring back what was purged", c.Rev.Short(), ErrRefused),
		`"stet revert REV" takes an older commit back by name; --again brings back what was purged, as far as history still holds it`)
}

// FreePlace is p, or p with the end of the memory's id (else of its hash) when
// something else stands there; free is false when that is taken as well.
func (t *Tx) FreePlace(p Path, data []byte) (at Path, free bool, err error) {
	mark := ReadMemory(p, data).ID
	if len(mark) < minSuffix {
		mark = string(hashOf(data))
	}
	ext := path.Ext(string(p))
	for _, at := range []Path{p, Path(strings.TrimSuffix(string(p), ext) + "-" + mark[len(mark)-minSuffix:] + ext)} {
		have, _, err := t.Read(at)
		switch {
		case errors.Is(err, ErrNotRegular):
		case err != nil:
			return "", false, err
		case have == nil:
			return at, true, nil
		}
	}
	return "", false, nil
}

// freePlace is [Tx.FreePlace] where a person must decide when there is none.
func (r *reverter) freePlace(p Path, data []byte) (at Path, free bool, err error) {
	if at, free, err = r.tx.FreePlace(p, data); err == nil && !free {
		r.conflict(p, "its place is taken, and so is the name with the end of its id")
	}
	return at, free, err
}

func (r *reverter) conflict(p Path, reason string) {
	r.conflicts = append(r.conflicts, fmt.Sprintf("%q: %s", p, reason))
}

// change takes one file's part of a commit back.
func (r *reverter) change(ctx context.Context, c Commit, ch Change, before, after *Snapshot) error {
	old := ch.Path // where the file was before the commit
	if ch.From != "" {
		old = ch.From
	}
	base, _, err := after.Read(ch.Path)
	if err != nil {
		return err
	}
	theirs, _, err := before.Read(old)
	if err != nil {
		return err
	}
	if ch.Status == Deleted {
		if err := r.checkPurged(c, old, theirs); err != nil {
			return err
		}
		return r.bringBack(ctx, old, theirs, before)
	}
	at, err := r.where(ctx, c, ch.Path, base)
	if err != nil || at == "" {
		return err
	}
	ours, was, err := r.tx.Read(at)
	if err != nil {
		return err
	}
	switch {
	case IsTombstone(ch.Path):
		return r.stone(at, tombstone.Merge(base, ours, theirs), was)
	case ch.Status == Added && ours == nil:
		return nil // gone already
	case ch.Status == Added && !sameButStamp(ours, base):
		r.conflict(at, "it was edited since it was made")
		return nil
	case ch.Status == Added:
		return errors.Join(r.tx.Remove(at, was), r.taken(c, ch))
	case ours == nil:
		r.conflict(at, "it was removed since")
		return nil
	}
	return r.merge(c, ch, at, base, theirs)
}

// merge takes an edit, a move or both back.
func (r *reverter) merge(c Commit, ch Change, at Path, base, theirs []byte) error {
	ours, was, err := r.tx.Read(at)
	if err != nil {
		return err
	}
	merged, conflicts := merge(base, ours, theirs)
	if len(conflicts) > 0 {
		r.conflict(at, "newer edits overlap at "+conflicts[0].Where)
		return nil
	}
	target := at
	if ch.Status == Renamed && at == ch.Path {
		var free bool
		if target, free, err = r.freePlace(ch.From, theirs); err != nil || !free {
			return err
		}
		if err := r.tx.Move(at, target); err != nil {
			return err
		}
	}
	if string(merged) != string(ours) {
		if err := r.taken(c, ch); err != nil {
			return err
		}
	}
	return r.tx.Put(target, was, merged)
}

// stone brings a file of tombstones to what is left of it.
func (r *reverter) stone(p Path, merged []byte, was Hash) error {
	switch {
	case len(merged) > 0:
		return r.tx.Put(p, was, merged)
	case was != "":
		return r.tx.Remove(p, was)
	}
	return nil
}
