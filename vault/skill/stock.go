package skill

import (
	"context"
	"maps"
	"slices"
	"strings"

	"stet/vault"
)

// A Stock is what stands in the folders of skills, as walks over the working tree found it.
type Stock struct {
	files  map[vault.Path][]vault.File // by the folder of the skill that they belong to, "" for none
	passed map[vault.Path][]passed     // as files
}

// passed is what git would not store as a file, or ignores.
type passed struct {
	path    vault.Path
	ignored bool
}

// manySkills is how many folders are walked one by one: more lie in one walk over all skills.
const manySkills = 16

// Look takes stock of skills. Cost: a walk of each folder, or one of skills/.
func Look(ctx context.Context, v *vault.Vault, skills []Skill) (*Stock, error) {
	out := &Stock{map[vault.Path][]vault.File{}, map[vault.Path][]passed{}}
	if len(skills) > manySkills {
		return out, out.walk(ctx, v, vault.Path(strings.TrimSuffix(root, "/")))
	}
	for _, s := range skills {
		if err := out.walk(ctx, v, s.Folder); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (k *Stock) walk(ctx context.Context, v *vault.Vault, under vault.Path) error {
	o := vault.WalkOptions{Under: under, All: true, Hidden: true, Archive: true}
	others := map[vault.Path]bool{} // those that git ignores are true
	o.Passed = func(p vault.Path, ignored bool) { others[p] = ignored }
	o.Denied = func(p vault.Path, _ error) { others[p] = false }
	files, err := v.Files(ctx, o)
	if err != nil {
		return err
	}
	has := among(Paths(files))
	for _, f := range files {
		in := vault.SkillFolder(f.Path, has)
		k.files[in] = append(k.files[in], f)
	}
	for _, p := range slices.Sorted(maps.Keys(others)) {
		in := vault.SkillFolder(p, has)
		k.passed[in] = append(k.passed[in], passed{p, others[p]})
	}
	return nil
}

// Contents are the files of a skill of which stock was taken, SKILL.md first, the others in path order, without those
// of skills that stand inside its folder. told is told of what git would not store as a file: links, repositories of
// their own, and folders that nobody may list; and of what git ignores; nil: they are passed over in silence.
func (k *Stock) Contents(s Skill, told func(p vault.Path, ignored bool)) []vault.File {
	below := func(p vault.Path) bool { return p == s.Folder || strings.HasPrefix(string(p), string(s.Folder)+"/") }
	for _, in := range []vault.Path{"", s.Folder} {
		for _, other := range k.passed[in] {
			if told != nil && below(other.path) {
				told(other.path, other.ignored)
			}
		}
	}
	files := slices.Clone(k.files[s.Folder])
	for _, f := range k.files[""] { // SKILL.md is gone
		if below(f.Path) {
			files = append(files, f)
		}
	}
	if i := slices.Index(Paths(files), s.Main()); i > 0 {
		main := files[i]
		files = slices.Insert(slices.Delete(files, i, i+1), 0, main)
	}
	return files
}

// Contents are the files of a skill in the working tree, as [Stock.Contents] lists them.
func (s Skill) Contents(
	ctx context.Context, v *vault.Vault, told func(p vault.Path, ignored bool),
) ([]vault.File, error) {
	stock, err := Look(ctx, v, []Skill{s})
	if err != nil {
		return nil, err
	}
	return stock.Contents(s, told), nil
}
