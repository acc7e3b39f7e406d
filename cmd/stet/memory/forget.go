package memory

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
)

func forgetCommand() *console.Command {
	return &console.Command{
		Name: "forget", Group: console.Memory,
		Summary: "move memories to the archive, out of the default search",
		Args:    "MEMORY... | --match QUERY", MaxArgs: -1,
		Details: "Nothing is deleted: the file moves below archive/ unchanged, \"stet undo\" or\n" +
			"\"stet restore\" brings it back, and \"stet search --archived\" still finds it. Agents\n" +
			"are kept from writing it again.\n\n" +
			"With --purge it goes from the tree, the archive and the search index, and the steps\n" +
			"are printed that take it out of git's history and of every copy: stet itself never\n" +
			"rewrites history. A purge takes whole ids and paths only.\n\n" +
			"--match takes what QUERY means instead of a name: a name or a number in it must stand in\n" +
			"the memory whole, however it is written there; of its other words the memory must say\n" +
			"most. What it meets is shown and, on a terminal, asked about. More than one changes\n" +
			"nothing (exit 4, all listed) unless --all is given or QUERY itself says \"everything\",\n" +
			"\"anything\" or \"all\".",
		Examples: []console.Example{
			{Line: "stet forget gate-code", Says: "one"},
			{Line: "stet forget 01jd7q 01jd8x --dry-run", Says: "see what would move"},
			{Line: `stet forget --match "everything about my old address"`, Says: "what it means; shown, then asked"},
			{Line: `stet forget --match "card 4111-1111-1111-1111" --all --dry-run`, Says: "also where it is written without dashes"},
			{Line: "stet forget --purge memories/gate-code.md", Says: "and how to erase it from history"},
		},
		Flags: slices.Concat([]cli.Flag{
			&cli.BoolFlag{Name: "purge", Usage: "remove it for good, and say how to erase it from history"},
			&cli.StringFlag{Name: "match", Usage: "the memories that `QUERY` means"},
			&cli.BoolFlag{Name: "all", Usage: "with --match: all of them, if it means more than one"},
			&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "with --purge or --match: do not ask"},
			&cli.StringFlag{Name: "message", Aliases: []string{"m"}, Usage: "the commit's subject, a line of `TEXT`"},
		}, console.WriteFlags()),
		Run: forget,
	}
}

func forget(ctx context.Context, e *console.Env, in *console.Input) error {
	if in.Bool("purge") && in.IsSet("message") {
		return agent.Usagef("--purge and --message exclude each other").Suggest("the subject of a purge says nothing of what is gone")
	}
	if err := checkMatch(in, "all"); err != nil {
		return err
	}
	v, _, err := e.Writer(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	w := e.WriteInSession(in)
	if in.IsSet("match") {
		w.Message = in.String("message")
		return forgetMatch(ctx, e, in, v, w)
	}
	if in.Bool("purge") {
		return purge(ctx, e, in, v, w, e.Refs(v, in.Words), nil)
	}
	w.Message = in.String("message")
	res, err := v.Forget(ctx, e.Refs(v, in.Words), w)
	if err != nil {
		return err
	}
	return e.Wrote(ctx, v, res, "forgot", false)
}
