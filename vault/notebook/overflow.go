package notebook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"stet/markdown"
	"stet/vault"
)

// value says which entries a full notebook keeps longest: what tells stet how to
// behave, before what it can look up again.
func value(kind string) float64 {
	switch kind {
	case "instruction":
		return .9
	case "preference":
		return .8
	case "fact":
		return .7
	case "routine":
		return .6
	}
	return .5
}

// A candidate is an entry that may have to go.
type candidate struct {
	entry   markdown.Entry
	origin  origin
	newest  bool // not committed yet
	ordinal int
}

// cheaper orders candidates, the one to go first in front: what agents wrote, then by the worth of
// the kind, then by age, then as they stand in the file.
func cheaper(a, b candidate) int {
	return cmp.Or(
		boolean(!a.origin.machine, !b.origin.machine),
		cmp.Compare(value(a.entry.Kind), value(b.entry.Kind)),
		boolean(a.newest, b.newest),
		a.origin.when.Compare(b.origin.when),
		cmp.Compare(a.ordinal, b.ordinal),
	)
}

func boolean(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// candidates lists what may go to make room, first the least valuable. keep is
// the text just written. In a notebook that a person made larger than its limit
// only what stet itself wrote may go: the size is that person's choice. An agent moves what agents
// wrote.
func candidates(
	entries []markdown.Entry, origins map[string]origin, keep string, oversized, agent bool,
) []candidate {
	var out []candidate
	for i, e := range entries {
		from, committed := origins[e.Text]
		if e.Text == "" || e.Text == keep || e.Pinned() || oversized && !from.written || agent && !from.machine {
			continue
		}
		out = append(out, candidate{e, from, !committed, i})
	}
	slices.SortStableFunc(out, cheaper)
	return out
}

// A Moved entry no longer stands in the notebook but in a memory of its own.
type Moved struct {
	Entry  markdown.Entry
	Memory vault.Memory
	Since  time.Time // when its text was committed; zero when it was not yet
}

// makeRoom takes entries out of doc until it holds at most target characters,
// or nothing is left that may go.
func makeRoom(doc *markdown.Document, list []candidate, target int) ([]candidate, error) {
	var gone []candidate
	for {
		chosen := choose(list, characters(doc.Entries())-target)
		if len(chosen) == 0 {
			return gone, nil
		}
		for _, c := range chosen {
			list = slices.DeleteFunc(list, func(x candidate) bool { return x.ordinal == c.ordinal })
			err := take(doc, c.entry)
			if errors.Is(err, markdown.ErrInvalidEntry) {
				continue // it holds together what is around it: another has to go
			}
			if err != nil {
				return nil, err
			}
			gone = append(gone, c)
		}
	}
}

// Relieve moves entries that agents wrote, and nobody pinned, out of a notebook that holds more than its limit, each to
// a memory of its own, and describes the commit.
func (n *Notebook) Relieve(ctx context.Context, tx *vault.Tx) ([]Moved, error) {
	p := &past{n: n}
	e, err := p.open(tx, vault.Write{})
	if err != nil {
		return nil, err
	}
	origins, err := p.origins(ctx)
	if err != nil {
		return nil, err
	}
	e.gone, err = makeRoom(e.doc, candidates(e.before, origins, "", true, true), n.limit)
	if err == nil && len(e.gone) > 0 {
		err = e.finish(fmt.Sprintf("%s had no room", n.path))
	}
	return e.res.Moved, err
}

// choose takes candidates from the front until they have excess characters, and
// lets those stay, the most valuable first, that need not have gone.
func choose(list []candidate, excess int) []candidate {
	var chosen []candidate
	for _, c := range list {
		if excess <= 0 {
			break
		}
		chosen = append(chosen, c)
		excess -= c.entry.Characters()
	}
	for i := len(chosen) - 1; i >= 0; i-- {
		if size := chosen[i].entry.Characters(); excess+size <= 0 {
			excess += size
			chosen = slices.Delete(chosen, i, i+1)
		}
	}
	return chosen
}

// take removes an entry that stood in an earlier state of the document.
func take(doc *markdown.Document, e markdown.Entry) error {
	entries := doc.Entries()
	at := slices.IndexFunc(entries, func(x markdown.Entry) bool { return x.Text == e.Text && slices.Equal(x.Under, e.Under) })
	if at < 0 {
		return fmt.Errorf("%q: %w", e.Text, markdown.ErrInvalidEntry)
	}
	return doc.RemoveEntry(entries[at])
}

// note makes a memory of an entry: its kind and the nearest heading, which said
// what the entry was about, become front matter. title is the page's own.
func (n *Notebook) note(e markdown.Entry, title string, since time.Time) vault.Note {
	note := vault.Note{Text: e.Box() + e.Body(), Kind: e.Kind, Source: n.Address(e), Created: since}
	if len(e.Under) > 0 {
		about := e.Under[len(e.Under)-1]
		if slug := markdown.Slug(about, 0); slug != "" && about != title {
			note.Categories = []string{slug}
		}
	}
	return note
}
