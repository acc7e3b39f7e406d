package ingest

import (
	"context"
	"fmt"

	"stet/agent/encode"
	"stet/vault"
)

// A Brought is what the rules say of memories that another program kept, for the
// door that brings them in. They are judged more carefully than what somebody says
// now: only the very same text counts as said already, and of contradictions only
// those that a rule is sure of. No model is asked: an import can hold thousands.
type Brought struct {
	d      *desk
	drafts []draft
}

// Bring judges notes that are about to be staged by the caller, as those of w.
func Bring(ctx context.Context, v *vault.Vault, find Searcher, notes []vault.Note, w vault.Write) (*Brought, error) {
	b := &Brought{d: &desk{ctx: ctx, v: v, find: find, w: w, stored: map[string]vault.Memory{}, touched: map[string]bool{}}}
	b.drafts = make([]draft, len(notes))
	for i, n := range notes {
		b.drafts[i] = draft{i: i, note: n}
		if err := b.d.judge(&b.drafts[i]); err != nil {
			return nil, err
		}
	}
	for i := range b.drafts {
		dr := &b.drafts[i]
		if dup := dr.plan.Duplicate; dup != nil {
			if dup.Rule != encode.SameText {
				dr.plan.Duplicate = nil
			}
			continue
		}
		var sure []encode.Verdict
		for _, v := range dr.plan.Verdicts {
			if v.Kind == encode.Supersede || encode.WasSure(v) {
				sure = append(sure, v)
			}
		}
		dr.plan.Verdicts = sure
		b.d.act(dr)
	}
	return b, nil
}

// Said is where a note stands already: the path of a memory, or the number of an
// earlier note; "" when it is to be stored.
func (b *Brought) Said(i int) string {
	dup := b.drafts[i].plan.Duplicate
	if dup == nil {
		return ""
	}
	return dup.Old
}

// Stage stages what becomes of stored memories because of a note that was staged as
// the memory m, and gives m what it takes over. It fails with [vault.ErrConflict]
// when one of them has changed since: then all of it is to be judged anew.
func (b *Brought) Stage(tx *vault.Tx, i int, m vault.Memory) error {
	dr := b.drafts[i]
	if dr.note.Also == nil {
		return nil
	}
	dr.self = &m
	after, err := signed(tx, m, &dr)
	if err != nil {
		return fmt.Errorf("store %q: %w", m.Path, err)
	}
	return dr.note.Also(tx, after)
}

// Decisions are what was decided about stored memories, whatever was staged since.
func (b *Brought) Decisions() []Decision { return b.d.done }

// Warnings are what is to be said about looking for them.
func (b *Brought) Warnings() []string { return b.d.warnings }
