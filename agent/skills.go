package agent

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"stet/agent/snapshot"
	"stet/vault"
	"stet/vault/skill"
)

// Skills holds the use cases of skills. None of them runs anything.
type Skills struct{ a *App }

// Skills holds the use cases of skills.
func (a *App) Skills() Skills { return Skills{a} }

// A Skill is what a list of skills says of one.
type Skill struct {
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Path        vault.Path `json:"path"`     // its folder
	Category    string     `json:"category"` // the folders between skills/ and its own
	CreatedBy   string     `json:"created_by,omitempty"`
	State       string     `json:"state"` // active, stale or archived
	Pinned      bool       `json:"pinned"`
	Managed     bool       `json:"managed"`           // the user gave it over to agents
	Problem     string     `json:"problem,omitempty"` // why its front matter cannot be read as it stands
	// Usage is how often it was used in this clone; nil in what a write returns.
	Usage *skill.Usage `json:"usage,omitempty"`
}

func viewSkill(s skill.Skill) Skill {
	out := Skill{Name: s.Name, Description: s.Description, Path: s.Folder, Category: s.Category(),
		CreatedBy: s.Metadata[skill.CreatedBy], State: "active", Pinned: s.Is(skill.Pinned),
		Managed: s.Is(skill.Managed), Problem: s.Problem}
	switch {
	case s.Archived():
		out.State = "archived"
	case s.Metadata[skill.State] == "stale":
		out.State = "stale"
	}
	return out
}

// A SkillList is skills by name.
type SkillList struct {
	Skills []Skill `json:"skills"`
}

// List lists the skills, or those of the archive, to an agent without private ones.
func (s Skills) List(ctx context.Context, archived bool) (*SkillList, error) {
	all, err := s.all(ctx, archived)
	out, counts := &SkillList{Skills: []Skill{}}, skill.Usages(s.a.v)
	for _, one := range all {
		v, u := viewSkill(one), counts[one.Name]
		v.Usage = &u
		out.Skills = append(out.Skills, v)
	}
	return out, err
}

// all are the skills that who is acting may see.
func (s Skills) all(ctx context.Context, archived bool) ([]skill.Skill, error) {
	all, err := skill.All(ctx, s.a.v, archived)
	return slices.DeleteFunc(all, func(one skill.Skill) bool { return s.a.o.Agent != "" && one.Private }), err
}

// find is the skill that ref names; a path is taken as seen from the current folder.
func (s Skills) find(ctx context.Context, ref string, archived bool) (skill.Skill, []skill.Skill, error) {
	all, err := s.all(ctx, archived)
	if err != nil {
		return skill.Skill{}, nil, err
	}
	if at := s.a.ref(ref); strings.HasPrefix(strings.TrimPrefix(at, "archive/"), "skills/") {
		ref = at
	}
	one, err := skill.Find(all, ref)
	return one, all, err
}

// A SkillView is one skill, or one file of it, in full.
type SkillView struct {
	Skill
	License       string            `json:"license,omitempty"`
	Compatibility string            `json:"compatibility,omitempty"`
	AllowedTools  string            `json:"allowed_tools,omitempty"`
	Metadata      map[string]string `json:"metadata,omitempty"` // its texts
	File          string            `json:"file"`               // as seen from the folder
	Text          string            `json:"text,omitempty"`
	Bytes         []byte            `json:"bytes,omitempty"` // in place of Text where it is not UTF-8
	Files         []SkillFile       `json:"files"`           // SKILL.md first; none where one of them is shown
}

// A SkillFile is a file of a skill.
type SkillFile struct {
	File string `json:"file"` // as seen from the folder
	Size int64  `json:"size"` // in bytes
}

// Data is the file's bytes.
func (v SkillView) Data() []byte {
	if v.Bytes != nil {
		return v.Bytes
	}
	return []byte(v.Text)
}

// View reads a skill: SKILL.md and the names of its other files, or with file one of these. Archived
// ones are found as well. The view is counted in this clone. It fails with [vault.ErrBadPath] for a file
// outside of the skill.
func (s Skills) View(ctx context.Context, ref, file string) (*SkillView, error) {
	one, err := s.either(ctx, ref)
	if err != nil {
		return nil, err
	}
	p := one.Main()
	if file != "" {
		if p, err = one.At(file); err != nil {
			return nil, err
		}
	}
	data, _, err := s.a.v.ReadFile(p)
	if err != nil {
		return nil, err
	}
	out := &SkillView{Skill: viewSkill(one), License: one.License, Compatibility: one.Compatibility,
		AllowedTools: one.AllowedTools, Metadata: one.Metadata, Files: []SkillFile{},
		File: strings.TrimPrefix(string(p), string(one.Folder)+"/")}
	if utf8.Valid(data) {
		out.Text = string(data)
	} else {
		out.Bytes = data
	}
	s.count(ctx, one, func(u *skill.Usage) { u.View(s.now(), s.a.o.Agent != "") })
	if file != "" {
		return out, nil
	}
	files, err := one.Contents(ctx, s.a.v, nil)
	for _, f := range files {
		out.Files = append(out.Files, SkillFile{strings.TrimPrefix(string(f.Path), string(one.Folder)+"/"), f.Size})
	}
	return out, err
}

// either is find among the live skills, else in the archive.
func (s Skills) either(ctx context.Context, ref string) (skill.Skill, error) {
	one, _, err := s.find(ctx, ref, false)
	if err == nil || !errors.Is(err, vault.ErrNotFound) {
		return one, err
	}
	if old, _, err2 := s.find(ctx, ref, true); err2 == nil {
		return old, nil
	}
	return one, err
}

// A SkillReport is what is wrong with skills.
type SkillReport struct {
	Checked  int             `json:"checked"` // skills
	Errors   int             `json:"errors"`
	Findings []skill.Finding `json:"findings"` // by skill, line and column
}

// Lint says what is wrong with the skills that refs name, with all for none.
func (s Skills) Lint(ctx context.Context, refs []string) (*SkillReport, error) {
	all, err := s.all(ctx, false)
	some := all
	if len(refs) > 0 {
		some = nil
	}
	for _, ref := range refs {
		one, _, err := s.find(ctx, ref, false)
		if err != nil {
			return nil, err
		}
		some = append(some, one)
	}
	if err != nil {
		return nil, err
	}
	out := &SkillReport{Checked: len(some)}
	out.Findings, err = skill.Lint(ctx, s.a.v, some, all)
	for _, f := range out.Findings {
		if !f.Warning {
			out.Errors++
		}
	}
	return out, err
}

func (s Skills) now() time.Time { return s.a.o.Now().UTC().Truncate(time.Second) }

// count changes the counts of a skill. They are no part of what was asked for: a failure is a notice.
func (s Skills) count(ctx context.Context, one skill.Skill, change func(*skill.Usage)) {
	if err := skill.Count(ctx, s.a.v, one.Name, change); err != nil && ctx.Err() == nil {
		s.a.note("not counted: %v", err)
	}
}

// Use counts that a skill was followed.
func (s Skills) Use(ctx context.Context, ref string, w Write) (*Skill, error) {
	if err := s.a.check(w, "skill-use", ref); err != nil {
		return nil, err
	}
	one, _, err := s.find(ctx, ref, false)
	if err != nil {
		return nil, err
	}
	v := viewSkill(one)
	return &v, skill.Count(ctx, s.a.v, one.Name, func(u *skill.Usage) {
		u.Use(s.now())
		v.Usage = u
	})
}

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
	case s.a.exists(res.From):
		s.a.note("left in %s: what git ignores, and skills of their own", res.From)
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
	n := skill.New{Name: o.Name, Category: o.Category, Description: o.Description, Text: o.Text, By: o.Write.actor()}
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
		return skill.Write(ctx, s.a.v, one, file, was, []byte(o.Text), w)
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
	return s.change(ctx, by, "skill", ref, false, func(one skill.Skill, w vault.Write) (*skill.Result, error) {
		return skill.Archive(ctx, s.a.v, one, s.now().Format("20060102T150405Z"), w)
	})
}

// Restore moves a skill of the archive back to where it was; see [skill.Restore].
func (s Skills) Restore(ctx context.Context, ref string, by Write) (*SkillWritten, error) {
	return s.change(ctx, by, "skill", ref, true, func(one skill.Skill, w vault.Write) (*skill.Result, error) {
		return skill.Restore(ctx, s.a.v, one, w)
	})
}

// catalogue is what a snapshot of now, or of then, says of the skills: those that are not private, nor
// were made so since.
func (s Skills) catalogue(ctx context.Context, then *snapshot.Past) (out []snapshot.Skill, err error) {
	all, err := skill.All(ctx, s.a.v, false)
	private := map[vault.Path]bool{}
	for _, one := range all {
		private[one.Folder] = one.Private
	}
	if err == nil && then != nil {
		files, listed := then.List(ctx, vault.WalkOptions{})
		all, err = skill.Read(skill.Paths(files), func(p vault.Path) ([]byte, error) {
			data, _, err := then.Files.Read(p)
			return data, err
		})
		err = errors.Join(listed, err)
	}
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		hidden := one.Private || private[one.Folder]
		if then != nil && one.Problem == "" && !hidden {
			if hidden, err = then.Hides(ctx, one.Main(), one.Hash); err != nil {
				return nil, err
			}
		}
		if !hidden {
			out = append(out, snapshot.Skill{Name: one.Name, Description: one.Description})
		}
	}
	return out, nil
}
