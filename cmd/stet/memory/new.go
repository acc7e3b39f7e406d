package memory

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/templates"
	"stet/vault"
)

// NewCommand returns the definition of "stet new".
func NewCommand() *console.Command {
	return &console.Command{
		Name: "new", Group: console.Start,
		Summary: "begin a note in a folder of yours, or a memory from a form",
		Args:    "[FOLDER/TITLE | KIND [TITLE...]]", MaxArgs: -1,
		Details: `A form is a Markdown file. Your vault's own stand in .stet/templates/KIND.md and go before the
			built-in ones. {{title}}, {{kind}}, {{scope}}, {{date}} and {{time}} are filled in; a form runs nothing
			and reads no file. What a memory begins with is compared with what is stored, and filed, as
			"stet remember" does it.

			FOLDER/TITLE, or --in FOLDER with a TITLE, begins a note in a folder that exists: a file of that name with
			the title as heading. --in with KIND and TITLE fills in that form. "./TITLE" is where you are.

			On a terminal the form opens in your editor ($VISUAL, else $EDITOR, else vi), without a kind as an empty
			page, and what you saved is stored in one commit. Left as it was, or empty, nothing is stored. Where the
			editor fails, what you typed is kept, and the message names the file. Elsewhere, and with --no-edit, the
			form itself is stored; it needs a kind and a title, and without a kind the forms are listed.`,
		Examples: `stet new 'garden/Beds in spring' --tag seeds  # a note in the folder garden
			stet new decision "Use MySQL 8.4" --scope /infra/db  # a file with headings to fill in
			stet new  # write a memory in your editor
			stet new --list  # which forms there are
			stet new procedure Restore a backup --dry-run  # see what it would hold`,
		Flags: console.WriteFlags(
			console.Text("in", "begin a note in the `FOLDER`, which exists; \".\" is where you are"),
			console.Text("scope", "the `SCOPE` (folder below memories/), for example /infra/db"),
			console.List("category tag c", "a `WORD` to tag it with"),
			console.MessageFlag(),
			console.Bool("list", "list the forms"),
			console.Bool("no-edit", "on a terminal: store the form without opening your editor"),
			console.Bool("plain", "store it as it is: compared with nothing, shown to no model"),
			console.AgainFlag(),
		),
		Run: runNew,
	}
}

func runNew(ctx context.Context, e *console.Env, in *console.Input) error {
	edits := canCompose(e, in) && !in.Bool("no-edit")
	switch {
	case in.Bool("list"), len(in.Words) == 0 && !edits:
		forms, err := e.Forms()
		if err != nil {
			return err
		}
		return e.Show(map[string]any{"forms": forms}, func(p *console.Printer) { printForms(p, forms) })
	case in.IsSet("in"), len(in.Words) > 0 && strings.Contains(in.Words[0], "/"):
		return newNote(ctx, e, in, edits)
	case edits:
		note := vault.Note{Scope: in.String("scope"), Categories: in.StringSlice("category"), Kind: in.Word(0),
			Title: strings.Join(in.Words[min(1, len(in.Words)):], " ")}
		return compose(ctx, e, in, note)
	case len(in.Words) == 1:
		return needsTitle(e, in.Words[0])
	}
	o := agent.NewOptions{
		Write: e.ByInSession(in), Kind: in.Words[0], Title: strings.Join(in.Words[1:], " "), Scope: in.String("scope"),
		Categories: in.StringSlice("category"), Plain: in.Bool("plain"), Progress: asking(e),
	}
	return writing(ctx, e, "begun", reply{byUser: o.Agent == ""}, func(a *agent.App) (*agent.Written, error) {
		return a.Memories().New(ctx, o)
	})
}

// needsTitle is the error for one word, which is a kind without a title or a title without anything else.
func needsTitle(e *console.Env, word string) error {
	if isForm(e, word) {
		return agent.Usagef("new %s needs a title", word).
			Suggest(`stet new %s "What it is about"`, templates.Quote(word))
	}
	return agent.Usagef("%q is no form, and a note needs a folder", word).Suggest(
		`"stet new --in . %s" begins a note in the folder where you are; "stet new --list" names the forms`,
		templates.Quote(word))
}

func isForm(e *console.Env, word string) bool {
	forms, err := e.Forms()
	return err == nil && slices.ContainsFunc(forms, func(f agent.Form) bool { return strings.EqualFold(f.Kind, word) })
}

// newNote begins a note: in the folder of --in, else in that of the first word.
func newNote(ctx context.Context, e *console.Env, in *console.Input, edits bool) error {
	o := agent.NewOptions{Write: e.ByInSession(in), Folder: in.String("in"),
		Categories: in.StringSlice("category")}
	for _, flag := range []string{"scope", "plain"} {
		if in.IsSet(flag) {
			return agent.Usagef("--%s is of memories, and this is a note", flag).Suggest("leave it out")
		}
	}
	words := in.Words
	if in.IsSet("in") && len(words) > 1 && isForm(e, words[0]) {
		o.Kind, words = words[0], words[1:]
	}
	o.Title = strings.Join(words, " ")
	if !in.IsSet("in") {
		o.Folder, o.Title = path.Split(o.Title)
		o.Folder = cmp.Or(strings.TrimRight(o.Folder, "/"), "/")
	}
	if o.Folder == "" {
		return agent.Usagef("--in needs a folder").Suggest("\".\" is where you are")
	}
	if strings.TrimSpace(o.Title) == "" {
		return agent.Usagef("a note needs a title").
			Suggest("stet new %s", templates.Quote(o.Folder+"/What it is about"))
	}
	if edits {
		editor, err := editorOf(e, "new", "--no-edit stores the form as it is")
		if err != nil {
			return err
		}
		o.Edit = editor
	}
	return e.Writing(ctx, console.More{Verb: "begun"}, func(a *agent.App) (*agent.Written, error) {
		return a.Memories().New(ctx, o)
	})
}

// canCompose reports whether the user is there to write in an editor what a command is to store.
func canCompose(e *console.Env, in *console.Input) bool {
	return e.CanAsk() && e.OutTerminal && !in.Bool("dry-run")
}

// compose lets the user write a memory in their editor, and stores it. note is what is known of it before; where its
// kind is what "stet new" was given, it names the form.
func compose(ctx context.Context, e *console.Env, in *console.Input, note vault.Note) error {
	instead := `"stet remember TEXT" needs none, and "stet new KIND TITLE --no-edit" stores the form as it is`
	editor, err := editorOf(e, in.Definition.Name, instead)
	if err != nil {
		return err
	}
	a, err := console.Open(ctx, e, false)
	if err != nil {
		return err
	}
	o := agent.NewOptions{Write: e.ByInSession(in), Title: note.Title, Scope: note.Scope, Categories: note.Categories,
		Plain: in.Bool("plain"), Progress: asking(e)}
	if in.Definition.Name == "new" {
		o.Kind, note.Kind = note.Kind, ""
	}
	res, err := a.Memories().Compose(ctx, o, note, editor)
	switch {
	case err != nil:
		return err
	case res.Unchanged && len(res.Memories) == 0 && len(res.Decisions) == 0:
		e.Note("you wrote nothing, and nothing was stored")
		return nil
	}
	return tellRemembered(ctx, e, in, a, res)
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
