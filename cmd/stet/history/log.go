package history

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/vault"
)

func logCommand() *console.Command {
	return &console.Command{
		Name: "log", Group: console.History,
		Summary: "show what was written, newest first",
		Args:    "[MEMORY]", MaxArgs: 1,
		Details: "With a memory, its own history, followed through moves. \"git log\" shows the same\n" +
			"commits.",
		Examples: []console.Example{
			{Line: "stet log", Says: "the newest twenty commits"},
			{Line: "stet log gate-code -p", Says: "one memory with its diffs"},
			{Line: "stet log --actor agent --since 7d", Says: "what agents did this week"},
			{Line: "stet log --session 01jd7q8r5t9v3x6y2z4a7c0e1f --changes", Says: "one session's writes"},
		},
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "limit", Aliases: []string{"n"}, Value: 20, Usage: "at most `N` commits, 0 for all"},
			&cli.BoolFlag{Name: "patch", Aliases: []string{"p"}, Usage: "with the diff of each commit"},
			&cli.BoolFlag{Name: "changes", Usage: "with the changed paths of each commit"},
			&cli.StringFlag{Name: "op", Usage: "only the `OPERATION` remember, update, forget, adopt, revert, ..."},
			&cli.StringFlag{Name: "actor", Usage: "only what the `ACTOR` user, agent, ... did"},
			&cli.StringFlag{Name: "session", Usage: "only the session `ID`"},
			&cli.StringFlag{Name: "since", Usage: "only at or after `TIME`: 2026-01-31, RFC 3339, or 7d, 12h ago"},
			&cli.StringFlag{Name: "until", Usage: "only before `TIME`"},
			&cli.StringFlag{Name: "rev", Usage: "start from the revision `REV` instead of HEAD"},
		},
		Run: runLog,
	}
}

func runLog(ctx context.Context, e *console.Env, in *console.Input) error {
	o := agent.LogOptions{Patch: in.Bool("patch"), LogOptions: vault.LogOptions{
		Limit: in.Int("limit"), Op: vault.Op(in.String("op")), Actor: in.String("actor"), Session: in.String("session"),
		Changes: in.Bool("changes") || e.JSON, Rev: in.String("rev"),
	}}
	if len(in.Words) > 0 {
		o.Ref = in.Words[0]
	}
	var errs [2]error
	o.Since, errs[0] = e.Time(in.String("since"))
	o.Until, errs[1] = e.Time(in.String("until"))
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	return e.With(ctx, true, func(a *agent.App) error {
		log, err := a.History().Log(ctx, o)
		if err != nil {
			return err
		}
		if len(log.Commits) == 0 {
			e.Note("no commits")
		}
		return e.ShowPaged(ctx, log, func(p *console.Printer) {
			for _, c := range log.Commits {
				p.Printf("%s  %s  %s  (%s)\n", p.Paint(console.Cyan, c.Rev.Short()), console.Day(c.At()),
					console.Line1(c.Subject), console.Line1(c.Author))
				printChanges(p, c.Changes)
				printDiff(p, c.Diff)
			}
		})
	})
}

func printChanges(p *console.Printer, changes []vault.Change) {
	for _, c := range changes {
		p.Printf("    %-8s  %s\n", c.Status, pathsOf(c))
	}
}

// pathsOf is the path of a change, "FROM -> TO" for a move.
func pathsOf(c vault.Change) string {
	path := console.Line1(string(c.Path))
	if c.From != "" {
		path = console.Line1(string(c.From)) + " -> " + path
	}
	return path
}

// printDiff prints a diff and an empty line; nothing without one.
func printDiff(p *console.Printer, diff string) {
	if diff != "" {
		p.Diff(diff)
		p.Printf("\n")
	}
}
