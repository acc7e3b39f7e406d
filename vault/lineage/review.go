package lineage

import (
	"context"
	"encoding/json"
	"fmt"
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

// Diff is what the commit changed, tombstones left out.
func (i Item) Diff(ctx context.Context, v *vault.Vault) (string, error) {
	from := vault.EmptyTree
	if len(i.Parents) > 0 {
		from = string(i.Parents[0])
	}
	files, err := v.Diff(ctx, from, string(i.Rev), nil)
	var b strings.Builder
	for _, f := range files {
		if !vault.IsTombstone(f.Path) {
			b.WriteString(f.Text)
		}
	}
	return b.String(), err
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
	taken := map[vault.Revision]bool{}
	for c, err := range v.Log(ctx, o) {
		if err != nil {
			return Review{}, err
		}
		if !taken[c.Rev] {
			for _, rev := range vault.RevertedBy(c) {
				taken[rev] = true
			}
		}
		if byOthers(v, c) {
			if c, err = v.CommitAt(ctx, string(c.Rev)); err != nil { // with its changes
				return Review{}, err
			}
			out.Items = append(out.Items, Item{Commit: c, Reverted: taken[c.Rev], Left: slices.Contains(seen.Left, c.Rev)})
		}
	}
	if since.IsZero() {
		if err := out.addLeft(ctx, v, seen.Left, taken); err != nil {
			return Review{}, err
		}
	}
	slices.Reverse(out.Items)
	return out, nil
}

// addLeft adds what was put off; what a rewriting of history took away is
// forgotten.
func (r *Review) addLeft(ctx context.Context, v *vault.Vault, left []vault.Revision, taken map[vault.Revision]bool) error {
	var more []Item
	for _, rev := range left {
		if slices.ContainsFunc(r.Items, func(i Item) bool { return i.Rev == rev }) {
			continue
		}
		c, err := v.CommitAt(ctx, string(rev))
		if err != nil {
			continue
		}
		more = append(more, Item{Commit: c, Reverted: taken[rev], Left: true})
	}
	slices.SortStableFunc(more, func(a, b Item) int { return b.When.Compare(a.When) })
	r.Items = append(r.Items, more...)
	return context.Cause(ctx)
}

func byOthers(v *vault.Vault, c vault.Commit) bool {
	if actor := c.Trailers.Get("Stet-Actor"); actor != "" && actor != vault.ActorUser {
		return true
	}
	_, email := v.Person()
	return !strings.EqualFold(c.AuthorEmail, email)
}

// Accept notes that the person has looked at these commits of a review. Every
// other one that was pending stays so.
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
			if !slices.Contains(looked, rev) && !slices.Contains(next.Left, rev) {
				next.Left = append(next.Left, rev)
			}
		}
		data, err := json.Marshal(next)
		if err != nil {
			return nil, fmt.Errorf("review: %w", err)
		}
		return data, nil
	})
}
