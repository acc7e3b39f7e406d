package history

import (
	"context"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
)

func diffCommand() *console.Command {
	return &console.Command{
		Name: "diff", Group: console.History,
		Summary: "show what differs between two states of the vault",
		Args:    "[REV [REV]] [PATH...]", MaxArgs: -1,
		Details: "Without a revision: HEAD against the files on disk, that is what \"stet adopt\" would\n" +
			"commit. With one: that revision against the disk. With two, or REV..REV: one against\n" +
			"the other. Everything after \"--\" is a path.",
		Examples: []console.Example{
			{Line: "stet diff", Says: "edits by hand that are not committed"},
			{Line: "stet diff HEAD~3", Says: "everything since three commits ago"},
			{Line: "stet diff HEAD~3 HEAD memories/infra", Says: "between two commits, one folder"},
		},
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "stat", Usage: "only the paths and how many lines changed"},
		},
		Run: runDiff,
	}
}

func runDiff(ctx context.Context, e *console.Env, in *console.Input) error {
	o := agent.DiffOptions{Words: in.Words, Literal: in.Literal, Stat: in.Bool("stat")}
	return e.With(ctx, true, func(a *agent.App) error {
		diff, err := a.History().Diff(ctx, o)
		if err != nil {
			return err
		}
		return e.ShowPaged(ctx, diff, func(p *console.Printer) {
			for _, f := range diff.Files {
				if o.Stat {
					p.Printf("%-8s  +%d -%d  %s\n", f.Status, f.Added, f.Removed, console.Line1(string(f.Path)))
				} else {
					p.Diff(f.Text)
				}
			}
		})
	})
}
