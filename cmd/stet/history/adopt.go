package history

import (
	"context"

	"stet/agent"
	"stet/cmd/stet/console"
)

func adoptCommand() *console.Command {
	return &console.Command{
		Name: "adopt", Group: console.History,
		Summary: "commit what you changed by hand, as your own commit",
		Args:    "[PATH...]", MaxArgs: -1,
		Details: `For whoever edits files with other programs and wants each state in the history. What it commits
			"stet history" shows, and "stet undo" takes back. You need not run it: search reads your edits at once,
			and a file that stet is about to write is committed as yours first. What you never adopt is in your
			folder alone, and no command brings back an earlier state of it.

			Without paths: stet's own folders, and notes too where the vault's configuration says so
			(watch.commit). Files are committed as they are. When a large part of the vault has vanished, --yes must
			confirm it (exit 3).`,
		Examples: `stet adopt --dry-run  # what would be committed
			stet adopt memories/infra  # one folder
			stet adopt --all -m "notes from the workshop"  # all Markdown, with a subject`,
		Flags: console.Flags(
			console.Bool("all a", "notes outside stet's own folders too"),
			console.Bool("yes y", "commit the deletion of many files"),
			console.MessageFlag(),
			console.Bool("dry-run", "say what would be committed and write nothing"),
		),
		Run: runAdopt,
	}
}

func runAdopt(ctx context.Context, e *console.Env, in *console.Input) error {
	o := agent.AdoptOptions{Write: e.By(in), Paths: in.Words, All: in.Bool("all"), Yes: in.Bool("yes")}
	return e.Writing(ctx, console.More{Verb: "adopted"}, func(a *agent.App) (*agent.Written, error) {
		return a.History().Adopt(ctx, o)
	})
}
