// Package ingest is the door that stores: it looks for what the vault already says
// about a new memory, lets the rules of agent/encode judge, and writes the outcome as
// one commit. What is said already is not written again; what is no longer true goes
// to the archive, or loses the clause that changed; what contradicts without being
// sure is written as well, linked with conflicts_with, and waits in [Inbox] for a
// person.
//
// With a model ([Think]) the rules still speak first: what they find said already is
// asked nobody. What the model then wants is carried out only as far as they allow:
// whatever it answers, it can touch no memory that it was not shown, it makes nothing
// go that a higher authority said, and nothing is left unwritten unless the words
// bear out that it stands there. When it fails, the rules decide alone.
//
// Nothing is locked while it looks or asks. What it found is checked again inside the
// transaction; if somebody changed it meanwhile, everything is looked at anew.
package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stet/agent/encode"
	"stet/index"
	"stet/markdown"
	"stet/vault"
)

// A Searcher finds memories by words. An [index.Index] is one.
type Searcher interface {
	// Nearby lists up to limit memories that share words with text, best first.
	Nearby(ctx context.Context, text string, limit int) ([]vault.Path, error)
	// Vocabulary counts which memories have the words of texts, and any of a group.
	Vocabulary(ctx context.Context, texts, groups []string, private bool) (*index.Vocabulary, error)
}

// A Decision is one verdict that was acted on.
type Decision struct {
	Kind       encode.Kind `json:"kind"`
	Rule       string      `json:"rule"`
	Confidence float64     `json:"confidence"`
	Path       vault.Path  `json:"path"` // of the stored memory, before
	ID         string      `json:"id,omitempty"`
	Said       string      `json:"said,omitempty"`
	Was        string      `json:"was,omitempty"`
	// Kept is what is left of a memory that lost a clause.
	Kept string `json:"kept,omitempty"`
}

// A Result is what a write did and why.
type Result struct {
	*vault.Result
	Decisions []Decision
	Placed    []Placing
}

// maxAttempts bounds how often notes are looked at anew because what they were
// compared with has changed.
const maxAttempts = 3

// Remember is [vault.Vault.Remember] with the rules in front. When the search fails
// the notes are stored as they are, and a warning says so: a memory is never lost
// to a missing index.
func Remember(ctx context.Context, v *vault.Vault, find Searcher, notes []vault.Note, w vault.Write) (*Result, error) {
	return Think(ctx, v, find, nil, notes, w)
}

// Think is [Remember] with a model behind the rules, none where mind is nil.
func Think(ctx context.Context, v *vault.Vault, find Searcher, mind *Mind, notes []vault.Note, w vault.Write) (*Result, error) {
	thoughts := map[int]thought{}
	for attempt := 1; ; attempt++ {
		d := &desk{ctx: ctx, v: v, find: find, mind: mind, thoughts: thoughts, w: w}
		res, err := d.remember(notes)
		if attempt < maxAttempts && errors.Is(err, errMoved) {
			continue
		}
		return res, err
	}
}

// errMoved reports that a memory changed after it was judged.
var errMoved = fmt.Errorf("%w: what the new memory was compared with has changed", vault.ErrConflict)

// A desk is one attempt at storing notes.
type desk struct {
	ctx      context.Context
	v        *vault.Vault
	find     Searcher
	mind     *Mind           // nil without a model
	thoughts map[int]thought // of earlier attempts as well, by note
	w        vault.Write
	earlier  batch                   // notes of the same call
	texts    map[string][]vault.Path // of short memories, by text, when they were needed
	stored   map[string]vault.Memory
	warnings []string
	done     []Decision
	same     []vault.Memory // what duplicates are duplicates of
	touched  map[string]bool
	merges   []merge
	placed   []Placing
}

// A draft is a note on the desk.
type draft struct {
	i       int
	note    vault.Note
	memory  encode.Memory
	near    []encode.Memory
	plan    encode.Plan
	decided []string // what said so, for "classified_by"
	failed  error    // why the model was no help
	// cosine tells how near stored memories are in meaning, nil where nobody knows.
	cosine map[string]float64
	more   bool // there may be more that shares a word with it than near has
	// Of a memory that is stored already.
	self     *vault.Memory
	placed   bool // where it belongs is not asked
	keepMark bool // "encoding" stays as it is
	reworded bool // its text is new, whenever it was stored
}

func (d *desk) remember(notes []vault.Note) (*Result, error) {
	d.stored, d.touched = map[string]vault.Memory{}, map[string]bool{}
	drafts := make([]draft, len(notes))
	for i, n := range notes {
		drafts[i] = draft{i: i, note: n}
		if err := d.judge(&drafts[i]); err != nil {
			return nil, err
		}
	}
	if err := d.file(drafts); err != nil {
		return nil, err
	}
	if d.v.Waits(d.w) { // nothing happens to what is stored before a person agrees
		for i := range drafts {
			drafts[i].plan.Verdicts = nil
		}
	} else if err := d.think(drafts); err != nil {
		return nil, err
	}
	d.mark(drafts)
	var wanted []vault.Note
	for i := range drafts {
		if dr := &drafts[i]; dr.plan.Duplicate != nil {
			d.duplicate(dr.i, *dr.plan.Duplicate)
		} else if d.act(dr) {
			wanted = append(wanted, dr.note)
		}
	}
	return d.write(wanted, len(notes))
}

// write is the one commit.
func (d *desk) write(wanted []vault.Note, asked int) (res *Result, err error) {
	var out *vault.Result
	var merged []vault.Memory
	w := d.w
	if len(d.merges) > 0 {
		w.Also = func(tx *vault.Tx) (err error) {
			if merged, err = d.merge(tx); err == nil && d.w.Also != nil {
				err = d.w.Also(tx)
			}
			return err
		}
	}
	w.Also = d.sayPlace(w.Also)
	switch {
	case len(wanted) > 0 || asked == 0:
		out, err = d.v.Remember(d.ctx, wanted, w)
	case len(d.merges) > 0:
		out, err = d.v.Transact(d.ctx, w.Why(vault.OpUpdate, d.merges[0].old.Name()), w.DryRun, w.Also)
	default:
		return d.unchanged()
	}
	if err != nil {
		return nil, err
	}
	out.Memories = append(out.Memories, merged...)
	out.Warnings = append(out.Warnings, d.warnings...)
	return &Result{Result: out, Decisions: d.done, Placed: d.placed}, nil
}

// unchanged is the answer when everything is there already.
func (d *desk) unchanged() (*Result, error) {
	base, err := d.v.Head()
	if err != nil {
		return nil, err
	}
	res := &vault.Result{Root: d.v.Root(), Base: base, Memories: d.same, Unchanged: true, DryRun: d.w.DryRun, Warnings: d.warnings}
	return &Result{Result: res, Decisions: d.done}, nil
}

// judge lets the rules decide about one note.
func (d *desk) judge(dr *draft) error {
	n := &dr.note
	text := n.Text
	switch {
	case n.Blank:
		text = n.Title
	case n.Form != nil:
		text = string(markdown.Parse(n.Form).Body())
	}
	m := encode.Memory{ID: fmt.Sprintf("note %d", dr.i+1), Text: text, Authority: d.authority(), When: n.Created}
	near, err := d.candidates(dr, text)
	if err != nil {
		return err
	}
	if dr.memory, dr.near = m, near; dr.self != nil {
		return d.reconsider(dr)
	}
	earlier := d.earlier.near(text)
	if dr.plan, err = d.decide(m, near, earlier); err == nil && dr.plan.Duplicate == nil {
		dr.plan.Duplicate, err = d.verbatim(dr, earlier)
	}
	d.earlier.add(m)
	if dup := dr.plan.Duplicate; dup != nil && n.Blank {
		if old := d.stored[dup.Old]; old.Kind != n.Kind || vault.FoldName(old.Name()) != vault.FoldName(n.Title) {
			dr.plan.Duplicate = nil // who begins a page has more to say
		}
	}
	return err
}

// decide is what the rules say of a note beside stored memories and earlier notes.
func (d *desk) decide(m encode.Memory, near, earlier []encode.Memory) (plan encode.Plan, err error) {
	plan = encode.Decide(m, slices.Concat(near, earlier), encode.Corpus{})
	if m.Authority >= encode.Statement || !slices.ContainsFunc(plan.Verdicts, func(v encode.Verdict) bool { return v.Kind == encode.Supersede }) {
		return plan, nil
	}
	for k := range near {
		if near[k].Authority, err = d.authorityOf(near[k].ID); err != nil {
			return plan, err
		}
	}
	return encode.Decide(m, slices.Concat(near, earlier), encode.Corpus{}), nil
}

func (d *desk) duplicate(i int, v encode.Verdict) {
	old, stored := d.stored[v.Old]
	if !stored {
		d.warnings = append(d.warnings, fmt.Sprintf("note %d was left out: %s says the same", i+1, v.Old))
		return
	}
	d.same = append(d.same, old)
	d.done = append(d.done, Decision{Kind: v.Kind, Rule: v.Rule, Confidence: v.Confidence, Path: old.Path, ID: old.ID})
}

// authority is that of whoever writes.
func (d *desk) authority() encode.Authority {
	if d.w.Actor == "" || d.w.Actor == vault.ActorUser {
		return encode.Correction
	}
	if d.w.Approver != "" {
		return encode.Statement
	}
	return encode.Inference
}

// authorityOf is that of a stored memory: what a person wrote or edited is a
// person's word. History is read only when a machine is about to change something.
func (d *desk) authorityOf(key string) (encode.Authority, error) {
	return d.wordOf(d.stored[key])
}

func (d *desk) wordOf(m vault.Memory) (encode.Authority, error) {
	for version, err := range d.v.Versions(d.ctx, "", m.Path) {
		if err != nil {
			return 0, err
		}
		said := version.Commit.Trailers
		actor := said.Get("Stet-Actor")
		person := actor == "" || actor == vault.ActorUser || said.Get("Stet-Approved-By") != ""
		if person && version.Commit.Op != vault.OpEncode {
			return encode.Statement, nil // who lets stet look at a memory again says nothing
		}
	}
	if head, _, err := d.v.ReadAt(d.ctx, "HEAD", string(m.Path)); err == nil && head.Hash == m.Hash {
		return encode.Inference, nil
	}
	return encode.Statement, nil // not committed yet: a person's own edit
}

// act gives a note what makes its verdicts come true, and reports whether it is to
// be written: what an update says from now on is not written a second time.
func (d *desk) act(dr *draft) bool {
	n := &dr.note
	verdicts := slices.DeleteFunc(slices.Clone(dr.plan.Verdicts), func(v encode.Verdict) bool {
		_, stored := d.stored[v.Old]
		return !stored || d.touched[v.Old] // the first verdict on a memory wins
	})
	for _, v := range verdicts {
		old := d.stored[v.Old]
		d.touched[v.Old] = true
		d.done = append(d.done, Decision{Kind: v.Kind, Rule: v.Rule, Confidence: v.Confidence, Path: old.Path, ID: old.ID, Said: v.Said, Was: v.Was, Kept: v.Rest})
		if v.Kind == encode.Update {
			d.merges = append(d.merges, merge{*n, old, v})
			return false // it is the only one
		}
		if !slices.Contains(dr.decided, v.Rule) {
			dr.decided = append(dr.decided, v.Rule)
		}
		if v.Kind == encode.Supersede && v.Rest == "" {
			n.Pinned = n.Pinned || old.Pinned
		}
		if old.Private {
			n.Meta = append(n.Meta, vault.KeyValue{Key: "private", Value: markdown.Bool(true)})
		}
	}
	if len(dr.decided) > 0 {
		n.Meta = append(n.Meta, vault.KeyValue{Key: "classified_by", Value: markdown.String(strings.Join(dr.decided, ", "))})
	}
	if len(verdicts) > 0 {
		n.Also = func(tx *vault.Tx, stored vault.Memory) error { return d.apply(tx, stored, verdicts) }
	}
	return true
}
