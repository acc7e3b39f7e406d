package notebook

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"stet/markdown"
	"stet/vault"
	"stet/vault/tombstone"
)

// An editor is one attempt at one edit, inside a transaction.
type editor struct {
	n      *Notebook
	tx     *vault.Tx
	past   *past
	agent  bool // an agent writes
	was    vault.Hash
	doc    *markdown.Document
	before []markdown.Entry
	res    *Result
	gone   []candidate
	reject bool // what was removed is not wanted again
}

// open begins an edit of w's inside a transaction.
func (p *past) open(tx *vault.Tx, w vault.Write) (*editor, error) {
	data, was, err := tx.Read(p.n.path)
	e := &editor{n: p.n, tx: tx, past: p, agent: w.Actor != "" && w.Actor != vault.ActorUser, res: &Result{}, was: was}
	if err == nil {
		e.doc = markdown.Parse(data)
		e.before = e.doc.Entries()
	}
	return e, err
}

func (e *editor) find(ref string) (markdown.Entry, error) { return e.n.Find(e.before, ref) }

// duplicate looks for the text among the entries. anyKind lets an entry count
// that says the same and has a kind.
func (e *editor) duplicate(text string, anyKind bool) bool {
	head := markdown.ReadEntry(text)
	anyKind = anyKind && head.Kind == "" && !head.Task
	for _, have := range e.before {
		if have.Text == text || anyKind && !have.Task && have.Body() == text {
			e.res.Entry, e.res.Duplicate = have, true
			return true
		}
	}
	return false
}

func (e *editor) remove(entry markdown.Entry) error { return e.doc.RemoveEntry(entry) }

// A putter writes a text into the document.
type putter func(text string) (markdown.Entry, error)

// write puts text into the notebook and makes room for it. Where all that may go
// would not be room enough, the text becomes a memory instead, and the notebook
// points to it.
func (e *editor) write(ctx context.Context, text string, into putter) error {
	size := utf8.RuneCountInString(text)
	fits, err := e.fits(ctx, size)
	if err != nil {
		return err
	}
	if size > e.n.limit || !fits {
		return e.store(ctx, text, into)
	}
	return e.place(ctx, text, into)
}

// oversized reports a notebook that a person made larger than its limit: no edit
// of stet's leaves one so.
func (e *editor) oversized() bool { return characters(e.before) > e.n.limit }

// fits reports whether so many characters find room beside the entries that may not go for them:
// the pinned ones and, when an agent writes, those of a person, but for the one that is being
// replaced. A person's text always fits into a notebook that a person made larger than its limit.
func (e *editor) fits(ctx context.Context, size int) (bool, error) {
	room, replaced := e.n.limit, e.res.Old.Characters()
	switch {
	case characters(e.before)-replaced+size <= room:
		return true, nil
	case e.oversized() && !e.agent:
		return true, nil
	}
	var origins map[string]origin
	if e.agent {
		var err error
		if origins, err = e.past.origins(ctx); err != nil {
			return false, err
		}
	}
	for _, x := range e.before {
		if (x.Pinned() || e.agent && !origins[x.Text].machine) && (e.res.Old.End == 0 || x.Start != e.res.Old.Start) {
			room -= x.Characters()
		}
	}
	return size <= room, nil
}

// place writes an entry and moves others out of its way. An oversized notebook
// is not brought down to its limit: the edit only must not make it larger.
func (e *editor) place(ctx context.Context, text string, into putter) error {
	entry, err := into(text)
	if err != nil {
		return err
	}
	e.res.Entry = entry
	target := max(e.n.limit, characters(e.before))
	if characters(e.doc.Entries()) <= target {
		return nil
	}
	origins, err := e.past.origins(ctx)
	if err != nil {
		return err
	}
	e.gone, err = makeRoom(e.doc, candidates(e.doc.Entries(), origins, entry.Text, e.oversized(), e.agent), target)
	return err
}

// pointerWords and pointerWidth bound how much of a text that is kept elsewhere
// its line repeats.
const (
	pointerWords = 10
	pointerWidth = 60
)

// store makes a memory of a text, and a line of the notebook that points to it
// where there is room for one. A text that is stored and pointed to already is
// not stored again.
func (e *editor) store(ctx context.Context, text string, into putter) error {
	whole := markdown.ReadEntry(text)
	note := e.n.note(whole, "", time.Time{})
	have, err := e.stored(note.Text)
	if err != nil {
		return err
	}
	if have {
		if e.res.Old.End > 0 && e.res.Entry.Start != e.res.Old.Start {
			return e.remove(e.res.Old)
		}
		return nil
	}
	stored, err := e.tx.Remember([]vault.Note{note})
	if err != nil {
		return err
	}
	e.res.Stored = &stored[0]
	line := pointer(whole, stored[0].Path)
	fits, err := e.fits(ctx, utf8.RuneCountInString(line))
	if err != nil {
		return err
	}
	if !fits {
		if e.res.Old.End > 0 {
			return e.remove(e.res.Old)
		}
		return nil
	}
	e.res.Pointed = true
	return e.place(ctx, line, into)
}

// pointer is a line with the first words of a text and a link to its memory.
func pointer(whole markdown.Entry, to vault.Path) string {
	label := strings.Map(func(r rune) rune {
		if strings.ContainsRune("[]<>`\\|", r) {
			return -1
		}
		return r
	}, markdown.FirstWords([]byte(whole.Body()), pointerWords))
	if runes := []rune(label); len(runes) > pointerWidth {
		label = string(runes[:pointerWidth])
	}
	if label = strings.TrimSpace(label); label == "" {
		label = to.Base()
	}
	return fmt.Sprintf("%s%s[%s …](%s)", whole.Box(), whole.KindMark(), label, to)
}

// stored looks for a text among the memories that the notebook points to.
func (e *editor) stored(text string) (bool, error) {
	for _, entry := range e.before {
		for _, l := range markdown.Parse([]byte(entry.Text)).Links() {
			p, err := vault.ParsePath(l.Target)
			if err != nil || vault.ClassOf(p) != vault.ClassMemory {
				continue
			}
			data, was, err := e.tx.Read(p)
			if err != nil {
				return false, err
			}
			if m := vault.ReadMemory(p, data); was != "" && strings.TrimSpace(string(m.Body)) == strings.TrimSpace(text) {
				e.res.Entry, e.res.Duplicate, e.res.Stored, e.res.Pointed = entry, true, &m, true
				return true, nil
			}
		}
	}
	return false, nil
}

// finish stages the notebook and the memories of what moved, and describes the
// commit.
func (e *editor) finish(message string) error {
	e.res.Usage = e.n.usage(e.doc.Entries())
	title, notes := e.doc.Title(), make([]vault.Note, 0, len(e.gone))
	for _, c := range e.gone {
		notes = append(notes, e.n.note(c.entry, title, c.origin.when))
	}
	if len(notes) > 0 {
		memories, err := e.tx.Remember(notes)
		if err != nil {
			return err
		}
		for i, c := range e.gone {
			e.res.Moved = append(e.res.Moved, Moved{Entry: c.entry, Memory: memories[i], Since: c.origin.when})
		}
	}
	e.describe(message)
	if err := e.put(); err != nil {
		return err
	}
	if !e.reject {
		return nil
	}
	_, now, err := e.tx.Read(e.n.path)
	if err != nil {
		return err
	}
	s := tombstone.Of(tombstone.Forget, e.res.Old.Text)
	s.Within, s.Blob, s.Was = string(e.n.path), string(e.was), string(now)
	return e.tx.Reject([]tombstone.Stone{s})
}

func (e *editor) put() error {
	next := e.doc.Bytes()
	if e.was == "" && len(next) == 0 {
		return nil
	}
	return e.tx.Put(e.n.path, e.was, next)
}

// describe fills in the commit: which entries it is about, and where the moved
// ones are.
func (e *editor) describe(message string) {
	why, about := e.tx.Why(), e.res.Entry
	if e.res.Old.End > 0 && about.Text == "" {
		about = e.res.Old
	}
	if about.Text == "" && e.res.Stored != nil {
		about = markdown.ReadEntry(string(e.res.Stored.Body))
	}
	why.Subject = preview(about)
	if message != "" {
		why.Subject = message
	}
	if e.res.Entry.Text != "" || e.res.Old.End > 0 {
		why.Memories = append([]string{e.n.Address(about)}, why.Memories...)
	}
	if e.res.Old.End > 0 && e.res.Entry.Text != "" && e.res.Old.Text != e.res.Entry.Text {
		why.Trail("Supersedes", e.n.Address(e.res.Old))
	}
	var lines []string
	if e.res.Stored != nil && !e.res.Duplicate {
		lines = append(lines, fmt.Sprintf("too long for %s, stored in %s", e.n.path, e.res.Stored.Path))
	}
	for _, m := range e.res.Moved {
		lines = append(lines, fmt.Sprintf("moved %s to %s", e.n.Address(m.Entry), m.Memory.Path))
	}
	why.Body = strings.Join(lines, "\n")
}
