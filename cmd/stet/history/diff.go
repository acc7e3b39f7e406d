package history

import (
	"context"

	"stet/agent"
	"stet/cmd/stet/console"
)

func diffCommand() *console.Command {
	return &console.Command{
		Name: "diff", Group: console.History,
		Summary: "show what differs between two states of the vault",
		Args:    "[REV [REV]] [PATH...]", MaxArgs: -1,
		Details: `Without a revision: HEAD against the files on disk, that is what "stet adopt" would commit.
			With one: that revision against the disk. With two, or REV..REV: one against the other. Everything after
			"--" is a path.`,
		Examples: `stet diff  # edits by hand that are not committed
			stet diff HEAD~3  # everything since three commits ago
			stet diff HEAD~3 HEAD memories/infra  # between two commits, one folder`,
		Flags: console.Flags(
			console.Bool("stat", "only the paths and how many lines changed"),
		),
		Run: runDiff,
	}
}

func runDiff(ctx context.Context, e *console.Env, in *console.Input) error {
	o := agent.DiffOptions{Words: in.Words, Literal: in.Literal, Stat: in.Bool("stat")}
	return console.Reading(ctx, e, func(a *agent.App) (*agent.Diff, error) { return a.History().Diff(ctx, o) },
		func(p *console.Printer, diff *agent.Diff) {
			for _, f := range diff.Files {
				if o.Stat {
					p.Printf("%-8s  +%d -%d  %s\n", f.Status, f.Added, f.Removed, console.Line1(string(f.Path)))
				} else {
					p.Diff(f.Text)
				}
			}
		})
}
