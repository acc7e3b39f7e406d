package memory

import (
	"context"
	"fmt"
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
	purge := in.Bool("purge")
	if purge && in.IsSet("message") {
		return agent.Usagef("--purge and --message exclude each other").Suggest("the subject of a purge says nothing of what is gone")
	}
	if err := checkMatch(in, "all"); err != nil {
		return err
	}
	o := agent.ForgetOptions{Write: e.ByInSession(in), Refs: in.Words, Match: in.String("match"), All: in.Bool("all"), Purge: purge}
	if !in.Bool("yes") && e.CanAsk() {
		o.Confirm = func(found []agent.Match) (bool, error) { return askToForget(e, found, purge) }
	}
	return e.With(ctx, false, func(a *agent.App) error { return runForget(ctx, e, a, o) })
}

func runForget(ctx context.Context, e *console.Env, a *agent.App, o agent.ForgetOptions) error {
	done, err := a.Memories().Forget(ctx, o)
	switch {
	case err != nil:
		return err
	case done.Erase != nil:
		return e.Show(done, func(p *console.Printer) { printPurge(p, done) })
	case o.Purge:
		return e.Print(done.Written, console.More{Verb: "purged"})
	}
	return e.Print(done.Written, console.More{Verb: "forgotten"})
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

func printPurge(p *console.Printer, done *agent.Forgotten) {
	p.Adopted(done.Commits, "purged")
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
// only names the flags that go with --match alone.
func checkMatch(in *console.Input, only ...string) error {
	name := in.Command.Name
	switch {
	case !in.IsSet("match") && len(in.Words) == 0:
		return agent.Usagef("%s needs a MEMORY or --match QUERY", name).Suggest("\"stet %s --help\" has examples", name)
	case in.IsSet("match") && len(in.Words) > 0:
		return agent.Usagef("--match and %q exclude each other", in.Words[0]).
			Suggest("quote a QUERY that has spaces: --match %q", in.String("match")+" "+in.Words[0])
	}
	for _, flag := range only {
		if in.IsSet(flag) && !in.IsSet("match") {
			return agent.Usagef("--%s goes with --match", flag)
		}
	}
	return nil
}
