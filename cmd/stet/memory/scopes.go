package memory

import (
	"context"
	"fmt"
	"path"
	"strings"

	"stet/agent"
	"stet/cmd/stet/console"
)

func scopesCommand() *console.Command {
	return &console.Command{
		Name: "scopes", Group: console.Memory,
		Summary: "show the tree of scopes with the number of memories in each",
		Args:    "[SCOPE]", MaxArgs: 1,
		Examples: `stet scopes  # the whole tree
			stet scopes /infra  # what is below one scope
			stet scopes --depth 1  # the top level only`,
		Flags: console.Flags(
			console.Number("depth", "at most `N` levels below the top, 0 for all"),
			console.Bool("archived", "of what was forgotten or replaced, instead"),
		),
		Run: scopes,
	}
}

func scopes(ctx context.Context, e *console.Env, in *console.Input) error {
	o := agent.ScopesOptions{Scope: in.Word(0), Depth: in.Int("depth"), Archived: in.Bool("archived")}
	return console.Reading(ctx, e, func(a *agent.App) (*agent.ScopeList, error) { return a.Memories().Scopes(ctx, o) },
		printScopes)
}

// printScopes indents each scope below its parent and names it by its last
// part; the counts stand in one column.
func printScopes(p *console.Printer, list *agent.ScopeList) {
	found := list.Scopes
	label := func(s agent.Scope) string {
		if s.Scope == found[0].Scope {
			return s.Scope
		}
		return strings.Repeat("  ", s.Depth()-found[0].Depth()) + path.Base(s.Scope) + "/"
	}
	width := 0
	for _, s := range found {
		width = max(width, p.Cells(label(s)))
	}
	for _, s := range found {
		text := label(s)
		count := fmt.Sprint(s.Below)
		if s.Here != s.Below && s.Here > 0 {
			count += fmt.Sprintf("  (%d here)", s.Here)
		}
		gap := strings.Repeat(" ", width-p.Cells(text))
		p.Printf("%s%s  %s\n", p.Paint(console.Cyan, console.Clean(text)), gap, count)
	}
}
