package memory

import (
	"context"
	"errors"

	"stet/agent"
	"stet/cmd/stet/console"
)

func encodeCommand() *console.Command {
	return &console.Command{
		Name: "encode", Group: console.Memory,
		Summary: "finish memories that a model could not judge, or judge stored ones again",
		MaxArgs: 0,
		Details: `A memory that was stored while the model did not answer, or as one of many long notes before it was
			compared, is marked "encoding: pending". encode asks the model where it belongs and what it makes untrue,
			as when it was stored, at most two calls a memory, and takes the mark away. Without a model the rules
			do it.

			--all looks at every memory again, in the order in which they were stored, each beside those before it.
			None that has a place is moved. --rule acts on what one rule says alone and asks no model. Every memory
			that changes is one commit, which git revert takes back alone; "stet undo" takes back a pending memory
			together with what finished it. Ctrl-C keeps what was done. What was taken back before is left alone
			unless --again is given.`,
		Examples: `stet encode  # finish what is pending
			stet encode --all --dry-run  # what today's rules and model would change
			stet encode --rule same-text  # only what is stored twice
			stet encode --limit 20  # the twenty that have waited longest`,
		Flags: console.WriteFlags(
			console.Bool("pending", "memories that are marked \"encoding: pending\"; the default"),
			console.Bool("all a", "every memory"),
			console.Text("rule", "every memory, but act only on what the rule `ID` says, as change-cue"),
			console.Number("limit n", "at most `N`, the oldest first"),
			console.AgainFlag(),
		),
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
		return agent.Usagef("--pending, --all and --rule cannot be used together")
	}
	o := agent.EncodeOptions{Write: e.ByInSession(in), All: in.Bool("all"), Rule: in.String("rule"),
		Limit: in.Int("limit"), Progress: e.ProgressCount("memories compared: %d of %d")}
	return e.With(ctx, false, func(a *agent.App) error {
		res, err := a.Memories().Encode(ctx, o)
		if res == nil {
			return err
		}
		return errors.Join(err, printWritten(ctx, e, res, "encoded", reply{}))
	})
}
