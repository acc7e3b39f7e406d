package notebook

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"stet/markdown"
	"stet/vault"
)

// A New entry. Text is required; it may begin with its kind in brackets.
type New struct {
	Text  string
	Kind  string // written as "[kind] "; "" leaves it to Text
	Under string // a heading, made when the notebook has none of that name
}

// A Result is what an edit did, or with DryRun would do.
type Result struct {
	*vault.Result
	Entry  markdown.Entry // as it stands now; zero for Remove
	Old    markdown.Entry // what was replaced or removed
	Moved  []Moved        // what had to go to make room, least valuable first
	Stored *vault.Memory  // holds the text that is too long for the notebook
	// Pointed reports that Entry is a line that points to Stored.
	Pointed bool
	// Duplicate reports that the notebook has the text already, as Entry.
	Duplicate bool
	Usage     Usage // afterwards
}

// Add writes a new entry behind those of its kind, or below a heading. A text
// that the notebook has already is not written again. It fails with
// [vault.ErrInvalid] for a text that cannot be an entry, with [vault.ErrRefused] when an agent
// pins it, and otherwise as [vault.Vault.Update] does; never because the notebook is full.
func (n *Notebook) Add(ctx context.Context, entry New, w vault.Write) (*Result, error) {
	text, err := entry.text()
	if err != nil {
		return nil, fmt.Errorf("add to %s: %w", n.path, err)
	}
	return n.edit(ctx, vault.OpRemember, w, text, func(ctx context.Context, e *editor) error {
		return e.add(ctx, text, entry)
	})
}

// add writes a new entry, whose text is given with its kind.
func (e *editor) add(ctx context.Context, text string, entry New) error {
	if e.duplicate(text, entry.Kind == "") {
		return nil
	}
	return e.write(ctx, text, func(text string) (markdown.Entry, error) {
		added, err := e.doc.AddEntry(text, entry.Under)
		if err == nil && e.agent && added.Pinned() {
			err = vault.WithHint(fmt.Errorf("below %q: %w: what stands there never goes, and only a person pins an entry",
				entry.Under, vault.ErrRefused), "add it without a heading, or below another")
		}
		return added, err
	})
}

// Replace writes text in the place of the entry that old names (see
// [Notebook.Find]). Task box and kind stay unless entry brings its own; Under is
// ignored. It fails as Add does, and as Find.
func (n *Notebook) Replace(ctx context.Context, old string, entry New, w vault.Write) (*Result, error) {
	text, err := entry.text()
	if err != nil {
		return nil, fmt.Errorf("replace in %s: %w", n.path, err)
	}
	return n.edit(ctx, vault.OpUpdate, w, text, func(ctx context.Context, e *editor) error {
		return e.replace(ctx, old, text)
	})
}

func (e *editor) replace(ctx context.Context, old, text string) error {
	found, err := e.find(old)
	if err != nil {
		return err
	}
	next := inherit(found, text)
	e.res.Old = found
	if next != found.Text && e.duplicate(next, false) {
		return e.remove(found)
	}
	return e.write(ctx, next, func(text string) (markdown.Entry, error) { return e.doc.ReplaceEntry(found, text) })
}

// Remove takes out the entry that old names; history keeps it, and a tombstone
// keeps machines from writing it again.
func (n *Notebook) Remove(ctx context.Context, old string, w vault.Write) (*Result, error) {
	return n.edit(ctx, vault.OpForget, w, "", func(ctx context.Context, e *editor) error {
		found, err := e.find(old)
		if err != nil {
			return err
		}
		e.res.Old, e.reject = found, true
		return e.remove(found)
	})
}

// text is the entry as it is written, with its kind.
func (x New) text() (string, error) {
	text := withoutMarker(markdown.EntryText(x.Text))
	switch {
	case text == "":
		return "", fmt.Errorf("%w: the text is empty", vault.ErrInvalid)
	case !utf8.ValidString(text):
		return "", fmt.Errorf("%w: the text is not valid UTF-8", vault.ErrInvalid)
	case strings.ContainsRune(text, 0):
		return "", fmt.Errorf("%w: the text holds a NUL byte", vault.ErrInvalid)
	case len(text) > vault.MaxFileSize/2:
		return "", fmt.Errorf("%w (%d bytes, at most %d)", vault.ErrTooLarge, len(text), vault.MaxFileSize/2)
	case x.Kind == "":
		return text, nil
	case !markdown.IsKind(x.Kind):
		return "", vault.WithHint(fmt.Errorf("kind %q: %w: it is not one word of two or more letters", x.Kind, vault.ErrInvalid),
			"for example fact, preference, instruction or routine")
	}
	head := markdown.ReadEntry(text)
	switch {
	case head.Kind == strings.ToLower(x.Kind):
		return text, nil
	case head.Kind != "":
		return "", fmt.Errorf("%w: the text says it is of kind %q already", vault.ErrInvalid, head.Kind)
	}
	return head.Box() + "[" + x.Kind + "] " + head.Body(), nil
}

// withoutMarker takes the bullet from a text that is one list item already, as
// whoever copies a line of the file gives it.
func withoutMarker(text string) string {
	entries := markdown.Parse([]byte(text)).Entries()
	if len(entries) != 1 || entries[0].Start != 0 || entries[0].End != len(text) || !strings.ContainsAny(text[:1], "-*+") || entries[0].Text == "" {
		return text
	}
	return entries[0].Text
}

// inherit gives a text the task box and the kind of what it replaces, each
// unless it has its own.
func inherit(old markdown.Entry, text string) string {
	head := markdown.ReadEntry(text)
	box, kind := head.Box(), head.KindMark()
	if box == "" {
		box = old.Box()
	}
	if kind == "" {
		kind = old.KindMark()
	}
	return box + kind + head.Body()
}

// edit runs change on the notebook in one commit. text is what it will write.
func (n *Notebook) edit(ctx context.Context, op vault.Op, w vault.Write, text string, change func(context.Context, *editor) error) (*Result, error) {
	past := &past{n: n}
	if err := past.foresee(ctx, text); err != nil {
		return nil, err
	}
	var e *editor
	done, err := n.v.Transact(ctx, w.Why(op, ""), w.DryRun, func(tx *vault.Tx) (err error) {
		if e, err = past.open(tx, w); err == nil {
			err = change(ctx, e)
		}
		if err != nil {
			return n.explain(op, err)
		}
		if err = e.finish(w.Message); err != nil || w.Also == nil || e.res.Duplicate {
			return err
		}
		return w.Also(tx)
	})
	if err != nil {
		return nil, err
	}
	e.res.Result = done
	return e.res, nil
}

// explain says which file an error is about, and makes an error of package
// markdown one that a command knows.
func (n *Notebook) explain(op vault.Op, err error) error {
	if errors.Is(err, markdown.ErrInvalidEntry) {
		err = vault.WithHint(fmt.Errorf("%w: %w", vault.ErrInvalid, err), "say it in other words, or edit %s by hand", n.path)
	}
	doing := map[vault.Op]string{vault.OpRemember: "add to", vault.OpUpdate: "replace in", vault.OpForget: "remove from"}[op]
	return fmt.Errorf("%s %s: %w", doing, n.path, err)
}
