// Package ingest stores memories: it gathers what the vault already holds about a
// note, asks the rules of agent/encode and, where there is one, a model, makes a [Plan]
// of the outcome and carries it out in one commit. Duplicates are not stored again;
// what a note supersedes goes to the archive or loses the clauses that changed; what
// may be outdated is flagged; contradictions are linked and wait in [Inbox].
//
// Every door makes the same plan: new notes ([Remember]), a new text for a stored
// memory ([Update]), notebook entries ([AddEntry]), memories of other programs
// ([Import]), stored memories looked at again ([Finish]) and conflicts that a person settles
// ([Case]).
//
// Duplicates found by the rules are never sent to the model. A model can change no
// memory that it was not shown and nothing that a higher authority said. When it
// fails, the rules decide alone.
//
// Nothing is locked while gathering. The transaction checks what the plan was made
// from; if it changed meanwhile, a new plan is made.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"stet/agent/encode"
	"stet/agent/route"
	"stet/index"
	"stet/vault"
)

// A Searcher finds memories by words. An [index.Index] is one.
type Searcher interface {
	// Nearby lists up to limit memories that share words with text, best first.
	Nearby(ctx context.Context, text string, limit int) ([]vault.Path, error)
	// Vocabulary counts which memories have the words of texts, and any of a group.
	Vocabulary(ctx context.Context, texts, groups []string, private bool) (*index.Vocabulary, error)
}

// A Result is what storing did, and the plan behind it.
type Result struct {
	*vault.Result
	Plan *Plan
}

// maxAttempts bounds how often a plan is made again because what it was made from has
// changed.
const maxAttempts = 3

// errMoved reports that a memory changed after it was judged.
var errMoved = fmt.Errorf("%w: a memory that the new one was compared with has changed", vault.ErrConflict)

// Remember stores notes as [vault.Vault.Remember] does, compared with what is stored and
// with each other, by the rules and by mind, which may be nil. When the search fails
// the notes are stored as they are, with a warning. While a model is asked, local state holds
// the notes: when the process ends, [Recover] stores them.
func Remember(ctx context.Context, v *vault.Vault, find Searcher, mind *Mind, notes []vault.Note, w vault.Write) (*Result, error) {
	if mind == nil || w.DryRun || v.Waits(w) {
		return remember(ctx, v, find, mind, notes, w, nil)
	}
	var res *Result
	warning, err := keeping{Notes: notes, Write: w}.keep(ctx, v, func(k *keeping) (err error) {
		res, err = remember(ctx, v, find, mind, notes, w, k)
		return err
	})
	if err != nil {
		return nil, err
	}
	res.Warnings = append(res.Warnings, warning...)
	return res, nil
}

// Store stores notes as they are, each where its writer says: compared with nothing.
func Store(ctx context.Context, v *vault.Vault, notes []vault.Note, w vault.Write) (*vault.Result, error) {
	if !slices.ContainsFunc(notes, func(n vault.Note) bool { return n.To != "" }) {
		return v.Remember(ctx, notes, w)
	}
	d := newGatherer(ctx, v, nil, nil, w)
	if err := d.shelve(); err != nil {
		return nil, err
	}
	var drafts []*draft
	for i, n := range notes {
		drafts = append(drafts, &draft{i: i, note: n})
		d.sent(drafts[i])
	}
	return d.compile(drafts).remember(ctx, v, w)
}

// remember is [Remember] of notes that k, unless nil, keeps while a model is asked.
func remember(ctx context.Context, v *vault.Vault, find Searcher, mind *Mind, notes []vault.Note, w vault.Write, k *keeping) (*Result, error) {
	thoughts := map[int]thought{}
	for attempt := 1; ; attempt++ {
		d := newGatherer(ctx, v, find, mind, w)
		d.thoughts, d.kept = thoughts, k // nothing is asked twice
		p, err := d.plan(notes)
		if err != nil {
			return nil, err
		}
		k.name(p)
		res, err := p.remember(ctx, v, w)
		if attempt < maxAttempts && errors.Is(err, errMoved) {
			continue
		}
		if err != nil {
			return nil, err
		}
		res.Warnings = append(res.Warnings, p.Warnings...)
		return &Result{res, p}, nil
	}
}

// plan decides about new notes.
func (d *gatherer) plan(notes []vault.Note) (*Plan, error) {
	drafts := make([]*draft, len(notes))
	for i, n := range notes {
		drafts[i] = &draft{i: i, note: n, said: n.Text}
		if drafts[i].note.Text = route.Unasked(n.Text); d.authority() < encode.Statement {
			drafts[i].note.Text = route.Bare(n.Text)
		}
	}
	soon := soon(drafts)
	var rules sync.WaitGroup
	rules.Go(func() { // reads the word lists, while the index is read
		for _, dr := range soon {
			dr.probe()
		}
	})
	// Where words cannot be counted every word is a rare one; [gatherer.file] says why.
	d.counted, _ = d.countWords(soon)
	rules.Wait()
	same := sameNotes{}
	for i, dr := range drafts {
		err := error(nil)
		if dr.late {
			err = d.judgeLate(dr, same[said(dr)])
		} else if err = d.judge(dr); err == nil {
			d.route(dr)
		}
		if err != nil {
			return nil, err
		}
		same.add(dr, i)
	}
	d.sayCut(drafts)
	if err := d.file(drafts); err != nil {
		return nil, err
	}
	if d.v.Waits(d.w) { // nothing happens to what is stored before a person agrees
		for _, dr := range drafts {
			dr.plan.Verdicts = nil
		}
	} else if err := d.think(drafts); err != nil {
		return nil, err
	}
	return d.compile(drafts), nil
}
