package memory

import (
	"cmp"
	"context"
	"strings"

	"stet/agent"
	"stet/agent/snapshot"
	"stet/cmd/stet/console"
)

func contextCommand() *console.Command {
	return &console.Command{
		Name: "context", Group: console.Memory,
		Summary: "print what an agent should know when a conversation begins",
		Details: `One block: USER.md and MEMORY.md, the pinned memories, then the best by --query, else the most
			important and of those the newest, and the names of skills. What the budget has no room for is counted.
			The same files, budget and query give the same bytes in every clone, so that caches of prompts hold;
			nothing is committed. Private memories, replaced ones and those that are no longer true are left out. What
			an agent wrote or an import brought says so; what agents pinned gets a fifth of the budget, behind what
			you pinned. Text that reads like orders to a model is masked unless you wrote it. A token is estimated: a
			quarter of an ASCII character, or one other character.`,
		Examples: `stet context  # for the system prompt of an agent
			stet context --query "the database migration"  # the memories that are about it
			stet context --budget 1000 --json  # shorter, and what it was made of
			stet context --session chat-7  # noted in its transcript, too
			stet context --at session:chat-7  # what that session was given
			stet context --into CLAUDE.md  # again after a change: the block is replaced
			stet context --into CLAUDE.md --remove  # and taken out again`,
		Flags: console.Flags(
			console.Number("budget", "at most `N` tokens, 0 for no bound (default: context.budget_tokens)"),
			console.Text("query", "the memories that `TEXT` finds, as in search"),
			console.Text("at", "as the vault was at the revision `REV`, or as session:ID was given it"),
			console.Text("session", "note with the session `ID` what it is given (also: STET_SESSION)"),
			console.Text("as-of", "as it was at the `TIME`: 2026-01-31, monday, 2w"),
			console.Text("into", "keep it as one block in the `FILE`, as CLAUDE.md; every other byte stays"),
			console.Bool("remove", "take the block out of the file of --into"),
			console.DryRunFlag(),
			console.Text("format", "`FORMAT` markdown, or json, which is --json", "markdown"),
			console.AgentFlag(),
		),
		Run: runContext,
	}
}

func runContext(ctx context.Context, e *console.Env, in *console.Input) error {
	o := agent.ContextOptions{Query: in.String("query"), Budget: in.Int("budget"), At: in.String("at")}
	if in.IsSet("budget") && o.Budget == 0 {
		o.Budget = -1
	}
	if o.At != "" && in.IsSet("as-of") {
		return agent.Usagef("--at and --as-of cannot be used together")
	}
	o.Agent, o.Session = e.By(in).Agent, in.String("session")
	if o.At == "" && !in.IsSet("as-of") {
		o.Session = cmp.Or(o.Session, e.Getenv("STET_SESSION"))
	}
	given, of := strings.CutPrefix(o.At, "session:")
	if of && (in.IsSet("budget") || in.IsSet("query") || o.Session != "") {
		return agent.Usagef("--at session:ID takes budget and query from the session, and notes nothing")
	}
	var err error
	if o.AsOf, err = in.AsOf(e); err != nil {
		return err
	}
	switch format := in.String("format"); format {
	case "json":
		e.JSON = true
	case "markdown":
	default:
		return agent.Usagef("unknown format %q", format).Suggest("markdown or json")
	}
	o.Labels = e.JSON
	if in.Bool("remove") {
		return removeBlock(ctx, e, in)
	}
	return e.With(ctx, true, func(a *agent.App) error {
		take := a.Memories().Context
		if of {
			take = func(ctx context.Context, _ agent.ContextOptions) (*snapshot.Snapshot, error) {
				return a.Memories().ContextOf(ctx, given)
			}
		}
		s, err := take(ctx, o)
		if err != nil {
			return err
		}
		if file := in.String("into"); file != "" {
			done, err := a.Memories().Embed(ctx, e.By(in), s, file)
			if err != nil {
				return err
			}
			return e.ShowPaged(ctx, done, func(p *console.Printer) { printEmbedding(p, done) }, done.DryRun)
		}
		return e.Show(s, func(p *console.Printer) { p.Printf("%s", s.Text) })
	})
}

func removeBlock(ctx context.Context, e *console.Env, in *console.Input) error {
	if in.String("into") == "" {
		return agent.Usagef("--remove goes with --into FILE")
	}
	return e.With(ctx, true, func(a *agent.App) error {
		done, err := a.Memories().Embed(ctx, e.By(in), nil, in.String("into"))
		if err != nil {
			return err
		}
		return e.ShowPaged(ctx, done, func(p *console.Printer) { printEmbedding(p, done) }, done.DryRun)
	})
}

func printEmbedding(p *console.Printer, done *agent.Embedding) {
	verb := "put into"
	if done.Removed {
		verb = "taken out of"
	}
	switch {
	case done.Unchanged:
		verb = "unchanged"
	case done.DryRun:
		p.Diff(done.Diff)
		verb = "would be " + verb
	}
	p.Printf("%s  %s", verb, console.Line1(done.File))
	if !done.Removed {
		p.Printf("  (%s)", agent.Plural(done.Tokens, "token"))
	}
	p.Printf("\n")
}
