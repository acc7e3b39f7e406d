package memory

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"stet/cmd/stet/console"
)

func forgetCommand() *console.Command {
	return &console.Command{
		Name: "forget", Group: console.Memory,
		Summary: "move memories to the archive, out of the default search",
		Args:    "MEMORY...", MinArgs: 1, MaxArgs: -1,
		Details: "Nothing is deleted: the file moves below archive/ unchanged, \"stet undo\" or\n" +
			"\"stet restore\" brings it back, and \"stet search --archived\" still finds it. Agents\n" +
			"are kept from writing it again.\n\n" +
			"With --purge it goes from the tree, the archive and the search index, and the steps\n" +
			"are printed that take it out of git's history and of every copy: stet itself never\n" +
			"rewrites history. A purge takes whole ids and paths only.",
		Examples: []console.Example{
			{Line: "stet forget gate-code", Says: "one"},
			{Line: "stet forget 01jd7q 01jd8x --dry-run", Says: "see what would move"},
			{Line: "stet forget --purge memories/gate-code.md", Says: "and how to erase it from history"},
		},
		Flags: slices.Concat([]cli.Flag{
			&cli.BoolFlag{Name: "purge", Usage: "remove it for good, and say how to erase it from history"},
			&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "with --purge: do not ask"},
			&cli.StringFlag{Name: "message", Aliases: []string{"m"}, Usage: "the commit's subject, a line of `TEXT`"},
		}, console.WriteFlags()),
		Run: forget,
	}
}

func forget(ctx context.Context, e *console.Env, in *console.Input) error {
	if in.Bool("purge") && in.IsSet("message") {
		return console.Usagef("--purge and --message exclude each other").Suggest("the subject of a purge says nothing of what is gone")
	}
	v, _, err := e.Writer(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	w := e.WriteInSession(in)
	if in.Bool("purge") {
		return purge(ctx, e, in, v, w)
	}
	w.Message = in.String("message")
	res, err := v.Forget(ctx, e.Refs(v, in.Words), w)
	if err != nil {
		return err
	}
	return e.Wrote(ctx, v, res, "forgot", false)
}
