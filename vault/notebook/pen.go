package notebook

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"stet/markdown"
	"stet/vault"
)

// Filed is the trailer of a commit that names the entry for which stet chose the notebook.
const Filed = "Stet-Filed"

// A Pen writes into the notebook inside transactions of others, which describe the commit.
type Pen struct{ past *past }

// Pen is one for this notebook.
func (n *Notebook) Pen() *Pen { return &Pen{&past{n: n}} }

// Foresee looks at history, while no lock is held, where writing text may need it.
func (p *Pen) Foresee(ctx context.Context, text string) error { return p.past.foresee(ctx, text) }

// Filed reports whether stet chose the notebook for the entry with a text, and no person. Cost: as long as the
// notebook's history, once.
func (p *Pen) Filed(ctx context.Context, text string) (bool, error) {
	found, err := p.past.origins(ctx)
	return found[text].filed, err
}

// File writes an entry of w's as [Notebook.Add] does, or with old, the hash of another, as [Notebook.Replace] does.
// The commit's trailers say that stet chose the notebook.
func (p *Pen) File(ctx context.Context, tx *vault.Tx, old string, entry New, w vault.Write) (*Result, error) {
	text, err := entry.text()
	if err != nil {
		return nil, err
	}
	e, err := p.past.open(tx, w)
	if err != nil {
		return nil, err
	}
	if old == "" {
		err = e.add(ctx, text, entry)
	} else {
		err = e.replace(ctx, old, text)
	}
	if err == nil {
		err = e.finishIn(w.Message)
	}
	if err != nil {
		return nil, p.past.n.explain(vault.OpRemember, err)
	}
	if e.res.Entry.Text != "" && !e.res.Duplicate {
		tx.Why().Trail(Filed, p.past.n.Address(e.res.Entry))
	}
	return e.res, nil
}

// Stands reports whether the notebook has the entry with a hash.
func (p *Pen) Stands(tx *vault.Tx, hash string) (bool, error) {
	e, err := p.past.open(tx, vault.Write{})
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(e.before, func(have markdown.Entry) bool { return have.Hash() == hash }), nil
}

// Lift makes a memory of the entry with a hash: where it stands nothing can be linked to it. It fails with a
// [vault.NotFoundError] when the notebook has no such entry.
func (p *Pen) Lift(tx *vault.Tx, hash string) (vault.Memory, error) {
	e, err := p.past.open(tx, vault.Write{})
	if err != nil {
		return vault.Memory{}, err
	}
	found, err := e.find(hash)
	if err != nil {
		return vault.Memory{}, err
	}
	note := e.n.note(found, e.doc.Title(), p.past.found[found.Text].when)
	if err := e.remove(found); err != nil {
		return vault.Memory{}, err
	}
	if err := e.put(); err != nil {
		return vault.Memory{}, err
	}
	stored, err := tx.Remember([]vault.Note{note})
	if err != nil {
		return vault.Memory{}, err
	}
	why := tx.Why()
	why.Body += fmt.Sprintf("\nmoved %s to %s", e.n.Address(found), stored[0].Path)
	return stored[0], nil
}

// finishIn is [editor.finish] in a commit of several things, whose subject and text stay.
func (e *editor) finishIn(message string) error {
	why := e.tx.Why()
	subject, body, memories := why.Subject, why.Body, why.Memories
	why.Memories = nil
	err := e.finish(cmp.Or(message, subject))
	why.Body = strings.TrimSpace(body + "\n" + why.Body)
	why.Memories = append(memories, why.Memories...)
	return err
}
