package ingest

import (
	"context"
	"errors"
	"slices"
	"strings"

	"stet/vault"
	"stet/vault/links"
)

// Update gives a stored memory a new text, and whatever else a patch says, compared with
// what is stored by the rules, and no model: what the new text supersedes goes in the
// same commit, what it contradicts is linked. A text that is stored elsewhere already is
// written all the same; the plan says so. A patch without a text, or one that waits for
// approval, is carried out as it is, without a plan. It fails as [links.Update] does.
func Update(ctx context.Context, v *vault.Vault, find Searcher, ref string, patch vault.Patch, rewriteNotes bool, w vault.Write) (*links.Result, *Plan, error) {
	for attempt := 1; ; attempt++ {
		m, err := v.Resolve(ctx, ref)
		if err != nil {
			return nil, nil, err
		}
		// Nothing happens to other memories before a person agrees.
		if v.Waits(w) || patch.Text == nil || m.Class != vault.ClassMemory || m.Problem != "" || strings.TrimSpace(*patch.Text) == strings.TrimSpace(string(m.Body)) {
			res, err := links.Update(ctx, v, ref, patch, rewriteNotes, w)
			return res, &Plan{}, err
		}
		p, err := planUpdate(ctx, v, find, m, patch, w)
		if err != nil {
			return nil, nil, err
		}
		res, err := p.update(ctx, v, m, patch, rewriteNotes, w)
		if attempt < maxAttempts && errors.Is(err, errMoved) {
			continue
		}
		return res, p, err
	}
}

func planUpdate(ctx context.Context, v *vault.Vault, find Searcher, m vault.Memory, patch vault.Patch, w vault.Write) (*Plan, error) {
	d := newGatherer(ctx, v, find, nil, w)
	dr := &draft{note: vault.Note{Text: *patch.Text, Title: m.Title, Scope: m.Scope, Pinned: m.Pinned}, self: &m, reworded: true}
	if patch.Scope != nil {
		dr.note.Scope = *patch.Scope
	}
	if err := d.judge(dr); err != nil {
		return nil, err
	}
	return d.compile([]*draft{dr}), nil
}

// update is the one commit of a new text.
func (p *Plan) update(ctx context.Context, v *vault.Vault, m vault.Memory, patch vault.Patch, rewriteNotes bool, w vault.Write) (*links.Result, error) {
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
			if out, after, err = rescope(ctx, v, tx, after, *patch.Scope, rewriteNotes); err != nil {
				return err
			}
		}
		if p.Items[0].Outcome == Insert {
			after, err = p.Begin().Stage(tx, 0, after)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	res.Memories, res.Warnings = []vault.Memory{after}, append(res.Warnings, p.Warnings...)
	out.Result = res
	return out, nil
}

// rescope stages the move of a memory to another scope, its links with it.
func rescope(ctx context.Context, v *vault.Vault, tx *vault.Tx, m vault.Memory, scope string, notes bool) (*links.Result, vault.Memory, error) {
	folder, err := vault.Scope(scope).Folder()
	if err != nil {
		return nil, m, err
	}
	tx.Why().Given = append(slices.Clip(tx.Why().Given), scope)
	res, err := links.Request{From: []vault.Memory{m}, To: folder, RewriteNotes: notes}.Stage(ctx, v, tx)
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
