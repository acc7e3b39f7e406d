package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"stet/vault"
	"stet/vault/guard"
	"stet/vault/scan"
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
	Waits       bool       `json:"waits,omitempty"`   // from elsewhere: agents see it once the user accepts it
	Problem     string     `json:"problem,omitempty"` // why its front matter cannot be read as it stands
	// Usage is how often it was used in this clone; nil in what a write returns.
	Usage *skill.Usage `json:"usage,omitempty"`
}

func viewSkill(s skill.Skill) Skill {
	out := Skill{Name: s.Name, Description: s.Description, Path: s.Folder, Category: s.Category(),
		CreatedBy: s.By(), State: "active", Waits: s.Waits, Pinned: s.Is(skill.Pinned),
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
// ones are found as well. The view is counted in this clone, unless another
// process holds the counts. It fails with [vault.ErrBadPath] for a file outside of the skill.
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
	hurry, stop := context.WithTimeout(ctx, 100*time.Millisecond)
	s.count(hurry, one, func(u *skill.Usage) { u.View(s.now(), s.a.o.Agent != "") })
	stop()
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

// An InstalledSkill is what became of one skill from elsewhere.
type InstalledSkill struct {
	Name       string         `json:"name"`
	Path       vault.Path     `json:"path"`
	State      string         `json:"state"` // installed, updated, replaced, unchanged or refused
	Files      int            `json:"files"`
	Executable int            `json:"executable"` // of them
	Verdict    scan.Verdict   `json:"verdict,omitempty"`
	Findings   []scan.Finding `json:"findings,omitempty"`
	Reason     string         `json:"reason,omitempty"` // why it was refused
}

// SkillsInstalled is what an installation did, or with a dry run would do.
type SkillsInstalled struct {
	*Written
	Skills []InstalledSkill `json:"skills"`
	Left   int              `json:"left"` // files that belong to no skill
}

// A WaitingSkill is a skill from elsewhere that agents are told nothing of before the user accepts it.
type WaitingSkill struct {
	Skill
	Tree     string         `json:"tree"` // the git tree that its folder is in HEAD
	Files    int            `json:"files"`
	Verdict  scan.Verdict   `json:"verdict"`
	Findings []scan.Finding `json:"findings"`
	// Changed is a file of it that is not as HEAD has it, "" for none: what is accepted is HEAD's, what is shown the
	// disk's.
	Changed vault.Path `json:"changed,omitempty"`
	// Decision is accepted or rejected where the user decided just now.
	Decision string `json:"decision,omitempty"`
	found    skill.Skill
}

// Waiting are the skills from elsewhere that wait for the user, each as the scan finds it now; to an agent there are
// none.
func (s Skills) Waiting(ctx context.Context) ([]WaitingSkill, error) {
	all, err := s.all(ctx, false)
	out := []WaitingSkill{}
	for _, one := range all {
		if !one.Waits || !one.Foreign || err != nil {
			continue
		}
		w := WaitingSkill{Skill: viewSkill(one), found: one}
		if w.Tree, _, err = s.a.v.State().SkillTree(one.Folder); err != nil {
			return nil, err
		}
		files, err := one.Contents(ctx, s.a.v, nil)
		if err != nil {
			return nil, err
		}
		read := func(p vault.Path) ([]byte, error) {
			data, _, err := s.a.v.ReadFile(p)
			return data, err
		}
		w.Files = len(files)
		if w.Verdict, w.Findings, err = s.scan(one.Folder, files, read, nil); err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	if err == nil && len(out) > 0 {
		err = s.changed(ctx, out)
	}
	return out, err
}

// waiting counts the skills from elsewhere that wait, without reading any.
func (s Skills) waiting(ctx context.Context) (n int, err error) {
	of, err := s.a.v.State().Elsewhere(ctx)
	if err != nil {
		return 0, err
	}
	files, err := s.a.v.Files(ctx, vault.WalkOptions{Under: "skills"})
	for _, f := range files {
		if in, waits := of(f.Path); waits && f.Path == in+"/"+skill.File {
			n++
		}
	}
	return n, err
}

// changed says of skills that wait whether they are as HEAD has them.
func (s Skills) changed(ctx context.Context, waiting []WaitingSkill) error {
	now, err := s.a.v.Status(ctx)
	if err != nil {
		return err
	}
	for _, c := range append(now.Changed, now.Staged...) {
		for i, w := range waiting {
			for _, at := range []vault.Path{c.Path, c.From} {
				if strings.HasPrefix(string(at), string(w.Path)+"/") {
					waiting[i].Changed = at
				}
			}
		}
	}
	return nil
}

// scan scans the files of a skill in a folder. secret is told of each secret; nil: nobody is.
func (s Skills) scan(
	folder vault.Path, files []vault.File, read func(vault.Path) ([]byte, error),
	secret func(vault.Path, guard.Finding),
) (scan.Verdict, []scan.Finding, error) {
	all := []scan.File{{Path: string(folder)}} // its name counts as well
	secrets := []scan.Finding{}
	for _, f := range files {
		data, err := read(f.Path)
		if err != nil {
			return "", nil, err
		}
		name := vault.Path(strings.TrimPrefix(string(f.Path), string(folder)+"/"))
		all = append(all, scan.File{Path: string(name), Data: data, Steers: name.Steers()})
		for _, found := range s.a.v.Secrets(f.Path, data) {
			secrets = append(secrets, scan.Finding{File: string(name), Line: found.Line, Rule: found.Rule,
				Verdict: scan.Look, Excerpt: found.Excerpt})
			if secret != nil {
				secret(f.Path, found)
			}
		}
	}
	verdict, found := scan.Files(all)
	if verdict == scan.Clean && len(secrets) > 0 {
		verdict = scan.Look
	}
	return verdict, append(secrets, found...), nil
}

// Decide accepts or rejects a skill that waits, as it was shown, and returns its decision. What is rejected is taken
// out, in a commit. It fails with [vault.ErrConflict] where it changed since, and with [vault.ErrRefused] where the
// policy leaves it to the user.
func (s Skills) Decide(ctx context.Context, one WaitingSkill, accept bool, by Write) (string, error) {
	w, err := s.a.permit(by, "review", string(one.Path))
	if err != nil {
		return "", err
	}
	decision := "accepted"
	switch {
	case accept && one.Changed != "":
		err := fmt.Errorf("accept %q: %w: %q is not as it was committed", one.Path, vault.ErrConflict, one.Changed)
		return "", vault.WithHint(err,
			`"stet adopt" commits it, "git restore" takes it back; then look at the skill again`)
	case !accept:
		var res *vault.Result
		if res, err = skill.Reject(ctx, s.a.v, one.found, w); err == nil {
			s.a.finish(ctx, res)
		}
		decision = "rejected"
	case !by.DryRun:
		err = s.a.v.State().AcceptSkill(ctx, one.Path, one.Tree)
	}
	return decision, err
}
