package history

import (
	"context"
	"strconv"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
)

func revertCommand() *console.Command {
	return &console.Command{
		Name: "revert", Group: console.History,
		Summary: "take back commits, keeping what changed since",
		Args:    "[REV...]", MaxArgs: -1,
		Details: "Every file is merged three ways: what the commit did goes, newer edits stay. On a\n" +
			"terminal the diff is shown and you are asked first; elsewhere --dry-run shows it.\n" +
			"What cannot be decided is left alone as a whole (exit 3).",
		Examples: []console.Example{
			{Line: "stet revert 3f2a9c1", Says: "one commit"},
			{Line: "stet revert 3f2a9c1 --dry-run", Says: "only the diff"},
			{Line: "stet revert --session 01jd7q8r5t9v3x6y2z4a7c0e1f --yes", Says: "all one session wrote"},
		},
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "session", Usage: "everything the session `ID` wrote"},
			&cli.StringFlag{Name: "run", Usage: "everything the curator run `ID` wrote"},
			&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask"},
			&cli.StringFlag{Name: "as", Usage: "the agent `NAME` is acting, not a person (also: STET_AGENT)"},
			&cli.StringFlag{Name: "message", Aliases: []string{"m"}, Usage: "the commit's subject, a line of `TEXT`"},
			&cli.BoolFlag{Name: "dry-run", Usage: "show the diff and write nothing"},
			console.AgainFlag(),
		},
		Run: runRevert,
	}
}

func runRevert(ctx context.Context, e *console.Env, in *console.Input) error {
	o := agent.RevertOptions{Write: e.By(in), Revs: in.Words, OfSession: in.String("session"), OfRun: in.String("run")}
	return e.With(ctx, false, func(a *agent.App) error {
		ask := !o.DryRun && !in.Bool("yes") && e.CanAsk()
		if ask {
			if yes, err := confirmRevert(ctx, e, a, o); err != nil || !yes {
				return err
			}
		}
		res, err := a.History().Revert(ctx, o)
		if err != nil {
			return err
		}
		return e.Print(res, console.More{Verb: "reverted", Diff: !ask})
	})
}

// confirmRevert shows what a revert would change, if anything, and asks.
func confirmRevert(ctx context.Context, e *console.Env, a *agent.App, o agent.RevertOptions) (bool, error) {
	o.DryRun = true
	res, err := a.History().Revert(ctx, o)
	if err != nil || res.Unchanged {
		return err == nil, err
	}
	if err := e.PrintDiff(e.Out, res.Diff); err != nil {
		return false, err
	}
	yes, err := e.Confirm("Revert this?")
	if err == nil && !yes {
		e.Note("nothing was changed")
	}
	return yes, err
}

func undoCommand() *console.Command {
	return &console.Command{
		Name: "undo", Group: console.History,
		Summary: "take back the newest operation, or the newest N",
		Args:    "[N]", MaxArgs: 1,
		Details: "A new commit takes back what the old one did and says so; edits made since stay.\n" +
			"Adopted edits, settings and sealed conversations are skipped: \"stet revert REV\" takes\n" +
			"them back. \"stet redo\" takes the undo back.",
		Examples: []console.Example{
			{Line: "stet undo", Says: "the newest"},
			{Line: "stet undo 3 --dry-run", Says: "see what taking back three would change"},
		},
		Flags: append(console.WriteFlags(), console.AgainFlag()),
		Run: func(ctx context.Context, e *console.Env, in *console.Input) error {
			return runStep(ctx, e, in, "undone", agent.History.Undo)
		},
	}
}

func redoCommand() *console.Command {
	return &console.Command{
		Name: "redo", Group: console.History,
		Summary: "take back the newest undo, or the newest N",
		Args:    "[N]", MaxArgs: 1,
		Examples: []console.Example{
			{Line: "stet redo", Says: "the bytes are those from before the undo"},
		},
		Flags: append(console.WriteFlags(), console.AgainFlag()),
		Run: func(ctx context.Context, e *console.Env, in *console.Input) error {
			return runStep(ctx, e, in, "redone", agent.History.Redo)
		},
	}
}

func runStep(ctx context.Context, e *console.Env, in *console.Input, verb string,
	do func(agent.History, context.Context, int, agent.Write) (*agent.Written, error)) error {
	n := 1
	if len(in.Words) == 1 {
		var err error
		if n, err = strconv.Atoi(in.Words[0]); err != nil || n < 1 {
			return agent.Usagef("%q is not a number of operations", in.Words[0])
		}
	}
	return e.With(ctx, false, func(a *agent.App) error {
		res, err := do(a.History(), ctx, n, e.ByInSession(in))
		if err != nil {
			return err
		}
		return e.Print(res, console.More{Verb: verb, Diff: true})
	})
}
