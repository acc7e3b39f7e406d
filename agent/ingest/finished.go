package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stet/agent/encode"
	"stet/markdown"
	"stet/vault"
)

// classifiedBy is the front matter key that names who decided.
const classifiedBy = "classified_by"

// one carries out what was decided of one stored memory. It reports true when
// something changed meanwhile, and the memory is to be looked at anew.
func (f *finisher) one(d *desk, dr *draft) (again bool, err error) {
	m, pending := dr.self, dr.self.Encoding == Pending
	if dr.failed != nil {
		f.out.Failed = cmp.Or(f.out.Failed, dr.failed)
		if pending {
			f.out.Left++
			return false, nil
		}
	}
	idle, err := f.settle(d, dr)
	if err != nil || idle {
		return false, err
	}
	before := len(d.done)
	fold := f.outcome(d, dr)
	res, err := f.commit(d, dr, fold)
	if errors.Is(err, errMoved) || errors.Is(err, vault.ErrConflict) {
		d.done = d.done[:before]
		if f.tries[m.Path]++; f.tries[m.Path] < maxAttempts {
			return true, nil
		}
		f.out.Warnings = append(f.out.Warnings, fmt.Sprintf("%s was left as it is: %v", m.Path, err))
		return false, nil
	}
	if errors.Is(err, vault.ErrRefused) || errors.Is(err, vault.ErrRejected) || errors.Is(err, vault.ErrInvalid) {
		d.done = d.done[:before] // of this one alone
		f.out.Warnings = append(f.out.Warnings, fmt.Sprintf("%s was left as it is: %v", m.Path, err))
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("encode %q: %w", m.Path, err)
	}
	if pending && f.Rule == "" {
		f.out.Finished++
	}
	f.out.Decisions = append(f.out.Decisions, d.done[before:]...)
	f.add(res)
	return false, nil
}

// settle leaves of what was decided what is to be done, and reports whether that is
// nothing.
func (f *finisher) settle(d *desk, dr *draft) (idle bool, err error) {
	m := *dr.self
	wanted := func(v encode.Verdict) (bool, error) {
		old := d.stored[v.Old]
		switch {
		case f.Rule != "" && !isRule(v.Rule, f.Rule), f.touched[old.Path]:
			return false, nil
		case v.Kind == encode.Duplicate && m.Private != old.Private:
			return false, nil // one of them may be shown, the other may not
		case v.Kind == encode.Conflict && (slices.Contains(m.Conflicts, old.ID) || slices.Contains(old.Conflicts, m.ID)):
			return false, nil // it is known, and waits for a person
		}
		declined, err := f.declinedPair(m, old)
		if declined {
			f.out.Declined = append(f.out.Declined, m.Path)
		}
		return !declined, err
	}
	if dup := dr.plan.Duplicate; dup != nil {
		ok, err := wanted(*dup)
		if err != nil {
			return false, err
		}
		if !ok {
			dr.plan.Duplicate = nil
		}
	}
	var verdicts []encode.Verdict
	for _, v := range dr.plan.Verdicts {
		ok, err := wanted(v)
		if err != nil {
			return false, err
		}
		if ok {
			verdicts = append(verdicts, v)
		}
	}
	dr.plan.Verdicts = verdicts
	if dr.plan.Duplicate != nil || len(verdicts) > 0 {
		return false, nil
	}
	return m.Encoding != Pending || f.Rule != "", nil
}

// outcome makes the verdicts ready to be carried out. It is the memory that says
// what dr says from now on, nil where dr stays.
func (f *finisher) outcome(d *desk, dr *draft) *encode.Verdict {
	if dup := dr.plan.Duplicate; dup != nil {
		d.duplicate(dr.i, *dup)
		return dup
	}
	if d.act(dr) {
		return nil
	}
	return &d.merges[len(d.merges)-1].verdict
}

// commit is the one commit of a memory.
func (f *finisher) commit(d *desk, dr *draft, fold *encode.Verdict) (*vault.Result, error) {
	var after vault.Memory
	why := f.w.Why(vault.OpEncode, dr.self.Name())
	res, err := f.v.Transact(f.ctx, why, f.w.DryRun, func(tx *vault.Tx) (err error) {
		if err := unmoved(tx, *dr.self); err != nil {
			return err
		}
		if fold != nil {
			after, err = d.fold(tx, dr, *fold)
			return err
		}
		if say := d.sayPlace(nil); say != nil {
			if err := say(tx); err != nil {
				return err
			}
		}
		if after, err = d.finished(tx, dr); err != nil || dr.note.Also == nil {
			return err
		}
		return dr.note.Also(tx, after)
	})
	if errors.Is(err, errStays) {
		dr.note.Scope = ""
		return f.commit(d, dr, fold)
	}
	if err != nil {
		return nil, err
	}
	res.Memories = []vault.Memory{after}
	return res, nil
}

// finished stages a memory as it is when nothing about it is pending: what the
// person or the file says of it stays, and "updated" too, for what it says is the
// same.
func (d *desk) finished(tx *vault.Tx, dr *draft) (vault.Memory, error) {
	m, n := *dr.self, &dr.note
	data, was, err := tx.Read(m.Path)
	if err != nil {
		return m, err
	}
	doc := markdown.Parse(data)
	set := func(key string, v markdown.Value, when bool) error {
		if !when {
			return nil
		}
		return doc.SetMeta(key, v)
	}
	err = errors.Join(
		set("categories", markdown.Strings(n.Categories), len(m.Categories) == 0 && len(n.Categories) > 0),
		sign(doc, dr),
	)
	if n.Importance != nil && m.Importance == nil {
		err = errors.Join(err, doc.SetMeta("importance", markdown.Number(*n.Importance)))
	}
	if !dr.keepMark {
		err = errors.Join(err, doc.RemoveMeta("encoding"))
	}
	if err != nil {
		return m, fmt.Errorf("encode %q: %w", m.Path, err)
	}
	if string(doc.Bytes()) != string(data) {
		if err := tx.Put(m.Path, was, doc.Bytes()); err != nil {
			return m, err
		}
	}
	if m, err = tx.Link(m, supersedes, false); err != nil { // it has an id from now on
		return m, err
	}
	tx.Why().Memories = []string{m.ID}
	return d.moved(tx, m, n.Scope)
}

// errStays reports a memory that a person's note names by its path: it is not moved.
var errStays = errors.New("a note links to it")

// sign writes what verdicts leave in the front matter of a memory: who decided, and
// what it takes over from those whose place it takes.
func sign(doc *markdown.Document, dr *draft) (err error) {
	by, _ := doc.Meta(classifiedBy)
	if dr.note.Pinned && !dr.self.Pinned {
		err = doc.SetMeta("pinned", markdown.Bool(true))
	}
	for _, kv := range dr.note.Meta {
		if kv.Key == classifiedBy {
			kv.Value = markdown.String(joined(by.Text(), kv.Value.Text()))
		}
		err = errors.Join(err, doc.SetMeta(kv.Key, kv.Value))
	}
	return err
}

// moved stages the move of a memory to the scope it was found to belong to. Links
// to it follow, but for those in notes, which are a person's own.
func (d *desk) moved(tx *vault.Tx, m vault.Memory, scope string) (vault.Memory, error) {
	folder, err := vault.ScopeFolder(scope)
	if err != nil || scope == "" || vault.ScopeOf(folder+"/x.md") == m.Scope {
		return m, err
	}
	res, after, err := d.rescope(tx, m, scope, false)
	if err == nil && len(res.Listed) > 0 {
		err = errStays
	}
	return after, err
}

// joined is a list of who decided, each once.
func joined(lists ...string) string {
	var out []string
	for _, list := range lists {
		for s := range strings.SplitSeq(list, ",") {
			if s = strings.TrimSpace(s); s != "" && !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return strings.Join(out, ", ")
}

// fold stages the end of a memory whose text stands in another one, which takes its
// place: it goes to the archive, and its tags, pin and importance to the other.
func (d *desk) fold(tx *vault.Tx, dr *draft, v encode.Verdict) (vault.Memory, error) {
	m, into := *dr.self, d.stored[v.Old]
	if err := unmoved(tx, into); err != nil {
		return into, err
	}
	p := vault.Patch{AddCategories: m.Categories}
	if m.Pinned {
		p.Pinned = &m.Pinned
	}
	if into.Importance == nil {
		p.Importance = m.Importance
	}
	said := "Said already in %s: %q."
	if v.Kind == encode.Update {
		p.Text, said = &v.Rest, "Said in %s from now on as well: %q."
	}
	after, err := p.Apply(tx, into)
	if err != nil {
		return into, err
	}
	if m, err = tx.Link(m, supersedes, false); err != nil {
		return into, err
	}
	if err := tx.Archive(m, false); err != nil {
		return into, err
	}
	if after, err = tx.Link(after, supersedes, false, m.ID); err != nil {
		return into, err
	}
	why := tx.Why()
	why.Memories = []string{m.ID, after.ID}
	why.Extra = append(slices.Clip(why.Extra), vault.TrailerLine{Key: "Supersedes", Value: m.ID})
	ruled(why, v)
	why.Body = fmt.Sprintf(said, into.Path, strings.TrimSpace(dr.memory.Text))
	return after, nil
}

// add joins the outcome of one commit to that of all.
func (f *finisher) add(res *vault.Result) {
	out := f.out.Result
	out.Commits = append(out.Commits, res.Commits...)
	out.Proposed = append(out.Proposed, res.Proposed...)
	out.Changes = append(out.Changes, res.Changes...)
	out.Memories = append(out.Memories, res.Memories...)
	out.Warnings = append(out.Warnings, res.Warnings...)
	out.Held = append(out.Held, res.Held...)
	out.Diff += res.Diff
	if res.DryRun {
		for _, c := range res.Changes {
			f.touched[c.Path], f.touched[c.From] = true, c.From != ""
		}
	}
}
