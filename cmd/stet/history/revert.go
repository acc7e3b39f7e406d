package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/vault"
)

func revertCommand() *console.Command {
	return &console.Command{
		Name: "revert", Group: console.History,
		Summary: "take back commits, keeping what changed since",
		Args:    "[REV...]", MaxArgs: -1,
		Details: `Every file is merged three ways: what the commit did goes, newer edits stay. On a terminal the
			diff is shown and you are asked first; elsewhere --dry-run shows it. What cannot be decided is left alone
			as a whole (exit 3); with --run the other commits of the run go back, and a warning names those that stay.`,
		Examples: `stet revert 3f2a9c1  # one commit
			stet revert 3f2a9c1 --dry-run  # only the diff
			stet revert --session 01jd7q8r5t9v3x6y2z4a7c0e1f --yes  # all one session wrote`,
		Flags: console.Flags(
			console.Text("session", "everything the session `ID` wrote"),
			console.Text("run", "everything the curator run `ID` wrote"),
			console.Bool("yes y", "do not ask"),
			console.AgentFlag(),
			console.MessageFlag(),
			console.DryRunFlag(),
			console.BecauseFlag(),
			console.AgainFlag(),
		),
		Run: runRevert,
	}
}

func runRevert(ctx context.Context, e *console.Env, in *console.Input) error {
	o := agent.RevertOptions{Write: e.By(in), Revs: in.Words, OfSession: in.String("session"), OfRun: in.String("run")}
	if !o.DryRun && !in.Bool("yes") && e.CanAsk() {
		o.Confirm = e.ConfirmDiff(ctx, "Revert this?")
	}
	return e.Writing(ctx, console.More{Verb: "reverted", Diff: o.Confirm == nil},
		func(a *agent.App) (*agent.Written, error) {
			return a.History().Revert(ctx, o)
		})
}

func undoCommand() *console.Command {
	return &console.Command{
		Name: "undo", Group: console.History,
		Summary: "take back the newest operation, or the newest N",
		Args:    "[N]", MaxArgs: 1,
		Details: `A new commit takes back what the old one did; edits made since stay. It names what it takes back,
			one line a file; -p shows the difference. Settings and
			sealed conversations are skipped, and named: "stet revert REV" takes them back. Where an edit by hand
			that was adopted is newer, you are asked which of the two is meant; without a terminal that is exit 3,
			and --yes skips the edit. "stet redo" takes the undo back.`,
		Examples: `stet undo  # the newest
			stet undo 3 --dry-run -p  # see what taking back three would change`,
		Flags: console.WriteFlags(console.AgainFlag(), console.Number("number n", "as the argument `N`", 1),
			patchFlag(), console.Bool("yes y", "do not ask: skip edits by hand")),
		Run: func(ctx context.Context, e *console.Env, in *console.Input) error {
			return runStep(ctx, e, in, "undone", func(h agent.History, n int, w agent.Write) (*agent.Written, error) {
				return undo(ctx, e, h, n, in.Bool("yes"), w)
			})
		},
	}
}

func redoCommand() *console.Command {
	return &console.Command{
		Name: "redo", Group: console.History,
		Summary: "bring back what the newest undo took, or the newest N operations that were undone",
		Args:    "[N]", MaxArgs: 1,
		Details:  `It names what it brings back, one line a file; -p shows the difference.`,
		Examples: `stet redo  # the bytes are those from before the undo`,
		Flags: console.WriteFlags(console.AgainFlag(), console.Number("number n", "as the argument `N`", 1),
			patchFlag()),
		Run: func(ctx context.Context, e *console.Env, in *console.Input) error {
			return runStep(ctx, e, in, "redone", func(h agent.History, n int, w agent.Write) (*agent.Written, error) {
				return h.Redo(ctx, n, w)
			})
		},
	}
}

func runStep(ctx context.Context, e *console.Env, in *console.Input, verb string,
	do func(agent.History, int, agent.Write) (*agent.Written, error)) error {
	if in.IsSet("number") && in.Word(0) != "" {
		return agent.Usagef("-n and %q both say how many operations", in.Word(0))
	}
	n, err := strconv.Atoi(cmp.Or(in.Word(0), strconv.Itoa(in.Int("number"))))
	if err != nil || n < 1 {
		return agent.Usagef("%q is not a number of operations", in.Word(0))
	}
	return e.With(ctx, false, func(a *agent.App) error {
		res, err := do(a.History(), n, e.ByInSession(in))
		if err != nil {
			return err
		}
		lines := func(p *console.Printer, verb string) { printStep(p, verb, res) }
		patch := in.Bool("patch")
		return e.Print(ctx, res, console.More{Verb: verb, Diff: patch, NoDiff: !patch, Lines: lines})
	})
}

func patchFlag() cli.Flag { return console.Bool("patch p", "with the difference") }

// printStep names the operations that were taken or brought back, and then the files.
func printStep(p *console.Printer, verb string, res *agent.Written) {
	for _, subject := range res.Back {
		p.Printf("%s  %s%s\n", verb, console.Line1(subject), p.Where())
	}
	lead := ""
	if len(res.Back) == 0 { // what was taken back is an edit by hand
		lead = verb
	}
	for _, c := range res.Changes {
		if !vault.IsTombstone(c.Path) {
			p.Printf("%s  %s (%s)\n", lead, console.Paths(c), c.Status)
		}
	}
}

// undo asks at a terminal what is meant where an edit by hand is newer than what undo takes back.
func undo(ctx context.Context, e *console.Env, h agent.History, n int, skip bool, w agent.Write) (
	*agent.Written, error) {
	res, err := h.Undo(ctx, n, skip, w)
	since := (*agent.EditedSinceError)(nil)
	if !errors.As(err, &since) || !e.CanAsk() {
		return res, err
	}
	answer, err := console.Choose(e, true, "12q", fmt.Sprintf(
		"Which is to be taken back?\n  [1] %s  %s (your own edit; removes files that it added)\n  [2] %s  %s\n[q]uit:",
		console.Day(since.Edit.When), console.Line1(since.Edit.Subject),
		console.Day(since.Older.When), console.Line1(since.Older.Subject)),
		"1 takes back your own edit, and removes files that it added; 2 leaves it, and takes back the older "+
			"operation; quit changes nothing")
	switch {
	case err != nil:
		return nil, err
	case answer == '1':
		return h.Revert(ctx, agent.RevertOptions{Write: w, Revs: []string{string(since.Edit.Rev)}})
	case answer == '2':
		return h.Undo(ctx, n, true, w)
	}
	return nil, agent.ErrDeclined
}
