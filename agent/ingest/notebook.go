package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"stet/agent/encode"
	"stet/agent/pipeline"
	"stet/agent/place"
	"stet/markdown"
	"stet/vault"
	"stet/vault/notebook"
)

// AddEntry adds an entry to a notebook, compared with its other entries by the rules and by
// mind, which may be nil: a duplicate is not written again, and one other entry that is surely
// no longer true is replaced. Whatever else the entry contradicts is left to the person, and
// named in the plan. While a model is asked local state holds the entry, as [Remember] holds
// notes. It fails as [notebook.Notebook.Add] does.
func AddEntry(ctx context.Context, v *vault.Vault, n *notebook.Notebook, mind *Mind, entry notebook.New, w vault.Write) (
	res *notebook.Result, p *Plan, err error) {
	var warning []string
	add := func(k *keeping) error {
		page, err := n.Read()
		if err != nil {
			return err
		}
		d := newGatherer(ctx, v, nil, mind, w)
		d.kept = k
		if p, err = d.planEntry(n, page.Entries, entry); err == nil {
			res, err = p.addEntry(ctx, n, entry, w)
		}
		return err
	}
	if mind == nil || w.DryRun {
		err = add(nil)
	} else {
		warning, err = keeping{Entry: &entry, Book: n.Path(), Write: w}.keep(ctx, v, add)
	}
	if err == nil {
		res.Warnings = slices.Concat(res.Warnings, p.Warnings, warning)
	}
	return res, p, err
}

// addEntry carries out the plan of one entry, in one commit.
func (p *Plan) addEntry(ctx context.Context, n *notebook.Notebook, entry notebook.New, w vault.Write) (*notebook.Result, error) {
	it := &p.Items[0]
	if it.Outcome == Skip {
		// Its own words: nothing is written, and the answer says where it stands.
		return n.Add(ctx, notebook.New{Text: it.Decisions[0].old.Title}, w)
	}
	for i, d := range it.Decisions {
		if d.Kind != encode.Supersede {
			continue
		}
		by := w
		ruled(&by.Writer, d.Rule, d.Confidence)
		res, err := n.Replace(ctx, string(d.old.Hash), entry, by)
		if !errors.Is(err, vault.ErrNotFound) {
			return res, err
		}
		it.Decisions = slices.Delete(it.Decisions, i, i+1) // it went meanwhile; it was the only one
		break
	}
	return n.Add(ctx, entry, w)
}

// planEntry decides about a new entry beside the others, each of which stands for a memory.
func (d *gatherer) planEntry(n *notebook.Notebook, entries []markdown.Entry, entry notebook.New) (*Plan, error) {
	head := markdown.ReadEntry(markdown.EntryText(entry.Text))
	dr := &draft{note: vault.Note{Text: head.Body()}}
	dr.memory = d.memory(noteID(0), head.Body(), "", "")
	dr.memory.Authority, dr.memory.Author = d.authority(), ""
	machine, err := map[string]bool(nil), error(nil)
	if dr.memory.Authority < encode.Statement {
		if machine, err = n.ByAgents(d.ctx); err != nil {
			return nil, err
		}
	}
	d.words = map[vault.Path]encode.Authority{}
	at := map[string]markdown.Entry{}
	for _, e := range entries {
		m := vault.Memory{Path: vault.Path(n.Address(e)), Hash: vault.Hash(e.Hash()), Body: []byte(e.Body())}
		at[string(m.Path)], d.stored[string(m.Path)] = e, m
		d.words[m.Path] = encode.Inference
		if !machine[e.Text] {
			d.words[m.Path] = encode.Statement
		}
		dr.near = append(dr.near, storedMemory(m))
	}
	if dr.plan, err = d.decide(dr.memory, dr.near, nil); err != nil {
		return nil, err
	}
	if dup := dr.plan.Duplicate; dup != nil {
		if e := at[dup.Old]; entry.Kind != "" && entry.Kind != e.Kind || head.Task || head.Kind != "" {
			dr.plan.Duplicate = nil
		}
	}
	if dr.plan.Duplicate == nil {
		if err := d.askEntry(dr); err != nil {
			return nil, err
		}
	}
	whole := 0 // entries that go whole
	for _, v := range dr.plan.Verdicts {
		if v.Kind == encode.Supersede && v.Rest == "" {
			whole++
		}
	}
	for i := range dr.plan.Verdicts {
		// An entry of several facts is the person's to cut, and one entry takes the place of
		// one; two facts are two entries.
		v := &dr.plan.Verdicts[i]
		if v.Kind == encode.Supersede && (v.Rest != "" || whole != 1 || entry.Under != "" || at[v.Old].Task != head.Task) {
			v.Kind = encode.Conflict
		}
		v.Rest = ""
	}
	dr.plan.Verdicts = slices.DeleteFunc(dr.plan.Verdicts, func(v encode.Verdict) bool { return v.Kind == encode.Update })
	p := d.compile([]*draft{dr})
	for i := range p.Items[0].Decisions {
		dec := &p.Items[0].Decisions[i]
		dec.old.Title, dec.Was = at[string(dec.Path)].Text, string(dec.old.Body)
	}
	return p, nil
}

// askEntry lets the model judge a new entry as it judges a memory. What it does not answer is
// decided by the rules.
func (d *gatherer) askEntry(dr *draft) error {
	if d.mind == nil || d.unspoken(dr) || !pipeline.Judgeable(dr.memory.Text) {
		return nil
	}
	near := d.resembling(dr, place.Placing{})
	if len(near) == 0 {
		return nil
	}
	q := pipeline.Note{Text: dr.memory.Text, Author: author(dr.memory.Authority)}
	for _, m := range near {
		q.Near = append(q.Near, stored(m, d.words[m.Path]))
	}
	got, err := d.ask(&pipeline.Pipeline{Model: d.mind.Model, Now: d.mind.Now}, []pipeline.Note{q})
	if err != nil {
		return err
	}
	t := thought{got[0], near}
	if err := d.weigh(dr, &t); err != nil {
		return err
	}
	if err := t.Err(); err != nil {
		d.warnings = append(d.warnings, fmt.Sprintf("the model could not help, and the rules decided alone: %v", err))
	}
	return nil
}
