package memory

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/vault"
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

// A scopeView is one scope under --json.
type scopeView struct {
	Scope string `json:"scope"`
	Here  int    `json:"here"`  // memories in the scope itself
	Below int    `json:"total"` // and in those below it
}

func scopes(ctx context.Context, e *console.Env, in *console.Input) error {
	v, err := e.Reader(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	top := "/"
	if len(in.Words) == 1 {
		top = "/" + strings.Trim(in.Words[0], "/")
	}
	found, err := countScopes(ctx, v, in.Bool("archived"))
	if err != nil {
		return err
	}
	if _, ok := found[top]; !ok && top != "/" {
		slug := vault.SlugScope(top)
		if _, ok := found[slug]; !ok {
			return &vault.NotFoundError{Ref: top, Near: nearScopes(found, top)}
		}
		top = slug
	}
	var views []scopeView
	for scope, s := range found {
		if vault.InScope(scope, top) && (in.Int("depth") == 0 || depth(scope)-depth(top) <= in.Int("depth")) {
			views = append(views, *s)
		}
	}
	slices.SortFunc(views, func(a, b scopeView) int { return cmp.Compare(a.Scope, b.Scope) })
	result := struct {
		Scopes []scopeView `json:"scopes"`
	}{append([]scopeView{}, views...)}
	return e.Answer(result, func(w io.Writer) error { return printScopes(w, e, top, views) })
}

// countScopes counts memories by folder; "/" is always there.
func countScopes(ctx context.Context, v *vault.Vault, archived bool) (map[string]*scopeView, error) {
	under := vault.Path("memories")
	if archived {
		under = "archive/memories"
	}
	files, err := v.Files(ctx, vault.WalkOptions{Archive: archived, Under: under})
	if err != nil {
		return nil, err
	}
	found := map[string]*scopeView{"/": {Scope: "/"}}
	for _, f := range files {
		for scope := vault.ScopeOf(f.Path); ; scope = path.Dir(scope) {
			s := found[scope]
			if s == nil {
				s = &scopeView{Scope: scope}
				found[scope] = s
			}
			if s.Below++; scope == vault.ScopeOf(f.Path) {
				s.Here++
			}
			if scope == "/" {
				break
			}
		}
	}
	return found, nil
}

func nearScopes(found map[string]*scopeView, word string) []string {
	var names []string
	for scope := range found {
		names = append(names, scope)
	}
	slices.Sort(names)
	if near := agent.Nearest(word, names); near != "" {
		return []string{near}
	}
	return nil
}

func depth(scope string) int { return strings.Count(strings.TrimSuffix(scope, "/"), "/") }

// printScopes indents each scope below its parent and names it by its last
// part; the counts stand in one column.
func printScopes(w io.Writer, e *console.Env, top string, views []scopeView) error {
	label := func(s scopeView) string {
		if s.Scope == top {
			return s.Scope
		}
		return strings.Repeat("  ", depth(s.Scope)-depth(top)) + path.Base(s.Scope) + "/"
	}
	width := 0
	for _, s := range views {
		width = max(width, len([]rune(label(s))))
	}
	for _, s := range views {
		text := label(s)
		count := fmt.Sprint(s.Below)
		if s.Here != s.Below && s.Here > 0 {
			count += fmt.Sprintf("  (%d here)", s.Here)
		}
		gap := strings.Repeat(" ", width-len([]rune(text)))
		if _, err := fmt.Fprintf(w, "%s%s  %s\n", e.Paint(console.Cyan, console.Clean(text)), gap, count); err != nil {
			return err
		}
	}
	return nil
}
