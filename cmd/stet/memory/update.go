package memory

import (
	"context"
	"slices"
	"strings"

	"stet/agent"
	"stet/cmd/stet/choice"
	"stet/cmd/stet/console"
	"stet/markdown"
	"stet/vault"
)

func updateCommand() *console.Command {
	return &console.Command{
		Name: "update", Group: console.Memory,
		Summary: "change a memory's text or front matter",
		Args:    "[MEMORY] | --match QUERY", MaxArgs: 1, Picks: true,
		Details: `Only the lines that change are rewritten. --scope moves the file; its id, its history and the
			links to it go with it. A new text is compared with what is stored as that of "stet remember" is, by the
			rules: what it makes untrue goes in the same commit.

			--match takes the one memory that QUERY means instead of a name, as "stet forget --match" does; several
			change nothing (exit 4, all listed). Of a memory with two facts --text then replaces the one
			that is meant, and the other stays; --whole replaces both. On a terminal the difference is shown first.`,
		Examples: `stet update gate-code --text "The gate code is 4712."  # replace the text
			stet update 01jd7q --append "Since 9 January."  # add a line
			stet update 01jd7q --scope /infra/db --add-category mysql  # move and tag
			stet update --match "my employer" --text "I work at Globex."  # by what it says
			stet update 01jd7q --pin --importance 0.9  # front matter
			stet update 01jd7q --set expires=2026-12-31 --unset source  # any other key of it
			stet update --pin  # choose the memory on a terminal`,
		Flags: console.WriteFlags(
			console.Text("text", "the new `TEXT`, \"-\" for standard input"),
			console.Text("append", "add `TEXT` at the end, \"-\" for standard input"),
			console.Text("title t", "the new `TITLE`"),
			console.Text("kind k", "the new kind `WORD`"),
			console.Text("scope", "move it to the `SCOPE`; links to it follow"),
			console.Bool("rewrite-notes", "with --scope: rewrite links in notes as well"),
			console.List("add-category tag c", "a `WORD` to tag it with"),
			console.List("remove-category", "a `WORD` to untag it"),
			console.Fraction("importance", "how much it matters, a `NUMBER` from 0 to 1"),
			console.List("set", "set any other front matter key, `KEY=VALUE`; [a, b] is a list"),
			console.List("unset", "take out the front matter `KEY`"),
			console.Bool("pin", "mark it as always relevant; --pin=false takes the mark away"),
			console.Text("match", "the memory that `QUERY` means"),
			console.Bool("whole", "with --match: --text replaces everything the memory says"),
			console.Bool("yes y", "with --match: do not ask"),
			console.BecauseFlag(),
			console.MessageFlag(),
			console.AgainFlag(),
		),
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
	if err := checkMatch(in, e.CanAsk(), "whole", "yes"); err != nil {
		return err
	}
	o := agent.UpdateOptions{
		Write: e.ByInSession(in), Ref: in.Word(0), Match: in.String("match"), Whole: in.Bool("whole"), Patch: patch,
		RewriteNotes: in.Bool("rewrite-notes"),
	}
	if !in.Bool("yes") && e.CanAsk() {
		o.Confirm = e.ConfirmDiff(ctx, "Update this?")
	}
	return writing(ctx, e, "updated", reply{byUser: o.Agent == ""}, func(a *agent.App) (*agent.Written, error) {
		if o.Match == "" {
			words, err := choice.Named(ctx, e, a, in.Words, true)
			if err != nil {
				return nil, err
			}
			o.Ref = words[0]
		}
		return a.Memories().Update(ctx, o)
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
		return p, agent.Usagef("--text and --append cannot be used together")
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
	if !anySet(in, "text", "append", "title", "kind", "scope", "add-category", "remove-category", "importance", "pin",
		"set", "unset") {
		return p, agent.Usagef("nothing to change").
			Suggest(`say what, for example --text TEXT; "stet edit" opens your editor`)
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
