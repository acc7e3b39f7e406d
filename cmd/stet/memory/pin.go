package memory

import (
	"context"

	"stet/agent"
	"stet/cmd/stet/choice"
	"stet/cmd/stet/console"
)

func pinCommands() []*console.Command {
	return []*console.Command{
		{
			Name: "pin", Group: console.Memory,
			Summary: "mark memories as always relevant",
			Args:    "[MEMORY...]", MinArgs: 1, MaxArgs: -1, Picks: true,
			Details: `Sets "pinned: true" in the front matter and changes no other byte.`,
			Examples: `stet pin gate-code  # one
				stet pin gate-code && stet list --pinned  # and see all that are
				stet pin gate-code 01jd8x --dry-run  # see what would change
				stet pin  # choose one on a terminal`,
			Flags: console.WriteFlags(console.MessageFlag()),
			Run: func(ctx context.Context, e *console.Env, in *console.Input) error {
				return pin(ctx, e, in, "pinned")
			},
		},
		{
			Name: "unpin", Group: console.Memory,
			Summary: "take the mark of pin away",
			Args:    "[MEMORY...]", MinArgs: 1, MaxArgs: -1, Picks: true,
			Examples: `stet unpin gate-code  # one
				stet unpin gate-code 01jd8x  # several, one commit
				stet unpin  # choose one on a terminal`,
			Flags: console.WriteFlags(console.MessageFlag()),
			Run: func(ctx context.Context, e *console.Env, in *console.Input) error {
				return pin(ctx, e, in, "unpinned")
			},
		},
	}
}

func pin(ctx context.Context, e *console.Env, in *console.Input, verb string) error {
	return e.Writing(ctx, console.More{Verb: verb}, func(a *agent.App) (*agent.Written, error) {
		words, err := choice.Named(ctx, e, a, in.Words, true)
		if err != nil {
			return nil, err
		}
		return a.Memories().Pin(ctx, words, verb == "pinned", e.ByInSession(in))
	})
}
