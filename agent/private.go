package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stet/agent/approval"
	"stet/index"
	"stet/vault"
	"stet/vault/skill"
)

// What is private is given to no agent: not as it stands, and not as it stood.

// withheld is the error for a private file that an agent asks for by a name: it tells no other one.
func (e *Environment) withheld(named string) error {
	return vault.WithHint(fmt.Errorf("%q: %w: it is private, and %q is an agent", named, vault.ErrRefused, e.o.Agent),
		"ask the user for what you need of it")
}

// hides reports whether m is kept from who is acting.
func (e *Environment) hides(m vault.Memory) bool { return e.o.Agent != "" && m.Private }

// hidesFile reports whether a file that holds or held these contents is kept from who is acting.
// What is private on disk today was private always, also where it stood before it was moved.
func (a *App) hidesFile(ctx context.Context, p vault.Path, contents ...vault.Hash) (bool, error) {
	if a.o.Agent == "" || p == "" {
		return false, nil
	}
	data, _, rerr := a.v.ReadFile(p)
	now := vault.Memory{}
	if rerr == nil {
		if now = vault.ReadMemory(p, data); now.Private || a.hidesProposed(ctx, p, data) {
			return true, nil
		}
	}
	if main := a.skillOf(p); main != "" && main != p {
		if hidden, err := a.hidesFile(ctx, main); hidden || err != nil {
			return hidden, err
		}
	}
	for _, h := range contents {
		if h == "" || h == now.Hash {
			continue
		}
		data, err := a.v.History().Ancestry().Read(h)
		if err != nil {
			return false, err
		}
		m := vault.ReadMemory(p, data)
		if a.hides(m) || a.hidesProposed(ctx, p, data) {
			return true, nil
		}
		if m.ID != "" && m.ID != now.ID {
			if elsewhere, err := a.hiddenNow(ctx); err != nil || elsewhere.ids[m.ID] {
				return true, err
			}
		}
	}
	return false, nil
}

// skillOf is the SKILL.md of the skill that a file belongs to: it speaks for the whole folder. "" is none.
func (a *App) skillOf(p vault.Path) vault.Path {
	in := vault.SkillFolder(p, func(p vault.Path) bool { return a.exists(p) })
	if in == "" {
		return ""
	}
	return in + "/" + skill.File
}

// hidesPast is [App.hidesFile] for what is shown with its text: of a file that was private once,
// nothing but what stands there now.
func (a *App) hidesPast(ctx context.Context, c vault.Change) (bool, error) {
	hidden, err := a.hidesChange(ctx, c)
	if err != nil || hidden || a.o.Agent == "" || c.Old == "" && a.stands(c.Path, c.New) {
		return hidden, err
	}
	return a.v.History().WasPrivate(ctx, c.Path)
}

// stands reports whether the disk holds these contents at p.
func (a *App) stands(p vault.Path, h vault.Hash) bool {
	data, _, err := a.v.ReadFile(p)
	return err == nil && vault.ReadMemory(p, data).Hash == h
}

// hidesProposed is [App.hidesProposal] for the contents of a file, which need be no proposal.
func (a *App) hidesProposed(ctx context.Context, p vault.Path, data []byte) bool {
	if !approval.Is(p) {
		return false
	}
	w, err := approval.Read(p, data)
	return err == nil && a.hidesProposal(ctx, w)
}

// hidesProposal reports whether a proposal holds or changes what is kept from who is acting.
func (a *App) hidesProposal(ctx context.Context, w approval.Waiting) bool {
	for i, f := range w.Proposal.Files {
		to, from := vault.Path(f.Path), vault.Path(f.From)
		if approval.Is(to) || approval.Is(from) {
			return true // none that stet wrote
		}
		hidden, err := a.hidesFile(ctx, to, vault.Hash(f.Was))
		was, err2 := a.hidesFile(ctx, from, vault.Hash(f.Was))
		if hidden || was || err != nil || err2 != nil || a.hides(vault.ReadMemory(to, w.Data(i))) {
			return true
		}
	}
	return false
}

func (a *App) hidesChange(ctx context.Context, c vault.Change) (bool, error) {
	hidden, err := a.hidesFile(ctx, c.Path, c.Old, c.New)
	if err == nil && !hidden && c.From != "" {
		hidden, err = a.hidesFile(ctx, c.From)
	}
	return hidden, err
}

// redact takes out of a commit, whose changes are known, what it says of private files.
func (a *App) redact(ctx context.Context, c vault.Commit) (vault.Commit, error) {
	if a.o.Agent == "" {
		return c, nil
	}
	shown := []vault.Change{}
	for _, change := range c.Changes {
		hidden, err := a.hidesChange(ctx, change)
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

// A hiding is what is private today, archived or not.
type hiding struct {
	at    vault.Revision // HEAD when it was looked for
	paths map[vault.Path]bool
	ids   map[string]bool
}

// hiddenNow lists the private files where an agent asks, and reads all files once for each HEAD.
func (a *App) hiddenNow(ctx context.Context) (hiding, error) {
	if a.o.Agent == "" {
		return hiding{}, nil // nor does a damaged HEAD keep a person from what doctor says
	}
	head, err := a.v.Head()
	if err != nil || a.hidden.paths != nil && a.hidden.at == head {
		return a.hidden, err
	}
	found := hiding{at: head, paths: map[vault.Path]bool{}, ids: map[string]bool{}}
	for _, archived := range []bool{false, true} {
		all, err := a.v.List(ctx, vault.Filter{Classes: LiveClasses(), Archived: archived})
		if err != nil {
			return found, err
		}
		for _, m := range all {
			if m.Private {
				found.paths[m.Path] = true
				found.ids[m.ID] = m.ID != ""
			}
		}
	}
	a.hidden = found
	return found, nil
}

func (h hiding) has(m vault.Memory) bool { return h.paths[m.Path] || m.ID != "" && h.ids[m.ID] }

// withoutHidden takes out of a search of the past what has been private since, or was before.
func (a *App) withoutHidden(ctx context.Context, res *index.Result) (err error) {
	now, err := a.hiddenNow(ctx)
	if err != nil || a.o.Agent == "" {
		return err
	}
	for _, hits := range []*[]index.Hit{&res.Hits, &res.Sessions} {
		*hits = slices.DeleteFunc(*hits, func(h index.Hit) bool {
			hidden := now.has(vault.Memory{Path: h.Path, ID: h.ID})
			if !hidden && err == nil {
				hidden, err = a.v.History().WasPrivate(ctx, h.Path)
			}
			if hidden {
				res.Total--
			}
			return hidden
		})
	}
	return err
}

// withoutPrivateSkills takes out what was found in the folder of a private skill: the index knows
// each file by itself.
func (a *App) withoutPrivateSkills(ctx context.Context, res *index.Result) (err error) {
	if a.o.Agent == "" {
		return nil
	}
	res.Hits = slices.DeleteFunc(res.Hits, func(h index.Hit) bool {
		if vault.ClassOf(h.Path) != vault.ClassSkill {
			return false
		}
		hidden, herr := a.hidesFile(ctx, h.Path)
		if err = errors.Join(err, herr); hidden {
			res.Total--
		}
		return hidden
	})
	return err
}

// files is [vault.Vault.Files] without those that are hidden.
func (a *App) files(ctx context.Context, o vault.WalkOptions) ([]vault.File, error) {
	files, err := a.v.Files(ctx, o)
	if err != nil {
		return nil, err
	}
	now, err := a.hiddenNow(ctx)
	return slices.DeleteFunc(files, func(f vault.File) bool { return now.paths[f.Path] }), err
}

// nameless are the problems that name nothing hidden.
func (a *App) nameless(ctx context.Context, all []vault.Problem) ([]vault.Problem, error) {
	now, err := a.hiddenNow(ctx)
	if err != nil && ctx.Err() == nil { // a damaged vault: what names no file may be told
		return slices.DeleteFunc(all, func(p vault.Problem) bool { return p.Path != "" }), nil
	}
	return slices.DeleteFunc(all, func(p vault.Problem) bool {
		hidden := false
		for path := range now.paths {
			hidden = hidden || p.Path == path || strings.Contains(p.Text+p.Hint, string(path))
		}
		return hidden
	}), err
}

// redactStatus takes out of a status what names hidden files.
func (a *App) redactStatus(ctx context.Context, s *Status) (err error) {
	if a.o.Agent == "" {
		return nil
	}
	s.Problems, err = a.nameless(ctx, s.Problems)
	for _, changes := range []*[]vault.Change{&s.Changed, &s.Staged} {
		*changes = slices.DeleteFunc(*changes, func(c vault.Change) bool {
			hidden, herr := a.hidesChange(ctx, c)
			err = errors.Join(err, herr)
			return hidden
		})
	}
	if s.Last == nil || err != nil {
		return err
	}
	last, err := (History{a}).Log(ctx, LogOptions{LogOptions: vault.LogOptions{Rev: string(s.Last.Rev), Limit: 1}})
	if err == nil && len(last.Commits) == 1 {
		s.Last.Subject = last.Commits[0].Subject
	}
	return err
}

// redactWritten takes out of the result of an agent's write what it tells of the user's own edits
// to hidden files, which were committed first.
func (a *App) redactWritten(ctx context.Context, res *vault.Result, out *Written) {
	out.Diff = WithoutRecords(out.Diff) // a proposal may hold what is private by now
	var err error
	if out.Held, err = a.nameless(ctx, out.Held); err != nil {
		out.Held = nil
	}
	var hidden []vault.Path
	for _, p := range res.Adopted {
		if is, err := a.hidesFile(ctx, p); is || err != nil {
			hidden = append(hidden, p)
		}
	}
	if len(hidden) == 0 {
		return
	}
	own := func(p vault.Path) bool { return slices.Contains(hidden, p) }
	out.Changes = slices.DeleteFunc(out.Changes, func(c vault.Change) bool { return own(c.Path) || own(c.From) })
	for i, c := range out.Commits {
		if c.Op == vault.OpAdopt {
			out.Commits[i].Subject = string(c.Op) + ": private"
		}
	}
}

// redactDiffs takes the private files out of a difference.
func (a *App) redactDiffs(ctx context.Context, diffs []vault.FileDiff) (shown []vault.FileDiff, err error) {
	if a.o.Agent == "" {
		return diffs, nil
	}
	for _, d := range diffs {
		hidden, err := a.hidesPast(ctx, d.Change)
		if err != nil {
			return nil, err
		}
		if !hidden {
			shown = append(shown, d)
		}
	}
	return shown, nil
}
