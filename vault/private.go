package vault

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"stet/markdown"
	"stet/vault/proposal"
	"stet/vault/store"
	"stet/vault/tombstone"
)

// What is private is given to no agent: not as it stands, and not as it stood. A vault that is opened for
// one, by [Options].Reader, knows who asks, and whatever reads goes through one of these:
//
//	a file by its name, now or at a revision     refused
//	lists, statuses, differences, results        without it
//	commits that changed it                      without their words
//
// A skill from elsewhere that waits for the person is withheld like what is private.
//
// Transactions see everything: what an agent may change is decided by checkAuthority.

// Whole is the vault with what it withholds, for what keeps files and tells nothing of them: an index, a
// write, an import.
func (v *Vault) Whole() *Vault {
	if v.o.Reader == "" {
		return v
	}
	whole := *v
	whole.o.Reader, whole.told.v = "", &whole
	return &whole
}

// told is the working tree as a vault gives it.
type told struct {
	*store.Worktree
	v *Vault
}

// withheld is the error for a private thing that an agent asks for by a name.
func withheld(named string, near ...string) error {
	return &NotFoundError{Ref: named, Near: near, Withheld: true}
}

// ReadFile is [store.Worktree.ReadFile]. It fails with [ErrRefused] for what is private where an agent asks, and for
// a folder that holds nothing else.
func (t told) ReadFile(p Path) ([]byte, File, error) {
	data, f, err := t.Worktree.ReadFile(p)
	hidden := err == nil && t.v.hides(p, data)
	if errors.Is(err, ErrNotRegular) && t.v.o.Reader != "" && t.v.folder(p) {
		files, err := t.v.Files(context.Background(), WalkOptions{Under: p, All: true, Hidden: true, Archive: true})
		hidden = err == nil && len(files) == 0
	}
	if hidden {
		return nil, File{}, withheld(string(p))
	}
	return data, f, err
}

// folder reports whether p names a folder on disk.
func (v *Vault) folder(p Path) bool {
	info, err := v.store.Tree().Lstat(string(p))
	return err == nil && info.IsDir()
}

// ReadHead is [store.Worktree.ReadHead], and fails as ReadFile does.
func (t told) ReadHead(p Path, n int) ([]byte, error) {
	if t.v.o.Reader == "" {
		return t.Worktree.ReadHead(p, n)
	}
	data, _, err := t.ReadFile(p)
	return data[:min(n, len(data))], err
}

// private is the mark of a file. What cannot be read is private, but for a SKILL.md, of which there are many
// that YAML does not read, only where the word stands in its front matter.
func private(p Path, d *markdown.Document) bool {
	if p.Base() != skillFile || d.FrontMatterError() == nil {
		return d.Private()
	}
	front := string(d.Bytes()[:len(d.Bytes())-len(d.Body())])
	return markdown.HasPrivateLine(front) || strings.Contains(strings.ToLower(front), "private")
}

// hides reports whether these contents of a file are withheld: by their own mark, by that of the skill that
// they belong to, or as a record of something private.
func (v *Vault) hides(p Path, data []byte) bool {
	switch {
	case v.o.Reader == "":
		return false
	case isProposal(p):
		return v.hidesProposal(data)
	case IsTombstone(p): // a hash of what a person took back can be guessed from
		parts, err := tombstone.Decode(data)
		if err != nil || slices.ContainsFunc(parts, func(s tombstone.Part) bool { return s.Actor == ActorUser }) {
			return true
		}
		now, err := v.privateNow(context.Background())
		return err != nil || now.named(string(data))
	case v.awaits(p):
		return true
	case ClassOf(p) == ClassConfig:
		return false
	case ClassOf(p) == ClassReport:
		return true // it names what may be private by now
	case private(p, markdown.Parse(data)), ClassOf(p) == ClassArchive && v.wentByPerson(data):
		return true
	}
	in := SkillFolder(p, func(p Path) bool { _, _, err := v.Worktree.ReadFile(p); return err == nil })
	if in == "" {
		return false
	}
	main, _, err := v.Worktree.ReadFile(in + "/" + skillFile)
	return err != nil || private(skillFile, markdown.Parse(main))
}

// wentByPerson reports whether these contents, of the archive, are what a person forgot or purged.
func (v *Vault) wentByPerson(data []byte) bool {
	now, err := v.privateNow(context.Background())
	if err != nil || now.gone.has(hashOf(data), data) {
		return true
	}
	purged, err := v.State().purged(tombstone.Added(nil, data))
	return purged || err != nil
}

// hidesProposal reports whether a proposal holds, or changes, what is private.
func (v *Vault) hidesProposal(data []byte) bool {
	w, main, err := proposal.Decode(data)
	if err != nil {
		return true // nobody can say what it is about
	}
	for i, f := range w.Files {
		to, from := Path(f.Path), Path(f.From)
		if isProposal(to) || isProposal(from) {
			return true // none that stet wrote
		}
		if i > 0 {
			main = f.Data()
		}
		was, werr := v.hidesVersion(context.Background(), to, Hash(f.Was))
		if was || werr != nil || v.hides(to, main) || v.hidesNow(to) || v.hidesNow(from) {
			return true
		}
	}
	return false
}

// hidesNow reports whether what stands at p is withheld.
func (v *Vault) hidesNow(p Path) bool {
	if v.o.Reader == "" || p == "" {
		return false
	}
	_, _, err := v.ReadFile(p)
	return errors.Is(err, ErrRefused)
}

// hidesVersion reports whether what stood at p is withheld: what is private, or was in any version, but for
// what stands there now without a mark. What was private may have stood without the mark for a while.
func (v *Vault) hidesVersion(ctx context.Context, p Path, h Hash) (bool, error) {
	if v.o.Reader == "" || p == "" || h == "" {
		return false, nil
	}
	now, err := v.store.Look(p)
	data, stands := now.Data, err == nil && now.Exists && Hash(now.ID.String()) == h
	if !stands {
		if data, err = v.store.Repo().Stage().Content(string(h)); err != nil {
			return false, v.store.Explain(err)
		}
	}
	if v.hides(p, data) || stands {
		return v.hides(p, data), nil
	}
	return v.hid(ctx, p, h, data)
}

// hid reports whether these contents of p were private in any version, or are what a person forgot.
func (v *Vault) hid(ctx context.Context, p Path, h Hash, data []byte) (bool, error) {
	ever, err := v.privateEver(ctx)
	if err != nil || ever.gone.has(h, data) {
		return err == nil, err
	}
	if id := frontID(data); id != "" {
		return ever.ids[id], nil
	}
	return ever.has(p), nil
}

// shownFiles are files without those that are withheld.
func (v *Vault) shownFiles(ctx context.Context, files []File) ([]File, error) {
	if v.o.Reader == "" || len(files) == 0 {
		return files, nil
	}
	now, err := v.privateNow(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(files, func(f File) bool {
		class := ClassOf(f.Path)
		return now.has(f.Path) || class == ClassReport || class == ClassConfig && v.hidesNow(f.Path)
	}), nil
}

// hidesChange reports whether a change is of what is withheld.
func (v *Vault) hidesChange(ctx context.Context, c Change) (bool, error) {
	hidden, err := v.hidesVersion(ctx, c.Path, c.New)
	for _, at := range []Path{c.Path, c.From} {
		if err == nil && !hidden {
			hidden, err = v.hidesVersion(ctx, at, c.Old)
		}
	}
	return hidden, err
}

// shownChanges are changes without those of what is withheld.
func (v *Vault) shownChanges(
	ctx context.Context, changes []Change, hides func(context.Context, Change) (bool, error),
) (shown []Change, err error) {
	if v.o.Reader == "" {
		return changes, nil
	}
	for _, c := range changes {
		hidden, err := hides(ctx, c)
		if err != nil {
			return nil, err
		}
		if !hidden {
			shown = append(shown, c)
		}
	}
	return shown, nil
}

// tellCommit is a commit, whose changes are known, as it is told: one that changed what is withheld without its
// words, and any without the names of that.
func (v *Vault) tellCommit(ctx context.Context, c Commit) (Commit, error) {
	if v.o.Reader == "" {
		return c, nil
	}
	shown, err := v.shownChanges(ctx, c.Changes, v.hidesChange)
	if err != nil {
		return Commit{}, err
	}
	ever, err := v.privateEver(ctx)
	if err != nil {
		return Commit{}, err
	}
	if len(shown) < len(c.Changes) {
		return c.wordless(shown), nil
	}
	c.Trailers = slices.DeleteFunc(slices.Clone(c.Trailers), func(l trailerLine) bool { return ever.named(l.Value) })
	return c, nil
}

// wordless is a commit that changed what is withheld.
func (c Commit) wordless(shown []Change) Commit {
	c.Subject, c.Body, c.Changes = string(c.Op)+": private", "", shown
	c.Trailers = slices.DeleteFunc(slices.Clone(c.Trailers), func(l trailerLine) bool {
		return !strings.Contains(tellable, " "+l.Key+" ")
	})
	return c
}

// tellable are the trailers that say who wrote a commit and how, and nothing of what.
const tellable = " Stet-Op Stet-Actor Stet-Door Stet-Mode Stet-Via Stet-Approved-By Stet-Run "

// nameless are the problems that name nothing withheld. Where that cannot be found out, in a damaged vault,
// those that name no file.
func (v *Vault) nameless(ctx context.Context, all []Problem) []Problem {
	if v.o.Reader == "" || len(all) == 0 {
		return all
	}
	now, err := v.privateNow(ctx)
	return slices.DeleteFunc(slices.Clone(all), func(p Problem) bool {
		if err != nil {
			return p.Path != ""
		}
		return now.has(p.Path) || now.named(p.Text+p.Hint)
	})
}

// namelessTexts is nameless of warnings.
func (v *Vault) namelessTexts(ctx context.Context, all []string) (out []string) {
	for _, text := range all {
		if len(v.nameless(ctx, []Problem{{Text: text}})) > 0 {
			out = append(out, text)
		}
	}
	return out
}

// tell takes out of the result of a write what it says of private files: a person's own edits of them were
// committed first, or a key that stet keeps in them was changed. What the write itself made private is told.
func (v *Vault) tell(ctx context.Context, res *Result, done *store.Result) error {
	if v.o.Reader == "" {
		return nil
	}
	hides := func(_ context.Context, c Change) (bool, error) {
		edited := slices.Contains(done.Adopted, c.Path) && v.hidesNow(c.Path)
		if edited || c.Old == "" {
			return edited, nil
		}
		data, err := done.Objects.Content(string(c.Old))
		return v.hides(cmp.Or(c.From, c.Path), data), err
	}
	before := done.From
	for i, gc := range done.Commits {
		changes, err := v.store.TreeChanges(done.Objects, before, gc.Tree)
		if err != nil {
			return err
		}
		shown, err := v.shownChanges(ctx, changes, hides)
		if err != nil {
			return err
		}
		if before = gc.Tree; len(shown) < len(changes) {
			res.Commits[i] = res.Commits[i].wordless(nil)
		}
	}
	var err error
	res.Changes, err = v.shownChanges(ctx, res.Changes, hides)
	res.Adopted = slices.DeleteFunc(slices.Clone(res.Adopted), v.hidesNow)
	res.Held, res.Warnings = v.nameless(ctx, res.Held), v.namelessTexts(ctx, res.Warnings)
	return err
}
