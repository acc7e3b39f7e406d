package memory

import (
	"context"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
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

func runNew(ctx context.Context, e *console.Env, in *console.Input) error {
	switch len(in.Words) {
	case 0:
		return listForms(e)
	case 1:
		return agent.Usagef("new %s needs a title", in.Words[0]).Suggest(`stet new %s "What it is about"`, in.Words[0])
	}
	o := agent.NewOptions{Write: e.ByInSession(in), Kind: in.Words[0], Title: strings.Join(in.Words[1:], " "), Scope: in.String("scope"),
		Categories: in.StringSlice("category"), Plain: in.Bool("plain"), Progress: asking(e)}
	return e.With(ctx, false, func(a *agent.App) error {
		res, err := a.Memories().New(ctx, o)
		if err != nil {
			return err
		}
		return printWritten(e, res, "begun", reply{byUser: o.Agent == ""})
	})
}

func listForms(e *console.Env) error {
	forms, err := e.Forms()
	if err != nil {
		return err
	}
	result := struct {
		Forms []agent.Form `json:"forms"`
	}{forms}
	return e.Show(result, func(p *console.Printer) {
		for _, f := range forms {
			line := f.Kind
			if f.Where != "" {
				line += "  (" + f.Where + ")"
			}
			p.Printf("%s\n", console.Line1(line))
		}
	})
}
