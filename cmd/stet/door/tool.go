package door

import (
	"context"
	"encoding/json"
	"io"

	"stet/agent"
	"stet/agent/tools"
	"stet/cmd/stet/console"
	"stet/vault"
)

func toolCommand() *console.Command {
	return &console.Command{
		Name: "tool", Group: console.Doors,
		Summary: "what a model may do with the vault: list the tools, call one",
		Args:    "list | call NAME [ARGUMENTS | -]", MinArgs: 1, MaxArgs: 3,
		Verbs: []console.Verb{
			{Name: "list", Run: listTools},
			{Name: "call", Args: "NAME [ARGUMENTS | -]", Min: 1, Max: 2, Flags: "as session", Run: callTool},
		},
		Details: `The tools are the same for every agent and every door. ARGUMENTS is one JSON object; "-" reads it from
			standard input. The reply, one line of JSON, goes to standard output, that of a refused call as well,
			which exits as the command that does the same would. A call is always an agent's: where --as and
			STET_AGENT name none the author is "agent". So it is shown nothing private, and what a person wrote is
			changed by a proposal.

			Arguments are read by one rule. A key that the tool does not have is refused, and so is a key that stands
			there twice; null is as good as no key; a number, boolean or list in quotes counts as what it says; q is
			query, content is text, and id or path is ref, where a tool has those; any other value of another type
			is refused.`,
		Examples: `stet tool list --json  # names, descriptions, JSON Schemas
			stet tool call memory_search '{"query": "which database?"}'  # one call
			stet tool call memory_save --as codex - < arguments.json  # arguments from standard input`,
		Flags: console.ActorFlags(),
		Actor: "agent",
		Run:   runTool,
	}
}

func runTool(ctx context.Context, e *console.Env, in *console.Input) error {
	e.Command = "tool " + in.Words[0]
	return console.RunVerb(ctx, e, in)
}

// A described tool is one of "tool list".
type described struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

func listTools(_ context.Context, e *console.Env, _ *console.Input, _ []string) error {
	var all []described
	for _, t := range tools.New(nil, tools.Options{}).Tools() {
		all = append(all, described{t.Name, t.Description, t.Schema})
	}
	return e.Show(map[string]any{"tools": all}, func(p *console.Printer) {
		for i, t := range all {
			if i > 0 {
				p.Printf("\n")
			}
			p.Printf("%s\n", p.Paint(console.Bold, t.Name))
			p.Folded("  "+t.Description+"\n", len("  "))
		}
	})
}

func callTool(ctx context.Context, e *console.Env, in *console.Input, words []string) error {
	args := []byte(nil)
	if len(words) > 1 {
		args = []byte(words[1])
	}
	if string(args) == "-" {
		var err error
		if args, err = io.ReadAll(io.LimitReader(e.In, vault.MaxFileSize)); err != nil {
			return err
		}
	}
	return e.With(ctx, false, func(a *agent.App) error {
		reply, why := tools.New(a, tools.Options{Session: e.ByInSession(in).Session}).Answer(ctx, words[0], args)
		if ctx.Err() != nil {
			return why
		}
		if err := e.Show(json.RawMessage(reply), func(p *console.Printer) {
			p.Printf("%s\n", p.Stored(reply))
		}); err != nil {
			return err
		}
		return why
	})
}
