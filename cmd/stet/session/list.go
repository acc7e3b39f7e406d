package session

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strings"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/vault/session"
)

func runList(ctx context.Context, e *console.Env, in *console.Input, _ []string) error {
	f := agent.SessionFilter{
		Agent: in.String("agent"), Project: in.String("project"), OpenOnly: in.Bool("open"), Limit: in.Int("limit"),
	}
	var err error
	if f.Since, f.Until, err = in.Span(e); err != nil {
		return err
	}
	return console.Reading(ctx, e, func(a *agent.App) (*agent.SessionList, error) {
		list, err := a.Sessions().List(ctx, f)
		if err == nil && list.Total == 0 {
			e.Note("no sessions")
		}
		return list, err
	}, func(p *console.Printer, list *agent.SessionList) {
		for _, s := range list.Sessions {
			printSession(p, s)
		}
	})
}

// printSession prints a session on a line: on a terminal one that fits, with the end of its id, which names it.
func printSession(p *console.Printer, s session.Known) {
	where := console.Line1(string(s.Path))
	if s.Open {
		where = "open"
	}
	project := s.Project
	id, title, wide := s.ID, console.Line1(s.Title), p.Room("", widest) == widest
	if !wide {
		id, project = short(id), path.Base(strings.ReplaceAll(project, `\`, "/"))
	}
	who := ""
	for _, part := range []string{s.Agent, project} {
		if part != "" && part != "." {
			who += "  " + console.Line1(part)
		}
	}
	if wide || s.Open {
		who += "  " + where
	}
	head := fmt.Sprintf("  %s  %4d  ", console.Day(cmp.Or(s.Ended, s.Started)), s.Messages)
	p.Printf("%s%s%s%s\n", p.Paint(console.Cyan, id), head, cut(title, p.Room(id+head+who, widest)), who)
}

// widest is more than a line of a terminal has.
const widest = 1 << 20
