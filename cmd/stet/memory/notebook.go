package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"stet/agent"
	"stet/agent/encode"
	"stet/cmd/stet/console"
	"stet/vault"
)

// A book is one of the two notebooks as a command.
type book struct {
	name  string
	about string
	like  string // an entry that a user might add
	kind  string
	class vault.Class
}

func profileCommand() *console.Command {
	return book{
		name: "profile", about: "who the user is (USER.md)",
		like: "Prefers short answers.", kind: "preference", class: vault.ClassProfile,
	}.command()
}

func coreCommand() *console.Command {
	return book{
		name: "core", about: "what every session must know (MEMORY.md)",
		like: "Deploys go through the bastion host.", kind: "instruction", class: vault.ClassCore,
	}.command()
}

func (b book) command() *console.Command {
	line, writes := "stet "+b.name, "message as session dry-run"
	return &console.Command{
		Name: b.name, Group: console.Memory,
		Summary: "show or change the notebook of " + b.about,
		Args:    "[show | add TEXT... | replace OLD TEXT | remove OLD | edit]", MaxArgs: -1,
		Verbs: []console.Verb{
			{Name: "show", Run: b.show},
			{Name: "add", Args: "TEXT", Min: 1, Max: -1, Flags: "kind under again " + writes, Run: b.add},
			{Name: "replace", Args: "OLD TEXT", Min: 2, Max: 2, Flags: "kind again because " + writes, Run: b.replace},
			{Name: "remove", Args: "OLD", Min: 1, Max: 1, Flags: "because " + writes, Run: b.remove},
			{Name: "edit", Flags: "again message as session", Run: b.edit},
		},
		Details: `A notebook is a Markdown file of list items, bounded in characters. OLD is a part of an entry's
			text that no other entry has, upper and lower case told apart, or the address that show prints. TEXT "-"
			reads standard input. An entry that is there already is not written twice, and one that supersedes
			another for certain replaces it. A full notebook takes new entries all the same: the least valuable ones
			(by kind, then by age, never below a heading "Pinned") become memories in the same commit, and the answer
			says which went where.`,
		Examples: line + "  # its entries, and how full it is\n" +
			line + " add --kind " + b.kind + " \"" + b.like + "\"  # a new entry\n" +
			line + " add --under Work \"Team meeting on Mondays.\"  # below a heading\n" +
			line + " replace Mondays \"Team meeting on Tuesdays.\"  # in its place\n" +
			line + " remove 1a2b3c4d  # by address; history keeps it\n" +
			line + " edit  # the whole file in your editor",
		Flags: console.WriteFlags(
			console.Text("kind k", "instruction, preference, fact, routine or any other `WORD`"),
			console.Text("under", "add below the `HEADING`, made when there is none"),
			console.BecauseFlag(),
			console.MessageFlag(),
			console.AgainFlag(),
		),
		Run: console.RunVerb,
	}
}

func (b book) show(ctx context.Context, e *console.Env, _ *console.Input, _ []string) error {
	return console.Reading(ctx, e, func(a *agent.App) (*agent.Page, error) {
		return a.Notebook(b.class).Show(ctx, e.JSON)
	}, printPage)
}

func (b book) add(ctx context.Context, e *console.Env, in *console.Input, words []string) error {
	return b.change(ctx, e, in, agent.EntryOptions{Text: strings.Join(words, " ")}, agent.Notebook.Add)
}

func (b book) replace(ctx context.Context, e *console.Env, in *console.Input, words []string) error {
	return b.change(ctx, e, in, agent.EntryOptions{Old: words[0], Text: words[1]}, agent.Notebook.Replace)
}

func (b book) remove(ctx context.Context, e *console.Env, in *console.Input, words []string) error {
	return b.change(ctx, e, in, agent.EntryOptions{Old: words[0]}, agent.Notebook.Remove)
}

func (b book) change(
	ctx context.Context, e *console.Env, in *console.Input, o agent.EntryOptions,
	change func(agent.Notebook, context.Context, agent.EntryOptions) (*agent.Noted, error),
) (err error) {
	o.Write, o.Kind, o.Under = e.ByInSession(in), in.String("kind"), in.String("under")
	if o.Text, err = textArgument(e, o.Text, in.Literal == len(in.Words)); err != nil {
		return err
	}
	return e.With(ctx, false, func(a *agent.App) error {
		res, err := change(a.Notebook(b.class), ctx, o)
		if err != nil {
			return err
		}
		for _, d := range res.Decisions {
			if d.Kind == encode.Conflict {
				e.Note("%s", reply{byUser: o.Agent == ""}.line(d))
			}
		}
		return printNoted(ctx, e, res)
	})
}

func (b book) edit(ctx context.Context, e *console.Env, in *console.Input, _ []string) error {
	editor, err := editorOf(e, "edit", fmt.Sprintf(`"stet %s replace OLD TEXT" changes an entry without one`, b.name))
	if err != nil && e.By(in).Agent == "" { // an agent is refused in any case
		return err
	}
	return e.With(ctx, false, func(a *agent.App) error {
		n := a.Notebook(b.class)
		res, err := n.Edit(ctx, e.ByInSession(in), editor)
		if err != nil {
			return err
		}
		page, err := n.Show(ctx, false)
		if err == nil && !res.Unchanged && page.Usage.Characters > page.Usage.Limit {
			e.Note("%s; stet never shortens what you wrote, but what it adds replaces what it added before",
				usageText(page.Usage))
		}
		return errors.Join(err, e.Print(ctx, res, console.More{Verb: "edited"}))
	})
}
