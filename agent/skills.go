package agent

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

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
		v.Description = s.a.marked(v.Description)
		v.Usage = &u
		out.Skills = append(out.Skills, v)
	}
	return out, err
}

// all are the skills that who is acting may see.
func (s Skills) all(ctx context.Context, archived bool) ([]skill.Skill, error) {
	return skill.All(ctx, s.a.v, archived)
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
	// Label is what the metadata says of its origin, and what the guard says of the file.
	Label
	Files []SkillFile `json:"files"` // SKILL.md first; none where one of them is shown
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
	if out.CreatedBy == fromAgent || out.CreatedBy == fromImport {
		out.Origin = out.CreatedBy
	}
	out.Flags = s.a.orders(data)
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
