package memory

import (
	"context"

	"stet/agent"
	"stet/cmd/stet/console"
)

func tagsCommand() *console.Command {
	return &console.Command{
		Name: "tags", Group: console.Memory,
		Summary: "list tags and categories with the number of files that have them",
		Args:    "[TAG]", MaxArgs: 1,
		Details: `A tag is a category of the front matter (categories, tags) or a #tag in the text of a memory, note or
			notebook. Upper and lower case are one; work/home is below work.`,
		Examples: `stet tags  # all, the most used first
			stet tags work  # work and what is below it
			stet tags && stet list '#work'  # and the files that have one`,
		Flags: console.Flags(console.Number("limit n", "at most `N`")),
		Run:   tags,
	}
}

func tags(ctx context.Context, e *console.Env, in *console.Input) error {
	return console.Reading(ctx, e, func(a *agent.App) (*agent.TagList, error) {
		found, err := a.Memories().Tags(ctx, in.Word(0))
		if err != nil {
			return nil, err
		}
		if len(found.Tags) == 0 {
			e.Note("no tags")
		}
		if n := in.Int("limit"); n > 0 && n < len(found.Tags) {
			found.Tags = found.Tags[:n]
		}
		return found, nil
	}, func(p *console.Printer, found *agent.TagList) {
		for _, t := range found.Tags {
			p.Printf("%6d  %s\n", t.Files, p.Paint(console.Cyan, console.Line1(t.Tag)))
		}
	})
}
