package history

import (
	"context"
	"fmt"
	"strings"

	"stet/agent"
	"stet/cmd/stet/cells"
	"stet/cmd/stet/choice"
	"stet/cmd/stet/console"
)

func blameCommand() *console.Command {
	return &console.Command{
		Name: "blame", Group: console.History,
		Summary: "show for each line of a file who wrote it, and in which commit",
		Args:    "[MEMORY]", MinArgs: 1, MaxArgs: 1, Picks: true,
		Details: `Each line names the user or the agent, and the session where the commit has one, followed
			through renames and merges. Lines that are not committed are marked so.`,
		Examples: `stet blame USER.md  # who wrote which line of the profile
			stet blame gate-code --rev HEAD~5  # as the file was five commits ago
			stet blame gate-code --json  # for a program
			stet blame  # choose one on a terminal`,
		Flags: console.Flags(
			console.Text("rev", "the file as it was in the revision `REV` instead of on disk"),
		),
		Run: runBlame,
	}
}

func runBlame(ctx context.Context, e *console.Env, in *console.Input) error {
	return console.Reading(ctx, e, func(a *agent.App) (*agent.Blame, error) {
		words, err := choice.Named(ctx, e, a, in.Words, false)
		if err != nil {
			return nil, err
		}
		return a.History().Blame(ctx, words[0], in.String("rev"))
	}, printBlame)
}

func printBlame(p *console.Printer, blame *agent.Blame) {
	width, lines := 0, blame.Lines
	names := make([]string, len(lines))
	for i, l := range lines {
		names[i] = writer(l.Origin)
		width = max(width, cells.Width(names[i]))
	}
	digits := len(fmt.Sprint(len(lines)))
	for i, l := range lines {
		rev, day := strings.Repeat("0", 10), strings.Repeat(" ", len("2006-01-02 15:04"))
		if l.Origin != nil {
			rev, day = l.Origin.Rev.Short(), console.Day(l.Origin.When)
		}
		pad := strings.Repeat(" ", width-cells.Width(names[i]))
		head := fmt.Sprintf("%s  %s%s  %s  %*d) ", rev, names[i], pad, day, digits, l.Number)
		if p.OutTerminal { // the text needs the room
			head = fmt.Sprintf("%s  %s%s  %*d) ", rev, names[i], pad, digits, l.Number)
		}
		rest := strings.TrimPrefix(head, rev) + p.Stored(l.Text)
		p.Folded(p.Paint(console.Cyan, rev)+rest+"\n", cells.Width(head))
	}
}

// writer names who wrote a line: a user or an agent, and the session.
func writer(o *agent.Origin) string {
	if o == nil {
		return "(not committed)"
	}
	kind := o.Kind
	if kind == "agent" {
		kind = console.Line1(o.Actor)
	}
	if o.Session != "" {
		kind += ", session " + console.Line1(o.Session)
	}
	return console.Line1(o.Writer()) + " (" + kind + ")"
}
