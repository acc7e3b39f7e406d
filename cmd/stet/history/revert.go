package history

import (
	"context"
	"errors"
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
		Run: revert,
	}
}

func revert(ctx context.Context, e *console.Env, in *console.Input) error {
	o := vault.RevertOptions{Revs: in.Words, Session: in.String("session"), Run: in.String("run"), Write: e.Write(in)}
	o.Write.Message = in.String("message")
	if len(o.Revs) == 0 && o.Session == "" && o.Run == "" {
		return agent.Usagef("nothing to revert").Suggest(`name a commit ("stet log" shows them), --session or --run; "stet undo" takes back the newest`)
	}
	v, _, err := e.Writer(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	shown := false
	if !o.Write.DryRun && !in.Bool("yes") && e.CanAsk() {
		if shown, err = preview(ctx, e, v, o); err != nil {
			return err
		}
		if !shown {
			return nil
		}
	}
	res, err := v.Revert(ctx, o)
	if err != nil {
		return err
	}
	return e.Wrote(ctx, v, res, "reverted", !shown)
}

// preview shows what the revert would do and asks; false is "do not do it".
func preview(ctx context.Context, e *console.Env, v *vault.Vault, o vault.RevertOptions) (bool, error) {
	o.Write.DryRun = true
	res, err := v.Revert(ctx, o)
	if err != nil {
		return false, err
	}
	if res.Unchanged {
		return true, nil
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
			"What was edited by hand and adopted is passed over: \"stet revert\" takes it back by\n" +
			"name. \"stet redo\" takes the undo back.",
		Examples: []console.Example{
			{Line: "stet undo", Says: "the newest"},
			{Line: "stet undo 3 --dry-run", Says: "see what taking back three would change"},
		},
		Flags: append(console.WriteFlags(), console.AgainFlag()),
		Run: func(ctx context.Context, e *console.Env, in *console.Input) error {
			return step(ctx, e, in, "undone", (*vault.Vault).Undo)
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
			return step(ctx, e, in, "redone", (*vault.Vault).Redo)
		},
	}
}

func step(ctx context.Context, e *console.Env, in *console.Input, verb string,
	do func(*vault.Vault, context.Context, int, vault.Write) (*vault.Result, error)) error {
	n := 1
	if len(in.Words) == 1 {
		var err error
		if n, err = strconv.Atoi(in.Words[0]); err != nil || n < 1 {
			return agent.Usagef("%q is not a number of operations", in.Words[0])
		}
	}
	v, _, err := e.Writer(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	w := e.WriteInSession(in)
	res, err := do(v, ctx, n, w)
	if errors.Is(err, vault.ErrNothingToUndo) {
		e.Note("%v", err)
		head, err := v.Head()
		if err != nil {
			return err
		}
		return e.Wrote(ctx, v, &vault.Result{Root: v.Root(), Base: head, Unchanged: true, DryRun: w.DryRun}, verb, false)
	}
	if err != nil {
		return err
	}
	return e.Wrote(ctx, v, res, verb, true)
}
