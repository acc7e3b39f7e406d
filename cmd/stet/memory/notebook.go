package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/agent/encode"
	"stet/cmd/stet/console"
	"stet/vault"
)

// A book is one of the two notebooks as a command.
type book struct {
	name  string
	about string
	like  string // an entry that a person might add
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
	line := "stet " + b.name
	return &console.Command{
		Name: b.name, Group: console.Memory,
		Summary: "show or change the notebook of " + b.about,
		Args:    "[show | add TEXT... | replace OLD TEXT | remove OLD | edit]", MaxArgs: -1,
		Verbs: []string{"show", "add", "replace", "remove", "edit"},
		Details: "A notebook is a Markdown file of list items, bounded in characters. OLD is a part of an\n" +
			"entry's text that no other entry has, upper and lower case told apart, or the address\n" +
			"that show prints. TEXT \"-\" reads standard input. An entry that is there already is not\n" +
			"written twice, and one that a rule is sure makes another untrue takes its place. A full notebook takes new entries all the same: the least valuable ones\n" +
			"(by kind, then by age, never below a heading \"Pinned\") become memories in the same\n" +
			"commit, and the answer says which went where.",
		Examples: []console.Example{
			{Line: line, Says: "its entries, and how full it is"},
			{Line: fmt.Sprintf("%s add --kind %s %q", line, b.kind, b.like), Says: "a new entry"},
			{Line: line + ` add --under Work "Team meeting on Mondays."`, Says: "below a heading"},
			{Line: line + ` replace Mondays "Team meeting on Tuesdays."`, Says: "in its place"},
			{Line: line + " remove 1a2b3c4d", Says: "by address; history keeps it"},
			{Line: line + " edit", Says: "the whole file in your editor"},
		},
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "kind", Aliases: []string{"k"}, Usage: "instruction, preference, fact, routine or any other `WORD`"},
			&cli.StringFlag{Name: "under", Usage: "add below the `HEADING`, made when there is none"},
			&cli.StringFlag{Name: "message", Aliases: []string{"m"}, Usage: "the commit's subject, a line of `TEXT`"},
			console.AgainFlag(),
		}, console.WriteFlags()),
		Run: b.run,
	}
}

func (b book) run(ctx context.Context, e *console.Env, in *console.Input) error {
	verb, words := "show", in.Words
	if len(words) > 0 {
		verb, words = words[0], words[1:]
	}
	if err := b.check(in, verb, len(words)); err != nil {
		return err
	}
	switch verb {
	case "show":
		return e.With(ctx, true, func(a *agent.App) error { return showPage(ctx, e, a.Notebook(b.class)) })
	case "edit":
		return b.edit(ctx, e, in)
	}
	o := agent.EntryOptions{Write: e.ByInSession(in), Kind: in.String("kind"), Under: in.String("under")}
	literal := func(i int) bool { return in.Literal > i } // the verb is word 0
	var err error
	switch verb {
	case "add":
		o.Text, err = textArgument(e, strings.Join(words, " "), literal(1))
	case "replace":
		o.Text, err = textArgument(e, words[1], literal(2))
	}
	if err != nil {
		return err
	}
	return e.With(ctx, false, func(a *agent.App) error {
		n := a.Notebook(b.class)
		change := n.Add
		if verb != "add" {
			o.Old, change = words[0], n.Replace
		}
		if verb == "remove" {
			change = n.Remove
		}
		res, err := change(ctx, o)
		if err != nil {
			return err
		}
		for _, d := range res.Decisions {
			if d.Kind == encode.Conflict {
				e.Note("%s", reply{byUser: o.Agent == ""}.line(d))
			}
		}
		return printNoted(e, res)
	})
}

// check refuses what cannot be meant, before anything is opened.
func (b book) check(in *console.Input, verb string, words int) error {
	forms := map[string]struct {
		least, most int
		usage       string
	}{
		"show": {0, 0, "show"}, "add": {1, -1, "add TEXT"}, "replace": {2, 2, "replace OLD TEXT"},
		"remove": {1, 1, "remove OLD"}, "edit": {0, 0, "edit"},
	}
	form, known := forms[verb]
	if !known {
		err := agent.Usagef("%s cannot %q", b.name, verb)
		if near := agent.Nearest(verb, []string{"show", "add", "replace", "remove", "edit"}); near != "" {
			return err.Suggest("did you mean \"stet %s %s\"?", b.name, near)
		}
		return err.Suggest("one of show, add, replace, remove, edit; to add this text: stet %s add TEXT", b.name)
	}
	if words < form.least || form.most >= 0 && words > form.most {
		return agent.Usagef("%s %s takes other arguments", b.name, verb).
			Suggest("usage: stet %s %s; quote text that has spaces", b.name, form.usage)
	}
	for _, f := range verbFlags() {
		if in.IsSet(f.name) && !slices.Contains(f.verbs, verb) {
			return agent.Usagef("--%s does not go with %s", f.name, verb).Suggest("it goes with %s", strings.Join(f.verbs, ", "))
		}
	}
	return nil
}

// A verbFlag is a flag of a notebook's command with the verbs that take it.
type verbFlag struct {
	name  string
	verbs []string
}

func verbFlags() []verbFlag {
	return []verbFlag{
		{"kind", []string{"add", "replace"}},
		{"under", []string{"add"}},
		{"again", []string{"add", "replace", "edit"}},
		{"dry-run", []string{"add", "replace", "remove"}},
		{"message", []string{"add", "replace", "remove", "edit"}},
		{"as", []string{"add", "replace", "remove", "edit"}},
		{"session", []string{"add", "replace", "remove", "edit"}},
	}
}

func (b book) edit(ctx context.Context, e *console.Env, in *console.Input) error {
	editor, err := editorOf(e, "edit", fmt.Sprintf(`"stet %s replace OLD TEXT" changes an entry without one`, b.name))
	if err != nil {
		return err
	}
	return e.With(ctx, false, func(a *agent.App) error {
		n := a.Notebook(b.class)
		res, err := n.Edit(ctx, e.ByInSession(in), editor)
		if err != nil {
			return err
		}
		page, err := n.Show()
		if err == nil && !res.Unchanged && page.Usage.Characters > page.Usage.Limit {
			e.Note("%s; stet never shortens what you wrote, but what it adds replaces what it added before", usageText(page.Usage))
		}
		return errors.Join(err, e.Print(res, console.More{Verb: "edited"}))
	})
}
