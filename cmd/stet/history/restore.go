package history

import (
	"context"

	"stet/agent"
	"stet/cmd/stet/console"
)

func restoreCommand() *console.Command {
	return &console.Command{
		Name: "restore", Group: console.History,
		Summary: "bring a memory back from the archive, or an older version of it",
		Args:    "MEMORY", MinArgs: 1, MaxArgs: 1,
		Details: `From the archive it goes to the place it had, or beside it when that is taken; a note or another file
			that was deleted comes back as it last was, by its name or its path, and a folder with all that it lost
			last. With --at the bytes of that revision replace those of now, in a new
			commit: what they leave out counts as rejected.`,
		Examples: `stet restore gate-code  # from the archive to its old place
			stet restore memories/gate-code.md  # a file that was deleted
			stet restore recipes/bread  # the files that are missing from a folder
			stet restore gate-code --at HEAD~3 --dry-run  # see what an older version would change`,
		Flags: console.WriteFlags(
			console.Text("at", "the version of the revision `REV`"),
			console.MessageFlag(),
			console.BecauseFlag(),
			console.AgainFlag(),
		),
		Run: runRestore,
	}
}

func runRestore(ctx context.Context, e *console.Env, in *console.Input) error {
	o := agent.RestoreOptions{Write: e.ByInSession(in), Ref: in.Words[0], At: in.String("at")}
	return e.Writing(ctx, console.More{Verb: "restored", Diff: o.At != ""}, func(a *agent.App) (*agent.Written, error) {
		return a.History().Restore(ctx, o)
	})
}
