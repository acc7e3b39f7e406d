package ingest

import (
	"fmt"
	"slices"
	"strings"

	"stet/agent/encode"
	"stet/markdown"
	"stet/templates"
	"stet/vault"
)

// A Plan says what storing notes, or looking at stored memories again, changes. It is
// built before anything is locked, holds no handle to the vault, and is carried out
// by one transaction, which fails when a memory is no longer the one that was judged.
type Plan struct {
	Items []Item `json:"items"` // one for each note, in order
	// Warnings are what could not be looked up or asked.
	Warnings []string `json:"-"`
}

// An Outcome is what becomes of a note.
type Outcome string

// The outcomes.
const (
	Insert Outcome = "insert" // it is stored
	Skip   Outcome = "skip"   // a stored memory or an earlier note says it: nothing is stored
	Merge  Outcome = "merge"  // a stored memory says it from now on as well
	Settle Outcome = "settle" // a person says what is true of a stored memory and those beside it
)

// An Item is one note of a plan with everything that follows from it.
type Item struct {
	Outcome   Outcome    `json:"outcome"`
	Path      vault.Path `json:"path,omitempty"`      // of a memory that is stored already
	Decisions []Decision `json:"decisions,omitempty"` // at most one for each stored memory
	Filed     *Placing   `json:"filed,omitempty"`     // what rules say of its place
	Pending   string     `json:"pending,omitempty"`   // why it is to be finished later
	// Refused says what the model wanted and did not get, a sentence each.
	Refused []string `json:"refused,omitempty"`

	book   *shelf      // the notebook that it is an entry of, nil for none
	note   vault.Note  // as it is to be written
	edit   vault.Patch // of a stored memory that is settled
	unlink []string    // ids that it no longer waits for
	self   *vault.Memory
}

// A Decision is what a plan does about one stored memory, or one earlier note of the
// same plan.
type Decision struct {
	Kind       encode.Kind `json:"kind"`
	Rule       string      `json:"rule"`       // "change-cue@1", "model/NAME"
	Confidence float64     `json:"confidence"` // 0 to 1
	Path       vault.Path  `json:"path"`       // before; "" of an earlier note
	ID         string      `json:"id,omitempty"`
	Note       int         `json:"note,omitempty"` // the number of the earlier note, from 1
	Said       string      `json:"said,omitempty"` // the clause of the note that decided
	Was        string      `json:"was,omitempty"`  // the clause that it is held against
	// Kept is what the memory says afterwards, when it stays with another text.
	Kept string `json:"kept,omitempty"`
	// Gone are the clauses that leave the memory, each as it stands there.
	Gone []string `json:"gone,omitempty"`
	// Why are the features that decided, the heaviest first.
	Why []encode.Reason `json:"why,omitempty"`
	// Private says that the note became private because the memory is.
	Private bool `json:"private,omitempty"`

	old       vault.Memory   // as it was judged
	shelf     *shelf         // on which old is an entry, nil for a file
	aside     bool           // nothing is done: a person put the entry where it is
	rejected  bool           // machines do not write it again
	disputing []vault.Memory // what is in conflict with it, when it goes to the archive
}

// Release is the kind of a decision that two memories are both true.
const Release encode.Kind = "keep"

// Decisions lists what the plan does about stored memories, note by note.
func (p *Plan) Decisions() (out []Decision) {
	if p == nil {
		return nil
	}
	for _, it := range p.Items {
		out = append(out, it.Decisions...)
	}
	return out
}

// Placed lists what rules say of the places of notes that are stored.
func (p *Plan) Placed() (out []Placing) {
	if p == nil {
		return nil
	}
	for _, it := range p.Items {
		if it.Filed != nil && it.Outcome != Skip {
			out = append(out, *it.Filed)
		}
	}
	return out
}

// Duplicate is where note i is stored already: a path, or "note N"; "" when it is to be
// stored.
func (p *Plan) Duplicate(i int) string {
	if p.Items[i].Outcome != Skip {
		return ""
	}
	return p.Items[i].Decisions[0].Place()
}

// Place is where the memory of a decision stands: its path, or "note N".
func (d Decision) Place() string {
	if d.Note > 0 {
		return noteID(d.Note - 1)
	}
	return string(d.Path)
}

// noteID names the notes of one call for the rules, which know memories by id.
func noteID(i int) string { return fmt.Sprintf("note %d", i+1) }

// compile turns what was gathered into a plan. Of several verdicts on one memory the
// first one counts; a flag changes nothing and never stands in another one's way.
// A memory that an earlier item changed is not flagged any more.
func (d *gatherer) compile(drafts []*draft) *Plan {
	p := &Plan{}
	changed := map[string]bool{}
	for _, dr := range drafts {
		it := d.item(dr, changed, p.Items)
		if it.Outcome == Skip && it.Decisions[0].Note > 0 {
			p.Warnings = append(p.Warnings, fmt.Sprintf("note %d was left out: %s says the same", dr.i+1, it.Decisions[0].Place()))
		}
		p.Warnings = append(p.Warnings, it.Refused...)
		p.Items = append(p.Items, it)
	}
	p.Warnings = append(d.warnings, p.Warnings...)
	p.mark(drafts)
	return p
}

func (d *gatherer) item(dr *draft, changed map[string]bool, earlier []Item) Item {
	it := Item{Outcome: Insert, Filed: dr.filed, Refused: dr.refused, note: dr.note, self: dr.self,
		book: dr.book, Pending: dr.pending()}
	if dr.self != nil {
		it.Path = dr.self.Path
	}
	if dr.failed != nil {
		it.book = nil
	}
	if dup := dr.plan.Duplicate; dup != nil && !changed[dup.Old] {
		it.Outcome, it.Pending = Skip, ""
		it.Decisions = []Decision{d.decision(*dup)}
		if same := it.Decisions[0]; dr.self == nil && dr.note.Private && !same.old.Private {
			if same.Note > 0 {
				earlier[same.Note-1].note.Private = true
			} else {
				it.Outcome = Merge // what is said stays, and is private from now on
			}
		}
		return it
	}
	by := dr.decided
	for _, v := range dr.plan.Verdicts {
		dec := d.decision(v)
		if v.Kind == encode.Supersede && v.Rest == "" {
			dec.disputing = d.disputing(dec.old)
		}
		if n := dec.Note; n > 0 && earlier[n-1].Outcome != Insert || changed[v.Old] {
			continue
		} else if n > 0 {
			earlier[n-1].stay()
		}
		dec.Private = dec.old.Private && !it.note.Private && v.Kind != encode.Update
		it.Decisions = append(it.Decisions, dec)
		if v.Kind != encode.Flag {
			changed[v.Old] = true
		}
		if v.Kind == encode.Update {
			it.Outcome = Merge
			return it // it is the only one
		}
		if !slices.Contains(by, v.Rule) {
			by = append(by, v.Rule)
		}
		if v.Kind == encode.Supersede && v.Rest == "" {
			it.note.Pinned = it.note.Pinned || dec.old.Pinned
		}
		if dec.old.Private {
			it.set("private", markdown.Bool(true))
		}
	}
	if d.settleEntries(&it); it.book != nil {
		return it
	}
	if len(by) > 0 {
		it.set(classifiedBy, markdown.String(strings.Join(by, ", ")))
	}
	return it
}

// disputing lists what is in conflict with a memory; where it cannot be looked up a warning
// says so, and the links stay.
func (d *gatherer) disputing(m vault.Memory) []vault.Memory {
	out, err := m.Disputing(d.ctx, d.v)
	if err != nil {
		d.warnings = append(d.warnings, fmt.Sprintf("what was in conflict with %s still names it: %v", m.Path, err))
	}
	return out
}

func (it *Item) set(key string, value markdown.Value) {
	it.note.Meta = append(slices.Clip(it.note.Meta), vault.KeyValue{Key: key, Value: value})
}

// decision is a verdict with the memory that it is about.
func (d *gatherer) decision(v encode.Verdict) Decision {
	old := d.stored[v.Old]
	dec := Decision{Kind: v.Kind, Rule: v.Rule, Confidence: v.Confidence, Path: old.Path, ID: old.ID,
		Said: v.Said, Was: v.Was, Kept: v.Rest, Gone: v.Gone, Why: v.Why, old: old, shelf: d.shelfOf(old.Path)}
	if old.Path == "" {
		_, _ = fmt.Sscanf(v.Old, "note %d", &dec.Note) // written by noteID
	}
	return dec
}

// mark says of each note that is to be finished later that it is, and warns of those that the model failed.
func (p *Plan) mark(drafts []*draft) {
	failed, first := 0, ""
	for i := range p.Items {
		it := &p.Items[i]
		if it.Pending == "" || it.self != nil {
			continue
		}
		it.set("encoding", markdown.String(Pending))
		if drafts[i].failed == nil {
			continue // said by [gatherer.sayCut]
		}
		if failed++; failed == 1 {
			first = it.Pending
		}
	}
	if failed > 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("the model could not help with %d of %s, which are stored by the rules alone and marked \"encoding: pending\"; \"stet encode\" finishes them: %s", failed, templates.Plural(len(p.Items), "note"), first))
	}
}
