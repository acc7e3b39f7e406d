package agent

import (
	"context"
	"errors"
	"fmt"

	"stet/agent/ingest"
	"stet/markdown"
	"stet/vault"
	"stet/vault/notebook"
	"stet/vault/settings"
)

// A Notebook is one of the two notebooks: USER.md (the profile) or MEMORY.md (the core).
type Notebook struct {
	a *App
	n *notebook.Notebook
}

// Notebook is that of a class, [vault.ClassProfile] or [vault.ClassCore].
func (a *App) Notebook(class vault.Class) Notebook {
	if class == vault.ClassProfile {
		return Notebook{a, notebook.Profile(a.v, notebook.LimitsOf(a.v))}
	}
	return Notebook{a, notebook.Core(a.v, notebook.LimitsOf(a.v))}
}

// An Entry is an entry of a notebook.
type Entry struct {
	Address    string   `json:"address"` // USER.md#1a2b3c4d
	Text       string   `json:"text"`
	Kind       string   `json:"kind,omitempty"`
	Task       bool     `json:"task,omitempty"`
	Pinned     bool     `json:"pinned,omitempty"`
	Under      []string `json:"under"` // headings, the top one first
	Characters int      `json:"characters"`
	Line       int      `json:"line,omitempty"`
	hash       string
	Label
}

// Hash is the last part of the entry's address.
func (e Entry) Hash() string { return e.hash }

func (n Notebook) view(e markdown.Entry) Entry {
	return Entry{Address: n.n.Address(e), Text: e.Text, Kind: e.Kind, Task: e.Task, Pinned: e.Pinned(),
		Under: append([]string{}, e.Under...), Characters: e.Characters(), Line: e.Line, hash: e.Hash()}
}

// Usage says how full a notebook is.
type Usage struct {
	Characters int `json:"characters"`
	Limit      int `json:"limit"`
	Percent    int `json:"percent"`
	Entries    int `json:"entries"`
}

func viewUsage(u notebook.Usage) Usage {
	return Usage{u.Characters, u.Limit, u.Percent(), u.Entries}
}

// A Page is a notebook as it stands on disk.
type Page struct {
	Path    vault.Path `json:"path"`
	Usage   Usage      `json:"usage"`
	Entries []Entry    `json:"entries"`
}

// Show reads the notebook; labels is as in [SearchOptions]. A missing file is an empty notebook.
func (n Notebook) Show(ctx context.Context, labels bool) (*Page, error) {
	if err := n.given(ctx); err != nil {
		return nil, err
	}
	page, err := n.n.Read()
	out := &Page{n.n.Path(), viewUsage(page.Usage), []Entry{}}
	for _, e := range page.Entries {
		out.Entries = append(out.Entries, n.view(e))
	}
	if err != nil || !labels && n.a.o.Agent == "" {
		return out, err
	}
	wrote, _, err := n.a.v.History().Writers(ctx, "")
	if err != nil {
		return out, err
	}
	for i, e := range out.Entries {
		c, _ := wrote(e.Address)
		out.Entries[i].Label = n.a.written(c, "", []byte(e.Text))
	}
	return out, nil
}

// given fails where who is acting is an agent and the notebook is private: a dry run would show the lines
// around the new one, and a duplicate would answer a guess.
func (n Notebook) given(ctx context.Context) error {
	if _, _, err := n.a.v.ReadFile(n.n.Path()); errors.Is(err, vault.ErrRefused) {
		return vault.WithHint(fmt.Errorf("%q: %w: it is private, and %q is an agent", n.n.Path(), vault.ErrRefused,
			n.a.o.Agent), "ask the user for what you need of it") // every vault has one: its name tells nothing
	}
	return nil
}

// EntryOptions describe an entry.
type EntryOptions struct {
	Write
	Old   string // a part of the text of the entry that is replaced or removed, or its address
	Text  string
	Kind  string
	Under string // the heading that a new entry goes below
}

func (o EntryOptions) entry() notebook.New {
	return notebook.New{Text: o.Text, Kind: o.Kind, Under: o.Under}
}

// Noted is the result of changing a notebook.
type Noted struct {
	*Written
	Notebook  vault.Path   `json:"notebook"`
	Entry     *Entry       `json:"entry"`
	Old       *Entry       `json:"old,omitempty"`
	Moved     []MovedEntry `json:"moved"`
	Stored    *Memory      `json:"stored,omitempty"` // holds the text that is too long for the notebook
	Duplicate bool         `json:"duplicate"`        // the notebook has the text already, as Entry
	Usage     Usage        `json:"usage"`
	Pointed   bool         `json:"-"` // Entry is a line that points to Stored
}

// A MovedEntry is an entry that became a memory to make room.
type MovedEntry struct {
	Entry Entry      `json:"entry"`
	Path  vault.Path `json:"path"`
	ID    string     `json:"id"`
}

func (n Notebook) finish(ctx context.Context, res *notebook.Result, err error) (*Noted, error) {
	if err != nil {
		return nil, err
	}
	out := &Noted{Written: n.a.finish(ctx, res.Result), Notebook: n.n.Path(), Moved: []MovedEntry{},
		Duplicate: res.Duplicate,
		Usage:     viewUsage(res.Usage), Pointed: res.Pointed}
	if res.Entry.Text != "" {
		entry := n.view(res.Entry)
		out.Entry = &entry
	}
	if res.Old.End > 0 {
		old := n.view(res.Old)
		out.Old = &old
	}
	for _, m := range res.Moved {
		out.Moved = append(out.Moved, MovedEntry{n.view(m.Entry), m.Memory.Path, m.Memory.ID})
	}
	if res.Stored != nil {
		stored := viewMemory(*res.Stored)
		out.Stored = &stored
	}
	return out, nil
}

// change carries out one change of the notebook, where the policy allows it.
func (n Notebook) change(
	ctx context.Context, operation string, o EntryOptions, do func(vault.Write) (*notebook.Result, error),
) (*Noted, error) {
	w, err := n.a.permit(o.Write, operation, string(n.n.Path()))
	if err == nil {
		err = n.given(ctx)
	}
	if err == nil {
		err = n.a.askLikely(o.Write, o.Text)
	}
	if err != nil {
		return nil, err
	}
	res, err := do(w)
	return n.finish(ctx, res, err)
}

// Add adds an entry. A duplicate is not written again, and an entry that a rule or
// the model is sure is no longer true is replaced, unless the vault's settings turn them off.
func (n Notebook) Add(ctx context.Context, o EntryOptions) (*Noted, error) {
	var plan *ingest.Plan
	out, err := n.change(ctx, "add", o, func(w vault.Write) (*notebook.Result, error) {
		if err := n.a.attest(ctx, o.Write, &w.Writer, vault.Note{Text: o.Text, Source: o.Source}); err != nil {
			return nil, err
		}
		if !n.a.Settings().Bool(settings.Cognitive) {
			return n.n.Add(ctx, o.entry(), w)
		}
		c, err := n.a.compare(true)
		if err != nil {
			return nil, err
		}
		defer c.done()
		res, made, err := ingest.AddEntry(ctx, n.a.v, n.n, c.mind, o.entry(), w)
		plan = made
		return res, err
	})
	if err == nil {
		out.planned(plan)
	}
	return out, err
}

// Replace replaces the entry that o.Old means.
func (n Notebook) Replace(ctx context.Context, o EntryOptions) (*Noted, error) {
	return n.change(ctx, "notebook", o, func(w vault.Write) (*notebook.Result, error) {
		return n.n.Replace(ctx, o.Old, o.entry(), w)
	})
}

// Remove removes the entry that o.Old means.
func (n Notebook) Remove(ctx context.Context, o EntryOptions) (*Noted, error) {
	return n.change(ctx, "notebook", o, func(w vault.Write) (*notebook.Result, error) {
		return n.n.Remove(ctx, o.Old, w)
	})
}

// Edit opens the whole file in an editor, as [Memories.Edit] does.
func (n Notebook) Edit(ctx context.Context, w Write, edit Editor) (*Written, error) {
	if err := n.a.check(w, "edit", string(n.n.Path())); err != nil {
		return nil, err
	}
	return n.a.edit(ctx, n.n.Path(), w, edit)
}
