package memory

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
)

func pinCommands() []*console.Command {
	flags := func() []cli.Flag {
		return slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "message", Aliases: []string{"m"}, Usage: "the commit's subject, a line of `TEXT`"},
		}, console.WriteFlags())
	}
	return []*console.Command{
		{
			Name: "pin", Group: console.Memory,
			Summary: "mark memories as always relevant",
			Args:    "MEMORY...", MinArgs: 1, MaxArgs: -1,
			Details: "Sets \"pinned: true\" in the front matter and changes no other byte.",
			Examples: []console.Example{
				{Line: "stet pin gate-code", Says: "one"},
				{Line: "stet pin gate-code && stet list --pinned", Says: "and see all that are"},
				{Line: "stet pin gate-code 01jd8x --dry-run", Says: "see what would change"},
			},
			Flags: flags(),
			Run: func(ctx context.Context, e *console.Env, in *console.Input) error {
				return pin(ctx, e, in, true)
			},
		},
		{
			Name: "unpin", Group: console.Memory,
			Summary: "take the mark of pin away",
			Args:    "MEMORY...", MinArgs: 1, MaxArgs: -1,
			Examples: []console.Example{
				{Line: "stet unpin gate-code", Says: "one"},
				{Line: "stet unpin gate-code 01jd8x", Says: "several, one commit"},
			},
			Flags: flags(),
			Run: func(ctx context.Context, e *console.Env, in *console.Input) error {
				return pin(ctx, e, in, false)
			},
		},
	}
}

func pin(ctx context.Context, e *console.Env, in *console.Input, pinned bool) error {
	verb := "pinned"
	if !pinned {
		verb = "unpinned"
	}
	return e.With(ctx, false, func(a *agent.App) error {
		res, err := a.Memories().Pin(ctx, in.Words, pinned, e.ByInSession(in))
		if err != nil {
			return err
		}
		return e.Print(res, console.More{Verb: verb})
	})
}
