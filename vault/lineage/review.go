package lineage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"stet/vault"
	"stet/vault/proposal"
)

// reviewName is the name under which local state keeps how far the person has
// looked.
const reviewName = "review"

// A cursor is what the person has looked at: everything up to a commit but the
// commits that were left for later.
type cursor struct {
	Upto vault.Revision   `json:"upto"`
	Left []vault.Revision `json:"left,omitempty"`
}

// readCursor takes what cannot be read for no cursor at all: looking twice does no
// harm.
func readCursor(data []byte) cursor {
	var c cursor
	if err := json.Unmarshal(data, &c); err != nil {
		return cursor{}
	}
	return c
}

// A Review is what others changed since the person last looked.
type Review struct {
	Upto  vault.Revision // HEAD when it was made
	Items []Item         // oldest first
}

// An Item is one commit to look at.
type Item struct {
	vault.Commit
	// Reverted says that a later commit took it back already.
	Reverted bool
	// Left says that the person put it off before.
	Left bool
}

// Diffs are the files that the commit changed, tombstones left out, one after the
// other: a commit may have brought a whole vault. They end with the first error.
func (i Item) Diffs(ctx context.Context, v *vault.Vault) iter.Seq2[vault.FileDiff, error] {
	return func(yield func(vault.FileDiff, error) bool) {
		for f, err := range v.History().Diffs(ctx, i.Before(), string(i.Rev), nil) {
			if (err != nil || !vault.IsTombstone(f.Path)) && !yield(f, err) {
				return
			}
		}
	}
}

// Pending lists the commits by anybody but the person since the person last
// accepted, or, with a time, since then whatever was accepted: by an agent, or
// by another address than the person's where stet did not make it here. Without a time those that hold nothing but
// the curator's reports and counts are left out.
func Pending(ctx context.Context, v *vault.Vault, since time.Time) (Review, error) {
	data, err := v.State().Seen(reviewName)
	if err != nil {
		return Review{}, err
	}
	seen := readCursor(data)
	head, err := v.Head()
	if err != nil {
		return Review{}, err
	}
	out := Review{Upto: head}
	o := vault.LogOptions{Without: string(seen.Upto)}
	if !since.IsZero() {
		o.Without, o.Since = "", since
	}
	approved, err := Approvals(v)
	if err != nil {
		return Review{}, err
	}
	made, err := v.History().MadeHere(0)
	if err != nil {
		return Review{}, err
	}
	taken := reverts{}
	for c, err := range v.History().Log(ctx, o) {
		if err != nil {
			return Review{}, err
		}
		taken.note(c)
		if mayBeOthers(v, c, made(c)) {
			if c, err = v.History().CommitAt(ctx, string(c.Rev)); err != nil { // with its changes
				return Review{}, err
			}
			if approved[c.Rev] || proposes(c) || since.IsZero() && bookkeeping(c) {
				continue
			}
			out.Items = append(out.Items, Item{Commit: c, Left: slices.Contains(seen.Left, c.Rev)})
		}
	}
	if since.IsZero() {
		if err := out.addLeft(ctx, v, seen.Left, taken); err != nil {
			return Review{}, err
		}
	}
	for n := range out.Items {
		out.Items[n].Reverted = taken[out.Items[n].Rev]
	}
	slices.Reverse(out.Items)
	return out, nil
}

// Unreviewed are what [Pending] would list of the newest commits, at most so many, without their changes and newest
// first; what was left for later is among them only with after, which leaves out the history of that revision.
func Unreviewed(ctx context.Context, v *vault.Vault, after vault.Revision, newest int) (out []Item, err error) {
	data, err := v.State().Seen(reviewName)
	if err != nil {
		return nil, err
	}
	seen, looked := readCursor(data), map[vault.Revision]bool{}
	approved, err := Approvals(v)
	if err != nil {
		return nil, err
	}
	made, err := v.History().MadeHere(newest)
	if err != nil {
		return nil, err
	}
	o := vault.LogOptions{Without: string(seen.Upto), Limit: newest}
	if after != "" {
		o.Without = string(after)
	}
	if after != "" && seen.Upto != "" {
		for c, err := range v.History().Log(ctx, vault.LogOptions{Rev: string(seen.Upto), Without: o.Without,
			Limit: newest}) {
			if err != nil && !errors.Is(err, vault.ErrNoRevision) { // rewritten away, nothing of it was looked at
				return nil, err
			}
			looked[c.Rev] = !slices.Contains(seen.Left, c.Rev)
		}
	}
	taken := reverts{}
	for c, err := range v.History().Log(ctx, o) {
		if err != nil {
			return out, err
		}
		taken.note(c)
		if looked[c.Rev] || !mayBeOthers(v, c, made(c)) || approved[c.Rev] || c.Op == vault.OpPropose {
			continue
		}
		if c.Op == vault.OpCurate || c.Op == vault.OpReport { // to compare the trees of all takes long
			full, err := v.History().CommitAt(ctx, string(c.Rev))
			if err != nil {
				return out, err
			}
			if bookkeeping(full) {
				continue
			}
		}
		out = append(out, Item{Commit: c, Reverted: taken[c.Rev]})
	}
	return out, nil
}

// reverts are the commits that a later one took back.
type reverts map[vault.Revision]bool

// note looks at a commit, newest first. One that was taken back itself takes
// nothing back.
func (t reverts) note(c vault.Commit) {
	if !t[c.Rev] {
		for _, rev := range c.Reverts() {
			t[rev] = true
		}
	}
}

// TakenBack reports whether all of some commits were taken back by one of the newest, at most so many.
func TakenBack(ctx context.Context, v *vault.Vault, revs []vault.Revision, newest int) (bool, error) {
	taken := reverts{}
	for c, err := range v.History().Log(ctx, vault.LogOptions{Limit: newest, Without: string(revs[0])}) {
		if err != nil {
			return false, err
		}
		taken.note(c)
	}
	return !slices.ContainsFunc(revs, func(rev vault.Revision) bool { return !taken[rev] }), nil
}

// addLeft adds what was put off, and what took it back since; what a rewriting
// of history took away is passed over.
func (r *Review) addLeft(ctx context.Context, v *vault.Vault, left []vault.Revision, taken reverts) error {
	var more []Item
	for _, rev := range left {
		if slices.ContainsFunc(r.Items, func(i Item) bool { return i.Rev == rev }) {
			continue
		}
		c, err := v.History().CommitAt(ctx, string(rev))
		if errors.Is(err, vault.ErrNoRevision) {
			continue
		}
		if err != nil {
			return err
		}
		if !bookkeeping(c) {
			more = append(more, Item{Commit: c, Left: true})
		}
	}
	slices.SortStableFunc(more, func(a, b Item) int { return b.When.Compare(a.When) })
	r.Items = append(r.Items, more...)
	// What takes a commit back comes after it, before the cursor or behind it: the
	// walk that meets one of them has met all that takes it back.
	met := map[vault.Revision]bool{}
	for _, item := range slices.Backward(more) {
		if met[item.Rev] {
			continue
		}
		for c, err := range v.History().Log(ctx, vault.LogOptions{Without: string(item.Rev)}) {
			if err != nil {
				return err
			}
			met[c.Rev] = true
			taken.note(c)
		}
	}
	return context.Cause(ctx)
}

// mayBeOthers reports whether somebody but the person wrote a commit, or had a part in it, as its
// author and trailers say. Trailers can be written by anybody, so they only add to what is listed. Of what stet made
// here ([vault.History.MadeHere]) the name says nothing: git may have learnt the person's since.
func mayBeOthers(v *vault.Vault, c vault.Commit, here bool) bool {
	_, email := v.Person()
	actor := c.Trailers.Get("Stet-Actor")
	return actor != "" && actor != vault.ActorUser || c.Trailers.Get("Stet-Via") != "" ||
		!here && !strings.EqualFold(c.AuthorEmail, email)
}

// Own tells the commits that the person wrote, under the name that git has for them or in this clone, and those of
// machines that they let pass here. What it cannot find out is not theirs. Cost: the first commit under another name
// reads the log.
func Own(ctx context.Context, v *vault.Vault) (func(vault.Commit) bool, error) {
	approved, err := Approvals(v)
	_, email := v.Person()
	var here map[vault.Revision]bool // nil before it is needed
	return func(c vault.Commit) bool {
		if c.ByMachine() {
			return approved[c.Rev]
		}
		if strings.EqualFold(c.AuthorEmail, email) {
			return true
		}
		if here == nil {
			here = map[vault.Revision]bool{}
			made, err := v.History().MadeHere(0)
			for c, lerr := range v.History().Log(ctx, vault.LogOptions{}) {
				if err != nil || lerr != nil {
					break
				}
				here[c.Rev] = made(c)
			}
		}
		return here[c.Rev]
	}, err
}

// proposes reports a commit that does nothing but store what waits for the person.
func proposes(c vault.Commit) bool {
	return len(c.Changes) > 0 && !slices.ContainsFunc(c.Changes, func(ch vault.Change) bool {
		return ch.Status != vault.Added || ch.Path.Dir() != proposal.Dir
	})
}

// bookkeeping reports a commit that changes nothing but the curator's reports and counts, whatever it says of itself.
func bookkeeping(c vault.Commit) bool {
	kept := func(p vault.Path) bool {
		return strings.HasPrefix(string(p), "logs/curator/") || strings.HasPrefix(string(p), vault.UsageFolder+"/")
	}
	return len(c.Changes) > 0 && !slices.ContainsFunc(c.Changes, func(ch vault.Change) bool {
		return !kept(ch.Path) || ch.From != "" && !kept(ch.From)
	})
}

// approvedName is the name under which local state keeps what the person approved.
const approvedName = "approved"

// mostApproved bounds how many approvals are remembered: older ones were reviewed long ago, or
// are listed once more.
const mostApproved = 10_000

// Approvals are the commits of machines that the person let pass here: what a commit says of that may be anybody's.
func Approvals(v *vault.Vault) (map[vault.Revision]bool, error) {
	data, err := v.State().Seen(approvedName)
	out := map[vault.Revision]bool{}
	for line := range strings.Lines(string(data)) {
		out[vault.Revision(strings.TrimSpace(line))] = true
	}
	return out, err
}

// Approved notes that the person let a machine write these commits: they are not listed.
func Approved(ctx context.Context, v *vault.Vault, commits []vault.Commit) error {
	return v.State().SetSeen(ctx, approvedName, func(now []byte) ([]byte, error) {
		lines := strings.Fields(string(now))
		for _, c := range commits {
			lines = append(lines, string(c.Rev))
		}
		lines = lines[max(0, len(lines)-mostApproved):]
		return []byte(strings.Join(lines, "\n") + "\n"), nil
	})
}

// Accept notes that the person has looked at these commits of a review. Every
// other one that was pending stays so, unless history was rewritten without it.
func (r Review) Accept(ctx context.Context, v *vault.Vault, looked []vault.Revision) error {
	pending, err := Pending(ctx, v, time.Time{})
	if err != nil {
		return err
	}
	return v.State().SetSeen(ctx, reviewName, func(now []byte) ([]byte, error) {
		m := readCursor(now)
		next := cursor{Upto: r.Upto}
		for _, i := range pending.Items {
			if !slices.Contains(looked, i.Rev) {
				next.Left = append(next.Left, i.Rev)
			}
		}
		// What was put off in another terminal meanwhile stays put off.
		for _, rev := range m.Left {
			if slices.Contains(looked, rev) || slices.Contains(next.Left, rev) {
				continue
			}
			switch _, err := v.History().ResolveRevision(string(rev)); {
			case err == nil:
				next.Left = append(next.Left, rev)
			case !errors.Is(err, vault.ErrNoRevision):
				return nil, err
			}
		}
		data, err := json.Marshal(next)
		if err != nil {
			return nil, fmt.Errorf("review: %w", err)
		}
		return data, nil
	})
}
