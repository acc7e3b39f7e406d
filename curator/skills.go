package curator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"stet/agent"
	"stet/markdown"
	"stet/vault"
	"stet/vault/skill"
)

// skillJobs are the actions as jobs. Which files the skills have is noted as it is now.
func (r *runner) skillJobs(ctx context.Context, actions []Action) (jobs []job, _ error) {
	r.became = map[int]State{}
	var due []skill.Skill
	for _, a := range actions {
		due = append(due, r.lib.skills[a.Row])
	}
	was, err := skill.Look(ctx, r.v, due)
	if err != nil {
		return nil, err
	}
	for _, a := range actions {
		s, row := r.lib.skills[a.Row], r.lib.rows[a.Row]
		files := was.Contents(s, nil)
		j := job{name: row.Name, state: a.To, skill: &s}
		if a.To == Archived {
			why := r.why(vault.OpArchive, "skill "+s.Name)
			why.Trail("Stet-Reason", a.reason(row))
			j.own = &why
		}
		into := s.Folder
		j.stage = func(ctx context.Context, tx *vault.Tx) error {
			err := r.unchanged(tx, s, files)
			if err == nil {
				into, err = r.act(ctx, tx, s, a)
			}
			return err
		}
		j.tell = func(by vault.Revision) {
			r.became[a.Row] = a.To
			r.out.did(Transition{Name: row.Name, From: a.From, To: a.To, Why: a.reason(row), Path: s.Folder, Into: into,
				Evidence: "commits and counts of use", Commit: by})
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

// states describes the commit that changes states; any reports whether there is one.
func (r *runner) states(jobs []job) (why vault.Why, any bool) {
	n := map[State]int{}
	for _, j := range jobs {
		n[j.state]++
	}
	subject := agent.Plural(n[Stale], "skill") + " stale"
	switch {
	case n[Stale] == 0:
		subject = agent.Plural(n[Active], "skill") + " active again"
	case n[Active] > 0:
		subject += fmt.Sprintf(", %d active again", n[Active])
	}
	return r.why(vault.OpCurate, subject), n[Stale]+n[Active] > 0
}

// act stages one action and returns where the skill stands then.
func (r *runner) act(ctx context.Context, tx *vault.Tx, s skill.Skill, a Action) (vault.Path, error) {
	if a.To == Archived {
		return r.stock.ToArchive(ctx, r.v, tx, s, r.now)
	}
	data, was, err := tx.Read(s.Main())
	if err != nil {
		return s.Folder, err
	}
	state := ""
	if a.To == Stale {
		state = string(Stale)
	}
	doc := markdown.Parse(data)
	if err := doc.SetMetaText("metadata", skill.State, state); err != nil {
		return s.Folder, fmt.Errorf("%q: %w: %w", s.Main(), vault.ErrInvalid, err)
	}
	return s.Folder, tx.Put(s.Main(), was, doc.Bytes())
}

// errChanged is why a skill is left that somebody is working on.
var errChanged = errors.New("it was changed while the curator was looking at it")

// unchanged fails where the files of a skill are not those that it had, as the commit has them that the library was
// read of: somebody is at work on it, and the skill is used.
func (r *runner) unchanged(tx *vault.Tx, s skill.Skill, had []vault.File) (err error) {
	files := r.stock.Contents(s, nil)
	if !slices.Equal(skill.Paths(files), skill.Paths(had)) {
		err = errChanged
	}
	for _, f := range files {
		if err == nil {
			err = r.asCommitted(tx, f.Path)
		}
	}
	return err
}

// asCommitted fails where a file is not what it was in the commit that the library was read of.
func (r *runner) asCommitted(tx *vault.Tx, p vault.Path) error {
	_, now, err := tx.Read(p)
	if err != nil {
		return err
	}
	if _, was, err := r.view.Read(p); err != nil || was != now {
		return errors.Join(err, errChanged)
	}
	permitted, err := tx.Permitted(p)
	if err == nil && permitted {
		err = fmt.Errorf("%q: its permissions were changed and not committed", p)
	}
	return err
}
