package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"stet/agent/approval"
	"stet/agent/cite"
	"stet/markdown"
	"stet/vault"
	"stet/vault/lineage"
	"stet/vault/links"
	"stet/vault/tombstone"
)

// ReviewOptions selects commits of agents and other people.
type ReviewOptions struct {
	Write
	Since time.Time // all since then; zero is those that the user has not reviewed, but bookkeeping
	Diffs bool      // fill the diffs of the result
	// AcceptAll marks all as reviewed, unless DryRun, when each can be read.
	AcceptAll bool
}

// A Review is commits to look at, oldest first.
type Review struct {
	Upto     vault.Revision `json:"upto"` // HEAD when they were listed
	Items    []ReviewItem   `json:"items"`
	Proposed int            `json:"proposed,omitempty"` // writes of agents that wait, which [History.Proposals] lists
	Skills   int            `json:"skills,omitempty"`   // from elsewhere that wait, which [Skills.Waiting] lists
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
	Remarks
	Diff string `json:"diff,omitempty"`
	item lineage.Item
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
		id, turns := vault.SourceTurns(ref)
		n := slices.Max(append(turns, 0))
		page, err := h.a.Sessions().Show(ctx, SessionPart{Ref: id, From: n, To: n, Budget: budget, At: c.When})
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
	tellEdited(ctx, h.a)
	r := &Review{
		Upto: found.Upto, Items: []ReviewItem{}, Accepted: o.AcceptAll && !o.DryRun, DryRun: o.DryRun, found: found,
	}
	waiting, _, err := approval.List(ctx, h.a.v)
	if err != nil {
		return nil, err
	}
	r.Proposed = len(waiting)
	if r.Skills, err = h.a.Skills().waiting(ctx); err != nil {
		return nil, err
	}
	remark, err := h.remarker(ctx)
	if err != nil {
		return nil, err
	}
	var revs []vault.Revision
	origin := h.a.origins()
	for _, item := range found.Items {
		view := ReviewItem{
			Origin: origin(item.Commit), Changes: []vault.Change{}, Reverted: item.Reverted, Left: item.Left,
			Because: h.cited(ctx, item.Commit), item: item,
		}
		for _, c := range item.Changes {
			if !vault.IsTombstone(c.Path) {
				view.Changes = append(view.Changes, c)
			}
		}
		if err := remark.commit(item.Commit, &view.Remarks); err != nil {
			return nil, err
		}
		if o.Diffs || r.Accepted {
			var b strings.Builder
			for text, err := range h.ReviewDiffs(ctx, view, true) {
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

// tellEdited says to the user that files changed which are in no commit, and so in no review.
func tellEdited(ctx context.Context, a *App) {
	if a.o.Agent != "" {
		return
	}
	if st, err := a.v.Status(ctx); err == nil && len(st.Changed) > 0 {
		a.note(`%s changed by hand and in no commit yet, which a review does not show; "stet status" lists them`,
			Plural(len(st.Changed), "file"))
	}
}

// ReviewDiffs yields the diff of a commit to look at, file by file: a commit may have brought a
// whole vault. Unless whole is set, it is a line for a transcript, with title and length, and one for a report of the
// curator. It ends with the first error.
func (h History) ReviewDiffs(ctx context.Context, i ReviewItem, whole bool) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for f, err := range i.item.Diffs(ctx, h.a.v) {
			if !whole && err == nil && vault.ClassOf(f.Path) == vault.ClassReport {
				f.Text = ""
				if run := path.Base(f.Path.Dir()); vault.IsReport(f.Path) && f.New != "" {
					f.Text = fmt.Sprintf("    report  \"stet curate report %s --diff\" shows it\n", run)
				}
			}
			if !whole && err == nil && f.New != "" && vault.ClassOf(f.Path) == vault.ClassSession {
				if data, rerr := h.a.v.History().Ancestry().Read(f.New); rerr == nil {
					t := markdown.ParseTranscript(data)
					title, said := strings.Join(strings.Fields(t.Title), " "), Plural(len(t.Messages), "message")
					f.Text = fmt.Sprintf("    transcript  %s: %s (%s)\n", f.Path, title, said)
				}
			}
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

// Remarks are what the user should know before they keep what somebody else wrote, or let it be written.
type Remarks struct {
	Flags    []string `json:"flags,omitempty"`    // what the guard says of it
	Rejected []string `json:"rejected,omitempty"` // earlier rejections of what it says
	Lifts    []string `json:"lifts,omitempty"`    // rejections that it takes away: agents may write that again
	// Takes are links of other files that lead to what it wrote, and else to To.
	Takes []Link `json:"takes,omitempty"`
}

// A remarker knows what has to be read once to make remarks.
type remarker struct {
	h        History
	past     *vault.Ancestry
	rejected func(until time.Time, before, after []byte) []tombstone.Stone
	graph    func() (*links.Graph, error)
}

func (h History) remarker(ctx context.Context) (*remarker, error) {
	rejected, err := h.a.v.History().Rejections()
	graph := sync.OnceValues(func() (*links.Graph, error) { return links.Load(ctx, h.a.v) })
	return &remarker{h, h.a.v.History().Ancestry(), rejected, graph}, err
}

// commit remarks on a commit, whose changes are known.
func (r *remarker) commit(c vault.Commit, out *Remarks) error {
	for _, rule := range c.Trailers.All("Stet-Flag") {
		out.Flags = append(out.Flags, "flagged "+rule)
	}
	for _, ch := range c.Changes {
		before, err := r.past.Read(ch.Old)
		after, err2 := r.past.Read(ch.New)
		if err = errors.Join(err, err2); errors.Is(err, vault.ErrRefused) {
			continue
		}
		if err != nil {
			return err
		}
		if vault.IsTombstone(ch.Path) {
			for _, s := range tombstone.Missing(before, after) {
				out.Lifts = append(out.Lifts, s.String())
			}
			continue
		}
		if ch.Status == vault.Renamed {
			before = nil
		}
		if ch.New != "" && r.h.a.exists(ch.Path) {
			err = r.links(ch.Path, before, after, out)
		}
		if err = errors.Join(err, r.text(c.When, ch.Path, before, after, out)); err != nil {
			return err
		}
	}
	out.unique()
	return nil
}

// text remarks on what a change adds to a file, when it was made.
func (r *remarker) text(when time.Time, p vault.Path, before, after []byte, out *Remarks) error {
	if class := vault.ClassOf(p); !p.IsMarkdown() || class == vault.ClassSession || class == vault.ClassConfig {
		return nil
	}
	added := []byte(tombstone.Added(before, after))
	for _, rule := range r.h.a.orders(added) {
		out.Flags = append(out.Flags, "flagged "+rule)
	}
	for _, f := range r.h.a.v.Secrets(p, added) {
		out.Flags = append(out.Flags, "flagged "+f.Rule)
	}
	for _, s := range r.rejected(when, before, after) {
		out.Rejected = append(out.Rejected, s.String())
	}
	return nil
}

// links remarks on the links that a change of a file turns to it.
func (r *remarker) links(p vault.Path, before, after []byte, out *Remarks) error {
	if !p.IsMarkdown() {
		return nil
	}
	g, err := r.graph()
	if err != nil {
		return err
	}
	taken, err := g.Takes(p, before, after)
	for _, e := range taken {
		out.Takes = append(out.Takes, viewLink(e))
	}
	return err
}

// unique takes out what is said twice.
func (r *Remarks) unique() {
	for _, said := range []*[]string{&r.Flags, &r.Rejected, &r.Lifts} {
		slices.Sort(*said)
		*said = slices.Compact(*said)
	}
	r.Rejected = slices.DeleteFunc(r.Rejected, func(s string) bool { return slices.Contains(r.Lifts, s) })
}

// Lines are the remarks for a person, a line each.
func (r Remarks) Lines() []string {
	out := slices.Clone(r.Flags)
	for _, s := range r.Rejected {
		out = append(out, "was rejected before: "+s)
	}
	for _, s := range r.Lifts {
		out = append(out, "was rejected before: "+s+"; keeping it lets agents write it again")
	}
	for _, l := range r.Takes {
		out = append(out, fmt.Sprintf("takes over the link %q in %s:%d, which leads to %s without it", l.Target,
			l.From, l.Line, l.To))
	}
	return out
}

// remark remarks on what a proposal would write.
func (h History) remark(ctx context.Context, p *Proposal) error {
	r, err := h.remarker(ctx)
	if err != nil {
		return err
	}
	for i, f := range p.waiting.Proposal.Files {
		to, after := vault.Path(f.Path), p.waiting.Data(i)
		before, err := r.past.Read(vault.Hash(f.Was))
		if f.From != "" {
			before = nil
		}
		if err != nil || f.Gone || vault.IsTombstone(to) {
			continue // what stood there is in no history, or nothing is added
		}
		err = errors.Join(r.text(h.a.o.Now(), to, before, after, &p.Remarks), r.links(to, before, after, &p.Remarks))
		if err != nil {
			return err
		}
	}
	p.unique()
	return nil
}
