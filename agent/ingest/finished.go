package ingest

import (
	"cmp"
	"errors"
	"fmt"

	"stet/agent/encode"
	"stet/markdown"
	"stet/vault"
)

// one carries out what was decided of one stored memory. It reports true when
// something changed meanwhile, and the memory is to be looked at anew.
func (f *finisher) one(d *gatherer, dr *draft) (again bool, err error) {
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
	p := d.compile([]*draft{dr})
	res, err := f.commit(p, dr)
	if errors.Is(err, errMoved) || errors.Is(err, vault.ErrConflict) {
		if f.tries[m.Path]++; f.tries[m.Path] < maxAttempts {
			return true, nil
		}
		f.out.Warnings = append(f.out.Warnings, fmt.Sprintf("%s was left as it is: %v", m.Path, err))
		return false, nil
	}
	if errors.Is(err, vault.ErrRefused) || errors.Is(err, vault.ErrRejected) || errors.Is(err, vault.ErrInvalid) {
		f.out.Warnings = append(f.out.Warnings, fmt.Sprintf("%s was left as it is: %v", m.Path, err)) // this one alone
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if pending && f.Rule == "" {
		f.out.Finished++
	}
	f.out.Plan.Items = append(f.out.Plan.Items, p.Items...)
	f.add(res)
	return false, nil
}

// settle leaves of what was decided what is to be done, and reports whether that is
// nothing.
func (f *finisher) settle(d *gatherer, dr *draft) (idle bool, err error) {
	m := *dr.self
	wanted := func(v encode.Verdict) (bool, error) {
		old := d.stored[v.Old]
		switch {
		case f.Rule != "" && !isRule(v.Rule, f.Rule), f.touched[old.Path]:
			return false, nil
		case v.Kind == encode.Duplicate && m.Private != old.Private:
			return false, nil // one of them may be shown, the other may not
		case (v.Kind == encode.Conflict || v.Kind == encode.Flag) && linked(m, old):
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

// commit is the one commit of a memory.
func (f *finisher) commit(p *Plan, dr *draft) (*vault.Result, error) {
	var after vault.Memory
	it := &p.Items[0]
	why := f.w.Why(vault.OpEncode, dr.self.Name())
	if !dr.keepMark {
		first, err := f.remembered(*dr.self)
		if err != nil {
			return nil, err
		}
		if first != "" {
			why.Trail("Stet-Finishes", string(first))
		}
	}
	res, err := f.v.Transact(f.ctx, why, f.w.DryRun, func(tx *vault.Tx) (err error) {
		if err := unmoved(tx, *dr.self); err != nil {
			return err
		}
		if it.Outcome != Insert {
			after, err = it.fold(tx)
			return err
		}
		p.sayPlace(tx.Why())
		if after, err = f.finished(tx, it, dr.keepMark); err != nil {
			return err
		}
		return p.Begin().effects(tx, 0, after)
	})
	if errors.Is(err, errStays) {
		it.note.Scope = ""
		return f.commit(p, dr)
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
func (f *finisher) finished(tx *vault.Tx, it *Item, keepMark bool) (vault.Memory, error) {
	m, n := *it.self, &it.note
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
		it.sign(doc, m),
	)
	if n.Importance != nil && m.Importance == nil {
		err = errors.Join(err, doc.SetMeta("importance", markdown.Number(*n.Importance)))
	}
	if !keepMark {
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
	if m, err = tx.Link(m, superseding, false); err != nil { // it has an id from now on
		return m, err
	}
	tx.Why().Memories = []string{m.ID}
	return f.moved(tx, m, n.Scope)
}

// remembered is the commit that stored a memory and no other one, which undo takes back
// together with what finishes it; "" for none.
func (f *finisher) remembered(m vault.Memory) (rev vault.Revision, err error) {
	for version, err := range f.v.Whole().History().Versions(f.ctx, "", m.Path) {
		if err != nil {
			return "", err
		}
		if c := version.Commit; c.Op == vault.OpRemember && len(c.Trailers.All("Stet-Memory")) == 1 {
			rev = c.Rev
		}
	}
	return rev, nil
}

// errStays reports a memory that a person's note names by its path: it is not moved.
var errStays = errors.New("a note links to it")

// moved stages the move of a memory to the scope it was found to belong to. Links
// to it follow, but for those in notes, which are a person's own.
func (f *finisher) moved(tx *vault.Tx, m vault.Memory, scope string) (vault.Memory, error) {
	folder, err := vault.Scope(scope).Folder()
	if err != nil || scope == "" || vault.ScopeOf(folder+"/x.md") == m.Scope {
		return m, err
	}
	res, after, err := rescope(f.ctx, f.v, tx, m, scope, false)
	if err == nil && len(res.Listed) > 0 {
		err = errStays
	}
	return after, err
}

// fold stages the end of a memory whose text stands in another one, which takes its
// place: it goes to the archive, and its tags, pin and importance to the other.
func (it *Item) fold(tx *vault.Tx) (vault.Memory, error) {
	m, d := *it.self, it.Decisions[0]
	into := d.old
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
	said := "already in"
	if it.Outcome == Merge {
		p.Text, said = &d.Kept, "from now on as well in"
	}
	after, err := p.Apply(tx, into)
	if err != nil {
		return into, err
	}
	if m, err = tx.Link(m, superseding, false); err != nil {
		return into, err
	}
	if err := tx.Archive(m, false); err != nil {
		return into, err
	}
	if after, err = tx.Link(after, superseding, false, m.ID); err != nil {
		return into, err
	}
	why := tx.Why()
	why.Memories = []string{m.ID, after.ID}
	why.Trail("Supersedes", m.ID)
	ruled(&why.Writer, d.Rule, d.Confidence)
	why.Body = fmt.Sprintf("Said %s %s%s.", said, into.Path, says(m.Private || into.Private, ": %s", string(m.Body)))
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
