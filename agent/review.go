package agent

import (
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"stet/agent/cite"
	"stet/vault"
	"stet/vault/lineage"
)

// ReviewOptions selects commits of agents and other people.
type ReviewOptions struct {
	Write
	Since time.Time // all since then; zero is those that the user has not reviewed
	Diffs bool      // fill the diffs of the result
	// AcceptAll marks all as reviewed, unless DryRun, when each can be read.
	AcceptAll bool
}

// A Review is commits to look at, oldest first.
type Review struct {
	Upto     vault.Revision `json:"upto"` // HEAD when they were listed
	Items    []ReviewItem   `json:"items"`
	Accepted bool           `json:"accepted"`
	DryRun   bool           `json:"dry_run,omitempty"`
	found    lineage.Review
}

// A ReviewItem is one commit to look at. Tombstones are left out of Changes and Diff.
type ReviewItem struct {
	Origin
	Changes  []vault.Change `json:"changes"`
	Reverted bool           `json:"reverted"`          // a later commit took it back
	Left     bool           `json:"left"`              // left for later in an earlier review
	Because  []CitedTurn    `json:"because,omitempty"` // the turns that ask for it
	Diff     string         `json:"diff,omitempty"`
	item     lineage.Item
}

// A CitedTurn is a turn of the user's that asked for a change.
type CitedTurn struct {
	Ref  string `json:"ref"` // session:ID#n
	Text string `json:"text,omitempty"`
}

// cited are the turns that a commit names, with what they say as far as it is there and may be shown.
func (h History) cited(ctx context.Context, c vault.Commit) (out []CitedTurn) {
	const budget = 300 // characters
	for _, ref := range cite.Named(c) {
		turn := CitedTurn{Ref: ref}
		id, n, _ := turnsOf(ref)
		page, err := h.a.Sessions().Show(ctx, SessionPart{Ref: id, From: n, To: n, Budget: budget})
		if err == nil && len(page.Messages) > 0 {
			turn.Text = page.Messages[0].Text
		}
		out = append(out, turn)
	}
	return out
}

// Review lists what others committed and, with AcceptAll, marks it as reviewed. It fails with
// [vault.ErrRefused] where the policy leaves that to the user.
func (h History) Review(ctx context.Context, o ReviewOptions) (*Review, error) {
	if o.AcceptAll {
		if err := h.a.check(o.Write, "review", "commits"); err != nil {
			return nil, err
		}
	}
	found, err := lineage.Pending(ctx, h.a.v, o.Since)
	if err != nil {
		return nil, err
	}
	r := &Review{
		Upto: found.Upto, Items: []ReviewItem{}, Accepted: o.AcceptAll && !o.DryRun, DryRun: o.DryRun, found: found,
	}
	var revs []vault.Revision
	for _, item := range found.Items {
		view := ReviewItem{
			Origin: originOf(item.Commit), Changes: []vault.Change{}, Reverted: item.Reverted, Left: item.Left,
			Because: h.cited(ctx, item.Commit), item: item,
		}
		for _, c := range item.Changes {
			if !vault.IsTombstone(c.Path) {
				view.Changes = append(view.Changes, c)
			}
		}
		if o.Diffs || r.Accepted {
			var b strings.Builder
			for text, err := range h.ReviewDiffs(ctx, view) {
				if err != nil {
					return nil, err
				}
				if o.Diffs {
					b.WriteString(text)
				}
			}
			view.Diff = b.String()
		}
		r.Items, revs = append(r.Items, view), append(revs, item.Rev)
	}
	if r.Accepted {
		err = found.Accept(ctx, h.a.v, revs)
	}
	return r, err
}

// ReviewDiffs yields the diff of a commit to look at, file by file: a commit may have brought a
// whole vault. It ends with the first error.
func (h History) ReviewDiffs(ctx context.Context, i ReviewItem) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for f, err := range i.item.Diffs(ctx, h.a.v) {
			if !yield(f.Text, err) {
				return
			}
		}
	}
}

// MarkReviewed notes that the user has looked at some commits of a review; the others stay for later. Of
// those in kept, each of which the user was shown and keeps, orders to a model are the user's from now on. It
// fails with [vault.ErrRefused] where the policy leaves that to the user.
func (h History) MarkReviewed(ctx context.Context, w Write, r *Review, looked, kept []vault.Revision) error {
	if err := h.a.check(w, "review", "commits"); err != nil {
		return err
	}
	var orders []string
	for _, item := range r.found.Items {
		if slices.Contains(kept, item.Rev) {
			lines, err := h.a.v.History().OrdersIn(item.Commit)
			if err != nil {
				return err
			}
			orders = append(orders, lines...)
		}
	}
	if len(orders) > 0 {
		if err := h.a.v.History().Vouch(ctx, orders...); err != nil {
			return err
		}
	}
	return r.found.Accept(ctx, h.a.v, looked)
}
