// Package approval is what a person does with the writes of machines that wait: see
// what each would change, accept it, reject it.
//
// What is accepted is written as if the machine had written it now: a new memory is
// compared with what is stored by then, and changes of files keep newer edits that do
// not overlap. The commit has the machine as its author and names the person. What is
// rejected leaves a tombstone, so that no machine proposes it again.
package approval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"stet/agent/ingest"
	"stet/markdown"
	"stet/templates"
	"stet/vault"
	"stet/vault/notebook"
	"stet/vault/proposal"
	"stet/vault/settings"
	"stet/vault/skill"
	"stet/vault/tombstone"
)

// A Waiting is one proposal.
type Waiting struct {
	ID       string
	Path     vault.Path
	Proposal proposal.Proposal
	main     []byte     // what the first of its files is to hold
	Hash     vault.Hash // of its file
}

// Data is what file i of the proposal is to hold, or of one that goes, held.
func (w Waiting) Data(i int) []byte {
	if i == 0 {
		return w.main
	}
	return w.Proposal.Files[i].Data()
}

// List lists what waits, the oldest first, and the files among it that are no
// proposals.
func List(ctx context.Context, v *vault.Vault) ([]Waiting, []vault.Problem, error) {
	survey, err := v.Survey(ctx, proposal.Dir, true)
	if err != nil {
		return nil, nil, err
	}
	var out []Waiting
	var problems []vault.Problem
	for _, f := range survey.Files {
		data, _, err := v.ReadFile(f.Path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // decided meanwhile
		}
		var w Waiting
		if err == nil {
			w, err = Read(f.Path, data)
		}
		if err != nil {
			problems = append(problems, vault.Problem{ID: "proposal", Path: f.Path, Text: err.Error(), Hint: "mend it, or remove it: nothing was written of it"})
			continue
		}
		out = append(out, w)
	}
	slices.SortStableFunc(out, func(a, b Waiting) int {
		return cmp.Or(a.Proposal.At.Compare(b.Proposal.At), cmp.Compare(a.ID, b.ID))
	})
	return out, problems, nil
}

// Is reports whether p is where a proposal stands.
func Is(p vault.Path) bool { return p.Dir() == proposal.Dir }

// Read reads the proposal in a file. It fails with [proposal.ErrMalformed].
func Read(p vault.Path, data []byte) (Waiting, error) {
	w := Waiting{ID: proposal.ID(string(p)), Path: p, Hash: vault.ReadMemory(p, data).Hash}
	var err error
	w.Proposal, w.main, err = proposal.Decode(data)
	return w, err
}

// Find is the one that ref names: by its id, a beginning or an end of it, or its path.
func Find(all []Waiting, ref string) (Waiting, error) {
	as := func(w Waiting) vault.Memory { return vault.Memory{ID: w.ID, Path: w.Path, Title: w.Proposal.Subject} }
	w, err := vault.Pick(ref, all, as, func(w Waiting) bool { return string(w.Path) == ref })
	if errors.Is(err, vault.ErrNotFound) {
		err = vault.WithHint(err, `"stet review --proposed" lists what waits`)
	}
	return w, err
}

// A Desk is what new memories are compared with. No model is asked when one is
// accepted: what the person saw is what is written.
type Desk struct {
	Find ingest.Searcher
	// Later marks what is written as pending, for a model to understand.
	Later bool
}

// Accept writes what a proposal says, in one commit that takes it away. Of who only
// DryRun, Message and Door count. It fails with [vault.ErrConflict] when the proposal
// was decided or edited since it was listed, or when newer edits overlap.
func Accept(ctx context.Context, v *vault.Vault, d Desk, w Waiting, who vault.Write) (*ingest.Result, error) {
	p := w.Proposal
	name, email := v.Person()
	write := vault.Write{DryRun: who.DryRun, Message: who.Message, Also: w.remove, Writer: vault.Writer{Actor: p.Actor, AgentName: p.By, Door: p.Door, Session: p.Session, Again: true, Approver: fmt.Sprintf("%s <%s>", name, email)}}
	if write.Actor == "" || write.Actor == vault.ActorUser {
		write.Actor = "agent" // a file that somebody made up does not speak for the person
	}
	res, err := w.accept(ctx, v, d, write)
	if err != nil || !res.Unchanged {
		return res, err
	}
	said := res.Memories
	res.Result, err = v.Transact(ctx, vault.Why{Op: vault.OpReject, Subject: "said already: " + p.Subject, Writer: vault.Writer{Door: who.Door}}, who.DryRun, w.remove)
	if err == nil {
		res.Memories = said
	}
	return res, err
}

// accept writes a new memory or entry as if it were written now, anything else as it
// was proposed.
func (w Waiting) accept(ctx context.Context, v *vault.Vault, d Desk, write vault.Write) (*ingest.Result, error) {
	if book, entry, ok := w.entry(v); ok {
		return w.acceptEntry(ctx, v, d, book, entry, write)
	}
	if !w.Proposal.Replays() {
		res, err := w.replace(ctx, v, write)
		return &ingest.Result{Result: res, Plan: &ingest.Plan{}}, err
	}
	note, err := w.note()
	if err != nil {
		return nil, err
	}
	if !v.Settings().Bool(settings.Cognitive) {
		res, err := v.Remember(ctx, []vault.Note{note}, write)
		return &ingest.Result{Result: res, Plan: &ingest.Plan{}}, err
	}
	if d.Later {
		note.Meta = []vault.KeyValue{{Key: "encoding", Value: markdown.String(ingest.Pending)}}
	}
	return ingest.Remember(ctx, v, d.Find, nil, []vault.Note{note}, write)
}

// acceptEntry writes an entry: one for which stet chose the notebook is compared with all that is stored, as it was
// when it was proposed, any other with the notebook.
func (w Waiting) acceptEntry(
	ctx context.Context, v *vault.Vault, d Desk, book *notebook.Notebook, entry notebook.New, write vault.Write,
) (*ingest.Result, error) {
	carried := map[string]string{}
	for _, l := range w.Proposal.Extra {
		carried[l[0]] = l[1]
	}
	plan, res, err := &ingest.Plan{}, (*notebook.Result)(nil), error(nil)
	switch {
	case !v.Settings().Bool(settings.Cognitive):
		res, err = book.Add(ctx, entry, write)
	case carried[notebook.Filed] != "" && entry.Under == "":
		said := markdown.ReadEntry(entry.Text)
		return ingest.Remember(ctx, v, d.Find, nil, []vault.Note{{Text: said.Body(), Kind: said.Kind,
			To: string(book.Path()), Source: carried["Stet-Source"]}}, write)
	default:
		res, plan, err = ingest.AddEntry(ctx, v, book, nil, entry, write)
	}
	if err != nil {
		return nil, err
	}
	return &ingest.Result{Result: res.Result, Plan: plan}, nil
}

// entry is the entry of a notebook that a proposal adds and does nothing else. Two of
// them want the same place, which is no reason for a person to decide.
func (w Waiting) entry(v *vault.Vault) (*notebook.Notebook, notebook.New, bool) {
	f := w.Proposal.Files[0]
	books := map[vault.Path]func(*vault.Vault, notebook.Limits) *notebook.Notebook{notebook.CorePath: notebook.Core, notebook.ProfilePath: notebook.Profile}
	open, is := books[vault.Path(f.Path)]
	before, err := v.History().Ancestry().Read(vault.Hash(f.Was))
	if !is || w.Proposal.Op != string(vault.OpRemember) || len(w.Proposal.Files) > 1 || f.Gone || f.Was != "" && err != nil {
		return nil, notebook.New{}, false
	}
	had := map[string]bool{}
	for _, e := range markdown.Parse(before).Entries() {
		had[e.Hash()] = true
	}
	entries := markdown.Parse(w.main).Entries()
	kept := len(entries)
	entries = slices.DeleteFunc(entries, func(e markdown.Entry) bool { return had[e.Hash()] })
	if len(entries) != 1 || kept != len(had)+1 {
		return nil, notebook.New{}, false
	}
	entry := notebook.New{Text: entries[0].Text}
	if under := entries[0].Under; len(under) > 1 { // the first is the page's title
		entry.Under = under[len(under)-1]
	}
	return open(v, notebook.LimitsOf(v)), entry, true
}

// remove takes a proposal away that is as it was listed.
func (w Waiting) remove(tx *vault.Tx) error {
	_, was, err := tx.Read(w.Path)
	if err != nil {
		return err
	}
	if was != w.Hash {
		return vault.WithHint(fmt.Errorf("proposal %s: %w: it was decided or edited meanwhile", w.ID, vault.ErrConflict), `"stet review --proposed" shows what waits now`)
	}
	return tx.Remove(w.Path, was)
}

// note is the memory that a proposal of one wants.
func (w Waiting) note() (vault.Note, error) {
	m := vault.ReadMemory(vault.Path(w.Proposal.Files[0].Path), w.main)
	if m.Problem != "" {
		return vault.Note{}, vault.WithHint(fmt.Errorf("proposal %s: %w: %s", w.ID, vault.ErrInvalid, m.Problem), "mend %s, or reject it", w.Path)
	}
	n := vault.Note{Text: string(m.Body), Form: w.main, ID: w.ID, Created: m.Created, Scope: strings.TrimSuffix(m.Scope, "/"), Categories: m.Categories, Importance: m.Importance}
	if t, ok := markdown.Parse(w.main).Meta("title"); ok {
		n.Title = t.Text()
	}
	if !vault.IsID(n.ID) {
		n.ID = "" // the file was renamed
	}
	return n, nil
}

// Lifted says which earlier rejections a write takes away, a line each.
func Lifted(v *vault.Vault, changes []vault.Change) (out []string, err error) {
	for _, c := range changes {
		if !vault.IsTombstone(c.Path) || c.Status == vault.Added {
			continue
		}
		data, _, rerr := v.ReadFile(c.Path)
		parts, derr := tombstone.Decode(data)
		for _, p := range parts {
			out = append(out, p.String())
		}
		err = errors.Join(err, rerr, derr)
	}
	return out, err
}

// replace does to files what a proposal says.
func (w Waiting) replace(ctx context.Context, v *vault.Vault, write vault.Write) (*vault.Result, error) {
	p := w.Proposal
	if !vault.Op(p.Op).Staged() {
		return nil, fmt.Errorf("proposal %s: %w: nobody can propose to %q", w.ID, vault.ErrRefused, p.Op)
	}
	why := write.Why(vault.Op(p.Op), p.Subject)
	why.Body, why.Memories, why.Extra = p.Body, p.Memories, nil
	why.Carry(p.Extra)
	for _, r := range p.Reverts {
		if why.Op != vault.OpRevert {
			break // nothing else takes commits back
		}
		why.Reverts = append(why.Reverts, vault.Revision(r))
	}
	var memories []vault.Memory
	res, err := v.Transact(ctx, why, write.DryRun, func(tx *vault.Tx) error {
		memories = nil
		for i, f := range p.Files {
			m, err := apply(tx, v, p.Files, f, w.Data(i))
			if err != nil {
				return fmt.Errorf("proposal %s: change %q: %w", w.ID, f.Path, err)
			}
			if m.Class == vault.ClassMemory || m.Class == vault.ClassArchive || m.Class == vault.ClassNote {
				memories = append(memories, m)
			}
		}
		return w.remove(tx)
	})
	if err != nil {
		return nil, err
	}
	res.Memories = memories
	return res, nil
}

// apply does to one file, of all that a proposal is about, what it says, on what stands there now.
func apply(tx *vault.Tx, v *vault.Vault, all []proposal.File, f proposal.File, data []byte) (vault.Memory, error) {
	if f.Kept {
		return vault.Memory{}, moveKept(tx, all, f)
	}
	to, err := ownPath(f.Path)
	if err != nil {
		return vault.Memory{}, err
	}
	at := to
	if f.From != "" {
		if at, err = ownPath(f.From); err != nil {
			return vault.Memory{}, err
		}
	}
	now, was, err := tx.Read(at)
	after := func(data []byte, err error) (vault.Memory, error) { return vault.ReadMemory(to, data), err }
	switch {
	case err != nil:
		return after(nil, err)
	case f.Was == "" && was == "":
		return after(data, tx.Put(to, "", data))
	case f.Was == "":
		return after(nil, fmt.Errorf("%w: another file stands there by now", vault.ErrConflict))
	case was == "":
		return after(nil, fmt.Errorf("%w: it is gone by now", vault.ErrConflict))
	case f.Gone && string(was) != f.Was:
		return after(nil, fmt.Errorf("%w: it was edited since", vault.ErrConflict))
	case f.Gone:
		return vault.Memory{}, tx.Remove(at, was)
	}
	if string(was) != f.Was {
		if data, err = v.History().Ancestry().Merge(vault.Hash(f.Was), now, data); err != nil {
			return after(nil, err)
		}
	}
	if at != to {
		if err := tx.Move(at, to); err != nil {
			return after(nil, err)
		}
	}
	return after(data, tx.Put(to, was, data))
}

// moveKept moves a file with the bytes it has, together with the SKILL.md of its skill, which is among all.
func moveKept(tx *vault.Tx, all []proposal.File, f proposal.File) error {
	from, err := vault.ParsePath(f.From)
	to, err2 := vault.ParsePath(f.Path)
	if err = errors.Join(err, err2); err != nil {
		return err
	}
	together := slices.ContainsFunc(all, func(main proposal.File) bool {
		into, inFolder := strings.CutPrefix(f.Path, path.Dir(main.Path)+"/")
		was, fromFolder := strings.CutPrefix(f.From, path.Dir(main.From)+"/")
		return path.Base(main.Path) == skill.File && path.Base(main.From) == skill.File && inFolder && fromFolder &&
			into == was
	})
	if !together || from.Steers() || to.Steers() {
		return fmt.Errorf("%w: only the files of one skill move together", vault.ErrRefused)
	}
	return tx.Move(from, to)
}

// ownPath is the path of a file that a proposal may change: Markdown and files of skills that no
// program takes orders from, and tombstones.
func ownPath(s string) (vault.Path, error) {
	p, err := vault.ParsePath(s)
	if err == nil && !vault.IsTombstone(p) && (p.Steers() || !p.IsMarkdown() && vault.ClassOf(p) != vault.ClassSkill) {
		err = fmt.Errorf("%w: no proposal may change it", vault.ErrRefused)
	}
	return p, err
}

// Reject takes proposals away, in one commit, and leaves tombstones. It fails with
// [vault.ErrConflict] when one was decided or edited since it was listed.
func Reject(ctx context.Context, v *vault.Vault, all []Waiting, who vault.Write) (*vault.Result, error) {
	subject := templates.Plural(len(all), "proposal")
	if len(all) == 1 {
		subject = all[0].Proposal.Op + " " + all[0].Proposal.Subject
	}
	return v.Transact(ctx, who.Why(vault.OpReject, subject), who.DryRun, func(tx *vault.Tx) error {
		var stones []tombstone.Stone
		for _, w := range all {
			if err := w.remove(tx); err != nil {
				return err
			}
			stones = append(stones, w.stone(v))
		}
		return tx.Reject(stones)
	})
}

// stone is what a rejected proposal leaves: what it wanted to say, and what it wanted
// to do to which bytes. The text is that of the proposal's own file in history.
func (w Waiting) stone(v *vault.Vault) tombstone.Stone {
	f := w.Proposal.Files[0]
	m := vault.ReadMemory(vault.Path(f.Path), w.main)
	if w.Proposal.Replays() {
		s := tombstone.Of(tombstone.Reject, string(m.Body))
		s.IDs, s.Blob = []string{w.ID}, string(w.Hash)
		s.Session, s.Turns = vault.SourceTurns(m.Source)
		return s
	}
	text := ""
	if was, err := v.History().Ancestry().Read(vault.Hash(f.Was)); err == nil && !f.Gone {
		text = tombstone.Added(was, w.main)
	}
	s := tombstone.Of(tombstone.Reject, text)
	s.Within, s.Slot = cmp.Or(m.ID, f.Path), proposal.Slot(w.Proposal, w.main)
	if s.TextHash != "" {
		s.Blob, s.Was = string(w.Hash), f.Was
	}
	return s
}
