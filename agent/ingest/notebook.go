package ingest

import (
	"context"
	"errors"
	"strconv"

	"stet/agent/encode"
	"stet/markdown"
	"stet/vault"
	"stet/vault/notebook"
)

// AddEntry adds an entry to a notebook, compared with its other entries by the rules, and
// no model: a duplicate is not written again, and one other entry that a rule is sure is
// no longer true is replaced. Whatever else the entry contradicts is left to the person,
// and named in the plan. It fails as [notebook.Notebook.Add] does.
func AddEntry(ctx context.Context, n *notebook.Notebook, entry notebook.New, w vault.Write) (*notebook.Result, *Plan, error) {
	page, err := n.Read()
	if err != nil {
		return nil, nil, err
	}
	p, err := planEntry(ctx, n, page.Entries, entry, w)
	if err != nil {
		return nil, nil, err
	}
	it := &p.Items[0]
	if it.Outcome == Skip {
		// Its own words: nothing is written, and the answer says where it stands.
		res, err := n.Add(ctx, notebook.New{Text: it.Decisions[0].old.Title}, w)
		return res, p, err
	}
	for _, d := range it.Decisions {
		if d.Kind != encode.Supersede {
			continue
		}
		var why vault.Why
		ruled(&why, d.Rule, d.Confidence)
		by := w
		by.Extra = append(by.Extra[:len(by.Extra):len(by.Extra)], why.Extra...)
		res, err := n.Replace(ctx, string(d.old.Hash), entry, by)
		if !errors.Is(err, vault.ErrNotFound) {
			return res, p, err
		}
		it.Decisions = nil // it went meanwhile
	}
	res, err := n.Add(ctx, entry, w)
	return res, p, err
}

// planEntry decides about a new entry beside the others.
func planEntry(ctx context.Context, n *notebook.Notebook, entries []markdown.Entry, entry notebook.New, w vault.Write) (*Plan, error) {
	head := markdown.ReadEntry(markdown.EntryText(entry.Text))
	ruled, err := judgeEntry(ctx, n, entries, head, w)
	if err != nil {
		return nil, err
	}
	it := Item{Outcome: Insert}
	add := func(v encode.Verdict, kind encode.Kind) {
		at, _ := strconv.Atoi(v.Old) // written by judgeEntry
		old := entries[at]
		stood := vault.Memory{Path: vault.Path(n.Address(old)), Hash: vault.Hash(old.Hash()), Title: old.Text}
		it.Decisions = append(it.Decisions, Decision{Kind: kind, Rule: v.Rule, Confidence: v.Confidence, Path: stood.Path,
			Said: v.Said, Was: old.Body(), Gone: v.Gone, Why: v.Why, old: stood})
	}
	if dup := ruled.Duplicate; dup != nil {
		at, _ := strconv.Atoi(dup.Old)
		if (entry.Kind == "" || entry.Kind == entries[at].Kind) && !head.Task && head.Kind == "" {
			it.Outcome = Skip
			add(*dup, encode.Duplicate)
			return &Plan{Items: []Item{it}}, nil
		}
	}
	whole := 0 // entries that go whole
	for _, v := range ruled.Verdicts {
		if v.Kind == encode.Supersede && v.Rest == "" {
			whole++
		}
	}
	for _, v := range ruled.Verdicts {
		at, _ := strconv.Atoi(v.Old)
		kind := v.Kind
		// An entry of several facts is the person's to cut, and one entry takes the place
		// of one.
		if kind == encode.Supersede && (v.Rest != "" || whole != 1 || entry.Under != "" || entries[at].Task != head.Task) {
			kind = encode.Conflict
		}
		add(v, kind)
	}
	return &Plan{Items: []Item{it}}, nil
}

// judgeEntry is what the rules say of a new entry beside the others, whose ids are their
// places in entries.
func judgeEntry(ctx context.Context, n *notebook.Notebook, entries []markdown.Entry, head markdown.Entry, w vault.Write) (encode.Plan, error) {
	m := encode.Memory{Text: head.Body(), Authority: authority(w)}
	var stored []encode.Memory
	for i, e := range entries {
		stored = append(stored, encode.Memory{ID: strconv.Itoa(i), Text: e.Body()})
	}
	plan := encode.Decide(m, stored, encode.Corpus{})
	if m.Authority >= encode.Statement || len(plan.Verdicts) == 0 {
		return plan, nil
	}
	machine, err := n.ByAgents(ctx)
	if err != nil {
		return plan, err
	}
	for i := range stored {
		if !machine[entries[i].Text] {
			stored[i].Authority = encode.Statement
		}
	}
	return encode.Decide(m, stored, encode.Corpus{}), nil
}
