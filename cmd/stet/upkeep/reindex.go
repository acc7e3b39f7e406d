package upkeep

import (
	"context"
	"runtime/debug"
	"time"

	"stet/agent"
	"stet/cmd/stet/console"
)

func reindexCommand() *console.Command {
	return &console.Command{
		Name: "reindex", Group: console.Upkeep,
		Summary: "rebuild the search index from the files",
		Details: `Hardly ever needed: every search first catches up with the files, and a damaged index rebuilds
			itself. Notes are not touched. With --watch stet then follows the files until Ctrl-C, as "stet watch
			--no-commit" does; under --json the first line is the answer of the rebuild, every other one an event.`,
		Examples: `stet reindex  # after copying a vault about, for example
			stet reindex --watch  # and keep it up to date from there on`,
		Flags: console.Flags(console.Bool("watch w", "go on and index what changes; nothing is committed")),
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
	return console.Reading(ctx, e,
		func(a *agent.App) (*agent.Reindexed, error) { return a.Vault().Reindex(ctx, e.By(in)) },
		func(p *console.Printer, res *agent.Reindexed) {
			rate := float64(res.Total) / max(res.Took, time.Millisecond).Seconds()
			p.Printf("indexed  %s in %s (%.0f a second)%s\n", agent.Plural(res.Total, "file"),
				res.Took.Round(time.Millisecond), rate, p.Where())
		})
}
