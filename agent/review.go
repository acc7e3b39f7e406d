package agent

import (
	"context"
	"iter"
	"strings"
	"time"

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
	Reverted bool           `json:"reverted"` // a later commit took it back
	Left     bool           `json:"left"`     // left for later in an earlier review
	Diff     string         `json:"diff,omitempty"`
	item     lineage.Item
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
			item: item,
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

// MarkReviewed notes that the user has looked at some commits of a review; the others stay for
// later. It fails with [vault.ErrRefused] where the policy leaves that to the user.
func (h History) MarkReviewed(ctx context.Context, w Write, r *Review, looked []vault.Revision) error {
	if err := h.a.check(w, "review", "commits"); err != nil {
		return err
	}
	return r.found.Accept(ctx, h.a.v, looked)
}
