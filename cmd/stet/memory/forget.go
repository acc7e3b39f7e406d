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
		Details: "Nothing is deleted: the file moves below archive/ unchanged, \"stet undo\" brings it\n" +
			"back, and \"stet search --archived\" still finds it.",
		Examples: []console.Example{
			{Line: "stet forget gate-code", Says: "one"},
			{Line: "stet forget 01jd7q 01jd8x --dry-run", Says: "see what would move"},
		},
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "message", Aliases: []string{"m"}, Usage: "the commit's subject, a line of `TEXT`"},
		}, console.WriteFlags()),
		Run: forget,
	}
}

func forget(ctx context.Context, e *console.Env, in *console.Input) error {
	v, _, err := e.Writer(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	w := e.WriteInSession(in)
	w.Message = in.String("message")
	res, err := v.Forget(ctx, e.Refs(v, in.Words), w)
	if err != nil {
		return err
	}
	return e.Wrote(ctx, v, res, "forgot", false)
}
