package skill

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"stet/markdown"
	"stet/templates"
	"stet/vault"
	"stet/vault/scan"
)

// An Arrival is a skill from elsewhere that is to come in.
type Arrival struct {
	Folder  vault.Path // below skills/
	Files   []ArrivalFile
	Verdict scan.Verdict
}

// An ArrivalFile is one file of an [Arrival].
type ArrivalFile struct {
	Path       vault.Path
	Data       []byte
	Executable bool
}

// A Record is what the vault keeps of a skill from elsewhere: the git tree of its folder when it came, as
// [vault.State.SkillTree] has it, and the verdict of the scan then.
type Record struct {
	Tree    string
	Verdict scan.Verdict
}

// recordPath is where the record of the skill that belongs into a folder stands.
func recordPath(folder vault.Path) vault.Path {
	return vault.Path(vault.ElsewhereFolder + "/" + strings.TrimPrefix(string(folder), root) + ".yaml")
}

// RecordOf reads the record of the skill that belongs into a folder, the zero value where there is none. A record
// that cannot be read knows no tree.
func RecordOf(v *vault.Vault, folder vault.Path) (Record, error) {
	data, _, err := v.ReadFile(recordPath(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, nil
	}
	doc := markdown.Parse([]byte("---\n" + string(data) + "---\n"))
	text := func(key string) string {
		value, _ := doc.Meta(key)
		return value.Text()
	}
	return Record{text("tree"), scan.Verdict(text("verdict"))}, err
}

// CheckPlace fails with [vault.ErrBadPath] where no skill can stand in a folder: nobody would see it there.
func CheckPlace(v *vault.Vault, folder vault.Path) error {
	clean, err := vault.ParsePath(string(folder))
	hidden := strings.Contains(string(folder), "/.") || Skill{Folder: folder}.home() != folder
	if err == nil && (clean != folder || hidden) {
		err = fmt.Errorf("%q: %w: a folder of that name is passed over", folder, vault.ErrBadPath)
	}
	if err != nil {
		return vault.WithHint(err, "give the folder another name there")
	}
	in := vault.SkillFolder(folder+"/"+File, func(p vault.Path) bool {
		_, _, err := v.ReadFile(p)
		return err == nil || p == folder+"/"+File
	})
	if in != folder {
		return vault.WithHint(fmt.Errorf("%q: %w: it would be material of %q", folder, vault.ErrBadPath, in),
			"choose another --category")
	}
	return nil
}

// Install puts skills into their folders as they are, as one commit, each with its record: they wait for the
// person. What stands in a folder goes; bytes of a person's that are not committed are committed before that. Where
// some cannot come in and others can, it says why of the folders of those; where none can, the error says why of each.
func Install(
	ctx context.Context, v *vault.Vault, some []Arrival, w vault.Write,
) (res *vault.Result, failed map[vault.Path]error, err error) {
	if res, err = install(ctx, v, some, w); err == nil || ctx.Err() != nil {
		return res, nil, err
	}
	var rest []Arrival
	var each []error
	failed, try := map[vault.Path]error{}, w
	try.DryRun = true
	for _, a := range some {
		if _, one := install(ctx, v, []Arrival{a}, try); one != nil {
			failed[a.Folder], each = one, append(each, one)
		} else {
			rest = append(rest, a)
		}
	}
	switch {
	case len(failed) == 0 || ctx.Err() != nil:
		return nil, nil, err
	case len(rest) == 0:
		return nil, nil, errors.Join(each...)
	}
	if res, err = install(ctx, v, rest, w); err != nil {
		return nil, nil, errors.Join(append(each, err)...)
	}
	return res, failed, nil
}

func install(ctx context.Context, v *vault.Vault, some []Arrival, w vault.Write) (*vault.Result, error) {
	subject := fmt.Sprintf("install %s", templates.Plural(len(some), "skill"))
	if len(some) == 1 {
		subject = "install " + path.Base(string(some[0].Folder))
	}
	res, err := v.Transact(ctx, w.Why(vault.OpSkill, subject), w.DryRun, func(tx *vault.Tx) error {
		var folders []vault.Path
		for _, a := range some {
			if err := a.stage(ctx, v, tx); err != nil {
				return err
			}
			folders = append(folders, a.Folder)
		}
		trees := make([]string, len(some))
		record := func() (err error) {
			for i, a := range some {
				text := fmt.Appendf(nil, "tree: %s\nverdict: %s\n", trees[i], a.Verdict)
				err = errors.Join(err, put(tx, recordPath(a.Folder), text))
			}
			return err
		}
		err := record() // that there are records says which trees these are
		if err == nil {
			trees, err = tx.SkillTrees(folders)
		}
		if err == nil {
			err = record()
		}
		return err
	})
	if err == nil {
		if _, err := v.State().Elsewhere(ctx); err != nil { // local state keeps what waits
			res.Warnings = append(res.Warnings, err.Error())
		}
	}
	return res, err
}

// put stages a file, whatever stands there.
func put(tx *vault.Tx, p vault.Path, data []byte) error {
	_, was, err := tx.Read(p)
	if err != nil {
		return err
	}
	return tx.Put(p, was, data)
}

func (a Arrival) stage(ctx context.Context, v *vault.Vault, tx *vault.Tx) error {
	old, err := Skill{Folder: a.Folder}.Contents(ctx, v, nil)
	if err != nil {
		return err
	}
	stays := map[vault.Path]bool{}
	for _, f := range a.Files {
		stays[f.Path] = true
		if err := put(tx, f.Path, f.Data); err != nil {
			return err
		}
		tx.Permit(f.Path, f.Executable)
	}
	for _, f := range old {
		_, was, err := tx.Read(f.Path)
		if err == nil && !stays[f.Path] {
			err = tx.Remove(f.Path, was)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Reject takes a skill from elsewhere out of the vault with its record, as one commit: history keeps both.
func Reject(ctx context.Context, v *vault.Vault, s Skill, w vault.Write) (*vault.Result, error) {
	return v.Transact(ctx, why(w, "reject", s), w.DryRun, func(tx *vault.Tx) error {
		files, err := s.Contents(ctx, v, nil)
		paths := append(Paths(files), recordPath(s.home()))
		for _, p := range paths {
			var was vault.Hash
			if err == nil {
				_, was, err = tx.Read(p)
			}
			if err == nil && was != "" {
				err = tx.Remove(p, was)
			}
		}
		return err
	})
}
