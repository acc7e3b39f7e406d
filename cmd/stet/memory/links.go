package memory

import (
	"context"
	"fmt"
	"io"
	"slices"

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

// A linkView is one link under --json.
type linkView struct {
	From     vault.Path  `json:"from"`
	Line     int         `json:"line"`
	Kind     string      `json:"kind"`
	Target   string      `json:"target"` // as written, decoded
	Fragment string      `json:"fragment,omitempty"`
	Text     string      `json:"text,omitempty"`
	To       vault.Path  `json:"to,omitempty"`
	State    links.State `json:"state"`
}

func viewLink(edge links.Edge) linkView {
	l := edge.Link
	return linkView{From: edge.From, Line: l.Line, Kind: string(l.Kind), Target: l.Target, Fragment: l.Fragment, Text: l.Text,
		To: edge.Target.Path, State: edge.Target.State}
}

func runLinks(ctx context.Context, e *console.Env, in *console.Input) error {
	switch named, back, dead, orphans := len(in.Words) == 1, in.Bool("back"), in.Bool("dead"), in.Bool("orphans"); {
	case back && !named:
		return agent.Usagef("--back needs a memory").Suggest("stet links MEMORY --back")
	case orphans && (named || dead):
		return agent.Usagef("--orphans stands alone")
	case back && dead:
		return agent.Usagef("--back and --dead exclude each other: a dead link leads to no memory")
	}
	v, err := e.Reader(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	var p vault.Path
	if len(in.Words) == 1 {
		m, err := v.Resolve(ctx, e.Ref(v, in.Words[0]))
		if err != nil {
			return err
		}
		p = m.Path
	}
	g, err := links.Load(ctx, v)
	if err != nil {
		return err
	}
	if in.Bool("orphans") {
		return printOrphans(e, g.Orphans())
	}
	edges := g.All()
	switch {
	case in.Bool("back"):
		edges = g.Back(p)
	case p != "":
		edges = g.Of(p)
	}
	if in.Bool("dead") {
		edges = slices.DeleteFunc(edges, func(x links.Edge) bool { return x.Target.State != links.Dead })
	}
	return printLinks(e, edges)
}

func printLinks(e *console.Env, edges []links.Edge) error {
	views := make([]linkView, 0, len(edges))
	for _, edge := range edges {
		views = append(views, viewLink(edge))
	}
	if len(edges) == 0 {
		e.Note("no links")
	}
	result := struct {
		Links []linkView `json:"links"`
	}{views}
	return e.Answer(result, func(w io.Writer) error {
		for _, x := range views {
			to := string(x.To)
			switch x.State {
			case links.Dead:
				to = "nothing"
			case links.Outside:
				to = "outside the vault"
			case links.Archived:
				to += "  [archived]"
			}
			at := e.Paint(console.Cyan, console.Line1(fmt.Sprintf("%s:%d", x.From, x.Line)))
			if _, err := fmt.Fprintf(w, "%s  %s -> %s\n", at, console.Line1(x.Target), console.Line1(to)); err != nil {
				return err
			}
		}
		return nil
	})
}

func printOrphans(e *console.Env, found []vault.Path) error {
	result := struct {
		Orphans []vault.Path `json:"orphans"`
	}{append([]vault.Path{}, found...)}
	return e.Answer(result, func(w io.Writer) error {
		for _, p := range found {
			if _, err := fmt.Fprintln(w, console.Line1(string(p))); err != nil {
				return err
			}
		}
		return nil
	})
}
