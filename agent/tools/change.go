package tools

import (
	"context"
	"strings"

	"stet/agent"
	"stet/templates"
	"stet/vault"
)

// because is the argument by which a call says that the user asked for it.
func because() param {
	return param{name: "because", kind: text, about: "session:ID#n, the user's turn that asks"}
}

func memoryEdit() tool {
	return tool{name: "memory_edit", run: edit, hint: Hint{Title: "Edit a memory", Destructive: true},
		about: `Changes a memory or notebook entry: text is the whole new text; or old, which stands there once,
		becomes new.`,
		params: []param{
			{name: "ref", kind: text, required: true, subject: true, about: "from memory_search"},
			{name: "text", kind: text},
			{name: "old", kind: text},
			{name: "new", kind: text},
			{name: "title", kind: text},
			{name: "kind", kind: text},
			{name: "scope", kind: text, about: "moves it"},
			{name: "importance", kind: number},
			{name: "add_categories", kind: words},
			{name: "remove_categories", kind: words},
			because(),
		}}
}

func edit(ctx context.Context, b *Box, in arguments) (any, error) {
	m, err := b.show(ctx, in.text("ref"))
	if err != nil {
		return nil, err
	}
	body, err := b.reworded(in, strings.TrimRight(*m.Body, "\r\n"))
	if err != nil {
		return nil, err
	}
	patch := vault.Patch{Was: m.Hash, Text: body, Title: in.pointer("title"), Kind: in.pointer("kind"),
		Scope: in.pointer("scope"), AddCategories: in.words("add_categories"),
		RemoveCategories: in.words("remove_categories")}
	if f := in.number("importance", -1); in["importance"] != nil {
		patch.Importance = &f
	}
	if m.Entry() {
		for _, name := range []string{"title", "kind", "scope", "importance", "add_categories", "remove_categories"} {
			if in[name] != nil || body == nil {
				return nil, agent.Usagef("of an entry only the text can be changed").
					Suggest("give text, or old and new")
			}
		}
		res, err := b.app.Notebook(m.Class).Replace(ctx,
			agent.EntryOptions{Write: b.because(in), Old: string(m.Path), Text: *body})
		if err != nil {
			return nil, err
		}
		return wroteEntry(res, "changed"), nil
	}
	if m.Class == vault.ClassCore || m.Class == vault.ClassProfile {
		return nil, agent.Usagef("%s is changed entry by entry", m.Path).
			Suggest("memory_read lists its entries with their refs")
	}
	res, err := b.app.Memories().Update(ctx,
		agent.UpdateOptions{Write: b.because(in), Ref: string(m.Path), Patch: patch})
	if err != nil {
		return nil, err
	}
	d := wrote(res, "changed")
	decided(d, res)
	return d, nil
}

// reworded is the whole new text that a call asks for, nil for none.
func (b *Box) reworded(in arguments, was string) (*string, error) {
	old, isPart := in["old"].(string)
	switch now := in.pointer("new"); {
	case in["text"] != nil && (isPart || now != nil):
		return nil, agent.Usagef("text goes without old and new: it is the whole text")
	case isPart != (now != nil):
		return nil, agent.Usagef("old and new go together")
	case isPart:
		return b.replaced(was, old, *now, false)
	}
	return in.pointer("text"), nil
}

// replaced is was with its one part old, or all of them, replaced. It fails where there is none, and
// names the lines where there are several.
func (b *Box) replaced(was, old, now string, all bool) (*string, error) {
	n := strings.Count(was, old)
	switch {
	case n == 0 && strings.Contains(b.clean(was), old):
		return nil, agent.Usagef("old holds what is masked or marked for agents, and stands otherwise in the text").
			Suggest("take an old beside it, or give text, the whole new text")
	case old == "":
		return nil, agent.Usagef("old is empty").Suggest("old is the part that changes, as it stands there")
	case n == 0:
		return nil, agent.Usagef("old does not stand in the text").Suggest("the text begins: %s", cut(was, maxSnippet))
	case n > 1 && !all:
		err := vault.AmbiguousError{Ref: cut(old, maxSnippet/4)}
		for i, line := range strings.Split(was, "\n") {
			if strings.Contains(line, strings.Split(old, "\n")[0]) {
				err.Candidates = append(err.Candidates, vault.Memory{Path: vault.Path(lineName(i + 1)), Title: line})
			}
		}
		return nil, vault.WithHint(&err, "old stands there %s: give more of the text around it",
			templates.Plural(n, "time"))
	}
	text := strings.ReplaceAll(was, old, now)
	return &text, nil
}

func memoryForget() tool {
	return tool{name: "memory_forget", run: forget,
		hint:  Hint{Title: "Forget a memory", Destructive: true, Idempotent: true},
		about: `Puts a memory into the archive, or takes an entry out of a notebook; history keeps it.`,
		params: []param{
			{name: "ref", kind: text, required: true, subject: true, about: "from memory_search"},
			because(),
		}}
}

func forget(ctx context.Context, b *Box, in arguments) (any, error) {
	m, err := b.show(ctx, in.text("ref"))
	if err != nil {
		return nil, err
	}
	if m.Entry() {
		res, err := b.app.Notebook(m.Class).Remove(ctx, agent.EntryOptions{Write: b.because(in), Old: string(m.Path)})
		if err != nil {
			return nil, err
		}
		d := wroteEntry(res, "forgotten")
		d.Path = string(m.Path)
		return d, nil
	}
	if m.Class != vault.ClassMemory {
		return nil, agent.Usagef("%s is no memory", m.Path).Suggest("an entry of a notebook is named FILE#HASH")
	}
	res, err := b.app.Memories().Forget(ctx, agent.ForgetOptions{Write: b.because(in), Refs: []string{string(m.Path)}})
	if err != nil {
		return nil, err
	}
	return wrote(res, "forgotten"), nil
}
