package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/vault"
	"stet/vault/lineage"
)

func reviewCommand() *console.Command {
	return &console.Command{
		Name: "review", Group: console.History,
		Summary: "look at what others changed since you last looked; keep or take back each",
		Args:    "", MaxArgs: 0,
		Details: "Lists the commits of agents and of other people, oldest first, with their diffs. On a\n" +
			"terminal you are asked about each: what you take back is reverted, and agents do not\n" +
			"write it again. Elsewhere it is only listed. How far you have looked is kept beside\n" +
			"the repository and does not travel.\n\n" +
			"With memory.write_approval: stage nothing that agents write is done before you agree:\n" +
			"--proposed shows what waits, each with the difference it would make now, and on a\n" +
			"terminal asks. What you accept is committed with the agent as its author and you as\n" +
			"approver; what you reject no agent proposes again.",
		Examples: []console.Example{
			{Line: "stet review", Says: "go through what is new"},
			{Line: "stet review --stat --since 7d", Says: "a week, without diffs"},
			{Line: "stet review --accept-all", Says: "take it all as looked at"},
			{Line: "stet review --proposed", Says: "what agents want to write"},
			{Line: "stet review --proposed --accept 01jd7q --reject 01jd7r", Says: "answer without a terminal"},
		},
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "accept-all", Usage: "mark everything listed as looked at, and ask nothing; with --proposed: accept it"},
			&cli.BoolFlag{Name: "proposed", Usage: "what waits for you because of memory.write_approval"},
			&cli.StringSliceFlag{Name: "accept", Usage: "with --proposed: write the `PROPOSAL`"},
			&cli.StringSliceFlag{Name: "reject", Usage: "with --proposed: refuse the `PROPOSAL` for good"},
			&cli.BoolFlag{Name: "reject-all", Usage: "with --proposed: refuse everything listed"},
			&cli.StringFlag{Name: "since", Usage: "everything since `TIME`, looked at or not: 2026-01-31, or 7d, 12h ago"},
			&cli.BoolFlag{Name: "stat", Usage: "the changed paths instead of the diffs"},
			&cli.BoolFlag{Name: "dry-run", Usage: "list only: mark nothing, write nothing and ask nothing"},
		},
		Run: runReview,
	}
}

// A reviewAnswer is what review prints under --json.
type reviewAnswer struct {
	Upto     vault.Revision   `json:"upto"`
	Items    []reviewItemView `json:"items"`
	Accepted bool             `json:"accepted"`
	DryRun   bool             `json:"dry_run,omitempty"`
}

type reviewItemView struct {
	originView
	Changes  []vault.Change `json:"changes"`
	Reverted bool           `json:"reverted"`
	Left     bool           `json:"left"`
	Diff     string         `json:"diff,omitempty"`
}

func runReview(ctx context.Context, e *console.Env, in *console.Input) error {
	if in.Bool("proposed") {
		return runProposed(ctx, e, in)
	}
	for _, name := range []string{"accept", "reject", "reject-all"} {
		if in.IsSet(name) {
			return agent.Usagef("--%s goes with --proposed", name)
		}
	}
	since, err := e.Time(in.String("since"))
	if err != nil {
		return err
	}
	all, dry := in.Bool("accept-all"), in.Bool("dry-run")
	if all {
		if err := e.Check(e.By(in), "review", "commits"); err != nil {
			return err
		}
	}
	v, _, err := e.Writer(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	review, err := lineage.Pending(ctx, v, since)
	if err != nil {
		return err
	}
	if !all && !dry && e.CanAsk() && e.OutTerminal && len(review.Items) > 0 {
		return goThrough(ctx, e, v, review, in.Bool("stat"))
	}
	answer := reviewAnswer{Upto: review.Upto, Items: []reviewItemView{}, Accepted: all && !dry, DryRun: dry}
	for _, item := range review.Items {
		view := viewItem(item)
		// A text is printed as it is read; nothing is taken as looked at that cannot
		// be.
		if !in.Bool("stat") && (e.JSON || answer.Accepted) {
			if view.Diff, err = wholeDiff(ctx, v, item, e.JSON); err != nil {
				return err
			}
		}
		answer.Items = append(answer.Items, view)
	}
	if answer.Accepted {
		if err := review.Accept(ctx, v, revsOf(review.Items)); err != nil {
			return err
		}
	}
	return e.PagedAnswer(ctx, answer, func(w io.Writer) error {
		for i, item := range review.Items {
			if err := printItem(ctx, w, e, v, item, answer.Items[i], in.Bool("stat")); err != nil {
				return err
			}
		}
		return printVerdict(w, e, answer, all)
	})
}

func viewItem(item lineage.Item) reviewItemView {
	view := reviewItemView{originView: viewOrigin(item.Commit), Changes: []vault.Change{}, Reverted: item.Reverted, Left: item.Left}
	for _, c := range item.Changes {
		if !vault.IsTombstone(c.Path) {
			view.Changes = append(view.Changes, c)
		}
	}
	return view
}

// wholeDiff reads the diff of a commit, and keeps it when it is asked for.
func wholeDiff(ctx context.Context, v *vault.Vault, item lineage.Item, keep bool) (string, error) {
	var b strings.Builder
	for f, err := range item.Diffs(ctx, v) {
		if err != nil {
			return "", err
		}
		if keep {
			b.WriteString(f.Text)
		}
	}
	return b.String(), nil
}

func revsOf(items []lineage.Item) []vault.Revision {
	var out []vault.Revision
	for _, i := range items {
		out = append(out, i.Rev)
	}
	return out
}

func printVerdict(w io.Writer, e *console.Env, answer reviewAnswer, all bool) error {
	n := len(answer.Items)
	text := fmt.Sprintf("%d to look at; \"stet review\" on a terminal asks about each, --accept-all marks them as looked at", n)
	switch {
	case n == 0:
		text = "nothing new from others"
	case answer.Accepted:
		text = fmt.Sprintf("%d marked as looked at", n)
	case all:
		text = fmt.Sprintf("%d would be marked as looked at", n)
	}
	_, err := fmt.Fprintln(w, text+e.Where())
	return err
}

// printItem prints a commit with its diff, one file after the other, or with what
// it changed.
func printItem(ctx context.Context, w io.Writer, e *console.Env, v *vault.Vault, item lineage.Item, view reviewItemView, stat bool) error {
	note := ""
	switch {
	case view.Reverted:
		note = "  (taken back already)"
	case view.Left:
		note = "  (left for later)"
	}
	_, err := fmt.Fprintf(w, "%s  %s  %s%s\n    %s\n", e.Paint(console.Cyan, view.Rev.Short()), console.Day(view.at), console.Line1(view.Subject), note,
		strings.Join(append([]string{view.who()}, view.reasons()...), "; "))
	if err != nil {
		return err
	}
	if !stat {
		printed := false
		for f, err := range item.Diffs(ctx, v) {
			if err == nil {
				err = e.PrintDiff(w, f.Text)
			}
			if err != nil {
				return err
			}
			printed = true
		}
		if printed {
			_, err := io.WriteString(w, "\n")
			return err
		}
	}
	for _, c := range view.Changes {
		path := console.Line1(string(c.Path))
		if c.From != "" {
			path = console.Line1(string(c.From)) + " -> " + path
		}
		if _, err := fmt.Fprintf(w, "    %-8s  %s\n", c.Status, path); err != nil {
			return err
		}
	}
	return nil
}

// goThrough asks about each commit and marks those that were decided, whatever
// ends it.
func goThrough(ctx context.Context, e *console.Env, v *vault.Vault, review lineage.Review, stat bool) error {
	r := reviewer{e: e, v: v}
	err := r.run(ctx, review.Items, stat)
	if len(r.decided) > 0 {
		// Even after Ctrl-C: the answers were given.
		err = errors.Join(err, review.Accept(context.WithoutCancel(ctx), v, r.decided))
	}
	if err == nil {
		already := ""
		if r.already > 0 {
			already = fmt.Sprintf("%d taken back already, ", r.already)
		}
		e.Note("%d kept, %d taken back, %s%d left for later", r.kept, r.back, already, len(review.Items)-len(r.decided))
	}
	return err
}

type reviewer struct {
	e       *console.Env
	v       *vault.Vault
	decided []vault.Revision
	// already counts what was not there any more when its turn came.
	kept, back, already int
}

func (r *reviewer) run(ctx context.Context, items []lineage.Item, stat bool) error {
	for n, item := range items {
		if err := printItem(ctx, r.e.Out, r.e, r.v, item, viewItem(item), stat); err != nil {
			return err
		}
		if item.Reverted {
			r.keep(item)
			continue
		}
		rest, err := r.decide(ctx, item, fmt.Sprintf("[%d/%d] keep it? [y]es, [n]o: take it back, [l]ater, [a]ll from here on, [q]uit:", n+1, len(items)))
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if rest {
			for _, i := range items[n:] {
				r.keep(i)
			}
			return nil
		}
	}
	return nil
}

// decide asks until there is an answer. rest is true when all that follows is
// to be kept; io.EOF ends the review.
func (r *reviewer) decide(ctx context.Context, item lineage.Item, question string) (rest bool, err error) {
	for {
		answer, err := r.e.Ask(question)
		if err != nil {
			return false, err
		}
		switch strings.ToLower(answer) {
		case "y", "yes":
			r.keep(item)
			return false, nil
		case "n", "no":
			return false, r.takeBack(ctx, item)
		case "l", "later":
			return false, nil
		case "a", "all":
			return true, nil
		case "q", "quit":
			return false, io.EOF
		}
	}
}

// keep leaves things as they are.
func (r *reviewer) keep(item lineage.Item) {
	r.decided = append(r.decided, item.Rev)
	if item.Reverted {
		r.already++
		return
	}
	r.kept++
}

// takeBack reverts a commit. One that cannot be is left for later, with the
// reason: the others do not wait for it.
func (r *reviewer) takeBack(ctx context.Context, item lineage.Item) error {
	w := vault.Write{Actor: vault.ActorUser, Door: console.Door}
	res, err := r.v.Revert(ctx, vault.RevertOptions{Revs: []string{string(item.Rev)}, Reject: true, Write: w})
	if errors.Is(err, vault.ErrConflict) || errors.Is(err, vault.ErrRefused) {
		r.e.Warn("left for later: %v", err)
		return nil
	}
	if err != nil {
		return err
	}
	r.e.AfterWrite(ctx, r.v, res, "reverted")
	r.decided = append(r.decided, item.Rev)
	if res.Unchanged {
		r.already++
		return nil
	}
	r.back++
	return nil
}
