package vault

import (
	"cmp"
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
	"stet/templates"
	"stet/vault/gitstore"
	"stet/vault/tombstone"
)

// A Note is a memory to be stored. Text is required.
type Note struct {
	Text       string
	Title      string
	Scope      string // "/infra/db"; "" and "/" are the top
	Kind       string
	Source     string
	Categories []string
	Importance *float64 // 0 to 1
	Pinned     bool
	Private    bool
	Created    time.Time // when it became known; zero = now
	ID         string    // that it is to have; "" is a new one
	// Form is a whole file to begin with, front matter and all, in place of
	// Text. Its keys that say who a memory is are not taken over.
	Form []byte
	// To is where its writer wants it when notes are compared with what is stored: "USER.md" as an entry,
	// "memories" as a memory, "" as rules say.
	To    string     `json:"-"`
	Blank bool       // Form is yet to be filled in: all that it says is its title
	Meta  []KeyValue `json:"-"` // further front matter keys, those that stet keeps among them
	// Also stages what belongs into the commit of the note; it may run several times.
	Also func(tx *Tx, stored Memory) error `json:"-"`
}

// Write says who writes and how.
type Write struct {
	Writer
	DryRun  bool
	Each    bool   // one commit per note, published together
	Message string // subject instead of one made from the content
	// Also stages what belongs into the commit of [Vault.Remember] beside its
	// notes, the last of them with Each, or of a notebook's; it may run several times.
	Also func(tx *Tx) error `json:"-"`
}

// Why describes a commit by this writer.
func (w Write) Why(op Op, subject string) Why {
	if w.Message != "" {
		subject = w.Message
	}
	return Why{Op: op, Subject: subject, Writer: w.Writer}
}

// Remember stores notes as memories, one file each, in one commit or, with
// w.Each, in one each. It fails with [ErrInvalid] when a note cannot be
// stored as asked, and then stores none. Of several notes by a machine, those that
// were rejected before are left out and named in the result's warnings; one alone,
// or all of them, is a [RejectedError].
func (v *Vault) Remember(ctx context.Context, notes []Note, w Write) (*Result, error) {
	prepared, err := v.prepareNotes(notes)
	if err != nil {
		return nil, err
	}
	var stored []Memory
	var skipped []string
	res, err := v.Transact(ctx, rememberWhy(w, prepared), w.DryRun, func(tx *Tx) error {
		var wanted []draft
		stored = stored[:0]
		if wanted, skipped, err = tx.leaveOutRejected(prepared); err != nil {
			return err
		}
		*tx.Why() = rememberWhy(w, wanted)
		for i, n := range wanted {
			if w.Each {
				tx.Split(rememberWhy(w, wanted[i:i+1]))
			}
			m, err := n.put(tx)
			if err != nil {
				return err
			}
			if stored = append(stored, m); n.Also == nil {
				continue
			}
			if err := n.Also(tx, m); err != nil {
				return err
			}
		}
		if w.Also != nil {
			return w.Also(tx)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	res.Memories, res.Warnings = stored, append(res.Warnings, skipped...)
	return res, nil
}

// Remember stages notes as memories of the commit being staged, and names them
// in its trailers. It fails as [Vault.Remember] does.
func (t *Tx) Remember(notes []Note) ([]Memory, error) {
	prepared, err := t.v.prepareNotes(notes)
	if err != nil {
		return nil, err
	}
	stored := make([]Memory, 0, len(prepared))
	for _, n := range prepared {
		m, err := n.put(t)
		if err != nil {
			return nil, err
		}
		stored = append(stored, m)
		t.why.Memories = append(slices.Clip(t.why.Memories), m.ID)
		t.why.Given = append(slices.Clip(t.why.Given), n.words()...)
	}
	return stored, nil
}

// draft is a note that has been checked and given its id.
type draft struct {
	Note
	id     string
	folder Path
	now    time.Time
}

func (v *Vault) prepareNotes(notes []Note) ([]draft, error) {
	if len(notes) == 0 {
		return nil, fmt.Errorf("remember: %w: nothing to store", ErrInvalid)
	}
	now, entropy := v.o.Now(), ulid.Monotonic(rand.Reader, 0)
	out := make([]draft, 0, len(notes))
	for i, n := range notes {
		id, err := ulid.New(ulid.Timestamp(now), entropy)
		if err != nil {
			return nil, err
		}
		d := draft{Note: n, id: cmp.Or(n.ID, strings.ToLower(id.String())), now: now.UTC().Truncate(time.Second)}
		if d.folder, err = n.Check(); err != nil {
			if len(notes) > 1 {
				err = fmt.Errorf("note %d: %w", i+1, err)
			}
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// words are what the guard must see as it was given.
func (d draft) words() []string {
	return append([]string{d.Title, d.Scope, d.Kind, d.Source}, d.Categories...)
}

// Check fails as [Vault.Remember] does for a note that cannot be stored, and says where it would stand.
func (n Note) Check() (folder Path, err error) {
	text := n.Text
	if n.Form != nil {
		text = string(n.Form)
	}
	if err := checkText(text); err != nil {
		return "", fmt.Errorf("remember: %w", err)
	}
	if err := checkImportance(n.Importance); err != nil {
		return "", fmt.Errorf("remember: %w", err)
	}
	return Scope(n.Scope).Folder()
}

func checkImportance(f *float64) error {
	if f != nil && !(*f >= 0 && *f <= 1) {
		return fmt.Errorf("%w: importance %v is not between 0 and 1", ErrInvalid, *f)
	}
	return nil
}

// checkText refuses what cannot be a memory's text.
func checkText(s string) error {
	switch {
	case strings.TrimSpace(s) == "":
		return fmt.Errorf("%w: the text is empty", ErrInvalid)
	case !utf8.ValidString(s):
		return fmt.Errorf("%w: the text is not valid UTF-8", ErrInvalid)
	case strings.ContainsRune(s, 0):
		return fmt.Errorf("%w: the text holds a NUL byte", ErrInvalid)
	case len(s) > MaxFileSize:
		return fmt.Errorf("%w (%d bytes, at most %d)", ErrTooLarge, len(s), int64(MaxFileSize))
	}
	return nil
}

func rememberWhy(w Write, drafts []draft) Why {
	subject := templates.Plural(len(drafts), "memory", "memories")
	if len(drafts) == 1 {
		subject = drafts[0].Title
		if subject == "" {
			subject = markdown.FirstWords([]byte(drafts[0].Text), 12)
		}
	}
	why := w.Why(OpRemember, subject)
	why.Given = slices.Clip(why.Given)
	for _, d := range drafts {
		why.Memories = append(why.Memories, d.id)
		why.Given = append(why.Given, d.words()...)
	}
	return why
}

// put stages the memory's file.
func (d draft) put(tx *Tx) (Memory, error) {
	data, err := d.render()
	if err != nil {
		return Memory{}, err
	}
	p, err := tx.FreeName(string(d.folder), d.Name(d.id)+".md", d.id)
	if err != nil {
		return Memory{}, err
	}
	if err := tx.Put(p, "", data); err != nil {
		return Memory{}, err
	}
	return ReadMemory(p, data), nil
}

// render writes the file: front matter with the keys that are known, then the
// text as it was given, ended with a newline.
func (d draft) render() ([]byte, error) {
	doc, err := d.begin()
	if err != nil {
		return nil, err
	}
	set := func(key string, v markdown.Value, when bool) error {
		if !when {
			return nil
		}
		return doc.SetMeta(key, v)
	}
	stamp, created := markdown.Time(d.now), markdown.Time(d.now)
	if !d.Created.IsZero() {
		created = markdown.Time(d.Created.UTC().Truncate(time.Second))
	}
	importance := markdown.Number(0)
	if d.Importance != nil {
		importance = markdown.Number(*d.Importance)
	}
	err = errors.Join(
		set("title", markdown.String(oneLine(d.Title)), d.Title != ""),
		set("kind", markdown.String(oneLine(d.Kind)), d.Kind != ""),
		Patch{AddCategories: d.Categories}.Tag(d.folder+"/x.md", doc),
		set("importance", importance, d.Importance != nil),
		set("pinned", markdown.Bool(true), d.Pinned),
		set("private", markdown.Bool(true), d.Private),
		set("created", created, true),
		set("updated", stamp, true),
		set("source", markdown.String(oneLine(d.Source)), d.Source != ""),
	)
	for _, kv := range d.Meta {
		err = errors.Join(err, doc.SetMeta(kv.Key, kv.Value))
	}
	return doc.Bytes(), err
}

// begin is the file with nothing but its id and its text, or its form.
func (d draft) begin() (*markdown.Document, error) {
	if d.Form == nil {
		text := d.Text
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		// A text that begins like front matter must stay text.
		return markdown.Parse([]byte("---\nid: " + d.id + "\n---\n" + text)), nil
	}
	doc := markdown.Parse(d.Form)
	var errs []error
	for _, f := range fields() {
		if f.own && (f.key != "id" || d.ID == "") { // one that is to be had stays where it stands
			errs = append(errs, doc.RemoveMeta(f.key))
		}
	}
	return doc, errors.Join(append(errs, doc.SetMeta("id", markdown.String(d.id)))...)
}

func cleanList(in []string) []string {
	var out []string
	for _, s := range in {
		if s = oneLine(s); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// Forget moves memories to the archive, a pure rename: it stays in history and
// one command brings it back. Refs are looked up as by [Vault.Resolve].
func (v *Vault) Forget(ctx context.Context, refs []string, w Write) (*Result, error) {
	found, err := v.resolveAll(ctx, refs, func(m Memory) error {
		switch m.Class {
		case ClassMemory, ClassNote, ClassSession:
			return nil
		case ClassArchive:
			return WithHint(fmt.Errorf("forget %q: %w: it is in the archive already", m.Path, ErrInvalid),
				"\"stet restore %[1]s\" brings it back, \"stet forget --purge %[1]s\" removes it for good",
				templates.Quote(m.Path))
		}
		return WithHint(fmt.Errorf("forget %q: %w: it is a %s file", m.Path, ErrRefused, m.Class),
			"edit it, or remove it by hand")
	})
	if err != nil {
		return nil, err
	}
	why := w.Why(OpForget, forgetSubject(found))
	disputing := map[Path][]Memory{}
	for _, m := range found {
		if disputing[m.Path], err = m.Disputing(ctx, v); err != nil {
			return nil, err
		}
		if m.ID != "" {
			why.Memories = append(why.Memories, m.ID)
		}
	}
	res, err := v.Transact(ctx, why, w.DryRun, func(tx *Tx) error {
		var stones []tombstone.Stone
		for _, m := range found {
			to, err := tx.archivePath(m.Path)
			if err != nil {
				return err
			}
			data, hash, err := tx.Read(m.Path)
			if err != nil {
				return err
			}
			stones = append(stones, forgotten(ReadMemory(m.Path, data), hash)...)
			if err := errors.Join(tx.Detach(m, disputing[m.Path]), tx.Move(m.Path, to)); err != nil {
				return err
			}
		}
		return tx.Reject(stones)
	})
	if err != nil {
		return nil, err
	}
	res.Memories = found
	return res, nil
}

func forgetSubject(found []Memory) string {
	if len(found) == 1 {
		return found[0].Name()
	}
	return templates.Plural(len(found), "memory", "memories")
}

// hashOf is the hash that bytes have as a file.
func hashOf(data []byte) Hash { return Hash(gitstore.HashBlob(data).String()) }
