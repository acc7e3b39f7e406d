package memory

import (
	"context"

	"stet/agent"
	"stet/cmd/stet/console"
)

func contextCommand() *console.Command {
	return &console.Command{
		Name: "context", Group: console.Memory,
		Summary: "print what an agent should know when a conversation begins",
		Details: `One block: USER.md and MEMORY.md, the pinned memories, then the best by --query, else the most
			important and of those the newest. What the budget has no room for is counted. The same files, budget and
			query give the same bytes in every clone, so that caches of prompts hold; nothing is committed. Private
			memories, replaced ones and those that are no longer true are left out. Text that reads like orders to a
			model is masked unless you wrote it. A token is estimated: a quarter of an ASCII character, or one other
			character.`,
		Examples: `stet context  # for the system prompt of an agent
			stet context --query "the database migration"  # the memories that are about it
			stet context --budget 1000 --json  # shorter, and what it was made of
			stet context --at HEAD~20  # what an agent was given then`,
		Flags: console.Flags(
			console.Number("budget", "at most `N` tokens, 0 for no bound (default: context.budget_tokens)"),
			console.Text("query", "the memories that `TEXT` finds, as in search"),
			console.Text("at", "as the vault was at the revision `REV`"),
			console.Text("as-of", "as it was at the `TIME`: a date, or an age as 2w"),
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
		return agent.Usagef("--at and --as-of exclude each other")
	}
	var err error
	if o.AsOf, err = asOf(e, in); err != nil {
		return err
	}
	switch format := in.String("format"); format {
	case "json":
		e.JSON = true
	case "markdown":
	default:
		return agent.Usagef("unknown format %q", format).Suggest("markdown or json")
	}
	return e.With(ctx, true, func(a *agent.App) error {
		s, err := a.Memories().Context(ctx, o)
		if err != nil {
			return err
		}
		return e.Show(s, func(p *console.Printer) { p.Printf("%s", s.Text) })
	})
}
