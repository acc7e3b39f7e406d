package history

import (
	"context"
	"fmt"
	"strings"
	"time"

	"stet/agent"
	"stet/cmd/stet/cells"
	"stet/cmd/stet/choice"
	"stet/cmd/stet/console"
	"stet/vault"
)

func historyCommand() *console.Command {
	return &console.Command{
		Name: "history", Group: console.History,
		Summary: "show every version of one memory or file, through its moves",
		Args:    "[MEMORY]", MinArgs: 1, MaxArgs: 1, Picks: true,
		Details: `Newest first: when, who, what was done, through which door and session, and how many lines came
			and went; on a terminal without -p in one line, who and what only. A file is followed through renames and
			edits by its id, into the archive and back, and through merges made by hand.`,
		Examples: `stet history gate-code  # every version of one memory
			stet history notes/plan.md -p -n 3  # the last three with their diffs
			stet history USER.md#1a2b3c4d  # one entry of a notebook, through its replacements
			stet history 01jd7q --json  # for a program
			stet history  # choose one on a terminal`,
		Flags: console.Flags(
			console.Number("limit n", "at most `N` versions, 0 for all"),
			console.Bool("patch p", "with the diff of each version"),
			console.Text("rev", "start from the revision `REV` instead of HEAD"),
		),
		Run: runHistory,
	}
}

func runHistory(ctx context.Context, e *console.Env, in *console.Input) error {
	o := agent.VersionsOptions{
		Rev: in.String("rev"), Limit: in.Int("limit"), Patch: in.Bool("patch"),
	}
	return e.With(ctx, true, func(a *agent.App) error {
		words, err := choice.Named(ctx, e, a, in.Words, false)
		if err != nil {
			return err
		}
		h := a.History()
		if o.Ref = words[0]; h.IsEntry(o.Ref) {
			return entryHistory(ctx, e, h, o)
		}
		all, err := h.Versions(ctx, o)
		if err != nil {
			return err
		}
		switch {
		case len(all.Versions) == 0:
			e.Note("%s is not committed yet", all.Path)
		case all.Uncommitted:
			e.Note("%s has edits that are not committed", all.Path)
		}
		return e.ShowPaged(ctx, all, func(p *console.Printer) {
			if p.OutTerminal && !o.Patch {
				rows := make([]cells.Row, 0, len(all.Versions))
				for _, v := range all.Versions {
					lines := fmt.Sprintf("+%d -%d", v.Added, v.Removed)
					rows = append(rows, version(v.Rev, v.When, v.Origin, v.Subject, lines))
				}
				p.Rows(rows)
				return
			}
			for _, v := range all.Versions {
				p.Folded(fmt.Sprintf("%s  %s  +%d -%d  %s", p.Paint(console.Cyan, v.Rev.Short()), console.Day(v.When),
					v.Added, v.Removed, console.Line1(v.Subject)), 4)
				printOrigin(p, v.Origin, v.Status+" "+console.Paths(v.Change))
				printDiff(p, v.Diff)
			}
		})
	})
}

// entryHistory shows the versions of one entry of a notebook.
func entryHistory(ctx context.Context, e *console.Env, h agent.History, o agent.VersionsOptions) error {
	all, err := h.EntryVersions(ctx, o)
	if err != nil {
		return err
	}
	return e.ShowPaged(ctx, all, func(p *console.Printer) {
		if p.OutTerminal && !o.Patch {
			rows := make([]cells.Row, 0, len(all.Versions))
			for _, v := range all.Versions {
				rows = append(rows, version(v.Rev, v.When, v.Origin, v.Subject, ""))
			}
			p.Rows(rows)
			return
		}
		for _, v := range all.Versions {
			p.Folded(fmt.Sprintf("%s  %s  %s", p.Paint(console.Cyan, v.Rev.Short()), console.Day(v.When),
				console.Line1(v.Subject)), 4)
			printOrigin(p, v.Origin, v.Status+" in "+console.Line1(string(v.Path)))
			printSide(p, "-", console.Red, v.Old)
			printSide(p, "+", console.Green, v.New)
		}
	})
}

// version is one version on a terminal, in one line.
func version(rev vault.Revision, at time.Time, o agent.Origin, subject, lines string) cells.Row {
	return cells.Row{Name: rev.Short(), At: at, Who: o.Writer(), Text: subject, Tail: lines}
}

func printSide(p *console.Printer, mark, colour, text string) {
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		p.Printf("%s\n", p.Paint(colour, mark+p.Stored(line)))
	}
}

// printOrigin prints who made a commit, what it did, and what led to it as far as it says.
func printOrigin(p *console.Printer, o agent.Origin, did ...string) {
	who := console.Line1(o.Writer())
	if o.Kind == "agent" {
		who += " (" + console.Line1(o.Actor) + ")"
	}
	parts := append([]string{who}, did...)
	for _, r := range [...]struct{ name, value string }{
		{"through", o.Door}, {"session", o.Session}, {"run", o.Run}, {"rule", o.Rule},
		{"approved by", o.Approved}, {"why:", o.Why},
	} {
		if r.value != "" {
			parts = append(parts, r.name+" "+console.Line1(r.value))
		}
	}
	p.Folded("    "+strings.Join(parts, "; "), 6)
}
