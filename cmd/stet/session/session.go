package session

import (
	"context"

	"stet/cmd/stet/console"
)

const sessionArgs = "list | show ID | search [QUERY...] | fix ERROR | how WHAT | files PATH | export [ID...] | " +
	"end [ID...]"

const sessionDetails = `
	An open session is what "stet observe", which adds turns, wrote and nobody has sealed yet; a sealed one is a
	transcript below sessions/. A session is named by its id, a part of it (the first six or the last four
	characters, or more), its path, or the id that its agent gave it. show prints at most --budget characters
	and says where it goes on. Results of tools are folded to their first lines and calls to one: one message
	alone (--from 6 --to 6) or --all is whole. search answers with the conversations, open ones too, that a
	question is about and the best three passages of each, with --all or --budget with all of them and what was
	said around them; without a question with the newest ones. Parts of one conversation, as those of an agent
	and the agents that it called, are one. What no person typed, as notices of programs, is found with in:all
	or --role system alone.
	`

func sessionCommand() *console.Command {
	return &console.Command{
		Name: "session", Group: console.Session,
		Summary: "list, read, search, export or end conversations",
		Args:    sessionArgs, MinArgs: 1, MaxArgs: -1,
		Verbs: []console.Verb{
			{Name: "list", Flags: "limit open agent project since until", Run: runList},
			{Name: "show", Args: "ID|TITLE", Min: 1, Max: 1, Flags: "from to around budget all", Run: runShow},
			{Name: "search", Args: "[QUERY...]", Max: -1, Run: runSearch,
				Flags: "limit in agent project role since until budget matches summarise all"},
			{Name: "fix", Args: "ERROR...", Min: 1, Max: -1, Flags: "limit agent project", Run: runFix},
			{Name: "how", Args: "WHAT...", Min: 1, Max: -1, Flags: "limit agent project", Run: runHow},
			{Name: "files", Args: "PATH", Min: 1, Max: 1, Flags: "limit agent project", Run: runFiles},
			{Name: "export", Args: "[ID...]", Max: -1, Flags: "format output private", Run: runExport},
			{Name: "end", Args: "[ID...]", Max: -1, Flags: "idle all dry-run reason", Run: runEnd},
		},
		Details: sessionDetails + ranDetails,
		Examples: `stet session list --agent codex --since 7d  # the newest first, open ones included
			stet session show 4711  # what was said, up to the budget
			stet session show 7ck2ma --around 14  # message 14 and those about it
			stet session search "how did we fix the gate last month?"  # conversations, and what was said
			stet session search gate --matches -n 10 --json  # messages alone, best first
			stet session search gate --in 7ck2ma --role user  # within one session, what people said
			stet session fix "main.go:12:2: undefined: fsnotify"  # what helped the last time
			go build 2>&1 | stet session fix -  # the same, of what a command says
			stet session how release  # the commands that did it
			stet session files cmd/main.go  # who changed it, and why
			stet session end 4711  # seal it: a transcript, and a commit
			stet session end --idle --dry-run  # which sessions have ended
			stet session export --format jsonl --output talks.jsonl  # all sealed sessions, one a line`,
		Flags: console.Flags(
			console.Number("limit n", "at most `N`, 0 for all; search shows 5 or 50, fix, how and files a screen", 20),
			console.Text("in", "search within the session `ID` alone"),
			console.Text("role", "only what the `ROLE` user, assistant, tool or system said"),
			console.Bool("matches", "messages alone, best first, without grouping"),
			console.Bool("summarise", "let the model for small tasks say what the conversations answer, and where"),
			console.Bool("open", "list open sessions alone"),
			console.Text("agent", "only those of the agent `NAME`"),
			console.Text("project", "only those about the project `NAME`, its folder or the last part of that"),
			console.Text("since", "only at or after `TIME`: today, 2026-01-31, 7d, \"2 weeks ago\""),
			console.Text("until", "only before `TIME`; a day, week, month or year counts to its end"),
			console.Number("from", "show from message `N` on"),
			console.Number("to", "show up to message `N`"),
			console.Number("around", "show message `N` and those next to it"),
			console.Number("budget", "show at most `N` characters", 12000),
			console.Bool("all a", "show the whole transcript; find all that matches, with what was said around it; "+
				"end every open session"),
			console.Text("format f", "as `FORM` markdown or jsonl", "markdown"),
			console.Text("output o", "export into the new `FILE`, not to standard output"),
			console.Bool("private", "export what is marked private too"),
			console.Bool("idle", "end the sessions that session.idle_minutes says have ended"),
			console.Text("reason", "why it ended: `WORD`", "ended"),
			console.Bool("dry-run", "say what would be written and write nothing"),
		),
		Run: runSession,
	}
}

func runSession(ctx context.Context, e *console.Env, in *console.Input) error {
	e.Command = "session " + in.Words[0]
	return console.RunVerb(ctx, e, in)
}
