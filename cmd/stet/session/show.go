package session

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/templates"
)

func runShow(ctx context.Context, e *console.Env, in *console.Input, words []string) error {
	o := agent.SessionPart{
		Ref: words[0], From: in.Int("from"), To: in.Int("to"), Around: in.Int("around"), Budget: in.Int("budget"),
	}
	if o.Around > 0 && (in.IsSet("from") || in.IsSet("to") || in.Bool("all")) {
		return agent.Usagef("--around cannot be used with --from, --to or --all")
	}
	if in.Bool("all") {
		o.Budget = -1
	}
	return e.With(ctx, true, func(a *agent.App) error {
		var err error
		if o.Ref, err = a.Sessions().Meant(ctx, "", o.Ref); err != nil {
			return err
		}
		page, err := a.Sessions().Show(ctx, o)
		if err != nil {
			return err
		}
		if len(page.Messages) == 0 {
			e.Note("no such messages: the session has %d", page.Total)
		}
		err = e.ShowPaged(ctx, page, func(p *console.Printer) {
			printSession(p, page.Session)
			if at := page.Session.Path; at != "" && p.OutTerminal {
				p.Printf("%s\n", console.Line1(string(at)))
			}
			printLines(p, page.Messages)
		})
		if err == nil && page.Next > 0 && o.Around == 0 && (o.To == 0 || page.Next <= o.To) {
			e.Note("it goes on: stet session show %s --from %d", templates.Quote(o.Ref), page.Next)
		}
		return err
	})
}

func printLines(p *console.Printer, lines []agent.Message) {
	for _, l := range lines {
		who := console.Line1(cmp.Or(l.Name, l.Role))
		mark := " "
		if l.Hit {
			mark = "*"
		}
		who += superseded(l.SupersededBy) + flagged(l.Label)
		head := fmt.Sprintf("%d  %s  %s", l.Number, who, console.Day(l.Time))
		p.Printf("\n%s%s\n", mark, p.Paint(console.Bold, head))
		for text := range strings.Lines(p.Stored(l.Text)) {
			text = "  " + strings.TrimRight(text, "\r\n")
			if l.Role == "tool" {
				p.Printf("%s\n", text) // what is in columns stays so
			} else {
				p.Folded(text+"\n", 2)
			}
		}
		for _, c := range l.Calls {
			given := strings.TrimRight(p.Stored(c.Name+"  "+c.Arguments), "\n ")
			if c.Changes != "" {
				given += "  " + c.Changes
			}
			p.Folded("  -> "+strings.ReplaceAll(given, "\n", "\n     ")+"\n", 5)
		}
		switch {
		case l.More > 0:
			p.Printf("  [+%s: --from %d --to %[2]d]\n", agent.Plural(l.More, "line"), l.Number)
		case l.Cut:
			p.Printf("  […]\n")
		}
	}
}

// flagged names the rules about orders to a model that a message meets.
func flagged(l agent.Label) string {
	if len(l.Flags) == 0 {
		return ""
	}
	return "  [flagged: " + strings.Join(l.Flags, ", ") + "]"
}

func superseded(by string) string {
	if by == "" {
		return ""
	}
	return "  [superseded by " + console.Line1(by) + "]"
}
