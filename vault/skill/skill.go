package skill

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"stet/vault"
)

// File is the name of the file that makes its folder a skill.
const File = "SKILL.md"

const (
	root    = "skills/"
	archive = "archive/"
)

// A Skill is what the front matter of a SKILL.md says, and where it stands.
type Skill struct {
	Folder        vault.Path // of SKILL.md
	Name          string     // of the front matter, else of the folder
	Description   string
	License       string
	Compatibility string
	AllowedTools  string
	Metadata      map[string]string // its texts; nested values are left out
	Private       bool
	Hash          vault.Hash // of SKILL.md
	Foreign       bool       // it came from elsewhere, see [Install]; like Waits known to [All]
	Waits         bool       // and agents are told nothing of it until the person accepts it
	// Pin is the line that keeps agents and the curator from changing it, "" for none; see
	// [markdown.SkillPin].
	Pin string
	// Problem says why the front matter could not be read as it stands; name and description are
	// what can be made of it.
	Problem string
}

// The keys of stet's own facts in the metadata of a skill; their values are texts.
const (
	CreatedBy = "stet-created-by" // agent, user or import
	State     = "stet-state"      // active or stale; absent is active
	Pinned    = vault.SkillPinned
	Managed   = vault.SkillManaged
)

// Is reports whether the skill has the mark Pinned or Managed.
func (s Skill) Is(mark string) bool {
	return s.Metadata[mark] == "true" || mark == Pinned && s.Pin != ""
}

// Owned reports whether the curator may age the skill: an agent made it or a person gave it over, and none took it
// back.
func (s Skill) Owned() bool {
	return !s.Private && s.Problem == "" && !s.Waits &&
		(s.Is(Managed) || s.By() == "agent" && s.Metadata[Managed] != "false")
}

// By is who made the skill: agent, user, import, or "" where nothing says so. What came from elsewhere says nothing
// of that itself.
func (s Skill) By() string {
	if s.Foreign {
		return "import"
	}
	return s.Metadata[CreatedBy]
}

// Archived reports whether the skill lies in cold storage.
func (s Skill) Archived() bool { return strings.HasPrefix(string(s.Folder), archive) }

// Category is the folders between skills/ and the skill's own, "" for none.
func (s Skill) Category() string {
	dir := path.Dir(strings.TrimPrefix(strings.TrimPrefix(string(s.Folder), archive), root))
	return strings.TrimPrefix(dir, ".")
}

// Main is the path of SKILL.md.
func (s Skill) Main() vault.Path { return s.Folder + "/" + File }

// folders are the folders of the skills among the files of a vault. A skill may stand inside the folder
// of another one, which then is its category too.
func folders(files []vault.Path) (out []vault.Path) {
	has := among(files)
	for _, p := range files {
		if dir := vault.Path(p.Dir()); p.Base() == File && vault.SkillFolder(p, has) == dir {
			out = append(out, dir)
		}
	}
	return out
}

func among(files []vault.Path) func(vault.Path) bool {
	all := map[vault.Path]bool{}
	for _, p := range files {
		all[p] = true
	}
	return func(p vault.Path) bool { return all[p] }
}

// Read reads the skills among files: name by name, those of one name by path. A file that vanished
// meanwhile is no skill.
func Read(files []vault.Path, read func(vault.Path) ([]byte, error)) ([]Skill, error) {
	var out []Skill
	for _, dir := range folders(files) {
		data, err := read(dir + "/" + File)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil && (errors.Is(err, vault.ErrTooLarge) || errors.Is(err, fs.ErrPermission)):
			out = append(out, Skill{Folder: dir, Name: path.Base(string(dir)), Problem: err.Error()})
		case err != nil:
			return nil, err
		default:
			s, _ := parse(dir, data)
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b Skill) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(string(a.Folder), string(b.Folder)))
	})
	return out, nil
}

// Paths are the paths of files.
func Paths(files []vault.File) (out []vault.Path) {
	for _, f := range files {
		out = append(out, f.Path)
	}
	return out
}

// All reads the skills of the working tree, with archived those of the archive alone, in the order of
// [Read].
func All(ctx context.Context, v *vault.Vault, archived bool) ([]Skill, error) {
	under := vault.Path("skills")
	if archived {
		under = archive + under
	}
	files, err := v.Files(ctx, vault.WalkOptions{Under: under, Archive: archived})
	if err != nil {
		return nil, err
	}
	all, err := Read(Paths(files), func(p vault.Path) ([]byte, error) {
		data, _, err := v.ReadFile(p)
		return data, err
	})
	of, err2 := v.State().Elsewhere(ctx)
	for i, s := range all {
		in, waits := of(s.Folder)
		all[i].Foreign, all[i].Waits = in != "" && in == s.home(), waits
	}
	return all, errors.Join(err, err2)
}

// home is the folder that the skill has, or had before it went to the archive.
func (s Skill) home() vault.Path {
	return vault.Path(strings.TrimPrefix(stamp().ReplaceAllString(string(s.Folder), ""), archive))
}

// Find is the skill that ref names: by its name, or by its folder, with or without skills/ in front.
// It fails with [vault.ErrNotFound], and where several have the name with [vault.ErrAmbiguous].
func Find(all []Skill, ref string) (Skill, error) {
	as := func(s Skill) vault.Memory { return vault.Memory{Path: s.Folder, Title: s.Name} }
	at := strings.TrimSuffix(strings.TrimSuffix(ref, File), "/")
	short := func(s Skill) string { return strings.TrimPrefix(strings.TrimPrefix(string(s.Folder), archive), root) }
	var s Skill
	err := error(nil)
	for _, means := range []func(Skill) bool{
		func(s Skill) bool { return string(s.Folder) == at },
		func(s Skill) bool { return s.Name == ref },
		func(s Skill) bool { return short(s) == at || path.Base(at) == at && path.Base(short(s)) == at },
	} {
		if s, err = vault.Pick(ref, all, as, means); !errors.Is(err, vault.ErrNotFound) {
			break
		}
	}
	switch {
	case errors.Is(err, vault.ErrNotFound):
		err = vault.WithHint(err,
			`"stet skill list" shows the skills, "stet skill list --archived" those in the archive`)
	case err != nil:
		err = vault.WithHint(err, "name one by its folder")
	}
	return s, err
}

// At is the path of one file of the skill, named as seen from its folder. It fails with
// [vault.ErrBadPath] for one outside of it, and where a link stands in the way reading it does.
func (s Skill) At(file string) (vault.Path, error) {
	p, err := vault.ParsePath(file)
	if err == nil && slices.Contains(strings.Split(file, "/"), "..") {
		err = vault.ErrBadPath
	}
	if err != nil {
		return "", vault.WithHint(fmt.Errorf("file %q of skill %q: %w", file, s.Name, err),
			"name a file as seen from %s/", s.Folder)
	}
	return s.Folder + "/" + p, nil
}
