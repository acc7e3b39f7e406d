package history

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"stet/agent"
	"stet/cmd/stet/cells"
	"stet/cmd/stet/console"
	"stet/vault"
)

func reviewCommand() *console.Command {
	return &console.Command{
		Name: "review", Group: console.History,
		Summary: "review what others changed since your last review; keep or take back each",
		Args:    "", MaxArgs: 0,
		Details: `Lists the commits of agents and of other people, oldest first, with their diffs. On a terminal
			you are asked about each: what you take back is reverted, and agents do not write it again. Elsewhere it
			is only listed. How far you have looked is kept beside the repository and does not travel. What the curator
			writes for itself (reports, counts) is listed with --since alone.

			What an agent would change of another's text waits for you, and so does a lesson that rules are not sure
			of, and with memory.write_approval: stage everything. --proposed shows what waits and why, each with
			the difference it would make now, and on a terminal asks. What you accept is committed with the agent as
			its author and you as approver, and is as --proposed showed it: what came or changed since is shown first.
			What you reject no agent proposes again. Skills from elsewhere (stet skill install) wait there too, by
			their names, and are accepted as they were shown; --accept-all leaves those that the scan calls a
			danger. Rejecting one takes it out.`,
		Examples: `stet review  # go through what is new
			stet review --stat --since 7d  # a week, without diffs
			stet review --accept-all  # mark all as reviewed
			stet review --proposed  # what agents want to write
			stet review --proposed --accept 01jd7q --reject 01jd7r  # answer without a terminal
			stet review --proposed --accept pdf-forms  # a skill from elsewhere: agents may follow it`,
		Flags: console.Flags(
			console.Bool("accept-all",
				"list what is new and mark all of it as reviewed, asked once on a terminal; with --proposed: accept "+
					"what it has shown"),
			console.Bool("proposed", "what waits for you to agree, and why each does"),
			console.List("accept", "with --proposed: write the `PROPOSAL`"),
			console.List("reject", "with --proposed: refuse the `PROPOSAL` for good"),
			console.Bool("reject-all", "with --proposed: refuse everything listed"),
			console.Text("since", "everything since `TIME`, reviewed or not: today, 2026-01-31, 7d"),
			console.Bool("stat", "the changed paths instead of the diffs"),
			console.Bool("patch p", "the diffs of transcripts and reports too, not only a line for each"),
			console.Bool("dry-run", "list only: mark nothing, write nothing and ask nothing"),
		),
		Run: runReview,
	}
}

func runReview(ctx context.Context, e *console.Env, in *console.Input) error {
	if in.Bool("proposed") {
		return runProposed(ctx, e, in)
	}
	for _, name := range []string{"accept", "reject", "reject-all"} {
		if in.IsSet(name) {
			if e.By(in).Agent != "" { // it is refused, in whatever form
				return runProposed(ctx, e, in)
			}
			return agent.Usagef("--%s goes with --proposed", name)
		}
	}
	since, err := e.Time(in.String("since"))
	if err != nil {
		return err
	}
	stat, patch := in.Bool("stat"), in.Bool("patch")
	all := in.Bool("accept-all")
	o := agent.ReviewOptions{Write: e.By(in), Since: since, Diffs: e.JSON && !stat}
	asks := !o.DryRun && e.CanAsk() && e.OutTerminal
	o.AcceptAll = all && !asks
	return e.With(ctx, false, func(a *agent.App) error {
		h := a.History()
		review, err := h.Review(ctx, o)
		if err != nil {
			return err
		}
		if asks && len(review.Items) > 0 {
			r := reviewer{e: e, h: h, w: o.Write, stat: stat, patch: patch}
			if all {
				return r.whole(ctx, review)
			}
			return r.all(ctx, review)
		}
		return e.ShowPaged(ctx, review, func(p *console.Printer) {
			if (p.OutTerminal || all) && !patch {
				listItems(p, review.Items, stat)
				printSummary(p, review, all)
				return
			}
			for _, item := range review.Items {
				printItem(ctx, p, h, item, stat, patch, nil)
			}
			printSummary(p, review, all)
		}, !all)
	})
}

// whole lists the commits, a line each, and asks about all of them once; those and no others are marked.
func (r *reviewer) whole(ctx context.Context, review *agent.Review) error {
	err := r.e.Show(nil, func(p *console.Printer) { listItems(p, review.Items, r.stat) })
	if err != nil {
		return err
	}
	ok, err := r.e.Confirm(fmt.Sprintf("mark all %d as reviewed, as they are listed?", len(review.Items)))
	if err != nil || !ok {
		return err
	}
	for _, item := range review.Items {
		r.decided = append(r.decided, item.Rev)
	}
	if err = r.h.MarkReviewed(ctx, r.w, review, r.decided, nil); err == nil {
		review.Accepted = true
		err = r.e.Show(nil, func(p *console.Printer) { printSummary(p, review, true) })
	}
	return err
}

// listItems lists commits on a terminal, a line each, with what is to be known of each below it. What is kept or taken
// back is shown with its difference first, when the question comes.
func listItems(p *console.Printer, items []agent.ReviewItem, stat bool) {
	rows := make([]cells.Row, 0, len(items))
	for _, i := range items {
		rows = append(rows, cells.Row{Name: i.Rev.Short(), At: i.When, Who: i.Writer(), Text: i.Subject,
			Tail: strings.Trim(stateOf(i), " ()")})
	}
	p.Rows(rows, func(n int) {
		for _, line := range items[n].Lines() {
			p.Folded("    "+console.Line1(line), 6)
		}
		if stat {
			printChanges(p, items[n].Changes)
		}
	})
}

func printSummary(p *console.Printer, r *agent.Review, accept bool) {
	p.Folded(summary(r, accept)+p.Where(), 0)
	if text := waits(r); text != "" {
		p.Folded(text, 0)
	}
}

// stateOf says behind a commit what became of it.
func stateOf(i agent.ReviewItem) string {
	switch {
	case i.Reverted:
		return "  (taken back already)"
	case i.Left:
		return "  (left for later)"
	}
	return ""
}

func summary(r *agent.Review, accept bool) string {
	n := len(r.Items)
	switch {
	case n == 0:
		return "nothing new from others"
	case r.Accepted:
		return fmt.Sprintf("%d marked as reviewed", n)
	case accept:
		return fmt.Sprintf("%d would be marked as reviewed", n)
	}
	return fmt.Sprintf(
		"%d to review; \"stet review\" on a terminal asks about each, --accept-all marks them as reviewed", n)
}

// waits says how many proposals and skills wait, "" for none.
func waits(r *agent.Review) string {
	var what []string
	if r.Proposed > 0 {
		what = append(what, agent.Plural(r.Proposed, "proposal of an agent", "proposals of agents"))
	}
	if r.Skills > 0 {
		what = append(what, agent.Plural(r.Skills, "skill")+" from elsewhere")
	}
	switch {
	case len(what) == 0:
		return ""
	case r.Proposed+r.Skills == 1:
		return what[0] + ` waits for your answer: "stet review --proposed"`
	}
	return strings.Join(what, " and ") + ` wait for your answer: "stet review --proposed"`
}

// printItem prints a commit with its diff, file by file, as far as there is room, or with the paths that it changed.
func printItem(
	ctx context.Context, p *console.Printer, h agent.History, i agent.ReviewItem, stat, patch bool, room *int,
) {
	p.Folded(fmt.Sprintf("%s  %s  %s%s\n", p.Paint(console.Cyan, i.Rev.Short()), console.Day(i.When),
		console.Line1(i.Subject), stateOf(i)), 4)
	printOrigin(p, i.Origin)
	for _, turn := range i.Because {
		p.Folded("    because  "+console.Line1(turn.Ref)+"  "+console.Line1(turn.Text), 6)
	}
	for _, line := range i.Lines() {
		p.Folded("    "+console.Line1(line), 6)
	}
	printed := false
	if !stat {
		for text, err := range h.ReviewDiffs(ctx, i, patch) {
			if err != nil {
				p.Fail(err)
				return
			}
			if p.Head(room, console.Clean(text)); p.Broken() {
				return
			}
			printed = true
		}
		printRest(p, room)
	}
	if printed {
		p.Printf("\n")
	} else {
		printChanges(p, i.Changes)
	}
}

// firstLines is how many lines of what a question is about a terminal has room for.
func firstLines() *int {
	lines := 200
	return &lines
}

// cut reports whether there was not room for all.
func cut(room *int) bool { return room != nil && *room < 0 }

// printRest says how much was left out, and what shows it.
func printRest(p *console.Printer, room *int) {
	if cut(room) {
		p.Printf("    … %s: \"d\" shows all of it, and yes does first\n", agent.Plural(-*room, "more line"))
	}
}

// A reviewer asks the user about commits on a terminal.
type reviewer struct {
	e       *console.Env
	h       agent.History
	w       agent.Write
	stat    bool
	patch   bool
	decided []vault.Revision
	chosen  []vault.Revision // kept one by one
	// already counts commits that a later one took back.
	kept, back, already int
}

// all asks about each commit and marks those that were decided, also after an error or Ctrl-C.
func (r *reviewer) all(ctx context.Context, review *agent.Review) error {
	err := r.ask(ctx, review.Items)
	if len(r.decided) > 0 {
		mark := context.WithoutCancel(ctx)
		err = errors.Join(err, r.h.MarkReviewed(mark, r.w, review, r.decided, r.chosen))
	}
	if err == nil {
		already := ""
		if r.already > 0 {
			already = fmt.Sprintf("%d taken back already, ", r.already)
		}
		r.e.Note("%d kept, %d taken back, %s%d left for later", r.kept, r.back, already,
			len(review.Items)-len(r.decided))
		if text := waits(review); text != "" {
			r.e.Note("%s", text)
		}
	}
	return err
}

func (r *reviewer) ask(ctx context.Context, items []agent.ReviewItem) error {
	keep := false // all that follow, each as it is shown
	for n, item := range items {
		room := firstLines()
		show := func(patch bool) error {
			return r.e.Show(nil, func(p *console.Printer) {
				printItem(ctx, p, r.h, item, r.stat && !patch, patch, room)
			})
		}
		if err := show(r.patch); err != nil {
			return err
		}
		if item.Reverted || keep && !cut(room) {
			r.keep(item)
			continue
		}
		question := fmt.Sprintf("[%d/%d] keep it? [y]es, [n]o: take it back, [l]ater, [d]iff, [a]ll, [q]uit:", n+1,
			len(items))
		answer, err := console.Choose(r.e, false, "ynldaq", question, keepAnswers)
		unseen := func() bool { return cut(room) && (answer == 'y' || answer == 'a') }
		for err == nil && (answer == 'd' || unseen()) {
			patch := r.patch || answer == 'd'
			if room = nil; !patch {
				r.e.Note("not all of it was shown; this is all of it:")
			}
			if err = show(patch); err == nil {
				answer, err = console.Choose(r.e, false, "ynldaq", question, keepAnswers)
			}
		}
		switch answer {
		case 'y':
			r.chosen = append(r.chosen, item.Rev)
			r.keep(item)
		case 'a':
			keep = true
			r.keep(item)
		case 'n':
			err = r.takeBack(ctx, item)
		case 'q':
			return err
		}
		if err != nil {
			return err
		}
	}
	return nil
}

const keepAnswers = "yes keeps it, and it is not shown again; no takes it back in a new commit, and agents do not " +
	"write it again; later leaves it as it is and for the next review; diff shows all of it; all keeps this one " +
	"and shows and keeps those that follow; quit leaves the rest for later"

// keep leaves a commit as it is.
func (r *reviewer) keep(i agent.ReviewItem) {
	r.decided = append(r.decided, i.Rev)
	if i.Reverted {
		r.already++
	} else {
		r.kept++
	}
}

// takeBack reverts a commit. One that cannot be reverted is left for later, with the reason: the
// others do not wait for it.
func (r *reviewer) takeBack(ctx context.Context, i agent.ReviewItem) error {
	res, err := r.h.Revert(ctx, agent.RevertOptions{Write: r.w, Revs: []string{string(i.Rev)}, Reject: true})
	if errors.Is(err, vault.ErrConflict) || errors.Is(err, vault.ErrRefused) {
		r.e.Warn("left for later: %v", err)
		return nil
	}
	if err != nil {
		return err
	}
	r.e.Adopted(res.Commits, "reverted", res.DryRun)
	r.decided = append(r.decided, i.Rev)
	if res.Unchanged {
		r.already++
	} else {
		r.back++
	}
	return nil
}
