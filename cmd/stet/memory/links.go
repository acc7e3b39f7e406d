package memory

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/vault"
	"stet/vault/links"
)

func linksCommand() *console.Command {
	return &console.Command{
		Name: "links", Group: console.Memory,
		Summary: "show where links lead, what leads to a memory, and dead ends",
		Args:    "[MEMORY]", MaxArgs: 1,
		Details: "[[name]], [[path]], [[title]], [[alias]] and [text](path.md) are links; nothing inside\n" +
			"code is. A name that several files have means the one in the same folder, else the one\n" +
			"nearest to the root. Files are read as they are on disk.",
		Examples: []console.Example{
			{Line: "stet links gate-code", Says: "where its links lead"},
			{Line: "stet links gate-code --back", Says: "what links to it"},
			{Line: "stet links --dead", Says: "links that lead to nothing"},
			{Line: "stet links --orphans", Says: "memories and notes that nothing links to"},
		},
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "back", Aliases: []string{"b"}, Usage: "links to the memory instead of links in it"},
			&cli.BoolFlag{Name: "dead", Usage: "only links that lead to nothing"},
			&cli.BoolFlag{Name: "orphans", Usage: "memories and notes that no other file links to"},
		},
		Run: runLinks,
	}
}

func runLinks(ctx context.Context, e *console.Env, in *console.Input) error {
	named, orphans := len(in.Words) == 1, in.Bool("orphans")
	o := agent.LinksOptions{Back: in.Bool("back"), Dead: in.Bool("dead")}
	switch {
	case o.Back && !named:
		return agent.Usagef("--back needs a memory").Suggest("stet links MEMORY --back")
	case orphans && (named || o.Dead):
		return agent.Usagef("--orphans stands alone")
	case o.Back && o.Dead:
		return agent.Usagef("--back and --dead exclude each other: a dead link leads to no memory")
	case named:
		o.Ref = in.Words[0]
	}
	return e.With(ctx, true, func(a *agent.App) error {
		if orphans {
			return showOrphans(ctx, e, a)
		}
		found, err := a.Memories().Links(ctx, o)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			e.Note("no links")
		}
		result := struct {
			Links []agent.Link `json:"links"`
		}{found}
		return e.Show(result, func(p *console.Printer) { printLinks(p, found) })
	})
}

func printLinks(p *console.Printer, found []agent.Link) {
	for _, x := range found {
		to := string(x.To)
		switch x.State {
		case links.Dead:
			to = "nothing"
		case links.Outside:
			to = "outside the vault"
		case links.Archived:
			to += "  [archived]"
		}
		at := p.Paint(console.Cyan, console.Line1(fmt.Sprintf("%s:%d", x.From, x.Line)))
		p.Printf("%s  %s -> %s\n", at, console.Line1(x.Target), console.Line1(to))
	}
}

func showOrphans(ctx context.Context, e *console.Env, a *agent.App) error {
	found, err := a.Memories().Orphans(ctx)
	if err != nil {
		return err
	}
	result := struct {
		Orphans []vault.Path `json:"orphans"`
	}{found}
	return e.Show(result, func(p *console.Printer) {
		for _, file := range found {
			p.Printf("%s\n", console.Line1(string(file)))
		}
	})
}
