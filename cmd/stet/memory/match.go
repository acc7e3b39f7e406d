package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"stet/agent"
	"stet/agent/match"
	"stet/cmd/stet/console"
	"stet/vault"
	"stet/vault/links"
)

// checkMatch looks at the words of a command that takes a MEMORY or --match QUERY;
// only names the flags that go with --match alone.
func checkMatch(in *console.Input, only ...string) error {
	name := in.Command.Name
	switch {
	case !in.IsSet("match") && len(in.Words) == 0:
		return agent.Usagef("%s needs a MEMORY or --match QUERY", name).Suggest("\"stet %s --help\" has examples", name)
	case in.IsSet("match") && len(in.Words) > 0:
		return agent.Usagef("--match and %q exclude each other", in.Words[0]).Suggest("quote a QUERY that has spaces: --match %q", in.String("match")+" "+in.Words[0])
	}
	for _, flag := range only {
		if in.IsSet(flag) && !in.IsSet("match") {
			return agent.Usagef("--%s goes with --match", flag)
		}
	}
	return nil
}

// A foundView is one memory that --match met.
type foundView struct {
	Path  vault.Path `json:"path"`
	ID    string     `json:"id,omitempty"`
	Score float64    `json:"score"`
	Text  string     `json:"text"` // the sentence that says it
}

func viewFound(found []match.Found) []foundView {
	out := make([]foundView, 0, len(found))
	for _, f := range found {
		out = append(out, foundView{f.Path, f.ID, f.Score, f.Line})
	}
	return out
}

func foundLine(f match.Found) string {
	return fmt.Sprintf("%s  %s", console.Line1(string(f.Path)), console.Line1(f.Line))
}

func forgetMatch(ctx context.Context, e *console.Env, in *console.Input, v *vault.Vault, w vault.Write) error {
	description := in.String("match")
	found, err := match.Live(ctx, v, description, w)
	if err != nil {
		return alsoMentioned(e, v, description, w, err)
	}
	if len(found) > 1 && !in.Bool("all") && !match.Parse(description).All() {
		return vault.WithHint(severalFound(e, description, found), "say more in QUERY, name one by its path, or take them all with --all")
	}
	if err := alsoMentioned(e, v, description, w, nil); err != nil {
		return err
	}
	if in.Bool("purge") {
		var paths []string
		for _, f := range found {
			paths = append(paths, string(f.Path))
		}
		return purge(ctx, e, in, v, w, paths, found)
	}
	if !w.DryRun && !in.Bool("yes") && e.CanAsk() {
		question := "Forget this?"
		if len(found) > 1 {
			question = fmt.Sprintf("Forget these %d?", len(found))
		}
		for _, f := range found {
			e.Note("%s", foundLine(f))
		}
		yes, err := e.Confirm(question)
		if err != nil || !yes {
			e.Note("nothing was changed")
			return err
		}
	}
	res, err := match.Forget(ctx, v, found, w)
	if err != nil {
		return err
	}
	return e.WroteMore(ctx, v, res, console.More{Verb: "forgot", Matched: viewFound(found)})
}

// severalFound says what each of the candidates says, which their names do not.
func severalFound(e *console.Env, description string, found []match.Found) error {
	several := &vault.AmbiguousError{Ref: description}
	for _, f := range found {
		m := f.Memory
		m.Title = f.Line
		several.Candidates = append(several.Candidates, m)
	}
	return several
}

// alsoMentioned tells of entries of notebooks that the description means as well:
// they are not files of their own, so nothing happens to them.
func alsoMentioned(e *console.Env, v *vault.Vault, description string, w vault.Write, err error) error {
	if err != nil && !errors.Is(err, vault.ErrNotFound) {
		return err
	}
	mentions, failed := match.Mentions(v, description)
	if failed != nil {
		return errors.Join(err, failed)
	}
	for _, m := range mentions {
		command := "core"
		if vault.ClassOf(m.File) == vault.ClassProfile {
			command = "profile"
		}
		e.Note("left alone: %s says %q; \"stet %s remove %s\" takes it out", m.File, console.Line1(m.Text), command, m.Hash)
	}
	return err
}

// stillFound reports a file that changed after --match met it.
func stillFound(now []vault.Memory, found []match.Found) error {
	for _, m := range now {
		i := slices.IndexFunc(found, func(f match.Found) bool { return f.Path == m.Path })
		if i >= 0 && found[i].Hash != m.Hash {
			return vault.WithHint(fmt.Errorf("purge %q: %w: it changed after it was found", m.Path, vault.ErrConflict), "look at it and try again")
		}
	}
	return nil
}

func updateMatch(ctx context.Context, e *console.Env, in *console.Input, v *vault.Vault, patch vault.Patch, w vault.Write) error {
	description := in.String("match")
	found, err := match.Live(ctx, v, description, w)
	if err != nil {
		return alsoMentioned(e, v, description, w, err)
	}
	if len(found) > 1 {
		return vault.WithHint(severalFound(e, description, found), "say more in QUERY, or name one by its path")
	}
	if patch.Scope != nil {
		if patch.Text != nil {
			return agent.Usagef("--match with --text and --scope: do one after the other")
		}
		res, err := links.Update(ctx, v, string(found[0].Path), patch, in.Bool("rewrite-notes"), w)
		if err != nil {
			return err
		}
		return e.WroteMore(ctx, v, res.Result, console.More{Verb: "updated", Lines: moveLines(e, res), Links: viewRewrites(res), Matched: viewFound(found)})
	}
	if !w.DryRun && !in.Bool("yes") && e.CanAsk() {
		dry := w
		dry.DryRun = true
		res, _, err := match.Update(ctx, v, found[0], description, patch, in.Bool("whole"), dry)
		if err != nil {
			return err
		}
		if err := e.PrintDiff(e.Out, res.Diff); err != nil {
			return err
		}
		yes, err := e.Confirm("Update this?")
		if err != nil || !yes {
			e.Note("nothing was changed")
			return err
		}
	}
	res, kept, err := match.Update(ctx, v, found[0], description, patch, in.Bool("whole"), w)
	if err != nil {
		return err
	}
	if kept {
		e.Note("the rest of what it says stays; --whole replaces that too")
	}
	return e.WroteMore(ctx, v, res, console.More{Verb: "updated", Matched: viewFound(found)})
}
