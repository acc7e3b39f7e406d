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
)

// reviewMark is the name under which local state keeps how far the person has
// looked.
const reviewMark = "review"

// A mark is what the person has looked at: everything up to a commit but the
// commits that were left for later.
type mark struct {
	Upto vault.Revision   `json:"upto"`
	Left []vault.Revision `json:"left,omitempty"`
}

// readMark takes what cannot be read for no mark at all: looking twice does no
// harm.
func readMark(data []byte) mark {
	var m mark
	if err := json.Unmarshal(data, &m); err != nil {
		return mark{}
	}
	return m
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
// by another address than the person's.
func Pending(ctx context.Context, v *vault.Vault, since time.Time) (Review, error) {
	data, err := v.State().Seen(reviewMark)
	if err != nil {
		return Review{}, err
	}
	seen := readMark(data)
	head, err := v.Head()
	if err != nil {
		return Review{}, err
	}
	out := Review{Upto: head}
	o := vault.LogOptions{Without: string(seen.Upto)}
	if !since.IsZero() {
		o.Without, o.Since = "", since
	}
	taken := reverts{}
	for c, err := range v.History().Log(ctx, o) {
		if err != nil {
			return Review{}, err
		}
		taken.note(c)
		if byOthers(v, c) {
			if c, err = v.History().CommitAt(ctx, string(c.Rev)); err != nil { // with its changes
				return Review{}, err
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
		more = append(more, Item{Commit: c, Left: true})
	}
	slices.SortStableFunc(more, func(a, b Item) int { return b.When.Compare(a.When) })
	r.Items = append(r.Items, more...)
	// What takes a commit back comes after it, before the mark or behind it: the
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

func byOthers(v *vault.Vault, c vault.Commit) bool {
	_, email := v.Person()
	if c.Op == vault.OpPropose || strings.HasSuffix(c.Trailers.Get("Stet-Approved-By"), "<"+email+">") {
		return false // it waits for the person, or the person agreed to it
	}
	if actor := c.Trailers.Get("Stet-Actor"); actor != "" && actor != vault.ActorUser {
		return true
	}
	return !strings.EqualFold(c.AuthorEmail, email)
}

// Accept notes that the person has looked at these commits of a review. Every
// other one that was pending stays so, unless history was rewritten without it.
func (r Review) Accept(ctx context.Context, v *vault.Vault, looked []vault.Revision) error {
	pending, err := Pending(ctx, v, time.Time{})
	if err != nil {
		return err
	}
	return v.State().SetSeen(ctx, reviewMark, func(now []byte) ([]byte, error) {
		m := readMark(now)
		next := mark{Upto: r.Upto}
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
