package memory

import (
	"context"
	"fmt"

	"stet/agent"
	"stet/cmd/stet/choice"
	"stet/cmd/stet/console"
)

func forgetCommand() *console.Command {
	return &console.Command{
		Name: "forget", Group: console.Memory,
		Summary: "move memories to the archive, out of the default search",
		Args:    "[MEMORY...] | --match QUERY", MaxArgs: -1, Picks: true,
		Details: `Nothing is deleted: the file moves below archive/ unchanged, "stet undo" or "stet restore"
			brings it back, and "stet search --archived" still finds it. Agents may not write it again.
			Transcripts keep what was said of it, and agents find it there: "stet session search" shows where, and
			--purge with the path takes such a transcript away.

			With --purge it goes from the tree, the archive and the search index, and the steps are printed that take
			it out of git's history and of every copy: stet itself never rewrites history. A purge takes whole ids
			and paths only.

			--match takes what QUERY means instead of a name: a name or a number in it must stand in the memory
			whole, however it is written there; of its other words the memory must say most. What it meets is shown
			and, on a terminal, asked about. More than one changes nothing (exit 4, all listed) unless --all is given
			or QUERY itself says "everything", "anything" or "all".`,
		Examples: `stet forget gate-code  # one
			stet forget 01jd7q 01jd8x --dry-run  # see what would move
			stet forget --match "everything about my old address"  # what it means; shown, then asked
			stet forget --match "card 4111-1111-1111-1111" --all --dry-run  # also where it is written without dashes
			stet forget --purge memories/gate-code.md  # and how to erase it from history
			stet forget  # choose one on a terminal`,
		Flags: console.WriteFlags(
			console.Bool("purge", "remove it for good, and say how to erase it from history"),
			console.Text("match", "the memories that `QUERY` means"),
			console.Bool("all", "with --match: all of them, if it means more than one"),
			console.Bool("yes y", "with --purge or --match: do not ask"),
			console.BecauseFlag(),
			console.MessageFlag(),
		),
		Run: forget,
	}
}

func forget(ctx context.Context, e *console.Env, in *console.Input) error {
	purge := in.Bool("purge")
	if purge && in.IsSet("message") {
		return agent.Usagef("--purge and --message cannot be used together").
			Suggest("the subject of a purge says nothing of what is gone")
	}
	if err := checkMatch(in, e.CanAsk() && !purge, "all"); err != nil {
		return err
	}
	o := agent.ForgetOptions{Write: e.ByInSession(in), Refs: in.Words, Match: in.String("match"), All: in.Bool("all"),
		Purge: purge}
	if !in.Bool("yes") && e.CanAsk() {
		o.Confirm = func(found []agent.Match) (bool, error) { return askToForget(e, found, purge) }
	}
	return e.With(ctx, false, func(a *agent.App) error {
		if !purge && o.Match == "" {
			words, err := choice.Named(ctx, e, a, o.Refs, true)
			if err != nil {
				return err
			}
			o.Refs = words
		}
		done, err := a.Memories().Forget(ctx, o)
		switch {
		case err != nil:
			return err
		case done.Erase != nil:
			return e.Show(done, func(p *console.Printer) { printPurge(p, done) })
		case o.Purge:
			return e.Print(ctx, done, console.More{Verb: "purged"})
		}
		return e.Print(ctx, done, console.More{Verb: "forgotten"})
	})
}

func askToForget(e *console.Env, found []agent.Match, purge bool) (bool, error) {
	for _, f := range found {
		e.Note("%s  %s", f.Path, f.Text)
	}
	verb, what := "Forget", "this"
	if purge {
		verb = "Purge"
	}
	if len(found) > 1 {
		what = fmt.Sprintf("these %d", len(found))
	}
	return e.Confirm(verb + " " + what + "?")
}

func printPurge(p *console.Printer, done *agent.Written) {
	p.Adopted(done.Commits, "purged", done.DryRun)
	verb, state := "purged", "It is gone from the files and the search. "
	if done.DryRun {
		verb, state = "would be purged", ""
	}
	for _, m := range done.Memories {
		p.Printf("%s  %s%s\n", verb, console.Line1(string(m.Path)), p.Where())
	}
	p.Printf("\n%sHistory, clones and backups hold it still: stet does not rewrite history.\n"+
		"To erase it there, in this order, from the top of the repository:\n", state)
	for i, s := range done.Erase.Steps {
		p.Printf("\n%d. %s\n", i+1, s.What)
		for _, line := range s.Command {
			p.Printf("     %s\n", line)
		}
	}
}

// checkMatch looks at the words of a command that takes a MEMORY or --match QUERY;
// without either, the user picks one where that can be; only names the flags that go with --match alone.
func checkMatch(in *console.Input, picks bool, only ...string) error {
	name := in.Command.Name
	switch {
	case !in.IsSet("match") && len(in.Words) == 0 && !picks:
		return agent.Usagef("%s needs a MEMORY or --match QUERY", name).Suggest("\"stet %s --help\" has examples", name)
	case in.IsSet("match") && len(in.Words) > 0:
		return agent.Usagef("--match and %q cannot be used together", in.Words[0]).
			Suggest("quote a QUERY that has spaces: --match %q", in.String("match")+" "+in.Words[0])
	}
	for _, flag := range only {
		if in.IsSet(flag) && !in.IsSet("match") {
			return agent.Usagef("--%s goes with --match", flag)
		}
	}
	return nil
}
