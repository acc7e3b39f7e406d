package links

import (
	"errors"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"stet/markdown"
	"stet/vault"
)

// Takes lists the links of other files that lead to p with what it holds after a change, and would lead to another
// live file without it: the target is that one. Before is nil for a file that is new there; one that keeps its
// names takes nothing.
func (g *Graph) Takes(p vault.Path, before, after []byte) (out []Edge, err error) {
	called := namesIn(markdown.Parse(after))
	if before != nil && slices.Equal(called, namesIn(markdown.Parse(before))) {
		return nil, nil
	}
	base := markdown.Fold(p.Base())
	mine := map[string]bool{base: true, strings.TrimSuffix(base, path.Ext(base)): true}
	for _, name := range called {
		mine[markdown.Fold(name)] = true
	}
	found := g.filter(func(e Edge) bool {
		return e.From != p && (mine[markdown.Fold(e.Link.Target)] || mine[markdown.Fold(path.Base(e.Link.Target))])
	})
	if len(found) == 0 {
		return nil, nil
	}
	root, err := os.OpenRoot(g.root)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	others := slices.DeleteFunc(slices.Clone(g.all.files), func(q vault.Path) bool { return q == p })
	names := maps.Clone(g.all.called)
	names[p] = called
	without := newTable(others, names, existing(root))
	with := newTable(append(others, p), names, existing(root))
	for _, e := range found {
		was := without.resolve(e.From, e.Link)
		if was.State == Live && was.Path != p && !g.hidden(was.Path) && with.resolve(e.From, e.Link).Path == p {
			out = append(out, Edge{From: e.From, Link: e.Link, Target: was})
		}
	}
	return out, nil
}
