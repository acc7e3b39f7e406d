package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/agent/encode"
	"stet/agent/ingest"
	"stet/cmd/stet/console"
	"stet/vault"
	"stet/vault/notebook"
	"stet/vault/settings"
)

// A book is one of the two notebooks as a command.
type book struct {
	name  string
	about string
	like  string // an entry that a person might add
	kind  string
	path  vault.Path
	of    func(*vault.Vault, notebook.Limits) *notebook.Notebook
}

func profileCommand() *console.Command {
	return book{
		name: "profile", about: "who the user is (USER.md)",
		like: "Prefers short answers.", kind: "preference", path: notebook.ProfilePath, of: notebook.Profile,
	}.command()
}

func coreCommand() *console.Command {
	return book{
		name: "core", about: "what every session must know (MEMORY.md)",
		like: "Deploys go through the bastion host.", kind: "instruction", path: notebook.CorePath, of: notebook.Core,
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
		return b.show(ctx, e)
	case "edit":
		return b.edit(ctx, e, in)
	}
	literal := func(i int) bool { return in.Literal > i } // the verb is word 0
	text := ""
	var err error
	switch verb {
	case "add":
		text, err = textArgument(e, strings.Join(words, " "), literal(1))
	case "replace":
		text, err = textArgument(e, words[1], literal(2))
	}
	if err != nil {
		return err
	}
	v, _, err := e.Writer(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	n := b.of(v, notebook.LimitsOf(v))
	w := e.WriteInSession(in)
	w.Message = in.String("message")
	entry := notebook.New{Text: text, Kind: in.String("kind"), Under: in.String("under")}
	var res *notebook.Result
	switch verb {
	case "add":
		res, err = jot(ctx, e, v, n, entry, w)
	case "replace":
		res, err = n.Replace(ctx, words[0], entry, w)
	case "remove":
		res, err = n.Remove(ctx, words[0], w)
	}
	if err != nil {
		return err
	}
	return wrote(ctx, e, v, n, res)
}

// jot adds an entry, with the rules in front unless the vault says otherwise.
func jot(ctx context.Context, e *console.Env, v *vault.Vault, n *notebook.Notebook, entry notebook.New, w vault.Write) (*notebook.Result, error) {
	if !v.Settings().Bool(settings.Cognitive) {
		return n.Add(ctx, entry, w)
	}
	res, plan, err := ingest.AddEntry(ctx, n, entry, w)
	if err != nil {
		return nil, err
	}
	for _, d := range plan.Decisions() {
		if d.Kind == encode.Conflict {
			e.Note("%s", reply{byUser: w.Actor == vault.ActorUser}.line(d))
		}
	}
	return res, nil
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

func (b book) show(ctx context.Context, e *console.Env) error {
	v, err := e.Reader(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	n := b.of(v, notebook.LimitsOf(v))
	page, err := n.Read()
	if err != nil {
		return err
	}
	return showPage(ctx, e, n, page)
}

func (b book) edit(ctx context.Context, e *console.Env, in *console.Input) error {
	if e.NoInput {
		return agent.Usagef("edit starts an editor, which --no-input forbids").
			Suggest(`"stet %s replace OLD TEXT" changes an entry without one`, b.name)
	}
	return editFile(ctx, e, in, func(context.Context, *vault.Vault) (vault.Path, error) { return b.path, nil }, func(v *vault.Vault) error {
		page, err := b.of(v, notebook.LimitsOf(v)).Read()
		if err == nil && page.Usage.Characters > page.Usage.Limit {
			e.Note("%s; stet never shortens what you wrote, but what it adds will take the place of what it added before", usageText(page.Usage))
		}
		return err
	})
}
