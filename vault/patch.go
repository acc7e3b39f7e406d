package vault

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"

	"stet/markdown"
	"stet/vault/settings"
	"stet/vault/store"
)

// A Patch changes parts of one memory and leaves every other byte alone. A nil
// field is left as it is.
type Patch struct {
	Text             *string // the new body
	Append           *string // a paragraph added to the end, or an item to a list there
	Item             bool    // Append is made the next item of a list there, unless it is a heading
	Title            *string // "" removes it
	Kind             *string
	Scope            *string // moves the file; links to it are left alone (vault/links moves them along)
	AddCategories    []string
	RemoveCategories []string
	Importance       *float64
	Pinned           *bool
	Set              []KeyValue // any other front matter key
	Unset            []string
	Was              Hash // what the file was when the patch was made; it fails with [ErrConflict] where it changed
}

// A KeyValue is a front matter key with what it shall say.
type KeyValue struct {
	Key   string
	Value markdown.Value
}

func (p Patch) empty() bool {
	return p.Text == nil && p.Append == nil && p.Title == nil && p.Kind == nil && p.Scope == nil &&
		len(p.AddCategories) == 0 && len(p.RemoveCategories) == 0 && p.Importance == nil && p.Pinned == nil &&
		len(p.Set) == 0 && len(p.Unset) == 0
}

// setKeys edits any other keys; equal values change no byte.
func (p Patch) setKeys(doc *markdown.Document) error {
	var errs []error
	for _, kv := range p.Set {
		f := fieldOf(kv.Key)
		if err := errors.Join(f.editable(), f.check(kv.Value)); err != nil {
			return err
		}
		errs = append(errs, doc.SetMeta(kv.Key, kv.Value))
	}
	for _, key := range p.Unset {
		errs = append(errs, fieldOf(key).editable(), doc.RemoveMeta(key))
	}
	return errors.Join(errs...)
}

// UpdateMemory applies a patch to the memory that ref names. A file without an
// id gets one, because stet is now writing to it. A patch that changes nothing
// is no commit.
func (v *Vault) UpdateMemory(ctx context.Context, ref string, patch Patch, w Write) (*Result, error) {
	if patch.empty() {
		return nil, fmt.Errorf("update: %w: nothing to change was given", ErrInvalid)
	}
	m, err := v.Resolve(ctx, ref)
	if err != nil {
		return nil, err
	}
	var after Memory
	why := w.Why(OpUpdate, m.Name())
	res, err := v.Transact(ctx, why, w.DryRun, func(tx *Tx) error {
		after, err = patch.apply(tx, m)
		return err
	})
	if e := (*store.UntrackedError)(nil); errors.As(err, &e) && e.Stands && m.Class == ClassSession &&
		w.actor() == ActorUser && !v.settings.Bool(settings.SessionsTrack) {
		if after, err = patch.untracked(ctx, v, m.Path, w.DryRun); err == nil {
			res = &Result{Root: v.Root(), DryRun: w.DryRun}
		}
	}
	if err != nil {
		return nil, err
	}
	res.Memories = []Memory{after}
	return res, nil
}

// Pin marks memories and notes as always relevant, or takes the mark away. A
// file that is marked already is left as it is.
func (v *Vault) Pin(ctx context.Context, refs []string, pinned bool, w Write) (*Result, error) {
	found, err := v.resolveAll(ctx, refs, func(m Memory) error {
		if m.Class != ClassMemory && m.Class != ClassNote {
			return fmt.Errorf("pin %q: %w: it is a %s file; memories and notes can be pinned", m.Path, ErrRefused, m.Class)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	subject := forgetSubject(found)
	if !pinned {
		subject = "no longer " + subject
	}
	var after []Memory
	res, err := v.Transact(ctx, w.Why(OpPin, subject), w.DryRun, func(tx *Tx) error {
		after = nil
		for _, m := range found {
			pinned, err := pin(tx, m.Path, pinned)
			if err != nil {
				return pathErrorf("pin", m.Path, err)
			}
			after = append(after, pinned)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	res.Memories = after
	return res, nil
}

// pin changes one file. Being pinned is no change of what the memory says, so
// "updated" stays, and a note gets no id for it.
func pin(tx *Tx, p Path, pinned bool) (Memory, error) {
	data, was, err := tx.Read(p)
	if err != nil {
		return Memory{}, err
	}
	doc := markdown.Parse(data)
	if err := (Patch{Pinned: &pinned}).edit(p, doc); err != nil {
		return Memory{}, err
	}
	next := doc.Bytes()
	if string(next) != string(data) {
		if !pinned {
			next = withoutEmptyFront(next)
		}
		if err := tx.Put(p, was, next); err != nil {
			return Memory{}, err
		}
	}
	m := ReadMemory(p, next)
	if m.ID != "" {
		tx.Why().Memories = append(tx.Why().Memories, m.ID)
	}
	return m, nil
}

// withoutEmptyFront takes front matter away that holds nothing, where what follows does not become front matter then.
func withoutEmptyFront(data []byte) []byte {
	for _, front := range []string{"---\n---\n", "---\r\n---\r\n"} {
		if rest, ok := bytes.CutPrefix(data, []byte(front)); ok && bytes.Equal(markdown.Parse(rest).Body(), rest) {
			return rest
		}
	}
	return data
}

// Apply stages the patch to a memory inside a transaction and returns the memory
// as it will be.
func (p Patch) Apply(tx *Tx, m Memory) (Memory, error) {
	if p.empty() {
		return m, nil
	}
	return p.apply(tx, m)
}

func (p Patch) apply(tx *Tx, m Memory) (Memory, error) {
	data, was, err := tx.Read(m.Path)
	if err != nil {
		return m, err
	}
	if was == "" {
		return m, notFound(string(m.Path))
	}
	if p.Was != "" && p.Was != was {
		return m, pathErrorf("update", m.Path, fmt.Errorf("%w: it changed meanwhile", ErrConflict))
	}
	doc := markdown.Parse(data)
	if err := errors.Join(p.edit(m.Path, doc), dropFlags(doc, data)); err != nil {
		return m, pathErrorf("update", m.Path, err)
	}
	to := m.Path
	if p.Scope != nil {
		tx.why.Given = append(slices.Clip(tx.why.Given), *p.Scope)
		if to, err = p.target(tx, m); err != nil {
			return m, err
		}
	}
	if to == m.Path && string(doc.Bytes()) == string(data) {
		return ReadMemory(m.Path, data), nil
	}
	if err := stamp(to, doc, tx.v.o.Now()); err != nil {
		return m, pathErrorf("update", m.Path, err)
	}
	after := ReadMemory(to, doc.Bytes())
	if after.ID != "" {
		tx.Why().Memories = []string{after.ID}
	}
	if to != m.Path {
		if err := tx.Move(m.Path, to); err != nil {
			return m, err
		}
		was = hashOf(data)
	}
	return after, tx.Put(to, was, doc.Bytes())
}

// edit changes the document of the file at a path; equal values change no byte.
func (p Patch) edit(at Path, doc *markdown.Document) error {
	var errs []error
	if p.Text != nil {
		if err := checkText(*p.Text); err != nil {
			return err
		}
		setBody(doc, *p.Text)
	}
	if err := p.Add(doc); err != nil {
		return err
	}
	errs = append(errs, setText(doc, "title", p.Title), setText(doc, "kind", p.Kind))
	if f := p.Importance; f != nil {
		if err := checkImportance(f); err != nil {
			return err
		}
		errs = append(errs, setValue(doc, "importance", markdown.Number(*f)))
	}
	if p.Pinned != nil {
		switch have := metaBool(doc, "pinned"); {
		case *p.Pinned && !have:
			errs = append(errs, doc.SetMeta("pinned", markdown.Bool(true)))
		case !*p.Pinned && have:
			errs = append(errs, doc.RemoveMeta("pinned"))
		}
	}
	errs = append(errs, p.Tag(at, doc), p.setKeys(doc))
	return errors.Join(errs...)
}

func setBody(doc *markdown.Document, text string) {
	if strings.TrimRight(string(doc.Body()), "\r\n") == strings.TrimRight(text, "\r\n") {
		return
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if strings.Contains(string(doc.Bytes()), "\r\n") && !strings.Contains(text, "\r") {
		text = strings.ReplaceAll(text, "\n", "\r\n") // the file's own line ending
	}
	doc.SetBody([]byte(text))
}

func setText(doc *markdown.Document, key string, s *string) error {
	if s == nil {
		return nil
	}
	if clean := oneLine(*s); clean != "" {
		return setValue(doc, key, markdown.String(clean))
	}
	if _, ok := doc.Meta(key); !ok {
		return nil
	}
	return doc.RemoveMeta(key)
}

func setValue(doc *markdown.Document, key string, v markdown.Value) error {
	if have, ok := doc.Meta(key); ok && !have.IsList() && have.Text() == v.Text() {
		return nil
	}
	return doc.SetMeta(key, v)
}

// target is where the file goes when its scope changes.
func (p Patch) target(tx *Tx, m Memory) (Path, error) {
	folder, err := Scope(*p.Scope).Folder()
	if err != nil || string(folder) == m.Path.Dir() {
		return m.Path, err
	}
	if m.Class != ClassMemory {
		return "", WithHint(fmt.Errorf("update %q: %w: only memories have a scope to change", m.Path, ErrRefused),
			"move the file by hand")
	}
	id := m.ID
	if len(id) < minSuffix {
		id = newID(tx.v.o.Now())
	}
	return tx.FreeName(string(folder), m.Path.Base(), id)
}

// Replace stores data as the whole of the file at p, whatever it holds. was is
// the hash of the bytes that were edited, "" for a new file; it fails with
// [ErrConflict] when the file has changed since. Equal bytes are no commit.
// [CheckEdit] says whether a person should be asked first.
func (v *Vault) Replace(ctx context.Context, p Path, was Hash, data []byte, w Write) (*Result, error) {
	after := ReadMemory(p, data)
	op := OpUpdate
	if was == "" && after.Class == ClassNote {
		op = OpRemember
	}
	why := w.Why(op, string(p))
	if after.ID != "" {
		why.Memories = []string{after.ID}
	}
	res, err := v.Transact(ctx, why, w.DryRun, func(tx *Tx) error {
		before, _, err := tx.Read(p)
		doc := markdown.Parse(data)
		if err = errors.Join(err, dropFlags(doc, before)); err != nil {
			return err
		}
		after = ReadMemory(p, doc.Bytes())
		return tx.Put(p, was, doc.Bytes())
	})
	if err != nil {
		return nil, err
	}
	res.Memories = []Memory{after}
	return res, nil
}

// CheckEdit refuses, with [ErrInvalid], what an editor does to a file by
// mistake: it lost or changed the id, or the text of a memory, or is no text any more. What was no text
// before may stay none.
func CheckEdit(p Path, was, now []byte) error {
	before, after := ReadMemory(p, was), ReadMemory(p, now)
	switch {
	case before.ID != "" && after.Problem == "" && after.ID == "":
		return WithHint(fmt.Errorf("%w: the id is gone", ErrInvalid), "keep the line \"id: %s\"", before.ID)
	case before.ID != "" && after.Problem == "" && after.ID != before.ID:
		return WithHint(fmt.Errorf("%w: the id changed to %q", ErrInvalid, after.ID),
			"an id is for life; keep the line \"id: %s\"", before.ID)
	case ClassOf(p) == ClassMemory && len(bytes.TrimSpace(before.Body)) > 0 && len(bytes.TrimSpace(after.Body)) == 0:
		return WithHint(fmt.Errorf("%w: the text is empty", ErrInvalid), "\"stet forget MEMORY\" takes one away")
	case utf8.Valid(was) && !utf8.Valid(now):
		return fmt.Errorf("%w: the text is not valid UTF-8", ErrInvalid)
	case bytes.IndexByte(was, 0) < 0 && bytes.IndexByte(now, 0) >= 0:
		return fmt.Errorf("%w: the text holds a NUL byte", ErrInvalid)
	}
	return nil
}

// stamp gives the file an id when it has none, unless it is a note, whose front matter is the user's, and notes the
// time of the change where the file keeps one.
func stamp(p Path, doc *markdown.Document, now time.Time) error {
	if ClassOf(p) != ClassNote {
		if err := identify(doc, now); err != nil {
			return err
		}
	}
	if _, ok := doc.Meta("updated"); !ok {
		return nil
	}
	return doc.SetMeta("updated", markdown.Time(now.UTC().Truncate(time.Second)))
}

func identify(doc *markdown.Document, now time.Time) error {
	if _, ok := doc.Meta("id"); ok {
		return nil
	}
	return doc.SetMeta("id", markdown.String(newID(now)))
}

// newID is a ULID in lower case.
func newID(now time.Time) string {
	return strings.ToLower(ulid.MustNew(ulid.Timestamp(now), rand.Reader).String())
}
