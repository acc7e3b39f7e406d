package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"stet/agent/encode"
	"stet/agent/place"
	"stet/markdown"
	"stet/vault"
)

// A Choice says which stored memories [Finish] looks at again.
type Choice struct {
	// All takes every memory; without it those that a model was to understand and
	// did not.
	All bool
	// Rule is the one rule whose verdicts are acted on, by name ("change-cue") or
	// name and version; "" is every rule. A model has no say then.
	Rule     string
	Limit    int // at most so many; 0 takes all
	Progress func(done, total int)
}

// A Finished is what looking at stored memories again did.
type Finished struct {
	*vault.Result
	Plan     *Plan // of the memories that changed
	Examined int   // memories that were looked at
	Finished int   // of the pending ones, that are no longer
	// Left are pending ones that the model failed, and Failed is how.
	Left   int
	Failed error
	// Declined were finished or decided before, and somebody took that back.
	Declined []vault.Path
}

// Finish looks at stored memories as [Remember] does at new ones: each beside those
// that were stored before it, in the order in which they were stored. A memory that
// changes is one commit, published before the next one is looked at, so that a run
// that ends early loses nothing. One that the model fails stays as it is. What
// somebody took back is not done again unless w.Again asks for it. It fails with
// [vault.ErrRefused] for a writer whose words wait for approval.
//
// A memory that is pending is filed by the model, unless it has a place. No other
// one is moved: where a person put a memory is their business.
func Finish(ctx context.Context, v *vault.Vault, find Searcher, mind *Mind, c Choice, w vault.Write) (*Finished, error) {
	if v.Waits(w) {
		return nil, vault.WithHint(fmt.Errorf("look at stored memories again: %w: what agents write waits for the person, and this changes what is stored", vault.ErrRefused), `the person runs "stet encode"`)
	}
	if c.Rule != "" {
		mind = nil
		if !slices.ContainsFunc(encode.Rules(), func(id string) bool { return isRule(id, c.Rule) }) {
			return nil, vault.WithHint(fmt.Errorf("rule %q: %w: there is none", c.Rule, vault.ErrInvalid), "the rules are %s", strings.Join(encode.Rules(), ", "))
		}
	}
	f := &finisher{ctx: ctx, v: v, find: find, mind: mind, Choice: c, w: w, touched: map[vault.Path]bool{}, tries: map[vault.Path]int{}}
	base, err := v.Head()
	if err != nil {
		return nil, err
	}
	f.out = &Finished{Plan: &Plan{}, Result: &vault.Result{Root: v.Root(), Base: base, DryRun: w.DryRun}}
	err = f.run()
	f.out.Unchanged = len(f.out.Changes) == 0
	return f.out, err
}

// isRule reports whether a rule, "name@version", is meant by a name.
func isRule(rule, name string) bool {
	bare, _, _ := strings.Cut(rule, "@")
	return rule == name || bare == name
}

// A finisher is one [Finish].
type finisher struct {
	Choice
	ctx  context.Context
	v    *vault.Vault
	find Searcher
	mind *Mind
	w    vault.Write
	out  *Finished
	past *past
	// What a dry run would have changed: it is not looked at twice.
	touched map[vault.Path]bool
	gone    bool               // the model failed all of them: it is not asked about the rest
	tries   map[vault.Path]int // of those that changed while they were looked at
	failed  []error            // of memories that could not be looked at
}

// together is how many memories the model is asked about before what it says of
// them is carried out.
const together = 16

func (f *finisher) run() error {
	waiting, err := f.choose()
	if err != nil {
		return err
	}
	total := len(waiting)
	for len(waiting) > 0 {
		if err := context.Cause(f.ctx); err != nil {
			return err
		}
		d := newGatherer(f.ctx, f.v, f.find, nil, f.w)
		if f.mind != nil && !f.gone {
			d.mind = &Mind{Model: f.mind.Model, Now: f.mind.Now, Meaning: f.mind.Meaning, Similar: f.mind.Similar}
		}
		drafts, rest, err := f.take(d, waiting)
		if err != nil {
			return err
		}
		if d.mind == nil && len(drafts) == 1 && !drafts[0].placed { // else the model files it
			if err := d.file(drafts); err != nil {
				return err
			}
		}
		if err := d.think(drafts); err != nil {
			if err = f.goOn(drafts[0].self.Path, err); err != nil {
				return err
			}
			drafts = nil
		}
		var again []vault.Memory
		for _, dr := range drafts {
			moved, err := f.one(d, dr)
			if err = f.goOn(dr.self.Path, err); err != nil {
				return err
			}
			if moved {
				again = append(again, *dr.self)
			}
		}
		f.gone = f.gone || f.hopeless(d, drafts)
		f.out.Warnings = append(f.out.Warnings, d.warnings...)
		waiting = slices.Concat(again, rest)
		if f.Progress != nil {
			f.Progress(total-len(waiting), total)
		}
	}
	return errors.Join(f.failed...)
}

// goOn notes what failed at one memory, and returns what ends the run: the next memories
// would fail by it as well.
func (f *finisher) goOn(p vault.Path, err error) error {
	if err == nil || context.Cause(f.ctx) != nil || errors.Is(err, vault.ErrBusy) || errors.Is(err, vault.ErrReadOnly) {
		return err
	}
	f.failed = append(f.failed, fmt.Errorf("encode %q: %w", p, err))
	return nil
}

// choose lists what is to be looked at, in the order in which it was stored.
func (f *finisher) choose() ([]vault.Memory, error) {
	all, err := f.v.List(f.ctx, vault.Filter{})
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(m vault.Memory) bool {
		return m.Problem != "" || m.SupersededBy != "" || !f.All && f.Rule == "" && m.Encoding != Pending
	})
	slices.SortFunc(all, order)
	if f.Limit > 0 && len(all) > f.Limit {
		all = all[:f.Limit]
	}
	for i := range all {
		all[i].Body = nil // each is read again when its turn comes
	}
	return all, nil
}

// take picks memories to judge together, as long as none has to do with another of
// them: what becomes of that one comes first.
func (f *finisher) take(d *gatherer, waiting []vault.Memory) (drafts []*draft, rest []vault.Memory, err error) {
	size := 1
	if d.mind != nil {
		size = together
	}
	busy := map[vault.Path]bool{}
	for len(waiting) > 0 && len(drafts) < size {
		dr, err := f.draft(len(drafts), waiting[0].Path)
		if err == nil && dr != nil {
			err = d.judge(dr)
		}
		if err != nil || dr == nil {
			if err = f.goOn(waiting[0].Path, err); err != nil {
				return nil, nil, err
			}
			waiting = waiting[1:]
			continue
		}
		concerned, err := d.concerned(dr)
		if err != nil {
			return nil, nil, err
		}
		if slices.ContainsFunc(concerned, func(p vault.Path) bool { return busy[p] }) {
			break
		}
		for _, p := range concerned {
			busy[p] = true
		}
		drafts, waiting = append(drafts, dr), waiting[1:]
	}
	f.out.Examined += len(drafts)
	return drafts, waiting, nil
}

// hopeless reports whether the model failed everything that it was asked.
func (f *finisher) hopeless(d *gatherer, drafts []*draft) bool {
	failed := 0
	for i := range drafts {
		switch t, asked := d.thoughts[i]; {
		case asked && t.Err() != nil:
			failed++
		case asked && (t.Placed != nil || t.Actions != nil):
			return false
		}
	}
	return failed > 0
}

// draft reads a memory as it is now; nil when there is nothing to be done with it.
func (f *finisher) draft(i int, p vault.Path) (*draft, error) {
	data, _, err := f.v.ReadFile(p)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, vault.ErrNotFound) || errors.Is(err, vault.ErrRefused) {
		return nil, nil // it went to the archive, or somebody moved it
	}
	if err != nil {
		return nil, err
	}
	m := vault.ReadMemory(p, data)
	if m.Problem != "" || f.touched[p] || !f.All && f.Rule == "" && m.Encoding != Pending || strings.TrimSpace(string(m.Body)) == "" {
		return nil, nil
	}
	if f.gone && m.Encoding == Pending {
		f.out.Left++
		return nil, nil
	}
	if m.Encoding == Pending && f.Rule == "" {
		if declined, err := f.declined(m); declined || err != nil {
			f.out.Declined = append(f.out.Declined, p)
			return nil, err
		}
	}
	n := vault.Note{Text: string(m.Body), Title: m.Title, Kind: m.Kind, Scope: m.Scope, Categories: m.Categories, Importance: m.Importance, Pinned: m.Pinned, Created: m.Created}
	if n.Scope == "/" {
		n.Scope = ""
	}
	by, _ := markdown.Parse(data).Meta(classifiedBy)
	return &draft{i: i, note: n, self: &m, placed: m.Encoding != Pending || strings.Contains(by.Text(), "model/"),
		keepMark: m.Encoding != Pending || f.Rule != ""}, nil
}

// concerned are the memories that could change with a draft, itself among them.
func (d *gatherer) concerned(dr *draft) ([]vault.Path, error) {
	out := []vault.Path{dr.self.Path}
	if dup := dr.plan.Duplicate; dup != nil {
		return append(out, d.stored[dup.Old].Path), nil
	}
	for _, v := range dr.plan.Verdicts {
		out = append(out, d.stored[v.Old].Path)
	}
	if d.mind == nil {
		return out, nil
	}
	if err := d.count(); err != nil {
		return nil, err
	}
	near, err := d.beside(dr, place.Placing{})
	for _, m := range near {
		out = append(out, m.Path)
	}
	return out, err
}
