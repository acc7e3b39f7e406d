package session

import (
	"context"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
)

// A verb is one of the things that "stet session" does.
type verb struct {
	name  string
	least int // arguments
	most  int // negative = any number
	flags []string
	run   func(ctx context.Context, e *console.Env, in *console.Input, words []string) error
}

func verbs() []verb {
	return []verb{
		{"list", 0, 0, []string{"limit", "open", "agent", "project", "since", "until"}, runList},
		{"show", 1, 1, []string{"from", "to", "around", "budget", "all"}, runShow},
		{"search", 0, -1, []string{
			"limit", "in", "agent", "project", "role", "since", "until", "budget", "matches", "summarise",
		}, runSearch},
		{"export", 0, -1, []string{"format", "output", "private"}, runExport},
		{"end", 0, -1, []string{"idle", "all", "dry-run", "reason"}, runEnd},
	}
}

func sessionCommand() *console.Command {
	c := &console.Command{
		Name: "session", Group: console.Session,
		Summary: "list, read, search, export or end conversations",
		MinArgs: 1, MaxArgs: -1,
		Details: "An open session is what \"stet observe\" wrote and nobody has sealed yet; a sealed one is a\n" +
			"transcript below sessions/. A session is named by its id, a part of it (the first six or\n" +
			"the last four characters, or more), its path, or the id that its agent gave it. show\n" +
			"prints at most --budget characters and says where it goes on. search answers with the\n" +
			"conversations, open ones too, that a question is about and what was said there, within --budget\n" +
			"characters; without a question with the newest ones. Parts of one conversation, as those\n" +
			"of an agent and the agents that it called, are one.",
		Examples: []console.Example{
			{Line: "stet session list --agent codex --since 7d", Says: "the newest first, open ones included"},
			{Line: "stet session show 4711", Says: "what was said, up to the budget"},
			{Line: "stet session show 7ck2ma --around 14", Says: "message 14 and those about it"},
			{Line: `stet session search "how did we fix the gate last month?"`, Says: "conversations, and what was said"},
			{Line: "stet session search gate --matches -n 10 --json", Says: "messages alone, best first"},
			{Line: "stet session search gate --in 7ck2ma --role user", Says: "within one session, what people said"},
			{Line: "stet session end 4711", Says: "seal it: a transcript, and a commit"},
			{Line: "stet session end --idle --dry-run", Says: "which sessions have ended"},
			{Line: "stet session export --format jsonl --output talks.jsonl", Says: "all sealed sessions, one a line"},
		},
		Flags: []cli.Flag{
			&cli.IntFlag{
				Name: "limit", Aliases: []string{"n"}, Value: 20,
				Usage: "at most `N`, 0 for all; search shows 5 conversations or 50 matches unless told",
			},
			&cli.StringFlag{Name: "in", Usage: "search within the session `ID` alone"},
			&cli.StringFlag{Name: "role", Usage: "only what the `ROLE` user, assistant, tool or system said"},
			&cli.BoolFlag{Name: "matches", Usage: "messages alone, best first, without grouping"},
			&cli.BoolFlag{
				Name: "summarise", Usage: "let the model for small tasks say what the conversations answer, and where",
			},
			&cli.BoolFlag{Name: "open", Usage: "list open sessions alone"},
			&cli.StringFlag{Name: "agent", Usage: "only those of the agent `NAME`"},
			&cli.StringFlag{Name: "project", Usage: "only those about the project `NAME`"},
			&cli.StringFlag{Name: "since", Usage: "only at or after `TIME`: 2026-01-31, RFC 3339, or 7d, 12h ago"},
			&cli.StringFlag{Name: "until", Usage: "only before `TIME`"},
			&cli.IntFlag{Name: "from", Usage: "show from message `N` on"},
			&cli.IntFlag{Name: "to", Usage: "show up to message `N`"},
			&cli.IntFlag{Name: "around", Usage: "show message `N` and those next to it"},
			&cli.IntFlag{Name: "budget", Value: 12000, Usage: "show at most `N` characters"},
			&cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: "show the whole transcript; end every open session"},
			&cli.StringFlag{Name: "format", Aliases: []string{"f"}, Value: "markdown", Usage: "as `FORM` markdown or jsonl"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "export into the new `FILE`, not to standard output"},
			&cli.BoolFlag{Name: "private", Usage: "export what is marked private too"},
			&cli.BoolFlag{Name: "idle", Usage: "end the sessions that session.idle_minutes says have ended"},
			&cli.StringFlag{Name: "reason", Value: "ended", Usage: "why it ended: `WORD`"},
			&cli.BoolFlag{Name: "dry-run", Usage: "say what would be written and write nothing"},
		},
		Run: runSession,
	}
	for _, v := range verbs() {
		c.Verbs = append(c.Verbs, v.name)
	}
	c.Args = "list | show ID | search [QUERY...] | export [ID...] | end [ID...]"
	return c
}

func runSession(ctx context.Context, e *console.Env, in *console.Input) error {
	name, words := in.Words[0], in.Words[1:]
	var names []string
	for _, v := range verbs() {
		names = append(names, v.name)
		if v.name != name {
			continue
		}
		if err := v.check(in, words); err != nil {
			return err
		}
		e.Command = "session " + name
		return v.run(ctx, e, in, words)
	}
	err := agent.Usagef("stet session has no %q", name)
	if near := agent.Nearest(name, names); near != "" {
		return err.Suggest("did you mean \"stet session %s\"?", near)
	}
	return err.Suggest(`"stet session --help" shows what there is`)
}

// check refuses a flag that means nothing to the verb: it would be a filter that
// does not filter.
func (v verb) check(in *console.Input, words []string) error {
	switch {
	case len(words) < v.least:
		return agent.Usagef("session %s needs the name of a session", v.name).Suggest(`"stet session list" shows them`)
	case v.most >= 0 && len(words) > v.most:
		return agent.Usagef("session %s takes fewer arguments", v.name).Suggest(`"stet session --help" has examples`)
	}
	for _, f := range sessionCommand().Flags {
		name, mine := f.Names()[0], false
		for _, known := range v.flags {
			mine = mine || known == name
		}
		if in.IsSet(name) && !mine {
			return agent.Usagef("session %s has no flag --%s", v.name, name).
				Suggest(`"stet session --help" shows which flag goes with what`)
		}
	}
	return nil
}
