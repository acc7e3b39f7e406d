package memory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/markdown"
	"stet/templates"
	"stet/vault"
)

// NewCommand returns the definition of "stet new".
func NewCommand() *console.Command {
	return &console.Command{
		Name: "new", Group: console.Start,
		Summary: "begin a memory from a form: a decision, a procedure, one of your own",
		Args:    "[KIND TITLE...]", MaxArgs: -1,
		Details: "A form is a Markdown file. Your vault's own stand in .stet/templates/KIND.md and go\n" +
			"before the built-in ones. {{title}}, {{kind}}, {{scope}}, {{date}} and {{time}} are\n" +
			"filled in; a form runs nothing and reads no file. Without arguments the forms are listed.\n" +
			"What it begins is compared with what is stored, and filed, as \"stet remember\" does it.",
		Examples: []console.Example{
			{Line: `stet new decision "Use MySQL 8.4" --scope /infra/db`, Says: "a file with headings to fill in"},
			{Line: "stet new", Says: "which forms there are"},
			{Line: "stet new procedure Restore a backup --dry-run", Says: "see what it would hold"},
		},
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "scope", Usage: "the `SCOPE` (folder below memories/), for example /infra/db"},
			&cli.StringSliceFlag{Name: "category", Aliases: []string{"c"}, Usage: "a `WORD` to tag it with"},
			&cli.StringFlag{Name: "message", Aliases: []string{"m"}, Usage: "the commit's subject, a line of `TEXT`"},
			&cli.BoolFlag{Name: "plain", Usage: "store it as it is: compared with nothing, shown to no model"},
			console.AgainFlag(),
		}, console.WriteFlags()),
		Run: runNew,
	}
}

const formFolder = ".stet/templates"

func runNew(ctx context.Context, e *console.Env, in *console.Input) error {
	if len(in.Words) == 0 {
		return listForms(ctx, e)
	}
	if len(in.Words) == 1 {
		return agent.Usagef("new %s needs a title", in.Words[0]).Suggest(`stet new %s "What it is about"`, in.Words[0])
	}
	a, err := e.App(ctx, false)
	if err != nil {
		return err
	}
	defer e.Close(a)
	w := e.ByInSession(in)
	note := vault.Note{Title: strings.Join(in.Words[1:], " "), Scope: in.String("scope"), Categories: in.StringSlice("category")}
	if note.Scope == "" {
		note.Scope = a.ProjectScope(w)
	}
	form, err := readForm(a.Store(), in.Words[0])
	if err != nil {
		return err
	}
	if note.Kind, note.Form, err = fillForm(e, form, in.Words[0], note); err != nil {
		return err
	}
	if note.Blank = true; note.Scope == "" && bytes.Contains(form, []byte("{{scope}}")) {
		note.Scope = "/" // as it says
	}
	return store(ctx, e, in, a, agent.RememberOptions{Write: w, Notes: []vault.Note{note}, Plain: in.Bool("plain")}, "began")
}

// readForm finds the form of a kind: the vault's own, else a built-in one.
func readForm(v *vault.Vault, kind string) ([]byte, error) {
	name := strings.ToLower(kind)
	if p, err := vault.ParsePath(path.Join(formFolder, name+".md")); err == nil && p.Dir() == formFolder {
		data, _, err := v.ReadFile(p)
		if err == nil {
			return data, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read form %q: %w", p, err)
		}
	}
	if form, ok := templates.NoteForm(name); ok {
		return form, nil
	}
	usage := agent.Usagef("no form for the kind %q", kind)
	known := templates.NoteKinds()
	if near := agent.Nearest(name, known); near != "" {
		return nil, usage.Suggest("did you mean %q?", near)
	}
	return nil, usage.Suggest("forms: %s; write one of your own at %s/%s.md, or use \"stet remember --kind %s\"",
		strings.Join(known, ", "), formFolder, name, name)
}

// fillForm fills the form in. The kind is the form's own when it names one.
func fillForm(e *console.Env, form []byte, kind string, note vault.Note) (string, []byte, error) {
	doc := markdown.Parse(form)
	if err := doc.FrontMatterError(); err != nil {
		return "", nil, vault.WithHint(fmt.Errorf("form of %q: %w: %w", kind, vault.ErrInvalid, err), "mend %s/%s.md", formFolder, strings.ToLower(kind))
	}
	scope := vault.SlugScope("/" + strings.Trim(note.Scope, "/"))
	now := e.Now().Local()
	err := doc.Fill(map[string]string{
		"title": console.Line1(note.Title), "kind": strings.ToLower(kind), "scope": scope,
		"date": now.Format(time.DateOnly), "time": now.Format("15:04"),
	})
	if err != nil {
		return "", nil, fmt.Errorf("form of %q: %w", kind, err)
	}
	if value, ok := doc.Meta("kind"); ok && value.Text() != "" {
		kind = value.Text()
	}
	return kind, doc.Bytes(), nil
}

// formsIn lists the vault's own forms, not looking through links that leave it.
func formsIn(dir string) (found []string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return fs.Glob(root.FS(), formFolder+"/*.md")
}

// A formView is one form under --json.
type formView struct {
	Kind  string `json:"kind"`
	Where string `json:"where"` // its path, "" for a built-in one
}

func listForms(ctx context.Context, e *console.Env) error {
	var forms []formView
	switch v, err := e.Reader(ctx); {
	case errors.Is(err, vault.ErrNotVault):
	case err != nil:
		return err
	default:
		defer e.Close(v)
		found, err := formsIn(v.Root())
		if err != nil {
			return err
		}
		for _, p := range found {
			forms = append(forms, formView{strings.TrimSuffix(path.Base(p), ".md"), p})
		}
	}
	for _, kind := range templates.NoteKinds() {
		if !slices.ContainsFunc(forms, func(f formView) bool { return f.Kind == kind }) {
			forms = append(forms, formView{Kind: kind})
		}
	}
	slices.SortFunc(forms, func(a, b formView) int { return strings.Compare(a.Kind, b.Kind) })
	result := struct {
		Forms []formView `json:"forms"`
	}{forms}
	return e.Answer(result, func(w io.Writer) error {
		for _, f := range forms {
			line := f.Kind
			if f.Where != "" {
				line += "  (" + f.Where + ")"
			}
			if _, err := fmt.Fprintln(w, console.Line1(line)); err != nil {
				return err
			}
		}
		return nil
	})
}
