package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"stet/vault"
	"stet/vault/skill"
)

// A SkillWritten is the result of changing a skill.
type SkillWritten struct {
	*Written
	Skill Skill      `json:"skill"` // as it is now, or with a dry run would be
	From  vault.Path `json:"from,omitempty"`
}

// finish settles a change of a skill, and counts it.
func (s Skills) finish(ctx context.Context, res *skill.Result, err error) (*SkillWritten, error) {
	if err != nil {
		return nil, err
	}
	out := &SkillWritten{Written: s.a.finish(ctx, res.Result), Skill: viewSkill(res.Skill), From: res.From}
	switch {
	case out.Unchanged, out.DryRun, len(out.Proposed) > 0:
	case res.From == "":
		s.count(ctx, res.Skill, func(u *skill.Usage) { u.Patch(s.now()) })
	default:
		for _, p := range res.Left {
			s.a.note("left in place, since git ignores it: %s", p)
		}
	}
	return out, nil
}

// change carries out one change of the skill that ref names, where the policy allows it.
func (s Skills) change(
	ctx context.Context, by Write, operation, ref string, archived bool,
	do func(skill.Skill, vault.Write) (*skill.Result, error),
) (*SkillWritten, error) {
	w, err := s.a.permit(by, operation, ref)
	if err != nil {
		return nil, err
	}
	one, _, err := s.find(ctx, ref, archived)
	if err != nil {
		return nil, err
	}
	res, err := do(one, w)
	return s.finish(ctx, res, err)
}

// NewSkillOptions describe a skill that is to be made; see [skill.New].
type NewSkillOptions struct {
	Write
	Name, Category, Description, Text string
}

// New makes a skill. It fails as [skill.Create] does.
func (s Skills) New(ctx context.Context, o NewSkillOptions) (*SkillWritten, error) {
	w, err := s.a.permit(o.Write, "skill-new", o.Name)
	if err != nil {
		return nil, err
	}
	live, err := skill.All(ctx, s.a.v, false)
	old, err2 := skill.All(ctx, s.a.v, true)
	if err = errors.Join(err, err2); err != nil {
		return nil, err
	}
	n := skill.New{Name: o.Name, Category: o.Category, Description: o.Description, Text: o.Text, By: vault.ActorUser}
	if o.Agent != "" {
		n.By = "agent" // whatever of it wrote
	}
	res, err := skill.Create(ctx, s.a.v, n, slices.Concat(live, old), w)
	out, err := s.finish(ctx, res, err)
	if err == nil && !o.DryRun && len(out.Proposed) == 0 { // one of that name may have been there before
		s.count(ctx, res.Skill, func(u *skill.Usage) { *u = skill.Usage{} })
	}
	return out, err
}

// PutSkillOptions are a file of a skill, "" for SKILL.md, and what it is to hold.
type PutSkillOptions struct {
	Write
	Ref, File, Text string
	// Change makes it of what the file holds, nil for a new file, in place of Text; nil is Text.
	Change func(was []byte) ([]byte, error)
}

// Put replaces a file of a skill, or adds one. It fails as [skill.Write] does.
func (s Skills) Put(ctx context.Context, o PutSkillOptions) (*SkillWritten, error) {
	return s.change(ctx, o.Write, "skill", o.Ref, false, func(one skill.Skill, w vault.Write) (*skill.Result, error) {
		file := cmp.Or(o.File, skill.File)
		p, err := one.At(file)
		if err != nil {
			return nil, err
		}
		was, _, err := s.a.v.ReadFile(p)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		data := []byte(o.Text)
		if o.Change != nil {
			if data, err = o.Change(was); err != nil {
				return nil, err
			}
		}
		if o.Agent != "" {
			if err := unmasked(string(data)); err != nil {
				return nil, err
			}
		}
		return skill.Write(ctx, s.a.v, one, file, was, data, w)
	})
}

// RemoveFile takes a file out of a skill; history keeps it. It fails with [vault.ErrInvalid] for SKILL.md.
func (s Skills) RemoveFile(ctx context.Context, ref, file string, by Write) (*SkillWritten, error) {
	return s.change(ctx, by, "skill", ref, false, func(one skill.Skill, w vault.Write) (*skill.Result, error) {
		return skill.Remove(ctx, s.a.v, one, file, w)
	})
}

// RetireOptions name a skill that goes to the archive, and why. Into is the skill that has what was
// useful of it, "" for none.
type RetireOptions struct {
	Write
	Ref, Into, Reason string
}

// Retire is [Skills.Archive] with the reason, which the commit notes. It fails with [vault.ErrNotFound]
// where Into is no skill, and with [vault.ErrInvalid] where it is the same one.
func (s Skills) Retire(ctx context.Context, o RetireOptions) (*SkillWritten, error) {
	return s.change(ctx, o.Write, "skill", o.Ref, false, func(one skill.Skill, w vault.Write) (*skill.Result, error) {
		if o.Into != "" {
			into, _, err := s.find(ctx, o.Into, false)
			if err == nil && into.Folder == one.Folder {
				err = fmt.Errorf("archive %q: %w: a skill is not absorbed into itself", one.Folder, vault.ErrInvalid)
			}
			if err != nil {
				return nil, err
			}
			w.Trail("Stet-Absorbed-Into", into.Name)
		}
		if o.Reason != "" {
			w.Trail("Stet-Reason", o.Reason)
		}
		return skill.Archive(ctx, s.a.v, one, s.now().Format("20060102T150405Z"), w)
	})
}

// Edit opens a file of a skill in an editor, "" for SKILL.md, as [Memories.Edit] does.
func (s Skills) Edit(ctx context.Context, ref, file string, w Write, edit Editor) (*SkillWritten, error) {
	if err := s.a.check(w, "edit", ref); err != nil {
		return nil, err
	}
	one, _, err := s.find(ctx, ref, false)
	if err != nil {
		return nil, err
	}
	file = cmp.Or(file, skill.File)
	p, err := one.At(file)
	if err != nil {
		return nil, err
	}
	out := &SkillWritten{Skill: viewSkill(one)}
	out.Written, err = s.a.editWith(ctx, p, edit, func(before, saved []byte, _ vault.Hash) (*vault.Result, error) {
		res, err := skill.Write(ctx, s.a.v, one, file, before, saved, w.vault(s.a.Environment))
		if err != nil {
			return nil, err
		}
		out.Skill = viewSkill(res.Skill)
		s.count(ctx, res.Skill, func(u *skill.Usage) { u.Patch(s.now()) })
		return res.Result, nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Pin keeps agents from changing a skill, or with pinned false lets them again.
func (s Skills) Pin(ctx context.Context, ref string, pinned bool, by Write) (*SkillWritten, error) {
	return s.change(ctx, by, "skill", ref, false, func(one skill.Skill, w vault.Write) (*skill.Result, error) {
		return skill.Mark(ctx, s.a.v, one, skill.Pinned, pinned, w)
	})
}

// Manage gives a skill of the user's over to agents, or with given false takes it back.
func (s Skills) Manage(ctx context.Context, ref string, given bool, by Write) (*SkillWritten, error) {
	return s.change(ctx, by, "skill-manage", ref, false, func(one skill.Skill, w vault.Write) (*skill.Result, error) {
		return skill.Mark(ctx, s.a.v, one, skill.Managed, given, w)
	})
}

// Archive moves the whole folder of a skill to the archive; see [skill.Archive].
func (s Skills) Archive(ctx context.Context, ref string, by Write) (*SkillWritten, error) {
	return s.Retire(ctx, RetireOptions{Write: by, Ref: ref})
}

// Restore moves a skill of the archive back to where it was; see [skill.Restore].
func (s Skills) Restore(ctx context.Context, ref string, by Write) (*SkillWritten, error) {
	return s.change(ctx, by, "skill", ref, true, func(one skill.Skill, w vault.Write) (*skill.Result, error) {
		return skill.Restore(ctx, s.a.v, one, w)
	})
}
