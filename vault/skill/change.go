package skill

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"stet/markdown"
	"stet/templates"
	"stet/vault"
)

// A Result is what a change of a skill did.
type Result struct {
	*vault.Result
	Skill Skill        // as it is now, or with a dry run would be
	From  vault.Path   // its folder before, where it moved
	Left  []vault.Path // what git ignores there, and what stays for that reason
}

func why(w vault.Write, did string, s Skill) vault.Why {
	return w.Why(vault.OpSkill, did+" "+s.Name)
}

// stamp is what stands behind the name of a folder in the archive where that name was taken.
var stamp = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`@\d{8}T\d{6}Z$`) })

// Archive renames the folder of a skill to archive/<its folder>, as one commit: every file with its
// bytes and its permissions, whatever kind it is; skills that stand inside of it stay. What is there
// under that name already stays, and the time (UTC) goes behind the new one. It fails with
// [vault.ErrRefused], and changes nothing, where the folder holds a link or what else git does not
// store as a file, or where the guard stops a file. Files that git ignores stay where they are;
// hidden by a .gitignore of the skill itself, they are a reason to refuse as well.
// now is the time, as 20060102T150405Z.
func Archive(ctx context.Context, v *vault.Vault, s Skill, now string, w vault.Write) (*Result, error) {
	to, err := s.shelf(ctx, v, now)
	if err != nil {
		return nil, err
	}
	return move(ctx, v, s, to, "archive", w)
}

// ToArchive is [Archive] in a transaction that does other things as well, with the stock that was taken in it. It
// returns where the skill goes.
func (k *Stock) ToArchive(
	ctx context.Context, v *vault.Vault, tx *vault.Tx, s Skill, now string,
) (to vault.Path, err error) {
	to, err = s.shelf(ctx, v, now)
	if err == nil && to != archive+s.Folder { // else it is free
		err = s.free(ctx, v, to, "archive")
	}
	if err == nil {
		_, err = k.stage(tx, s, to, "archive")
	}
	return to, err
}

// shelf is the place in the archive that is free for the skill.
func (s Skill) shelf(ctx context.Context, v *vault.Vault, now string) (vault.Path, error) {
	to := archive + s.Folder
	old, err := Skill{Folder: to}.Contents(ctx, v, nil)
	if len(old) > 0 || stamp().MatchString(string(to)) {
		to += vault.Path("@" + now)
	}
	return to, err
}

// Restore renames the folder of a skill from the archive back to where it was. It fails with
// [vault.ErrConflict] where something stands there by now.
func Restore(ctx context.Context, v *vault.Vault, s Skill, w vault.Write) (*Result, error) {
	return move(ctx, v, s, s.home(), "restore", w)
}

// Absorber is the live skill into which the curator merged one of the archive, and the line of its SKILL.md at which
// that has a section there; 0 for none. Cost: the history of one file.
func Absorber(ctx context.Context, v *vault.Vault, s Skill) (into Skill, line int, err error) {
	for version, err := range v.History().Versions(ctx, "", s.Main()) {
		if err != nil {
			return into, 0, err
		}
		if c := version.Commit; slices.Contains(c.Trailers.All("Supersedes"), s.Name) {
			all, err := All(ctx, v, false)
			if err != nil {
				return into, 0, err
			}
			if into, err = Find(all, c.Trailers.Get("Stet-Absorbed-Into")); err != nil {
				return into, 0, nil // it is no more
			}
			data, _, err := v.ReadFile(into.Main())
			for _, part := range markdown.Parse(data).Sections() {
				text, name := "-"+markdown.Slug(part.Heading.Text, 0)+"-", "-"+markdown.Slug(s.Name, 0)+"-"
				if part.Heading.Level > 0 && strings.Contains(text, name) {
					return into, part.Line, err
				}
			}
			return into, 0, err
		}
	}
	return into, 0, nil
}

func move(ctx context.Context, v *vault.Vault, s Skill, to vault.Path, did string, w vault.Write) (*Result, error) {
	out := &Result{Skill: s, From: s.Folder}
	out.Skill.Folder = to
	var err error
	out.Result, err = v.Transact(ctx, why(w, did, s), w.DryRun, func(tx *vault.Tx) (err error) {
		stock, err := Look(ctx, v, []Skill{s})
		if err = errors.Join(err, s.free(ctx, v, to, did)); err == nil {
			out.Left, err = stock.stage(tx, s, to, did)
		}
		return err
	})
	return out, err
}

// free fails where something stands in the place that a skill is to have.
func (s Skill) free(ctx context.Context, v *vault.Vault, to vault.Path, did string) error {
	taken, err := Skill{Folder: to}.Contents(ctx, v, nil)
	if err == nil && len(taken) > 0 {
		err = vault.WithHint(fmt.Errorf("%s %q: %w: %q is taken", did, s.Folder, vault.ErrConflict, to),
			"archive or move what stands there first")
	}
	return err
}

// stage stages the renaming of a skill's folder. What git ignores there, and is left, is returned.
func (k *Stock) stage(tx *vault.Tx, s Skill, to vault.Path, did string) (left []vault.Path, _ error) {
	var links []error
	files := k.Contents(s, func(p vault.Path, ignored bool) {
		if left = append(left, p); !ignored {
			links = append(links,
				fmt.Errorf("%q: %w: it is a link, or nothing that git stores", p, vault.ErrRefused))
		}
	})
	if err := errors.Join(links...); err != nil {
		return nil, vault.WithHint(err, "nothing was moved; put the file itself there, or move it out of %s", s.Folder)
	}
	hides := func(f vault.File) bool { return f.Path.Base() == ".gitignore" }
	if len(left) > 0 && slices.ContainsFunc(files, hides) {
		err := fmt.Errorf("%q: %w: a .gitignore that moves away hides it", left[0], vault.ErrRefused)
		return nil, vault.WithHint(err, "nothing was moved; move it out of %s, or hide it by a rule above", s.Folder)
	}
	if len(files) == 0 || files[0].Path != s.Main() {
		return nil, fmt.Errorf("%s %q: %w: its %s is gone", did, s.Folder, vault.ErrNotFound, File)
	}
	for _, f := range files {
		if err := tx.Move(f.Path, to+f.Path[len(s.Folder):]); err != nil {
			return nil, err
		}
	}
	return left, nil
}

// Mark sets or removes a mark of a skill. A skill that an agent made and a person takes back says so.
func Mark(ctx context.Context, v *vault.Vault, s Skill, mark string, on bool, w vault.Write) (*Result, error) {
	did, value := map[string]string{Pinned: "pin", Managed: "manage"}[mark], "true"
	if !on {
		did, value = "un"+did, ""
	}
	if !on && mark == Managed && s.By() == "agent" {
		value = "false" // else it would be the curator's because an agent made it
	}
	return edit(ctx, v, s, did, w, func(data []byte) ([]byte, error) {
		doc := markdown.Parse(data)
		err := doc.SetMetaText("metadata", mark, value)
		if still := markdown.SkillPin(doc); err == nil && !on && mark == Pinned && still != "" {
			err = fmt.Errorf("%q pins it, which is no line of stet's", still)
		}
		if err != nil {
			err = vault.WithHint(fmt.Errorf("%s %q: %w: %w", did, s.Main(), vault.ErrInvalid, err),
				`"stet skill edit %s" does it by hand`, templates.Quote(s.Name))
		}
		return doc.Bytes(), err
	})
}

// edit changes SKILL.md as it is now.
func edit(
	ctx context.Context, v *vault.Vault, s Skill, did string, w vault.Write, change func([]byte) ([]byte, error),
) (*Result, error) {
	out := &Result{}
	var err error
	out.Result, err = v.Transact(ctx, why(w, did, s), w.DryRun, func(tx *vault.Tx) error {
		data, was, err := tx.Read(s.Main())
		if err == nil && was == "" {
			err = fmt.Errorf("%q: %w", s.Main(), vault.ErrNotFound)
		}
		if err == nil {
			data, err = change(data)
		}
		if err != nil {
			return err
		}
		out.Skill, _ = Parse(s.Folder, data)
		return tx.Put(s.Main(), was, data)
	})
	return out, err
}

// A New is a skill that is to be made.
type New struct {
	Name        string
	Category    string // folders below skills/, "" for none
	Description string
	Text        string // the instructions; with front matter of its own the whole SKILL.md
	By          string // who made it: user or agent
}

// Create makes a skill. It fails with [vault.ErrInvalid] for a name that the format does not allow or a
// text without a description, and with [vault.ErrConflict] where a skill, an archived one as well, has
// the name or something stands in its place.
func Create(ctx context.Context, v *vault.Vault, n New, all []Skill, w vault.Write) (*Result, error) {
	s, data, err := n.Render()
	if err != nil {
		return nil, err
	}
	for _, other := range all {
		if other.Name == s.Name || other.Folder == s.Folder {
			err := fmt.Errorf("skill %q: %w: %s has the name", n.Name, vault.ErrConflict, other.Folder)
			return nil, vault.WithHint(err, "change that one, or give this one another name")
		}
	}
	w.Given = append(w.Given, n.Name, n.Category)
	res, err := v.Transact(ctx, why(w, "new", s), w.DryRun, func(tx *vault.Tx) error {
		taken, err := Skill{Folder: s.Folder}.Contents(ctx, v, nil)
		if err == nil && len(taken) > 0 {
			err = fmt.Errorf("%q: %w: files stand there already", s.Folder, vault.ErrConflict)
		}
		if err != nil {
			return err
		}
		return tx.Put(s.Main(), "", data)
	})
	return &Result{Result: res, Skill: s}, err
}

// Render is the skill that it is going to be, and its SKILL.md. It fails with [vault.ErrInvalid] as [Create] does.
func (n New) Render() (Skill, []byte, error) {
	fail := func(format string, args ...any) (Skill, []byte, error) {
		return Skill{}, nil, fmt.Errorf("skill %q: %w: %s", n.Name, vault.ErrInvalid, fmt.Sprintf(format, args...))
	}
	if n.Name == "" || markdown.Slug(n.Name, maxName) != n.Name {
		_, _, err := fail("a name is lower case letters, digits and single hyphens")
		return Skill{}, nil, vault.WithHint(err, "for example %s", markdown.Slug(n.Name, maxName))
	}
	folder := vault.Path(strings.TrimSuffix(root, "/"))
	for part := range strings.SplitSeq(strings.Trim(n.Category, "/"), "/") {
		if n.Category != "" && (part == "" || markdown.Slug(part, maxName) != part) {
			return fail("category %q: a folder is lower case letters, digits and hyphens", n.Category)
		} else if n.Category != "" {
			folder += "/" + vault.Path(part)
		}
	}
	folder += "/" + vault.Path(n.Name)
	doc := markdown.Parse([]byte(n.Text))
	err := doc.FrontMatterError()
	if !doc.HasFrontMatter() {
		doc = markdown.Parse(nil)
		err = doc.SetMeta("name", markdown.String(n.Name))
		if n.Description != "" && err == nil {
			err = doc.SetMeta("description", markdown.String(n.Description))
		}
		doc.SetBody([]byte("\n" + strings.TrimSuffix(n.Text, "\n") + "\n"))
	}
	if err == nil {
		err = doc.SetMetaText("metadata", CreatedBy, n.By)
	}
	if err != nil {
		return fail("%v", err)
	}
	s, found := Parse(folder, doc.Bytes())
	return s, doc.Bytes(), invalid(fmt.Sprintf("skill %q", n.Name), found)
}

// invalid is the first of the findings as an error, nil where all are warnings.
func invalid(what string, found []Finding) error {
	for _, f := range found {
		if !f.Warning {
			err := fmt.Errorf("%s: %w: line %d, column %d: %s", what, vault.ErrInvalid, f.Line, f.Column, f.Text)
			return vault.WithHint(err, "%s", f.Fix)
		}
	}
	return nil
}

// Write puts data into a file of a skill, named as seen from its folder; was are the bytes that the
// caller saw, nil for a new file. A SKILL.md that can be read and has a description
// must stay so. It fails with
// [vault.ErrConflict] when something else stands there by now.
func Write(
	ctx context.Context, v *vault.Vault, s Skill, file string, was, data []byte, w vault.Write,
) (*Result, error) {
	p, err := s.At(file)
	if err != nil {
		return nil, err
	}
	out := &Result{Skill: s}
	if p == s.Main() {
		now, found := Parse(s.Folder, data)
		whole := func(s Skill) bool { return s.Problem == "" && s.Description != "" }
		if out.Skill = now; whole(s) && !whole(now) {
			return nil, invalid(fmt.Sprintf("%q", p), found)
		}
	}
	hash := vault.Hash("")
	if was != nil {
		hash = vault.ReadMemory(p, was).Hash
	}
	out.Result, err = v.Transact(ctx, why(w, "edit", s), w.DryRun, func(tx *vault.Tx) error {
		return tx.Put(p, hash, data)
	})
	return out, err
}

// Remove takes a file out of a skill, named as seen from its folder. It fails with [vault.ErrInvalid] for
// SKILL.md, without which there is no skill, and with [vault.ErrNotFound].
func Remove(ctx context.Context, v *vault.Vault, s Skill, file string, w vault.Write) (*Result, error) {
	p, err := s.At(file)
	if err == nil && p == s.Main() {
		err = vault.WithHint(fmt.Errorf("%q: %w: it is the skill itself", p, vault.ErrInvalid),
			"archive the skill instead")
	}
	if err != nil {
		return nil, err
	}
	out := &Result{Skill: s}
	out.Result, err = v.Transact(ctx, why(w, "edit", s), w.DryRun, func(tx *vault.Tx) error {
		_, was, err := tx.Read(p)
		if err == nil && was == "" {
			err = fmt.Errorf("%q: %w", p, vault.ErrNotFound)
		}
		if err != nil {
			return err
		}
		return tx.Remove(p, was)
	})
	return out, err
}
