package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"stet/vault"
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
	return a.editWith(ctx, p, edit, func(before, saved []byte, was vault.Hash) (*vault.Result, error) {
		if err := vault.CheckEdit(p, before, saved); err != nil {
			return nil, err
		}
		return a.v.Replace(ctx, p, was, saved, w.vault(a.Environment))
	})
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
	text := fmt.Sprintf(format, d.path())
	var hinter interface{ Hint() string }
	if errors.As(err, &hinter) && hinter.Hint() != "" {
		text = hinter.Hint() + "; " + text
	}
	return vault.WithHint(errors.Join(err, d.release()), "%s", text)
}
