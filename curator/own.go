package curator

import (
	"context"

	"stet/agent"
	"stet/vault"
	"stet/vault/skill"
)

// Owned are skills that were given over to the curator, or taken back.
type Owned struct {
	Skills  []string       `json:"skills"` // those that changed, by name
	Commits []agent.Commit `json:"commits"`
}

// Own gives the skills of these names over to the curator, and to agents, or with given false takes them back; none
// is every skill, of which those stay as they are that need no change. Each is a commit. It fails as
// [agent.Skills.Manage] does, with what was done before.
func Own(ctx context.Context, a *agent.App, names []string, given bool, w agent.Write) (*Owned, error) {
	v, _, err := a.Permit(w, "skill-manage", "")
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		all, err := skill.All(ctx, v, false)
		if err != nil {
			return nil, err
		}
		for _, s := range all {
			if s.Owned() != given && s.Problem == "" && !s.Private {
				names = append(names, string(s.Folder))
			}
		}
	}
	out := &Owned{Skills: []string{}, Commits: []agent.Commit{}}
	for _, name := range names {
		done, err := a.Skills().Manage(ctx, name, given, w)
		if n := len(out.Skills); err != nil && n > 0 {
			err = vault.WithHint(err, "%s before it", agent.Plural(n, "skill was changed", "skills were changed"))
		}
		if err != nil {
			return out, err
		}
		if !done.Unchanged {
			out.Skills, out.Commits = append(out.Skills, done.Skill.Name), append(out.Commits, done.Commits...)
		}
	}
	return out, nil
}
