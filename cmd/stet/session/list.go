package session

import (
	"cmp"
	"context"

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

func printSession(p *console.Printer, s session.Known) {
	where := console.Line1(string(s.Path))
	if s.Open {
		where = "open"
	}
	who := ""
	for _, part := range []string{s.Agent, s.Project} {
		if part != "" {
			who += "  " + console.Line1(part)
		}
	}
	p.Printf("%s  %s  %4d  %s%s  %s\n", p.Paint(console.Cyan, s.ID), console.Day(cmp.Or(s.Ended, s.Started)),
		s.Messages,
		console.Line1(s.Title), who, where)
}
