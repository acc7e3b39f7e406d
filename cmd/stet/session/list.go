package session

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strings"

	"stet/agent"
	"stet/cmd/stet/cells"
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
		if p.OutTerminal {
			p.Rows(rowsOf(list.Sessions))
			return
		}
		for _, s := range list.Sessions {
			printSession(p, s)
		}
	})
}

// rowsOf shows sessions on a terminal, a line each, with the end of the id, which names it.
func rowsOf(all []session.Known) []cells.Row {
	rows := make([]cells.Row, 0, len(all))
	for _, s := range all {
		var about []string
		for _, part := range []string{s.Agent, path.Base(strings.ReplaceAll(s.Project, `\`, "/"))} {
			if part != "" && part != "." {
				about = append(about, part)
			}
		}
		if s.Open {
			about = append(about, "open")
		}
		rows = append(rows, cells.Row{Name: short(s.ID), At: cmp.Or(s.Ended, s.Started),
			Who: fmt.Sprintf("%4d", s.Messages), Text: s.Title, Tail: strings.Join(about, "  ")})
	}
	return rows
}

// printSession prints a session on a line: on a terminal one that fits.
func printSession(p *console.Printer, s session.Known) {
	if p.OutTerminal {
		p.Rows(rowsOf([]session.Known{s}))
		return
	}
	where := console.Line1(string(s.Path))
	if s.Open {
		where = "open"
	}
	who := ""
	for _, part := range []string{s.Agent, s.Project} {
		if part != "" && part != "." {
			who += "  " + console.Line1(part)
		}
	}
	p.Printf("%s  %s  %4d  %s%s  %s\n", console.Line1(s.ID), console.Day(cmp.Or(s.Ended, s.Started)), s.Messages,
		console.Line1(s.Title), who, where)
}
