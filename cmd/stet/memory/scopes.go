package memory

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
)

func scopesCommand() *console.Command {
	return &console.Command{
		Name: "scopes", Group: console.Memory,
		Summary: "show the tree of scopes with the number of memories in each",
		Args:    "[SCOPE]", MaxArgs: 1,
		Examples: []console.Example{
			{Line: "stet scopes", Says: "the whole tree"},
			{Line: "stet scopes /infra", Says: "what is below one scope"},
			{Line: "stet scopes --depth 1", Says: "the top level only"},
		},
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "depth", Usage: "at most `N` levels below the top, 0 for all"},
			&cli.BoolFlag{Name: "archived", Usage: "of what was forgotten or replaced, instead"},
		},
		Run: scopes,
	}
}

func scopes(ctx context.Context, e *console.Env, in *console.Input) error {
	o := agent.ScopesOptions{Depth: in.Int("depth"), Archived: in.Bool("archived")}
	if len(in.Words) == 1 {
		o.Scope = in.Words[0]
	}
	return e.With(ctx, true, func(a *agent.App) error {
		found, err := a.Memories().Scopes(ctx, o)
		if err != nil {
			return err
		}
		result := struct {
			Scopes []agent.Scope `json:"scopes"`
		}{found}
		return e.Show(result, func(p *console.Printer) { printScopes(p, found) })
	})
}

// printScopes indents each scope below its parent and names it by its last
// part; the counts stand in one column.
func printScopes(p *console.Printer, found []agent.Scope) {
	label := func(s agent.Scope) string {
		if s.Scope == found[0].Scope {
			return s.Scope
		}
		return strings.Repeat("  ", s.Depth()-found[0].Depth()) + path.Base(s.Scope) + "/"
	}
	width := 0
	for _, s := range found {
		width = max(width, len([]rune(label(s))))
	}
	for _, s := range found {
		text := label(s)
		count := fmt.Sprint(s.Below)
		if s.Here != s.Below && s.Here > 0 {
			count += fmt.Sprintf("  (%d here)", s.Here)
		}
		gap := strings.Repeat(" ", width-len([]rune(text)))
		p.Printf("%s%s  %s\n", p.Paint(console.Cyan, console.Clean(text)), gap, count)
	}
}
