package history

import (
	"context"
	"fmt"

	"stet/agent"
	"stet/cmd/stet/cells"
	"stet/cmd/stet/console"
	"stet/vault"
)

func logCommand() *console.Command {
	return &console.Command{
		Name: "log", Group: console.History,
		Summary: "show what was written, newest first",
		Args:    "[MEMORY]", MaxArgs: 1,
		Details: `With a memory, its own history, followed through moves. "git log" shows the same commits.`,
		Examples: `stet log  # the newest twenty commits
			stet log gate-code -p  # one memory with its diffs
			stet log --actor agent --since 7d  # what agents did this week
			stet log --session 01jd7q8r5t9v3x6y2z4a7c0e1f --changes  # one session's writes`,
		Flags: console.Flags(
			console.Number("limit n", "at most `N` commits, 0 for all", 20),
			console.Bool("patch p", "with the diff of each commit"),
			console.Bool("changes", "with the changed paths of each commit"),
			console.Text("op", "only the `OPERATION` remember, update, forget (or delete), adopt, revert, ..."),
			console.Text("actor", "only what the `ACTOR` user, agent, ... did"),
			console.Text("session", "only the session `ID`"),
			console.Text("since", "only at or after `TIME`: today, 2026-01-31, 7d, \"2 weeks ago\""),
			console.Text("until", "only before `TIME`; a day, week, month or year counts to its end"),
			console.Text("rev", "start from the revision `REV` instead of HEAD"),
		),
		Run: runLog,
	}
}

func runLog(ctx context.Context, e *console.Env, in *console.Input) error {
	o := agent.LogOptions{Ref: in.Word(0), Patch: in.Bool("patch"), LogOptions: vault.LogOptions{
		Limit: in.Int("limit"), Op: vault.Op(in.String("op")), Actor: in.String("actor"), Session: in.String("session"),
		Changes: in.Bool("changes") || e.JSON, Rev: in.String("rev"),
	}}
	var err error
	if o.Since, o.Until, err = in.Span(e); err != nil {
		return err
	}
	most, more := o.Limit, false
	if e.OutTerminal && !e.JSON && most > 0 {
		o.Limit++ // to know whether there are more
	}
	err = console.Reading(ctx, e, func(a *agent.App) (*agent.Log, error) {
		log, err := a.History().Log(ctx, o)
		switch {
		case err != nil:
			return nil, err
		case len(log.Commits) == 0:
			e.Note("no commits")
		case most > 0 && len(log.Commits) > most:
			log.Commits, more = log.Commits[:most], true
		}
		return log, nil
	}, func(p *console.Printer, log *agent.Log) {
		if p.OutTerminal {
			printRows(p, log.Commits)
			return
		}
		for _, c := range log.Commits {
			p.Folded(fmt.Sprintf("%s  %s  %s  (%s)", p.Paint(console.Cyan, c.Rev.Short()), console.Day(c.At()),
				console.Line1(c.Subject), console.Line1(c.Writer())), 4)
			printChanges(p, c.Changes)
			printDiff(p, c.Diff)
		}
	})
	if err == nil && more {
		e.Note("more with -n 0")
	}
	return err
}

// printRows shows commits on a terminal, a line each, with what was asked for below it.
func printRows(p *console.Printer, commits []agent.Commit) {
	rows := make([]cells.Row, 0, len(commits))
	for _, c := range commits {
		rows = append(rows, cells.Row{Name: c.Rev.Short(), At: c.At(), Who: c.Writer(), Text: c.Subject})
	}
	p.Rows(rows, func(i int) {
		printChanges(p, commits[i].Changes)
		printDiff(p, commits[i].Diff)
	})
}

func printChanges(p *console.Printer, changes []vault.Change) {
	for _, c := range changes {
		p.Printf("    %-8s  %s\n", c.Status, p.CutPath(console.Paths(c), len("    modified  ")))
	}
}

// printDiff prints a diff and an empty line; nothing without one.
func printDiff(p *console.Printer, diff string) {
	if diff != "" {
		p.Diff(diff)
		p.Printf("\n")
	}
}
