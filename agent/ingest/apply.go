package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stet/agent/encode"
	"stet/markdown"
	"stet/templates"
	"stet/vault"
	"stet/vault/guard"
)

// The front matter keys that link memories, and the one that names who decided.
const (
	conflicts    = "conflicts_with"
	mayOutdate   = "may_outdate"
	superseding  = "supersedes"
	classifiedBy = "classified_by"
)

// A Staging carries out a plan inside one transaction, item by item in their order.
type Staging struct {
	*Plan
	each    bool                        // one commit for each item
	stored  map[int]vault.Memory        // by item: what was staged
	told    []string                    // what moved to make room for entries
	lifted  map[vault.Path]vault.Memory // by address: entries that became memories in that transaction
	checked *vault.Tx                   // the transaction in which the judged memories are as they were
}

// check fails with errMoved when a memory is no longer what was judged. It looks before the
// plan's own changes, which may touch one memory several times, and again in each
// transaction: the first may have been given up because something moved.
func (s *Staging) check(tx *vault.Tx) error {
	if s.checked == tx {
		return nil
	}
	for _, d := range s.Decisions() {
		err := error(nil)
		switch {
		case d.shelf != nil:
			if stands, read := d.shelf.pen.Stands(tx, string(d.old.Hash)); read != nil || !stands {
				err = cmp.Or(read, errMoved)
			}
		case d.Note == 0:
			err = unmoved(tx, d.old)
		}
		if err != nil {
			return err
		}
	}
	s.checked, s.lifted = tx, map[vault.Path]vault.Memory{}
	return nil
}

// Begin starts carrying out a plan.
func (p *Plan) Begin() *Staging { return &Staging{Plan: p, stored: map[int]vault.Memory{}} }

// remember stores the notes of a plan: one commit, or with w.Each one for each note.
func (p *Plan) remember(ctx context.Context, v *vault.Vault, w vault.Write) (*vault.Result, error) {
	s := p.Begin()
	s.each = w.Each
	byID := map[string]int{}
	notes, merges, entries := s.sort(byID)
	var merged, filed []vault.Memory
	also := w.Also
	w.Also = func(tx *vault.Tx) (err error) {
		p.sayPlace(tx.Why())
		if merged, err = s.merge(tx, merges); err != nil {
			return err
		}
		if filed, err = s.file(ctx, tx, entries, w, w.Each || v.Waits(w)); err != nil || also == nil {
			return err
		}
		return also(tx)
	}
	var res *vault.Result
	var err error
	switch {
	case len(notes) > 0 || len(p.Items) == 0:
		res, err = v.Remember(ctx, notes, w)
	case len(merges) > 0:
		old := p.Items[merges[0]].Decisions[0].old
		res, err = v.Transact(ctx, w.Why(vault.OpUpdate, old.Name()), w.DryRun, w.Also)
	case len(entries) > 0:
		subject := ""
		if len(entries) > 1 {
			subject = templates.Plural(len(entries), "memory", "memories")
		}
		res, err = v.Transact(ctx, w.Why(vault.OpRemember, subject), w.DryRun, w.Also)
	default:
		return p.unchanged(v, w)
	}
	if err != nil {
		return nil, err
	}
	for k, m := range res.Memories {
		if i, ok := byID[m.ID]; ok {
			res.Memories[k].Path = s.stored[i].Path // a later note may have archived it
		}
	}
	res.Memories = append(append(res.Memories, merged...), filed...)
	res.Warnings = append(res.Warnings, s.told...)
	return res, nil
}

// sort tells apart what becomes of the items: new memories, whose items byID gets by id, merges, entries of notebooks.
func (s *Staging) sort(byID map[string]int) (notes []vault.Note, merges, entries []int) {
	for i := range s.Items {
		switch it := &s.Items[i]; {
		case it.book != nil:
			entries = append(entries, i)
		case it.Outcome == Insert:
			n := it.note
			n.Also = func(tx *vault.Tx, stored vault.Memory) error {
				byID[stored.ID] = i
				return s.effects(tx, i, stored)
			}
			notes = append(notes, n)
		case it.Outcome == Merge:
			merges = append(merges, i)
		}
	}
	return notes, merges, entries
}

// unchanged is the answer when everything is stored already.
func (p *Plan) unchanged(v *vault.Vault, w vault.Write) (*vault.Result, error) {
	base, err := v.Head()
	res := &vault.Result{Root: v.Root(), Base: base, Unchanged: true, DryRun: w.DryRun}
	for _, d := range p.Decisions() {
		if d.Note == 0 {
			res.Memories = append(res.Memories, d.old)
		}
	}
	return res, err
}

// Stage stages what item i does to stored memories, and what it adds to the front
// matter of m, the memory that the caller staged for it. It fails with
// [vault.ErrConflict] when one of them has changed since the plan was made: then a new
// plan is to be made.
func (s *Staging) Stage(tx *vault.Tx, i int, m vault.Memory) (vault.Memory, error) {
	it := &s.Items[i]
	if len(it.Decisions) == 0 {
		return m, nil
	}
	data, was, err := tx.Read(m.Path)
	if err != nil {
		return m, err
	}
	doc := markdown.Parse(data)
	if err := it.sign(doc, m); err != nil {
		return m, fmt.Errorf("store %q: %w", m.Path, err)
	}
	if string(doc.Bytes()) != string(data) {
		m = vault.ReadMemory(m.Path, doc.Bytes())
		if err := tx.Put(m.Path, was, doc.Bytes()); err != nil {
			return m, err
		}
	}
	if len(tx.Why().Memories) == 0 && m.ID != "" {
		tx.Why().Memories = []string{m.ID}
	}
	return m, s.effects(tx, i, m)
}

// sign writes what a plan says of a stored memory into its front matter: who decided,
// and what it takes over from those that it supersedes.
func (it *Item) sign(doc *markdown.Document, m vault.Memory) (err error) {
	by, _ := doc.Meta(classifiedBy)
	if it.note.Pinned && !m.Pinned {
		err = doc.SetMeta("pinned", markdown.Bool(true))
	}
	for _, kv := range it.note.Meta {
		if kv.Key == classifiedBy {
			kv.Value = markdown.String(joined(by.Text(), kv.Value.Text()))
		}
		err = errors.Join(err, doc.SetMeta(kv.Key, kv.Value))
	}
	return err
}

// effects stages what item i, staged as the memory m, does to stored memories.
func (s *Staging) effects(tx *vault.Tx, i int, m vault.Memory) error {
	if err := s.check(tx); err != nil {
		return err
	}
	s.stored[i] = m
	why := tx.Why()
	why.Body = strings.TrimSpace(why.Body + "\n" + strings.Join(s.Items[i].Refused, "\n"))
	for _, d := range s.Items[i].Decisions {
		if d.aside {
			continue
		}
		old := d.old
		if d.shelf != nil {
			var err error
			if old, err = s.lift(tx, d); err != nil {
				return err
			}
		}
		if d.Note > 0 {
			var staged bool
			if old, staged = s.stored[d.Note-1]; !staged {
				continue // it was left out
			}
		}
		about, moved := slices.Clone(why.Memories), len(why.Moved)
		line, err := d.settle(tx, m, old)
		if err != nil {
			return err
		}
		if (d.Note > 0 || d.shelf != nil) && len(why.Moved) > moved {
			old.Path = why.Moved[moved][1]
			if d.Note > 0 {
				s.stored[d.Note-1] = old
			}
			if !s.each {
				why.Moved = why.Moved[:moved] // this very commit brings it
			}
		}
		why.Memories = about
		if after, _, err := tx.Read(old.Path); err == nil && len(after) > 0 && d.Kind != encode.Flag {
			if id := vault.ReadMemory(old.Path, after).ID; id != "" {
				why.Memories = append(why.Memories, id)
			}
		} else if s.Items[i].Outcome == Settle {
			why.Memories = append(why.Memories, old.ID)
		}
		why.Body = strings.TrimSpace(why.Body + "\n" + line)
	}
	return nil
}

// unmoved fails with errMoved when a memory is no longer what was judged.
func unmoved(tx *vault.Tx, old vault.Memory) error {
	_, hash, err := tx.Read(old.Path)
	if err == nil && hash != old.Hash {
		err = fmt.Errorf("%w: %s; nothing was stored, try again", errMoved, old.Path)
	}
	return err
}

// ruled says in the commit what decided.
func ruled(why *vault.Writer, rule string, confidence float64) {
	why.Trail("Stet-Rule", rule)
	why.Trail("Stet-Confidence", strconv.FormatFloat(confidence, 'f', 2, 64))
}

// settle stages one decision of the memory m about the memory old and says in a line
// what it did.
func (d Decision) settle(tx *vault.Tx, m, old vault.Memory) (string, error) {
	why := tx.Why()
	if d.Kind == Release {
		_, err := unlink(tx, old, m.ID)
		return "", err
	}
	if d.Kind != encode.Flag && d.Rule != ByPerson {
		ruled(&why.Writer, d.Rule, d.Confidence)
	}
	named := old
	var err error
	if d.Kind == encode.Supersede && d.Kept != "" {
		_, err = (vault.Patch{Text: &d.Kept}).Apply(tx, old)
		return fmt.Sprintf("No longer true in %s%s.", old.Path, says(old.Private, ": %s", d.Removed()...)), err
	}
	if d.Kind == encode.Conflict {
		named, err = tx.Link(old, conflicts, false, m.ID)
	} else if old.ID == "" {
		named, err = tx.Link(old, superseding, false) // it gets an id
	}
	if err != nil {
		return "", err
	}
	switch d.Kind {
	case encode.Conflict:
		why.Trail("Conflicts-With", named.ID)
		_, err = tx.Link(m, conflicts, false, named.ID)
		return fmt.Sprintf("In conflict with %s%s.", old.Path, says(old.Private, whichSays, d.Was)), err
	case encode.Flag:
		words := guard.Elided(d.Was)
		if old.Private || len(guard.Secrets("x.md", []byte(words))) > 0 {
			words = "" // whoever lists commits reads it
		}
		why.Trail(flagTrailer, m.ID+" "+named.ID+" "+strconv.FormatFloat(d.Confidence, 'f', 2, 64)+" "+words)
		_, err = tx.Link(m, mayOutdate, false, named.ID)
		return "", err
	}
	if err = errors.Join(tx.Detach(named, d.disputing), tx.Archive(named, d.rejected)); err != nil {
		return "", err
	}
	why.Trail("Supersedes", named.ID)
	_, err = tx.Link(m, superseding, false, named.ID)
	return fmt.Sprintf("Takes the place of %s%s.", old.Path, says(old.Private, whichSays, d.Was)), err
}

// Removed are the clauses that leave a memory, each as it stands there.
func (d Decision) Removed() []string {
	if len(d.Gone) == 0 {
		return []string{d.Was}
	}
	return d.Gone
}

const whichSays = ", which says %s"

// says is what a commit quotes of memories in a form: nothing of a private one.
func says(private bool, form string, clauses ...string) string {
	if private {
		return ""
	}
	out := make([]string, len(clauses))
	for i, c := range clauses {
		out[i] = strconv.Quote(strings.TrimSpace(c))
	}
	return fmt.Sprintf(form, strings.Join(out, ", "))
}

// merge stages the notes that stored memories say from now on. A memory keeps all that
// its front matter says but when it was updated; what was given with the note is added.
func (s *Staging) merge(tx *vault.Tx, items []int) ([]vault.Memory, error) {
	var out []vault.Memory
	why := tx.Why()
	if err := s.check(tx); err != nil {
		return nil, err
	}
	for _, i := range items {
		n, d := s.Items[i].note, s.Items[i].Decisions[0]
		p := vault.Patch{AddCategories: n.Categories, Importance: n.Importance}
		if d.Kind == encode.Update {
			p.Text = &d.Kept
		}
		if n.Private && !d.old.Private {
			p.Set = []vault.KeyValue{{Key: "private", Value: markdown.Bool(true)}}
		}
		if n.Pinned {
			p.Pinned = &n.Pinned
		}
		about := slices.Clone(why.Memories)
		after, err := p.Apply(tx, d.old)
		if err != nil {
			return nil, err
		}
		why.Memories = append(about, after.ID)
		ruled(&why.Writer, d.Rule, d.Confidence)
		why.Body = strings.TrimSpace(why.Body + fmt.Sprintf("\nSaid in %s from now on as well%s.", d.Path,
			says(n.Private || d.old.Private, ": %s", d.Said)))
		out = append(out, after)
	}
	return out, nil
}

// sayPlace says in a commit of one note why it was filed where it was; of many, their
// front matter says so.
func (p *Plan) sayPlace(why *vault.Why) {
	placed := p.Placed()
	if len(placed) != 1 {
		return
	}
	if f := placed[0].Kind; f != nil && placed[0].Notebook == "" {
		ruled(&why.Writer, f.Rule, f.Confidence)
	}
	if f := placed[0].Scope; f != nil {
		ruled(&why.Writer, f.Rule, f.Confidence)
	}
	if f := placed[0].Categories; f != nil {
		ruled(&why.Writer, f.Rule, f.Confidence)
	}
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
