// Package skillpack reads skills from where somebody else keeps them: a folder, or an archive (tar, tar.gz, zip). It
// keeps bytes and permissions, follows no link, writes nothing, and reads only so much: what is larger is named and
// left out, an archive with paths that lead out of it is refused whole.
package skillpack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"stet/vault"
)

// The bounds: of one skill, of all that is looked at, and of what is kept in memory.
const (
	mostFiles   = 2_000
	mostEntries = 100_000
	mostBytes   = 128 << 20
)

// A File is one file of a skill.
type File struct {
	Path       string // as seen from the skill's folder
	Data       []byte
	Executable bool
}

// A Skill is a folder with a SKILL.md.
type Skill struct {
	Folder  vault.Path // where it goes, below skills/
	Files   []File     // SKILL.md first, the others in path order
	Problem error      // why it cannot come in; then there are no files
}

// A Pack is the skills of a folder or an archive, in the order of their folders.
type Pack struct {
	Skills []Skill
	Left   int // files that belong to no skill
}

// An entry is one thing that a folder or an archive holds.
type entry struct {
	name       string // slashes, as seen from the top
	file       bool   // else a link, a device and the like
	executable bool
	size       int64
	data       []byte // of an archive; nil before it was read, or where nobody wants it
	place      string // of a folder: the file on disk
}

// Read reads the skills at a place, which go to the folder under below skills/, "" for skills/ itself. A single
// skill keeps the name of its folder, several theirs below the folder that they have in common. It fails with
// [vault.ErrInvalid] where there are none, and for an archive that cannot be trusted.
func Read(ctx context.Context, place, under string) (*Pack, error) {
	entries, top, err := list(ctx, place)
	if err != nil {
		return nil, fmt.Errorf("install %q: %w", place, err)
	}
	for i, e := range entries {
		entries[i].name = path.Join(top, e.name)
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	p := &Pack{}
	of := map[string][]entry{}
	has := map[vault.Path]bool{}
	for _, e := range entries {
		has[vault.Path("skills/"+e.name)] = e.file || path.Base(e.name) == mainFile
	}
	for _, e := range entries {
		in := vault.SkillFolder(vault.Path("skills/"+e.name), func(p vault.Path) bool { return has[p] })
		if in == "" {
			p.Left++
			continue
		}
		folder := strings.TrimPrefix(string(in), "skills/")
		of[folder] = append(of[folder], e)
	}
	if len(of) == 0 {
		err := fmt.Errorf("install %q: %w: no folder in it has a SKILL.md", place, vault.ErrInvalid)
		return nil, vault.WithHint(err, "name a folder or an archive (.tar.gz, .tar, .zip) with a SKILL.md in it")
	}
	if err := p.gather(ctx, of, under); err != nil {
		return nil, fmt.Errorf("install %q: %w", place, err)
	}
	return p, nil
}

const mainFile = "SKILL.md"

// common is the folder that all skills stand in.
func common(folders []string) string {
	at := path.Dir(folders[0])
	for _, f := range folders {
		for at != "." && !strings.HasPrefix(f, at+"/") {
			at = path.Dir(at)
		}
	}
	if at == "." {
		return ""
	}
	return at + "/"
}

// gather makes skills of entries, by their folders.
func (p *Pack) gather(ctx context.Context, of map[string][]entry, under string) error {
	var folders []string
	for f := range of {
		folders = append(folders, f)
	}
	slices.Sort(folders)
	top, room, taken := common(folders), int64(mostBytes), map[string]string{}
	for _, f := range folders {
		name := strings.TrimPrefix(strings.TrimPrefix(f, top), "skills/") // where repositories keep them
		s := Skill{Folder: vault.Path(path.Join("skills", under, name))}
		switch s.Problem = check(of[f], f); {
		case s.Problem != nil:
		case taken[folded(string(s.Folder))] != "":
			s.Problem = fmt.Errorf("%w: %s goes there too, or differs in the case of letters alone", vault.ErrInvalid,
				taken[folded(string(s.Folder))])
		default:
			taken[folded(string(s.Folder))] = string(s.Folder)
			s.Problem = s.read(ctx, of[f], f, &room)
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if s.Problem != nil {
			s.Files = nil
			s.Problem = fmt.Errorf("%s: %w", s.Folder, s.Problem)
		}
		p.Skills = append(p.Skills, s)
	}
	return nil
}

func folded(name string) string { return cases.Fold().String(norm.NFC.String(name)) }

// check says why a skill cannot come in whole, by the names and sizes of its entries.
func check(entries []entry, folder string) error {
	seen := map[string]bool{}
	if len(entries) > mostFiles {
		err := fmt.Errorf("%w: it has %d files, at most %d are taken", vault.ErrInvalid, len(entries), mostFiles)
		return vault.WithHint(err, "leave out what is no part of the skill")
	}
	for _, e := range entries {
		name := strings.TrimPrefix(e.name, folder+"/")
		at, err := vault.ParsePath("skills/" + name)
		switch {
		case !e.file:
			err := fmt.Errorf("%q: %w: it is a link, or no file at all", name, vault.ErrNotRegular)
			return vault.WithHint(err, "put the file itself there, or take it out")
		case e.size > vault.MaxFileSize:
			return fmt.Errorf("%q: %w (%d bytes, at most %d)", name, vault.ErrTooLarge, e.size,
				int64(vault.MaxFileSize))
		case err != nil || string(at) != "skills/"+name:
			return errors.Join(err, fmt.Errorf("%q: %w: no vault can have a file of that name", name, vault.ErrBadPath))
		case seen[folded(name)]:
			return fmt.Errorf("%q: %w: another file has that name, or differs in the case of letters alone", name,
				vault.ErrInvalid)
		}
		seen[folded(name)] = true
	}
	return nil
}

// read fills the files of a skill.
func (s *Skill) read(ctx context.Context, entries []entry, folder string, room *int64) error {
	for _, e := range entries {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if *room -= e.size; *room < 0 {
			return fmt.Errorf("%w: all skills together have more than %d MiB", vault.ErrTooLarge, mostBytes>>20)
		}
		data, err := e.read()
		if err != nil {
			return err
		}
		f := File{strings.TrimPrefix(e.name, folder+"/"), data, e.executable}
		if f.Path == mainFile {
			s.Files = slices.Insert(s.Files, 0, f)
		} else {
			s.Files = append(s.Files, f)
		}
	}
	return nil
}

// limited reads at most most bytes and says where there are more.
func limited(in io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%w (at most %d bytes)", vault.ErrTooLarge, most)
	}
	return data, err
}

// nameOf is what a place is called, for a skill that has no folder of its own in it.
func nameOf(place string) string {
	name := filepath.Base(place)
	for _, ending := range []string{".tgz", ".gz", ".tar", ".zip", ".skill"} {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}
