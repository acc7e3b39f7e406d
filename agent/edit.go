package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"stet/agent/daily"
	"stet/markdown"
	"stet/vault"
	"stet/vault/doctor"
	"stet/vault/durable"
	"stet/vault/filelock"
)

// An Editor opens a file for the user and returns when it was left.
type Editor func(ctx context.Context, file string) error

// Edit opens a memory in an editor and commits what was saved. It works on a copy and holds no
// lock; when the memory changed meanwhile nothing is overwritten (vault.ErrConflict), and the
// error names the file that holds the text.
func (m Memories) Edit(ctx context.Context, ref string, w Write, edit Editor) (*Written, error) {
	if err := m.a.check(w, "edit", ref); err != nil {
		return nil, err
	}
	named, err := m.a.v.Resolve(ctx, m.a.ref(ref))
	if err != nil {
		return nil, err
	}
	return m.a.edit(ctx, named.Path, w, edit)
}

// edit is [Memories.Edit] for a path, whose file need not exist.
func (a *App) edit(ctx context.Context, p vault.Path, w Write, edit Editor) (*Written, error) {
	if err := a.mayEdit(ctx, p, w); err != nil {
		return nil, err
	}
	return a.editWith(ctx, p, edit, func(before, saved []byte, was vault.Hash) (*vault.Result, error) {
		if err := vault.CheckEdit(p, before, saved); err != nil {
			return nil, err
		}
		return a.v.Replace(ctx, p, was, saved, w.vault(a.Environment))
	})
}

// mayEdit fails as the write after an editor will, whatever is typed: while git is in the middle of something, and for
// what git ignores. Nothing is written.
func (a *App) mayEdit(ctx context.Context, p vault.Path, w Write) error {
	data, _, err := a.v.ReadFile(p)
	if err != nil {
		return nil // what reads it next says so
	}
	trial := w.vault(a.Environment)
	trial.DryRun = true
	_, err = a.v.Replace(ctx, p, vault.ReadMemory(p, data).Hash, append(bytes.Clone(data), '\n'), trial)
	if errors.Is(err, vault.ErrInProgress) || errors.Is(err, vault.ErrIgnored) {
		return fmt.Errorf("edit %q: %w", p, err)
	}
	return nil
}

// editWith is edit with a write of its own for what was saved; before is nil for a new file.
func (a *App) editWith(
	ctx context.Context, p vault.Path, edit Editor,
	write func(before, saved []byte, was vault.Hash) (*vault.Result, error),
) (*Written, error) {
	before, _, err := a.v.ReadFile(p)
	was := vault.Hash("")
	switch {
	case err == nil:
		was = vault.ReadMemory(p, before).Hash
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	draft, saved, err := a.editCopy(ctx, p, before, edit)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(before, saved) {
		a.removed(draft)
		return a.finish(ctx, &vault.Result{Root: a.Root(), Unchanged: true}), nil
	}
	res, err := write(before, saved, was)
	if err != nil {
		return nil, draft.keepFor(fmt.Errorf("edit %q: %w", p, err), "your text is kept in %s")
	}
	a.removed(draft)
	return a.finish(ctx, res), nil
}

// editCopy lets the editor work on a copy of data and returns what was saved. The copy is left
// in place when the editor failed after saving something, so that no typed word is lost.
func (a *App) editCopy(ctx context.Context, p vault.Path, data []byte, edit Editor) (*draft, []byte, error) {
	d, err := a.newDraft(ctx, p, data)
	if err != nil {
		return nil, nil, err
	}
	ran := edit(ctx, d.path())
	after, _, err := d.root.ReadFile(d.name, vault.MaxFileSize)
	if err != nil {
		return nil, nil, d.keepFor(errors.Join(ran, err), "nothing was committed; your text is kept in %s")
	}
	if ran == nil && ctx.Err() == nil {
		return d, after, nil
	}
	err = fmt.Errorf("editor %w", errors.Join(ran, ctx.Err()))
	if bytes.Equal(data, after) {
		return nil, nil, errors.Join(err, d.remove())
	}
	return nil, nil, d.keepFor(err, "nothing was committed; your text is kept in %s")
}

// keepFor leaves the user's text in place and says where; the hint of err goes before it.
func (d *draft) keepFor(err error, format string) error {
	kept, rerr := keepDraft(d.root, d.name)
	text := fmt.Sprintf(format, d.root.Abs(kept))
	var hinter interface{ Hint() string }
	if errors.As(err, &hinter) && hinter.Hint() != "" {
		text = hinter.Hint() + "; " + text
	}
	return vault.WithHint(errors.Join(err, rerr, d.release()), "%s", text)
}

// keepDraft marks a copy as one that the user is told of, so that they are told once, and returns its name.
func keepDraft(root *durable.Root, name string) (string, error) {
	kept := doctor.KeptEdit + name
	if err := root.Rename("draft", name, kept); err != nil {
		return name, err
	}
	return kept, nil
}

// A draft is a copy of a file for an editor to work on. It lies in the vault's
// local state, so that a killed process leaves nothing elsewhere, and what it
// leaves is found: its name begins with the hash of what was to be edited, and
// the lock beside it is free when nobody edits it any more.
type draft struct {
	root *durable.Root
	name string
	lock *filelock.Lock
}

const draftLock = ".lock"

// newDraft makes the copy, named so that the editor sees Markdown and the user
// sees which memory it is.
func (a *App) newDraft(ctx context.Context, p vault.Path, data []byte) (*draft, error) {
	dir := filepath.Join(a.v.StateDir(), doctor.EditsFolder)
	if err := durable.MakeFolder("draft", dir, 0o777, a.o.Hook); err != nil {
		return nil, err
	}
	root, err := durable.OpenRoot(dir, a.o.Hook)
	if err != nil {
		return nil, err
	}
	if err := a.sweepDrafts(ctx, root); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	d := &draft{root: root}
	// A killed process of the same number may have left text, and its editor may still run:
	// a name is used once.
	for n := a.o.Now().UnixMilli(); d.name == "" || root.Exists(d.name) || root.Exists(doctor.KeptEdit+d.name); n++ {
		d.name = fmt.Sprintf("%s-%d.%d-%s", hashStart(p, data), a.o.PID, n, p.Base())
	}
	if d.lock, err = filelock.Acquire(ctx, root, d.name+draftLock, filelock.Options{}); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	if err := root.Create("draft", d.name, data, 0o600); err != nil {
		return nil, errors.Join(err, d.release())
	}
	return d, nil
}

func hashStart(p vault.Path, data []byte) string { return string(vault.ReadMemory(p, data).Hash[:8]) }

// path is where the copy lies.
func (d *draft) path() string { return d.root.Abs(d.name) }

// remove takes the copy away.
func (d *draft) remove() error {
	return errors.Join(d.root.Remove("draft", d.name), d.release())
}

// removed takes a copy away after what was typed is stored.
func (a *App) removed(d *draft) {
	if err := d.remove(); err != nil {
		a.warn("remove the copy for the editor: %v", err)
	}
}

// release leaves the copy for the user.
func (d *draft) release() error {
	var err error
	if d.lock != nil {
		err = errors.Join(d.root.Remove("draft", d.name+draftLock), d.lock.Release())
	}
	return errors.Join(err, d.root.Close())
}

// sweepDrafts looks at what killed editors left: a copy that nobody changed is
// taken away, one that somebody typed into is named.
func (a *App) sweepDrafts(ctx context.Context, root *durable.Root) error {
	entries, err := root.ReadDir(".")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), doctor.KeptEdit) {
			continue
		}
		name, isLock := strings.CutSuffix(entry.Name(), draftLock)
		if isLock && root.Exists(name) {
			continue // its copy is looked at by itself
		}
		lock, err := filelock.Acquire(ctx, root, name+draftLock, filelock.Options{})
		if errors.Is(err, filelock.ErrBusy) {
			continue // somebody edits it now
		}
		if err != nil {
			return err
		}
		data, _, rerr := root.ReadFile(name, vault.MaxFileSize)
		start, _, _ := strings.Cut(name, "-")
		switch {
		case rerr == nil && hashStart(vault.Path(name), data) != start:
			var kept string // where it lies, renamed or not
			kept, err = keepDraft(root, name)
			a.note("the text of an edit that was broken off is in %s; remove it when you no longer need it",
				root.Abs(kept))
		case rerr == nil:
			err = root.Remove("draft", name)
		}
		if err = errors.Join(err, root.Remove("draft", name+draftLock), lock.Release()); err != nil {
			return err
		}
	}
	return nil
}

// Today holds the use cases of the note of today.
type Today struct{ a *App }

// Today is the note of today.
func (a *App) Today() Today { return Today{a} }

// TodayOptions say what becomes of the note of today.
type TodayOptions struct {
	Write
	Text string // is added to it
	Edit Editor // in place of Text: opens it
}

// Write adds a text to the note, or opens it in an editor. One that is not there yet begins with its template. Where it
// ends in a list, the text is the next item. It fails as [Today.Path] does, and where the template cannot be read.
func (t Today) Write(ctx context.Context, o TodayOptions) (*Written, error) {
	a := t.a
	w, err := a.permit(o.Write, "update", "")
	if err == nil && o.Edit != nil {
		err = a.check(o.Write, "edit", "")
	}
	if err != nil {
		return nil, err
	}
	p, s, err := a.dayNote()
	if err != nil {
		return nil, err
	}
	var form []byte
	why := w.Why(vault.OpUpdate, string(p))
	_, _, err = a.v.ReadFile(p)
	stands := err == nil
	if errors.Is(err, fs.ErrNotExist) {
		why.Op = vault.OpRemember
		form, err = a.dayForm(s, p)
	}
	switch {
	case err != nil:
		return nil, err
	case o.Edit != nil && stands:
		return a.edit(ctx, p, o.Write, o.Edit)
	case o.Edit != nil:
		return a.begin(ctx, p, form, w, o.Edit)
	}
	if err := a.askLikely(o.Write, o.Text); err != nil {
		return nil, err
	}
	var after vault.Memory
	res, err := a.v.Transact(ctx, why, w.DryRun, func(tx *vault.Tx) error {
		data, was, err := tx.Read(p)
		if err != nil {
			return err
		}
		if was == "" {
			data = form
		}
		doc := markdown.Parse(data)
		if err := (vault.Patch{Append: &o.Text, Item: true}).Add(doc); err != nil {
			return fmt.Errorf("add to %q: %w", p, err)
		}
		if after = vault.ReadMemory(p, doc.Bytes()); after.ID != "" {
			tx.Why().Memories = []string{after.ID}
		}
		return tx.Put(p, was, doc.Bytes())
	})
	if err == nil {
		res.Memories = []vault.Memory{after}
	}
	return a.finished(ctx, res, err)
}

// Path is where the note stands. It fails with [vault.ErrNotFound] where there is none yet, with
// [vault.ErrInvalid] where Obsidian's settings cannot be read, and with [vault.ErrBadPath] or [vault.ErrRefused] where
// they lead to no place for a note.
func (t Today) Path() (vault.Path, error) {
	p, _, err := t.a.dayNote()
	if err != nil {
		return "", err
	}
	if _, _, err = t.a.v.ReadFile(p); errors.Is(err, fs.ErrNotExist) {
		err = vault.WithHint(fmt.Errorf("the note of today, %q: %w", p, vault.ErrNotFound),
			"\"stet today TEXT\" begins it")
	}
	return p, err
}

// dayNote is where the note of today goes, and by which settings: Obsidian's, which begin at the top of the vault;
// without Obsidian those that name the folder of zk's manual, or daily.
func (a *App) dayNote() (vault.Path, daily.Settings, error) {
	s := daily.Settings{}
	data, _, err := a.v.ReadFile(daily.File)
	switch {
	case err == nil:
		if s, err = daily.Read(data); err != nil {
			err = vault.WithHint(fmt.Errorf("read %s: %w: %w", daily.File, vault.ErrInvalid, err), "fix the file")
		}
	case !errors.Is(err, fs.ErrNotExist):
	case a.exists(vault.Path(path.Dir(daily.File))):
		err = nil
	case a.exists("journal/daily"):
		s.Folder, err = "journal/daily", nil
	default:
		s.Folder, err = "daily", nil
	}
	if err != nil {
		return "", s, err
	}
	word, err := s.Path(a.o.Now().Local())
	if err != nil {
		return "", s, badFormat(daily.File, err)
	}
	p, err := vault.ParsePath(word)
	switch {
	case err != nil:
		return "", s, vault.WithHint(fmt.Errorf("the note of today, by %s: %w", daily.File, err), "fix the file")
	case vault.ClassOf(p) != vault.ClassNote || p.Steers() || p.Unportable() != "":
		return "", s, vault.WithHint(fmt.Errorf("the note of today, %q by %s: %w: a file there is no note", p,
			daily.File, vault.ErrRefused), "give a folder of your own there, and a format without special characters")
	}
	return p, s, nil
}

// dayForm is what the note of a day begins with.
func (a *App) dayForm(s daily.Settings, p vault.Path) ([]byte, error) {
	title := strings.TrimSuffix(p.Base(), ".md")
	if s.Template == "" {
		if a.exists(vault.Path(path.Dir(daily.File))) {
			return nil, nil // Obsidian shows the name above
		}
		return []byte("# " + title + "\n\n"), nil
	}
	at, err := vault.ParsePath(strings.TrimSuffix(s.Template, ".md") + ".md")
	var data []byte
	if err == nil {
		data, _, err = a.v.ReadFile(at)
	}
	if err != nil {
		return nil, vault.WithHint(fmt.Errorf("the template of the note of today, by %s: %w", daily.File, err),
			"make it, or take \"template\" out of that file")
	}
	if data, err = daily.Fill(data, title, a.o.Now().Local()); err != nil {
		return nil, badFormat(string(at), err)
	}
	return data, nil
}

func badFormat(file string, err error) error {
	return vault.WithHint(fmt.Errorf("%s: %w: %w", file, vault.ErrInvalid, err),
		"a format has YYYY YY MMMM MMM MM M DD D Do dddd ddd WW GGGG ww gggg Q HH mm ss, and [words] as they are")
}
