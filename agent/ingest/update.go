package ingest

import (
	"context"
	"errors"
	"slices"
	"strings"

	"stet/markdown"
	"stet/vault"
	"stet/vault/links"
)

// Update gives a stored memory a new text, and whatever else a patch says, with the
// rules in front, and no model: what a rule is sure the new text makes untrue goes in
// the same commit, what it contradicts is linked. That the text stands elsewhere
// already keeps nobody from writing it; the result's decisions say so. A patch without
// a text, or one that waits for approval, is carried out as it is. It fails as [links.Update] does.
func Update(ctx context.Context, v *vault.Vault, find Searcher, ref string, patch vault.Patch, rewriteNotes bool, w vault.Write) (*links.Result, []Decision, error) {
	for attempt := 1; ; attempt++ {
		m, err := v.Resolve(ctx, ref)
		if err != nil {
			return nil, nil, err
		}
		// Nothing happens to other memories before a person agrees.
		if v.Waits(w) || patch.Text == nil || m.Class != vault.ClassMemory || m.Problem != "" || strings.TrimSpace(*patch.Text) == strings.TrimSpace(string(m.Body)) {
			res, err := links.Update(ctx, v, ref, patch, rewriteNotes, w)
			return res, nil, err
		}
		res, done, err := reword(ctx, v, find, m, patch, rewriteNotes, w)
		if attempt < maxAttempts && errors.Is(err, errMoved) {
			continue
		}
		return res, done, err
	}
}

func reword(ctx context.Context, v *vault.Vault, find Searcher, m vault.Memory, patch vault.Patch, rewriteNotes bool, w vault.Write) (*links.Result, []Decision, error) {
	d := &desk{ctx: ctx, v: v, find: find, w: w, stored: map[string]vault.Memory{}, touched: map[string]bool{}}
	dr := draft{note: vault.Note{Text: *patch.Text, Scope: m.Scope, Pinned: m.Pinned}, self: &m, reworded: true}
	if patch.Scope != nil {
		dr.note.Scope = *patch.Scope
	}
	if err := d.judge(&dr); err != nil {
		return nil, nil, err
	}
	if dup := dr.plan.Duplicate; dup != nil {
		d.duplicate(0, *dup)
	}
	d.act(&dr)
	out := &links.Result{}
	var after vault.Memory
	res, err := v.Transact(ctx, w.Why(vault.OpUpdate, m.Name()), w.DryRun, func(tx *vault.Tx) (err error) {
		if err := unmoved(tx, m); err != nil {
			return err
		}
		here := patch
		here.Scope = nil
		if after, err = here.Apply(tx, m); err != nil {
			return err
		}
		if patch.Scope != nil {
			if out, after, err = d.rescope(tx, after, *patch.Scope, rewriteNotes); err != nil {
				return err
			}
		}
		if dr.note.Also == nil {
			return nil
		}
		if after, err = signed(tx, after, &dr); err != nil {
			return err
		}
		if len(tx.Why().Memories) == 0 && after.ID != "" {
			tx.Why().Memories = []string{after.ID}
		}
		return dr.note.Also(tx, after)
	})
	if err != nil {
		return nil, nil, err
	}
	res.Memories, res.Warnings = []vault.Memory{after}, append(res.Warnings, d.warnings...)
	out.Result = res
	return out, d.done, nil
}

func signed(tx *vault.Tx, m vault.Memory, dr *draft) (vault.Memory, error) {
	data, was, err := tx.Read(m.Path)
	if err != nil {
		return m, err
	}
	doc := markdown.Parse(data)
	if err := sign(doc, dr); err != nil || string(doc.Bytes()) == string(data) {
		return m, err
	}
	return vault.ReadMemory(m.Path, doc.Bytes()), tx.Put(m.Path, was, doc.Bytes())
}

// rescope stages the move of a memory to another scope, its links with it.
func (d *desk) rescope(tx *vault.Tx, m vault.Memory, scope string, notes bool) (*links.Result, vault.Memory, error) {
	folder, err := vault.ScopeFolder(scope)
	if err != nil {
		return nil, m, err
	}
	tx.Why().Given = append(slices.Clip(tx.Why().Given), scope)
	res, err := links.Request{From: []vault.Memory{m}, To: folder, RewriteNotes: notes}.Stage(d.ctx, d.v, tx)
	if err != nil {
		return nil, m, err
	}
	for _, move := range res.Moves {
		if move[0] == m.Path {
			data, _, err := tx.Read(move[1])
			return res, vault.ReadMemory(move[1], data), err
		}
	}
	return res, m, nil
}
