package memory

import (
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
	"stet/vault/links"
)

func moveCommand() *console.Command {
	return &console.Command{
		Name: "move", Aliases: []string{"mv"}, Group: console.Memory,
		Summary: "move or rename memories and notes; links follow",
		Args:    "MEMORY... SCOPE | MEMORY PATH | SCOPE SCOPE", MinArgs: 2, MaxArgs: -1,
		Details: "The last argument is a scope (/infra/db), a folder (memories/infra/), or for one file its\n" +
			"new path (memories/infra/gate.md). A first argument that begins with \"/\" is a whole\n" +
			"scope. Links to what moved, in memories, notebooks and skills, are rewritten in the same\n" +
			"commit, and so are the links in what moved; nothing inside code is a link. Links in notes\n" +
			"of yours are listed, and rewritten with --rewrite-notes. Ids and history go with the file.",
		Examples: []console.Example{
			{Line: "stet move gate-code /house/doors", Says: "one memory into a scope"},
			{Line: "stet move gate-code memories/house/front-door.md", Says: "and rename it"},
			{Line: "stet move /infra /ops/infra", Says: "a whole scope"},
			{Line: "stet move /infra /ops --dry-run", Says: "see every line that would change"},
		},
		Flags: slices.Concat([]cli.Flag{
			&cli.BoolFlag{Name: "rewrite-notes", Usage: "rewrite links in notes as well"},
			&cli.StringFlag{Name: "message", Aliases: []string{"m"}, Usage: "the commit's subject, a line of `TEXT`"},
		}, console.WriteFlags()),
		Run: move,
	}
}

func move(ctx context.Context, e *console.Env, in *console.Input) error {
	v, _, err := e.Writer(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	r, err := moveRequest(ctx, e, v, in)
	if err != nil {
		return err
	}
	w := e.WriteInSession(in)
	w.Message, w.Given = in.String("message"), in.Words[len(in.Words)-1:]
	res, err := links.Move(ctx, v, r, w)
	if err != nil {
		return err
	}
	return e.WroteMore(ctx, v, res.Result, console.More{Verb: "moved", Lines: moveLines(e, res), Links: viewRewrites(res)})
}

func moveRequest(ctx context.Context, e *console.Env, v *vault.Vault, in *console.Input) (links.Request, error) {
	last := len(in.Words) - 1
	words, to := in.Words[:last], in.Words[last]
	r := links.Request{RewriteNotes: in.Bool("rewrite-notes")}
	var err error
	if r.To, r.File, err = destination(e, v, to); err != nil {
		return r, err
	}
	for _, word := range words {
		if strings.HasPrefix(word, "/") && e.Ref(v, word) == word {
			if len(words) > 1 {
				return r, agent.Usagef("a scope moves alone: %q is one of %d", word, len(words))
			}
			r.Scope = path.Clean(word)
			continue
		}
		m, err := v.Resolve(ctx, e.Ref(v, word))
		if err != nil {
			return r, err
		}
		r.From = append(r.From, m)
	}
	return r, nil
}

// destination reads the last argument: a scope, a folder, a Markdown file.
func destination(e *console.Env, v *vault.Vault, word string) (to vault.Path, file bool, err error) {
	inside := e.Ref(v, word) != word // an absolute path that leads into the vault
	if strings.HasPrefix(word, "/") && !inside {
		if to = vault.Path(path.Join("memories", word)); e.Exists(v, to) {
			return to, false, nil // a person's own folder keeps its name
		}
		to, err = vault.ScopeFolder(word)
		return to, false, err
	}
	if to, err = e.Path(v, word); err != nil {
		return to, false, err
	}
	switch folder := strings.HasSuffix(word, "/") || strings.HasPrefix(string(to)+"/", "memories/"); {
	case to.IsMarkdown():
		return to, true, nil
	case folder:
		return to, false, nil
	}
	return to, false, agent.Usagef("%q is neither a scope, a folder nor a Markdown file", word).
		Suggest("a scope begins with \"/\": /%s", strings.TrimPrefix(word, "/"))
}

func moveLines(e *console.Env, res *links.Result) func(w io.Writer, verb string) error {
	return func(w io.Writer, verb string) error {
		for i, m := range res.Moves {
			if i == maxLines {
				if _, err := fmt.Fprintf(w, "… and %d more\n", len(res.Moves)-i); err != nil {
					return err
				}
				break
			}
			if _, err := fmt.Fprintf(w, "%s  %s -> %s%s\n", verb, console.Line1(string(m[0])), console.Line1(string(m[1])), e.Where()); err != nil {
				return err
			}
		}
		if err := rewriteLines(w, "link in", res.Rewritten); err != nil {
			return err
		}
		return rewriteLines(w, "left alone in", res.Listed)
	}
}

// maxLines bounds a list that a person reads; --json has all of it.
const maxLines = 50

func rewriteLines(w io.Writer, label string, rewrites []links.Rewrite) error {
	for i, r := range rewrites {
		if i == maxLines {
			_, err := fmt.Fprintf(w, "  %s … and %d more\n", label, len(rewrites)-i)
			return err
		}
		text := fmt.Sprintf("%s:%d  %s", r.Path, r.Line, r.Old)
		if r.New != "" {
			text += " -> " + r.New
		}
		if r.Why != "" {
			text += "  (" + r.Why + ")"
		}
		if _, err := fmt.Fprintf(w, "  %s %s\n", label, console.Line1(text)); err != nil {
			return err
		}
	}
	return nil
}

// A moveView is what move adds to the answer of a write under --json.
type moveView struct {
	Moves     [][2]vault.Path `json:"moves"`
	Rewritten []links.Rewrite `json:"rewritten"` // in the same commit
	Listed    []links.Rewrite `json:"listed"`    // left to the person
}

func viewRewrites(res *links.Result) moveView {
	return moveView{append([][2]vault.Path{}, res.Moves...), append([]links.Rewrite{}, res.Rewritten...), append([]links.Rewrite{}, res.Listed...)}
}
