package upkeep

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
)

func reindexCommand() *console.Command {
	return &console.Command{
		Name: "reindex", Group: console.Upkeep,
		Summary: "build the search index anew from the files",
		Details: "Hardly ever needed: every search first catches up with the files, and a damaged index\n" +
			"rebuilds itself. Notes are not touched. With --watch stet then follows the files until\n" +
			"Ctrl-C, as \"stet watch --no-commit\" does; under --json the first line is the answer of\n" +
			"the rebuild, every other one an event.",
		Examples: []console.Example{
			{Line: "stet reindex", Says: "after copying a vault about, for example"},
			{Line: "stet reindex --watch", Says: "and keep it up to date from there on"},
		},
		Flags: []cli.Flag{&cli.BoolFlag{Name: "watch", Aliases: []string{"w"}, Usage: "go on and index what changes; nothing is committed"}},
		Run: func(ctx context.Context, e *console.Env, in *console.Input) error {
			if err := reindex(ctx, e, in); err != nil || !in.Bool("watch") {
				return err
			}
			return follow(ctx, e, in, false)
		},
	}
}

func reindex(ctx context.Context, e *console.Env, in *console.Input) error {
	if e.Getenv("GOGC") == "" {
		// A large build holds much for long, most of it without a pointer: looking
		// through it twice as often is cheap, and it grows half as far beyond.
		debug.SetGCPercent(50)
	}
	return e.With(ctx, true, func(a *agent.App) error {
		res, err := a.Vault().Reindex(ctx, e.By(in))
		if err != nil {
			return err
		}
		return e.Show(res, func(p *console.Printer) {
			rate := float64(res.Total) / max(res.Took, time.Millisecond).Seconds()
			p.Printf("indexed  %d files in %s (%.0f a second)%s\n", res.Total, res.Took.Round(time.Millisecond), rate, p.Where())
		})
	})
}
