package ingest

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"stet/agent/encode"
	"stet/markdown"
	"stet/vault"
	"stet/vault/notebook"
)

// Jot adds an entry to a notebook with the rules in front, and no model: what an
// entry says already is not written again, and what a rule is sure makes one other
// entry untrue takes its place. Whatever else it contradicts is left to the person,
// and named. It fails as [notebook.Notebook.Add] does.
func Jot(ctx context.Context, n *notebook.Notebook, entry notebook.New, w vault.Write) (*notebook.Result, []Decision, error) {
	page, err := n.Read()
	if err != nil {
		return nil, nil, err
	}
	head := markdown.ReadEntry(markdown.EntryText(entry.Text))
	plan, by, err := jotted(ctx, n, page.Entries, head, w)
	if err != nil {
		return nil, nil, err
	}
	decision := func(v encode.Verdict) Decision {
		old := by[v.Old]
		return Decision{Kind: v.Kind, Rule: v.Rule, Confidence: v.Confidence, Path: vault.Path(n.Address(old)), Said: v.Said, Was: old.Body()}
	}
	if d := plan.Duplicate; d != nil && (entry.Kind == "" || entry.Kind == by[d.Old].Kind) && !head.Task && head.Kind == "" {
		// What is there already, in its own words: nothing is written, and the answer
		// says where it stands.
		res, err := n.Add(ctx, notebook.New{Text: by[d.Old].Text}, w)
		return res, []Decision{decision(*d)}, err
	}
	var done []Decision
	var gone []encode.Verdict
	for _, v := range plan.Verdicts {
		if v.Kind == encode.Supersede && v.Rest == "" {
			gone = append(gone, v)
			continue
		}
		v.Kind = encode.Conflict // an entry of several facts is the person's to cut
		done = append(done, decision(v))
	}
	if len(gone) != 1 || entry.Under != "" || by[gone[0].Old].Task != head.Task {
		for _, v := range gone {
			v.Kind = encode.Conflict
			done = append(done, decision(v))
		}
		res, err := n.Add(ctx, entry, w)
		return res, done, err
	}
	ruledBy := w
	ruledBy.Extra = append(slices.Clip(w.Extra),
		vault.TrailerLine{Key: "Stet-Rule", Value: gone[0].Rule},
		vault.TrailerLine{Key: "Stet-Confidence", Value: strconv.FormatFloat(gone[0].Confidence, 'f', 2, 64)})
	res, err := n.Replace(ctx, by[gone[0].Old].Hash(), entry, ruledBy)
	if errors.Is(err, vault.ErrNotFound) { // it went meanwhile
		res, err = n.Add(ctx, entry, w)
		return res, nil, err
	}
	return res, append(done, decision(gone[0])), err
}

// jotted is what the rules say of a new entry beside the others.
func jotted(ctx context.Context, n *notebook.Notebook, entries []markdown.Entry, head markdown.Entry, w vault.Write) (encode.Plan, map[string]markdown.Entry, error) {
	m := encode.Memory{Text: head.Body(), Authority: (&desk{w: w}).authority()}
	by := map[string]markdown.Entry{}
	var stored []encode.Memory
	for i, e := range entries {
		id := strconv.Itoa(i)
		by[id] = e
		stored = append(stored, encode.Memory{ID: id, Text: e.Body()})
	}
	plan := encode.Decide(m, stored, encode.Corpus{})
	if m.Authority >= encode.Statement || len(plan.Verdicts) == 0 {
		return plan, by, nil
	}
	machine, err := n.ByAgents(ctx)
	if err != nil {
		return plan, by, err
	}
	for i := range stored {
		if !machine[by[stored[i].ID].Text] {
			stored[i].Authority = encode.Statement
		}
	}
	return encode.Decide(m, stored, encode.Corpus{}), by, nil
}
