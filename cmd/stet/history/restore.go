package history

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
)

func restoreCommand() *console.Command {
	return &console.Command{
		Name: "restore", Group: console.History,
		Summary: "bring a memory back from the archive, or an older version of it",
		Args:    "MEMORY", MinArgs: 1, MaxArgs: 1,
		Details: "From the archive it goes to the place it had, or beside it when that is taken; a path\n" +
			"that was deleted comes back as it last was. With --at the bytes of that revision\n" +
			"replace those of now, in a new commit: what they leave out counts as rejected.",
		Examples: []console.Example{
			{Line: "stet restore gate-code", Says: "from the archive to its old place"},
			{Line: "stet restore memories/gate-code.md", Says: "a file that was deleted"},
			{Line: "stet restore gate-code --at HEAD~3 --dry-run", Says: "see what an older version would change"},
		},
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "at", Usage: "the version of the revision `REV`"},
			&cli.StringFlag{Name: "message", Aliases: []string{"m"}, Usage: "the commit's subject, a line of `TEXT`"},
			console.AgainFlag(),
		}, console.WriteFlags()),
		Run: runRestore,
	}
}

func runRestore(ctx context.Context, e *console.Env, in *console.Input) error {
	o := agent.RestoreOptions{Write: e.ByInSession(in), Ref: in.Words[0], At: in.String("at")}
	return e.With(ctx, false, func(a *agent.App) error {
		res, err := a.History().Restore(ctx, o)
		if err != nil {
			return err
		}
		return e.Print(res, console.More{Verb: "restored", Diff: o.At != ""})
	})
}
