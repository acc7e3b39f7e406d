package memory

import (
	"context"
	"strings"

	"stet/agent"
	"stet/cmd/stet/console"
)

// NewCommand returns the definition of "stet new".
func NewCommand() *console.Command {
	return &console.Command{
		Name: "new", Group: console.Start,
		Summary: "begin a memory from a form: a decision, a procedure, one of your own",
		Args:    "[KIND TITLE...]", MaxArgs: -1,
		Details: `A form is a Markdown file. Your vault's own stand in .stet/templates/KIND.md and go before the
			built-in ones. {{title}}, {{kind}}, {{scope}}, {{date}} and {{time}} are filled in; a form runs nothing
			and reads no file. Without arguments the forms are listed. What it begins is compared with what is
			stored, and filed, as "stet remember" does it. On a terminal it is opened in your editor, and what you
			saved is a commit of its own.`,
		Examples: `stet new decision "Use MySQL 8.4" --scope /infra/db  # a file with headings to fill in
			stet new  # which forms there are
			stet new procedure Restore a backup --dry-run  # see what it would hold`,
		Flags: console.WriteFlags(
			console.Text("scope", "the `SCOPE` (folder below memories/), for example /infra/db"),
			console.List("category c", "a `WORD` to tag it with"),
			console.MessageFlag(),
			console.Bool("no-edit", "on a terminal: do not open it in your editor"),
			console.Bool("plain", "store it as it is: compared with nothing, shown to no model"),
			console.AgainFlag(),
		),
		Run: runNew,
	}
}

func runNew(ctx context.Context, e *console.Env, in *console.Input) error {
	switch len(in.Words) {
	case 0:
		forms, err := e.Forms()
		if err != nil {
			return err
		}
		return e.Show(map[string]any{"forms": forms}, func(p *console.Printer) { printForms(p, forms) })
	case 1:
		return agent.Usagef("new %s needs a title", in.Words[0]).Suggest(`stet new %s "What it is about"`, in.Words[0])
	}
	o := agent.NewOptions{
		Write: e.ByInSession(in), Kind: in.Words[0], Title: strings.Join(in.Words[1:], " "), Scope: in.String("scope"),
		Categories: in.StringSlice("category"), Plain: in.Bool("plain"), Progress: asking(e),
	}
	var made string
	err := writing(ctx, e, "begun", reply{byUser: o.Agent == ""}, func(a *agent.App) (*agent.Written, error) {
		res, err := a.Memories().New(ctx, o)
		if err == nil && len(res.Memories) > 0 && !res.Unchanged && !o.DryRun {
			made = string(res.Memories[0].Path)
		}
		return res, err
	})
	if err != nil || made == "" || e.JSON || in.Bool("no-edit") || !e.CanAsk() || !e.OutTerminal {
		return err
	}
	editor, err := editorOf(e, "new", "")
	if err != nil {
		return err
	}
	return e.Writing(ctx, console.More{Verb: "edited"}, func(a *agent.App) (*agent.Written, error) {
		return a.Memories().Edit(ctx, made, o.Write, editor)
	})
}

func printForms(p *console.Printer, forms []agent.Form) {
	for _, f := range forms {
		line := f.Kind
		if f.Where != "" {
			line += "  (" + f.Where + ")"
		}
		p.Printf("%s\n", console.Line1(line))
	}
}
