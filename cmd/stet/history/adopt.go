package history

import (
	"context"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
)

func adoptCommand() *console.Command {
	return &console.Command{
		Name: "adopt", Group: console.History,
		Summary: "commit what you changed by hand, as your own commit",
		Args:    "[PATH...]", MaxArgs: -1,
		Details: "Without paths: stet's own folders, and notes too where the vault's configuration says\n" +
			"so (watch.commit). Files are committed as they are. When a large part of the vault\n" +
			"has vanished, --yes must confirm it (exit 3).",
		Examples: []console.Example{
			{Line: "stet adopt --dry-run", Says: "what would be committed"},
			{Line: "stet adopt memories/infra", Says: "one folder"},
			{Line: `stet adopt --all -m "notes from the workshop"`, Says: "all Markdown, with a subject"},
		},
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: "notes outside stet's own folders too"},
			&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "commit the deletion of many files"},
			&cli.StringFlag{Name: "message", Aliases: []string{"m"}, Usage: "the commit's subject, a line of `TEXT`"},
			&cli.BoolFlag{Name: "dry-run", Usage: "say what would be committed and write nothing"},
		},
		Run: runAdopt,
	}
}

func runAdopt(ctx context.Context, e *console.Env, in *console.Input) error {
	o := agent.AdoptOptions{Write: e.By(in), Paths: in.Words, All: in.Bool("all"), Yes: in.Bool("yes")}
	return e.With(ctx, false, func(a *agent.App) error {
		res, err := a.History().Adopt(ctx, o)
		if err != nil {
			return err
		}
		return e.Print(res, console.More{Verb: "adopted"})
	})
}
