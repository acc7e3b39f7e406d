package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
)

func encodeCommand() *console.Command {
	return &console.Command{
		Name: "encode", Group: console.Memory,
		Summary: "finish memories that the model failed, or look at stored ones again",
		MaxArgs: 0,
		Details: "A memory that was stored while the model did not answer is marked \"encoding: pending\".\n" +
			"encode asks the model where it belongs and what it makes untrue, as when it was stored,\n" +
			"at most two calls a memory, and takes the mark away. Without a model the rules do it.\n\n" +
			"--all looks at every memory again, in the order in which they were stored, each beside\n" +
			"those before it. None that has a place is moved. --rule acts on what one rule says alone\n" +
			"and asks no model. Every memory that changes is one commit, which git revert takes back alone;\n" +
			"\"stet undo\" takes back a pending memory together with what finished it. Ctrl-C keeps what was done. What was taken back before is\n" +
			"left alone unless --again is given.",
		Examples: []console.Example{
			{Line: "stet encode", Says: "finish what is pending"},
			{Line: "stet encode --all --dry-run", Says: "what today's rules and model would change"},
			{Line: "stet encode --rule same-text", Says: "only what is stored twice"},
			{Line: "stet encode --limit 20", Says: "the twenty that have waited longest"},
		},
		Flags: slices.Concat([]cli.Flag{
			&cli.BoolFlag{Name: "pending", Usage: "memories that are marked \"encoding: pending\"; the default"},
			&cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: "every memory"},
			&cli.StringFlag{Name: "rule", Usage: "every memory, but act only on what the rule `ID` says, as change-cue"},
			&cli.IntFlag{Name: "limit", Aliases: []string{"n"}, Usage: "at most `N`, the oldest first"},
			console.AgainFlag(),
		}, console.WriteFlags()),
		Run: encodeStored,
	}
}

func encodeStored(ctx context.Context, e *console.Env, in *console.Input) error {
	given := 0
	for _, name := range []string{"pending", "all", "rule"} {
		if in.IsSet(name) {
			given++
		}
	}
	if given > 1 {
		return agent.Usagef("--pending, --all and --rule exclude each other")
	}
	if in.Int("limit") < 0 {
		return agent.Usagef("--limit cannot be negative")
	}
	o := agent.EncodeOptions{Write: e.ByInSession(in), All: in.Bool("all"), Rule: in.String("rule"), Limit: in.Int("limit"), Progress: encoding(e)}
	return e.With(ctx, false, func(a *agent.App) error {
		res, err := a.Memories().Encode(ctx, o)
		if res == nil {
			return err
		}
		return errors.Join(err, printWritten(e, res, "encoded", reply{}))
	})
}

// encoding shows how far a run is, to whoever looks.
func encoding(e *console.Env) func(done, total int) {
	line := e.ProgressLine()
	if line == nil {
		return nil
	}
	return func(done, total int) {
		line(func() string { return fmt.Sprintf("looked at %d of %d memories", done, total) })
	}
}
