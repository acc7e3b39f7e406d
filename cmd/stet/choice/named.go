package choice

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"stet/agent"
	"stet/cmd/stet/cells"
	"stet/cmd/stet/console"
	"stet/vault"
)

// Named are the words of a command that names memories, each as the path of the only one that it means, also by a
// part of a name: where several match, or without a word, the user chooses on a terminal. What changes something says
// which memory it takes by a part of a name and, where that is not whole words of it, asks. A word that means nothing
// known stays as it is: the command knows what else it may be. It fails with a [vault.AmbiguousError] where nobody can
// be asked.
func Named(ctx context.Context, e *console.Env, a *agent.App, words []string, changes bool) ([]string, error) {
	switch {
	case len(words) == 0 && e.CanAsk():
		return pickAny(ctx, e, a)
	case len(words) == 0:
		return nil, agent.Usagef("%s needs a MEMORY", e.Command)
	case a.Agent() != "":
		return words, nil // an agent names what it means
	}
	out := slices.Clone(words)
	for i, word := range words {
		if strings.Contains(word, "#") || strings.HasPrefix(word, "/") {
			continue // an entry of a notebook, a scope, or a path of the system
		}
		n, err := a.Named(ctx, word)
		if err != nil {
			return nil, err
		}
		if n.Path == "" && len(n.Candidates) > 0 {
			if n.Path, err = meant(ctx, e, a, word, n, changes); err != nil {
				return nil, err
			}
		}
		if n.Path != "" {
			out[i] = string(n.Path)
		}
	}
	return out, nil
}

// meant is the one of several memories, or of one by a part of its name, that a word means.
func meant(
	ctx context.Context, e *console.Env, a *agent.App, word string, n agent.Naming, changes bool,
) (vault.Path, error) {
	one := n.Candidates[0]
	refused := &vault.AmbiguousError{Ref: word, Candidates: n.Candidates}
	switch {
	case len(n.Candidates) > 1 && !e.CanAsk():
		return "", refused
	case len(n.Candidates) > 1:
		called, err := a.Called(ctx, vault.WalkOptions{Archive: true}) // they say how old each is
		if err != nil {
			return "", err
		}
		return pick(e, a, "which one is "+console.Line1(word)+"?", n.Candidates, called)
	case n.Words || !changes:
		if changes {
			e.Note("%s", one.Path)
		}
		return one.Path, nil
	case !e.CanAsk():
		return "", &vault.NotFoundError{Ref: word, Near: []string{string(one.Path)}}
	}
	yes, err := e.Confirm(console.Line1(word + " is a part of " + string(one.Path) + "; is that the one?"))
	if err == nil && !yes {
		err = &vault.NotFoundError{Ref: word, Near: []string{string(one.Path)}}
	}
	return one.Path, err
}

// pickAny lets the user choose among all memories and notes.
func pickAny(ctx context.Context, e *console.Env, a *agent.App) ([]string, error) {
	called, err := a.Called(ctx, vault.WalkOptions{})
	if err != nil {
		return nil, err
	}
	var all []vault.Memory
	for _, c := range called {
		if class := vault.ClassOf(c.Path); class == vault.ClassMemory || class == vault.ClassNote {
			all = append(all, vault.Memory{Path: c.Path, ID: c.ID, Title: c.Title})
		}
	}
	if len(all) == 0 {
		return nil, vault.WithHint(vault.ErrNotFound, `there is no memory and no note yet; "stet remember" stores one`)
	}
	p, err := pick(e, a, "which one?", all, called)
	return []string{string(p)}, err
}

// pick lets the user choose a memory. It fails with [context.Canceled] where none is chosen.
func pick(
	e *console.Env, a *agent.App, question string, all []vault.Memory, called []agent.Called,
) (vault.Path, error) {
	updated := make(map[vault.Path]time.Time, len(called))
	for _, c := range called {
		updated[c.Path] = c.Updated
	}
	ids := make([]string, 0, len(all))
	for _, m := range all {
		ids = append(ids, m.ID)
	}
	short := a.Shorts(ids)
	choices := make([]Choice, 0, len(all))
	for _, m := range all {
		row := cells.Row{Name: short[m.ID], At: updated[m.Path], Text: cmp.Or(m.Headline(), m.Name())}
		if scope := vault.ScopeOf(m.Path); m.ID == "" {
			row.Tail = string(m.Path)
		} else if scope != "/" {
			row.Tail = scope
		}
		choices = append(choices, Choice{row, string(m.Path)})
	}
	n, err := Pick(e, question, choices)
	if err == nil && n < 0 {
		err = context.Canceled
	}
	if err != nil {
		return "", err
	}
	return all[n].Path, nil
}
