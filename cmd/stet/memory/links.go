package memory

import (
	"context"
	"fmt"

	"stet/agent"
	"stet/cmd/stet/choice"
	"stet/cmd/stet/console"
	"stet/vault/links"
)

func linksCommand() *console.Command {
	return &console.Command{
		Name: "links", Group: console.Memory,
		Summary: "show where links lead, what leads to a memory, and dead ends",
		Args:    "[MEMORY]", MaxArgs: 1,
		Details: `[[name]], [[path]], [[title]], [[alias]] and [text](path.md) are links; nothing inside code is.
			A name that several files have means the one in the same folder, else the one nearest to the root. A file
			that is no Markdown is named with its extension, and shown as an attachment. Files are read as they are on
			disk.`,
		Examples: `stet links gate-code  # where its links lead
			stet links gate-code --back  # what links to it
			stet links --dead  # links that lead to nothing
			stet links --orphans  # memories and notes that nothing links to`,
		Flags: console.Flags(
			console.Bool("back b", "links to the memory instead of links in it"),
			console.Bool("dead", "only links that lead to nothing"),
			console.Bool("orphans", "memories and notes that no other file links to"),
		),
		Run: runLinks,
	}
}

func runLinks(ctx context.Context, e *console.Env, in *console.Input) error {
	o := agent.LinksOptions{Ref: in.Word(0), Back: in.Bool("back"), Dead: in.Bool("dead")}
	switch orphans := in.Bool("orphans"); {
	case o.Back && o.Ref == "" && !e.CanAsk():
		return agent.Usagef("--back needs a memory").Suggest("stet links MEMORY --back")
	case orphans && (o.Ref != "" || o.Dead):
		return agent.Usagef("--orphans stands alone")
	case o.Back && o.Dead:
		return agent.Usagef("--back and --dead cannot be used together: a dead link leads to no memory")
	case orphans:
		return console.Reading(ctx, e,
			func(a *agent.App) (*agent.OrphanList, error) {
				found, err := a.Memories().Orphans(ctx)
				if err == nil && len(found.Orphans) == 0 {
					e.Note("no orphans: something links to each")
				}
				return found, err
			},
			func(p *console.Printer, found *agent.OrphanList) {
				for _, file := range found.Orphans {
					p.Printf("%s\n", console.Line1(string(file)))
				}
			})
	}
	none := "no links"
	switch {
	case o.Dead:
		none = "no dead links: each leads to something"
	case o.Back:
		none = "nothing links there"
	}
	return console.Reading(ctx, e, func(a *agent.App) (*agent.LinkList, error) {
		if o.Ref != "" || o.Back {
			words, err := choice.Named(ctx, e, a, in.Words, false)
			if err != nil {
				return nil, err
			}
			o.Ref = words[0]
		}
		found, err := a.Memories().Links(ctx, o)
		if err == nil && len(found.Links) == 0 {
			e.Note("%s", none)
		}
		return found, err
	}, printLinks)
}

func printLinks(p *console.Printer, found *agent.LinkList) {
	for _, x := range found.Links {
		to := string(x.To)
		switch x.State {
		case links.Dead:
			to = "nothing"
		case links.Outside:
			to = "outside the vault"
		case links.Archived:
			to += "  [archived]"
		case links.Attachment:
			to += "  [attachment]"
		}
		at := p.Paint(console.Cyan, console.Line1(fmt.Sprintf("%s:%d", x.From, x.Line)))
		p.Folded(fmt.Sprintf("%s  %s -> %s", at, console.Line1(x.Target), console.Line1(to)), indent)
	}
}
