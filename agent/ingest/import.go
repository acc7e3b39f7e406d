package ingest

import (
	"context"

	"stet/agent/encode"
	"stet/vault"
)

// Import plans what becomes of notes that another program kept and that the caller
// stages itself, each followed by [Plan.Stage]. They are judged more carefully than
// what somebody says now: only the very same text is a duplicate, and of contradictions
// and flags only those count that a rule is sure of. No model is asked: an import can
// hold thousands.
func Import(ctx context.Context, v *vault.Vault, find Searcher, notes []vault.Note, w vault.Write) (*Plan, error) {
	d := newGatherer(ctx, v, find, nil, w)
	drafts := make([]*draft, len(notes))
	for i, n := range notes {
		dr := &draft{i: i, note: n}
		if err := d.judge(dr); err != nil {
			return nil, err
		}
		if dup := dr.plan.Duplicate; dup != nil && dup.Rule != encode.SameText {
			dr.plan.Duplicate = nil
		}
		var sure []encode.Verdict
		for _, v := range dr.plan.Verdicts {
			if v.Kind == encode.Supersede || encode.WasSure(v) {
				sure = append(sure, v)
			}
		}
		drafts[i], dr.plan.Verdicts = dr, sure
	}
	return d.compile(drafts), nil
}
