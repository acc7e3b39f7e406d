package vault

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"stet/markdown"
	"stet/vault/store"
)

const skillFile = "SKILL.md"

// SkillFolder is the folder of the skill that a file below skills/ or archive/skills/ belongs to, ""
// for none: the innermost with a SKILL.md, where what stands below the folders that hold a skill's
// material is that skill's, a SKILL.md as well. has says which files there are.
func SkillFolder(p Path, has func(Path) bool) (in Path) {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(string(p), "archive/"), "skills/")
	if !ok {
		return ""
	}
	at, begun := p[:len(p)-len(rest)-1], false
	folders := strings.Split(rest, "/")
	for _, name := range folders[:len(folders)-1] {
		if begun && slices.Contains([]string{"references", "templates", "scripts", "assets"}, name) {
			return in
		}
		if at, begun = at+"/"+Path(name), false; has(at + "/" + skillFile) {
			in, begun = at, true
		}
	}
	return in
}

// skillMark reports whether a SKILL.md has a mark of a person's.
func skillMark(data []byte, mark string) bool {
	v, _ := markdown.Parse(data).Meta("metadata")
	return v.Texts()[mark] == "true"
}

// checkSkill fails with [ErrRefused] where a machine's commit changes a skill that a person pinned, or
// gives one over to machines. It reports whether a person has to say yes, as to any change of a skill
// that a person wrote, a new file in its folder included, or gave the skill over.
func (t *Tx) checkSkill(
	ctx context.Context, p Path, g store.Group, earlier []store.Group,
) (must, given bool, err error) {
	before := func(p Path) []byte {
		if _, err := t.tx.Touch(p); err != nil {
			return nil
		}
		return t.before(p, earlier)
	}
	folder := SkillFolder(p, func(p Path) bool { return before(p) != nil })
	if p.Base() == skillFile && skillMark(g.Files[p].Data, SkillManaged) && !skillMark(before(p), SkillManaged) &&
		!slices.ContainsFunc(whyOf(g.Why).Moved, func(m [2]Path) bool {
			return m[1] == p && skillMark(before(m[0]), SkillManaged)
		}) {
		return false, false, fmt.Errorf("%q: %w: only a person gives a skill over to agents", p, ErrRefused)
	}
	if folder == "" {
		return false, false, nil
	}
	main := folder + "/" + skillFile
	switch data := before(main); {
	case markdown.SkillPin(markdown.Parse(data)) != "":
		err = fmt.Errorf("%q: %w: the skill is pinned, and no agent changes it", folder, ErrRefused)
		return false, false, WithHint(err, "tell the person what you would change in it")
	case skillMark(data, SkillManaged):
		return false, true, nil
	}
	must, err = t.personalSkill(ctx, main)
	return must, false, err
}

// personalSkill reports whether a person wrote a SKILL.md, edited it, or put it into the archive.
func (t *Tx) personalSkill(ctx context.Context, main Path) (bool, error) {
	if ClassOf(main) == ClassArchive {
		for version, err := range t.v.History().Versions(ctx, "", main) {
			if err != nil || !version.Commit.ByMachine() {
				return true, err
			}
			break
		}
	}
	return t.personal(ctx, main)
}
