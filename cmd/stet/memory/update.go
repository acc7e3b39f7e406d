package memory

import (
	"context"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/markdown"
	"stet/vault"
)

func updateCommand() *console.Command {
	return &console.Command{
		Name: "update", Group: console.Memory,
		Summary: "change a memory's text or front matter",
		Args:    "MEMORY | --match QUERY", MaxArgs: 1,
		Details: "Only the lines that change are rewritten. --scope moves the file; its id, its history\n" +
			"and the links to it go with it. A new text is compared with what is stored as that of\n" +
			"\"stet remember\" is, by the rules: what it makes untrue goes in the same commit.\n\n" +
			"--match takes the one memory that QUERY means instead of a name, as \"stet forget --match\"\n" +
			"does; several change nothing (exit 4, all listed). Of a memory with two facts --text then\n" +
			"takes the place of the one that is meant, and the other stays; --whole replaces both.\n" +
			"On a terminal the difference is shown first.",
		Examples: []console.Example{
			{Line: `stet update gate-code --text "The gate code is 4712."`, Says: "replace the text"},
			{Line: `stet update 01jd7q --append "Since 9 January."`, Says: "add a line"},
			{Line: "stet update 01jd7q --scope /infra/db --add-category mysql", Says: "move and tag"},
			{Line: `stet update --match "my employer" --text "I work at Globex."`, Says: "by what it says"},
			{Line: "stet update 01jd7q --pin --importance 0.9", Says: "front matter"},
			{Line: "stet update 01jd7q --set expires=2026-12-31 --unset source", Says: "any other key of it"},
		},
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "text", Usage: "the new `TEXT`, \"-\" for standard input"},
			&cli.StringFlag{Name: "append", Usage: "add `TEXT` at the end, \"-\" for standard input"},
			&cli.StringFlag{Name: "title", Aliases: []string{"t"}, Usage: "the new `TITLE`"},
			&cli.StringFlag{Name: "kind", Aliases: []string{"k"}, Usage: "the new kind `WORD`"},
			&cli.StringFlag{Name: "scope", Usage: "move it to the `SCOPE`; links to it follow"},
			&cli.BoolFlag{Name: "rewrite-notes", Usage: "with --scope: rewrite links in notes as well"},
			&cli.StringSliceFlag{Name: "add-category", Usage: "a `WORD` to tag it with"},
			&cli.StringSliceFlag{Name: "remove-category", Usage: "a `WORD` to untag it"},
			&cli.Float64Flag{Name: "importance", Usage: "how much it matters, a `NUMBER` from 0 to 1"},
			&cli.StringSliceFlag{Name: "set", Usage: "set any other front matter key, `KEY=VALUE`; [a, b] is a list"},
			&cli.StringSliceFlag{Name: "unset", Usage: "take out the front matter `KEY`"},
			&cli.BoolFlag{Name: "pin", Usage: "mark it as always relevant; --pin=false takes the mark away"},
			&cli.StringFlag{Name: "match", Usage: "the memory that `QUERY` means"},
			&cli.BoolFlag{Name: "whole", Usage: "with --match: --text replaces everything the memory says"},
			&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "with --match: do not ask"},
			&cli.StringFlag{Name: "message", Aliases: []string{"m"}, Usage: "the commit's subject, a line of `TEXT`"},
			console.AgainFlag(),
		}, console.WriteFlags()),
		Run: update,
	}
}

func update(ctx context.Context, e *console.Env, in *console.Input) error {
	patch, err := patchOf(e, in)
	if err != nil {
		return err
	}
	if in.Bool("rewrite-notes") && patch.Scope == nil {
		return agent.Usagef("--rewrite-notes goes with --scope")
	}
	if err := checkMatch(in, "whole", "yes"); err != nil {
		return err
	}
	o := agent.UpdateOptions{Write: e.ByInSession(in), Match: in.String("match"), Whole: in.Bool("whole"), Patch: patch, RewriteNotes: in.Bool("rewrite-notes")}
	if len(in.Words) == 1 {
		o.Ref = in.Words[0]
	}
	if !in.Bool("yes") && e.CanAsk() {
		o.Confirm = func(diff string) (bool, error) {
			if err := e.PrintDiff(e.Out, diff); err != nil {
				return false, err
			}
			return e.Confirm("Update this?")
		}
	}
	return e.With(ctx, false, func(a *agent.App) error {
		res, err := a.Memories().Update(ctx, o)
		if err != nil {
			return err
		}
		return printWritten(e, res, "updated", reply{byUser: o.Agent == ""})
	})
}

func patchOf(e *console.Env, in *console.Input) (vault.Patch, error) {
	p := vault.Patch{
		Title: text(in, "title"), Kind: text(in, "kind"), Scope: text(in, "scope"),
		AddCategories: in.StringSlice("add-category"), RemoveCategories: in.StringSlice("remove-category"),
		Importance: number(in, "importance"),
	}
	var err error
	if p.Set, err = keyValues(in.StringSlice("set")); err != nil {
		return p, err
	}
	p.Unset = in.StringSlice("unset")
	if in.IsSet("pin") {
		pin := in.Bool("pin")
		p.Pinned = &pin
	}
	if in.IsSet("text") && in.IsSet("append") {
		return p, agent.Usagef("--text and --append exclude each other")
	}
	for name, field := range map[string]**string{"text": &p.Text, "append": &p.Append} {
		if !in.IsSet(name) {
			continue
		}
		value, err := textArgument(e, in.String(name), true)
		if err != nil {
			return p, err
		}
		*field = &value
	}
	if !anySet(in, "text", "append", "title", "kind", "scope", "add-category", "remove-category", "importance", "pin", "set", "unset") {
		return p, agent.Usagef("nothing to change").Suggest(`say what, for example --text TEXT; "stet edit" opens your editor`)
	}
	return p, nil
}

// keyValues reads KEY=VALUE. A value in brackets is a list; what YAML reads as a
// number, a truth value or a date is written as one.
func keyValues(words []string) ([]vault.KeyValue, error) {
	var out []vault.KeyValue
	for _, word := range words {
		key, text, ok := strings.Cut(word, "=")
		if key = strings.TrimSpace(key); !ok || key == "" {
			return nil, agent.Usagef("--set %q: it must be KEY=VALUE", word).Suggest("--set expires=2026-12-31")
		}
		text = strings.TrimSpace(text)
		value := markdown.Plain(text)
		if strings.HasPrefix(text, "[[") {
			value = markdown.String(text) // a link to a note
		} else if inner, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(inner, "]") {
			value = markdown.Strings(markdown.Plain(strings.TrimSuffix(inner, "]")).List())
		}
		out = append(out, vault.KeyValue{Key: key, Value: value})
	}
	return out, nil
}

func anySet(in *console.Input, names ...string) bool { return slices.ContainsFunc(names, in.IsSet) }

// text is the value of a flag that may be absent, which "" does not say.
func text(in *console.Input, name string) *string {
	if !in.IsSet(name) {
		return nil
	}
	s := in.String(name)
	return &s
}
