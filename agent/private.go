package agent

import (
	"context"
	"fmt"

	"stet/agent/approval"
	"stet/vault"
)

// What is private is given to no agent: not as it stands, and not as it stood.

// withheld is the error for a private file that an agent asks for.
func (e *Environment) withheld(p vault.Path) error {
	return vault.WithHint(fmt.Errorf("%q: %w: it is private, and %q is an agent", p, vault.ErrRefused, e.o.Agent),
		"ask the user for what you need of it")
}

// hides reports whether m is kept from who is acting.
func (e *Environment) hides(m vault.Memory) bool { return e.o.Agent != "" && m.Private }

// hidesFile reports whether a file that holds or held these contents is kept from who is acting.
// What is private on disk today was private always.
func (a *App) hidesFile(p vault.Path, contents ...vault.Hash) (bool, error) {
	if a.o.Agent == "" || p == "" {
		return false, nil
	}
	now := vault.Hash("")
	if data, _, err := a.v.ReadFile(p); err == nil {
		m := vault.ReadMemory(p, data)
		if now = m.Hash; m.Private {
			return true, nil
		}
	}
	for _, h := range contents {
		if h == "" || h == now {
			continue
		}
		if data, err := a.v.History().Ancestry().Read(h); err != nil || vault.ReadMemory(p, data).Private {
			return err == nil, err
		}
	}
	return false, nil
}

// hidesProposal reports whether a proposal holds or changes what is kept from who is acting.
func (a *App) hidesProposal(w approval.Waiting) bool {
	for i, f := range w.Proposal.Files {
		to, from := vault.Path(f.Path), vault.Path(f.From)
		hidden, err := a.hidesFile(to, vault.Hash(f.Was))
		was, err2 := a.hidesFile(from)
		if hidden || was || err != nil || err2 != nil || a.hides(vault.ReadMemory(to, w.Data(i))) {
			return true
		}
	}
	return false
}

func (a *App) hidesChange(c vault.Change) (bool, error) {
	hidden, err := a.hidesFile(c.Path, c.Old, c.New)
	if err == nil && !hidden && c.From != "" {
		hidden, err = a.hidesFile(c.From)
	}
	return hidden, err
}

// redact takes out of a commit, whose changes are known, what it says of private files.
func (a *App) redact(c vault.Commit) (vault.Commit, error) {
	if a.o.Agent == "" {
		return c, nil
	}
	shown := []vault.Change{}
	for _, change := range c.Changes {
		hidden, err := a.hidesChange(change)
		if err != nil {
			return c, err
		}
		if !hidden {
			shown = append(shown, change)
		}
	}
	if len(shown) < len(c.Changes) {
		c.Subject, c.Body, c.Changes = string(c.Op)+": private", "", shown
		var kept vault.Trailers
		for _, l := range c.Trailers {
			if l.Key != "Stet-Moved" {
				kept = append(kept, l)
			}
		}
		c.Trailers = kept
	}
	return c, nil
}

// hiddenPaths are the private files, where an agent asks.
func (a *App) hiddenPaths(ctx context.Context) (map[vault.Path]bool, error) {
	out := map[vault.Path]bool{}
	if a.o.Agent == "" {
		return out, nil
	}
	all, err := a.v.List(ctx, vault.Filter{Classes: LiveClasses()})
	for _, m := range all {
		out[m.Path] = m.Private
	}
	return out, err
}

// redactDiffs takes the private files out of a difference.
func (a *App) redactDiffs(diffs []vault.FileDiff) (shown []vault.FileDiff, err error) {
	if a.o.Agent == "" {
		return diffs, nil
	}
	for _, d := range diffs {
		hidden, err := a.hidesChange(d.Change)
		if err != nil {
			return nil, err
		}
		if !hidden {
			shown = append(shown, d)
		}
	}
	return shown, nil
}
