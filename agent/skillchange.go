package agent

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"stet/agent/skillpack"
	"stet/vault"
	"stet/vault/guard"
	"stet/vault/settings"
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

// InstallSkillsOptions name a folder or an archive with skills from elsewhere.
type InstallSkillsOptions struct {
	Write
	Place    string // absolute
	Category string // folders below skills/ that they go into
	// Replace puts them in the place of skills that are the user's own, or were edited since they came.
	Replace bool
	// Confirm is shown the difference before anything is replaced so; nil asks nobody.
	Confirm func(diff string) (bool, error)
}

// Install brings in the skills of a folder or an archive as they are, in one commit. They wait: agents are told
// nothing of them before the user accepts them. One that cannot come in whole, that the guard stops, or whose place
// is taken, is refused, and the others come in: then both the result and an [vault.ErrRefused] are set. Where none
// comes in, the error is why.
func (s Skills) Install(ctx context.Context, o InstallSkillsOptions) (*SkillsInstalled, error) {
	w, err := s.a.permit(o.Write, "skill-install", o.Place)
	if err != nil {
		return nil, err
	}
	if at, err := vault.ParsePath("skills/" + o.Category); err != nil && o.Category != "" ||
		o.Category != "" && string(at) != "skills/"+o.Category {
		return nil, Usagef("category %q is no folder below skills/", o.Category)
	}
	pack, err := skillpack.Read(ctx, o.Place, o.Category)
	if err != nil {
		return nil, err
	}
	out := &SkillsInstalled{Written: &Written{Unchanged: true, DryRun: o.DryRun}, Left: pack.Left}
	come, refused, err := s.sort(ctx, pack, o.Replace, out)
	if err != nil {
		return nil, err
	}
	if len(refused) == len(pack.Skills) {
		return nil, errors.Join(refused...)
	}
	var failed map[vault.Path]error
	if len(come) > 0 {
		ask := o.Confirm
		if !slices.ContainsFunc(out.Skills, func(one InstalledSkill) bool { return one.State == "replaced" }) {
			ask = nil
		}
		res, err := confirmed(ask, w, func(w vault.Write) (res *vault.Result, err error) {
			res, failed, err = skill.Install(ctx, s.a.v, come, w)
			return res, err
		})
		if err != nil && !errors.Is(err, ErrDeclined) && ctx.Err() == nil {
			err = errors.Join(append(refused, err)...) // none came in
		}
		if err != nil {
			return nil, err
		}
		res.Warnings = slices.DeleteFunc(res.Warnings, func(text string) bool { // the findings say so
			return strings.Contains(text, ": flagged ")
		})
		out.Written = s.a.finish(ctx, res)
	}
	for i, one := range out.Skills {
		if why := failed[one.Path]; why != nil {
			out.Skills[i].State, out.Skills[i].Reason = "refused", why.Error()
		}
	}
	if n := len(refused) + len(failed); n > 0 {
		err = fmt.Errorf("install %q: %w: %s of %d did not come in", o.Place, vault.ErrRefused, Plural(n, "skill"),
			len(pack.Skills))
	}
	return out, err
}

// sort says of each skill of a pack in out what becomes of it, and returns those that come in and why others do not.
func (s Skills) sort(
	ctx context.Context, pack *skillpack.Pack, replace bool, out *SkillsInstalled,
) (come []skill.Arrival, refused []error, _ error) {
	show := s.a.o.Progress
	if show == nil {
		show = func(string, int, int) {}
	}
	for i, p := range pack.Skills {
		show("looking at skills", i, len(pack.Skills))
		one, arrival, err := s.arrival(p)
		if err == nil {
			one.State, err = s.standing(ctx, arrival, replace)
		}
		switch {
		case ctx.Err() != nil:
			return nil, nil, context.Cause(ctx)
		case err != nil:
			one.State, one.Reason = "refused", strings.TrimPrefix(err.Error(), string(one.Path)+": ")
			refused = append(refused, err)
		case one.State != "unchanged":
			come = append(come, arrival)
		}
		out.Skills = append(out.Skills, one)
	}
	show("looking at skills", len(pack.Skills), len(pack.Skills))
	return come, refused, nil
}

// arrival is a skill that was read, scanned. It fails where the guard would not let a file in.
func (s Skills) arrival(p skillpack.Skill) (one InstalledSkill, a skill.Arrival, err error) {
	one = InstalledSkill{Name: path.Base(string(p.Folder)), Path: p.Folder, Files: len(p.Files)}
	if a.Folder, err = p.Folder, p.Problem; err == nil {
		err = skill.CheckPlace(s.a.v, p.Folder)
	}
	var files []vault.File
	data := map[vault.Path][]byte{}
	for i, f := range p.Files {
		at := p.Folder + "/" + vault.Path(f.Path)
		a.Files = append(a.Files, skill.ArrivalFile{Path: at, Data: f.Data, Executable: f.Executable})
		files, data[at] = append(files, vault.File{Path: at}), f.Data
		if f.Executable {
			one.Executable++
		}
		if i == 0 {
			read, _ := skill.Parse(p.Folder, f.Data)
			one.Name = read.Name
		}
		if most := s.a.Settings().Bytes(settings.GuardMaxBytes); err == nil && int64(len(f.Data)) > most {
			err = fmt.Errorf("%q: %w (%s, guard.max_bytes is %d)", at, vault.ErrTooLarge,
				Plural(len(f.Data), "byte"), most)
		}
	}
	if err != nil {
		return one, a, err
	}
	var secrets []error
	one.Verdict, one.Findings, err = s.scan(p.Folder, files, func(p vault.Path) ([]byte, error) { return data[p], nil },
		func(p vault.Path, found guard.Finding) {
			err := fmt.Errorf("%q: %w: %s, after %q", p, vault.ErrSecret, found, found.Excerpt)
			secrets = append(secrets, vault.WithHint(err,
				`take it out there; or "stet config add guard.allow %s" where it is none`, found.Fingerprint))
		})
	if len(secrets) > 0 && s.a.Settings().Text(settings.GuardSecrets) == guard.Block {
		err = secrets[0]
	}
	a.Verdict = one.Verdict
	return one, a, err
}

// standing says what a skill would do to what stands in its place, and fails where that is not its to replace.
func (s Skills) standing(ctx context.Context, a skill.Arrival, replace bool) (string, error) {
	files, err := skill.Skill{Folder: a.Folder}.Contents(ctx, s.a.v, nil)
	if err != nil || len(files) == 0 {
		return "installed", err
	}
	head, err := s.a.v.History().View(ctx, "")
	if err != nil {
		return "", err
	}
	comes := map[vault.Path]skill.ArrivalFile{}
	for _, f := range a.Files {
		comes[f.Path] = f
	}
	same, edited := len(files) == len(a.Files), false
	for _, f := range files {
		now, _, err := s.a.v.ReadFile(f.Path)
		was, _, err2 := head.Read(f.Path)
		executable, err3 := head.Executable(f.Path)
		if err = errors.Join(err, err2, err3); err != nil {
			return "", err
		}
		comes, is := comes[f.Path]
		same = same && is && bytes.Equal(comes.Data, now) && comes.Executable == executable
		edited = edited || !bytes.Equal(was, now)
	}
	record, err := skill.RecordOf(s.a.v, a.Folder)
	tree, _, err2 := s.a.v.State().SkillTree(a.Folder)
	switch {
	case err != nil || err2 != nil:
		return "", errors.Join(err, err2)
	case same:
		return "unchanged", nil
	case record.Tree == tree && !edited:
		return "updated", nil
	case replace:
		return "replaced", nil
	}
	whose := "a skill of yours stands there"
	if record.Tree != "" {
		whose = "it was edited since it came"
	}
	return "", vault.WithHint(fmt.Errorf("%q: %w: %s", a.Folder, vault.ErrConflict, whose),
		"--replace shows the difference and puts the new one there; --category puts it beside")
}
