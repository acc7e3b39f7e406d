// Package notebook keeps the two short lists of a vault: MEMORY.md, what every
// session must know, and USER.md, who the user is.
//
// It promises that an edit changes the lines of one entry and no others; that a
// full notebook never refuses and never drops: what no longer fits becomes a
// memory below memories/ in the same commit, the least valuable entry first; and
// that what a person wrote into a notebook which they made larger than its limit
// stays where they put it. Limits count characters; a file of any shape a person
// makes is fine.
//
//	user := notebook.Profile(v, notebook.LimitsOf(v))
//	res, err := user.Add(ctx, notebook.New{Text: "Prefers tea.", Kind: "preference"}, w)
//	for _, m := range res.Moved { … m.Entry.Text went to m.Memory.Path … }
package notebook

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"stet/markdown"
	"stet/vault"
	"stet/vault/settings"
)

// The two notebooks.
const (
	CorePath    vault.Path = "MEMORY.md"
	ProfilePath vault.Path = "USER.md"
)

// Limits bound the characters of all entries of each notebook, headings and
// other text aside. They are what a prompt that holds both can afford: about
// 900 tokens (the limits of Hermes, so that its notebooks fit as they are).
type Limits struct{ Core, Profile int }

// LimitsOf are the limits that the configuration of a vault sets.
func LimitsOf(v *vault.Vault) Limits {
	all := v.Settings()
	return Limits{Core: all.Int(settings.CoreLimit), Profile: all.Int(settings.ProfileLimit)}
}

// DefaultLimits are 2,200 characters for MEMORY.md and 1,375 for USER.md.
func DefaultLimits() Limits { return Limits{Core: 2200, Profile: 1375} }

// A Notebook is one of the two files of a vault. It is safe for concurrent use.
type Notebook struct {
	v       *vault.Vault
	path    vault.Path
	limit   int
	command string // that shows it
}

// Core is MEMORY.md of v, Profile is USER.md.
func Core(v *vault.Vault, l Limits) *Notebook { return &Notebook{v, CorePath, l.Core, "core"} }

// Profile is USER.md of v.
func Profile(v *vault.Vault, l Limits) *Notebook {
	return &Notebook{v, ProfilePath, l.Profile, "profile"}
}

// Path is the notebook's file.
func (n *Notebook) Path() vault.Path { return n.path }

// Usage says how full a notebook is.
type Usage struct {
	Characters int
	Limit      int
	Entries    int
}

// Percent is the share of the limit that is used, rounded to the nearest whole
// number; above 100 in a notebook that a person made too large.
func (u Usage) Percent() int {
	if u.Limit <= 0 {
		return 0
	}
	return (u.Characters*100 + u.Limit/2) / u.Limit
}

func (n *Notebook) usage(entries []markdown.Entry) Usage {
	return Usage{Characters: characters(entries), Limit: n.limit, Entries: len(entries)}
}

func characters(entries []markdown.Entry) int {
	sum := 0
	for _, e := range entries {
		sum += e.Characters()
	}
	return sum
}

// A Page is a notebook as it stands on disk, uncommitted edits included.
type Page struct {
	Data    []byte // nil when there is no file yet
	Entries []markdown.Entry
	Usage   Usage
}

// Read reads the notebook. A file that does not exist is an empty notebook.
func (n *Notebook) Read() (Page, error) {
	data, _, err := n.v.ReadFile(n.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Page{}, fmt.Errorf("read %q: %w", n.path, err)
	}
	return n.PageOf(data), nil
}

// PageOf is the notebook as these bytes, of another time, have it.
func (n *Notebook) PageOf(data []byte) Page {
	entries := markdown.Parse(data).Entries()
	return Page{Data: data, Entries: entries, Usage: n.usage(entries)}
}

// Address names an entry of the notebook: "USER.md#1a2b3c4d".
func (n *Notebook) Address(e markdown.Entry) string { return string(n.path) + "#" + e.Hash() }

// Find returns the one entry that ref names: its address, "#" and its hash, the
// hash alone, its whole text, or a part of its text that no other entry has,
// upper and lower case told apart. It fails with a [vault.NotFoundError], or
// with a [vault.AmbiguousError] that lists every match by its address. Entries
// with the same text are one thing twice: the first is meant.
func (n *Notebook) Find(entries []markdown.Entry, ref string) (markdown.Entry, error) {
	if hash := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(ref, string(n.path)), "#"), "e:"); hash != "" {
		for _, e := range entries {
			if e.Hash() == hash {
				return e, nil
			}
		}
	}
	if e, ok := same(entries, markdown.EntryText(ref)); ok {
		return e, nil
	}
	// Blanks at the ends of a part tell "room 7 " from "room 77", unless they
	// came with the quoting.
	found := containing(entries, lines(ref))
	if len(found) == 0 {
		found = containing(entries, markdown.EntryText(ref))
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return markdown.Entry{}, n.unknown(ref, entries)
	}
	many := &vault.AmbiguousError{Ref: ref}
	for _, e := range found[:min(len(found), maxNamed)] {
		many.Candidates = append(many.Candidates, vault.Memory{Path: vault.Path(n.Address(e)), Title: preview(e)})
	}
	more := ""
	if n := len(found) - len(many.Candidates); n > 0 {
		more = fmt.Sprintf(" (%d more match)", n)
	}
	return markdown.Entry{}, vault.WithHint(many, "use more of its text, or its address: %s%s", many.Candidates[0].Path, more)
}

// lines is text with "\n" between its lines.
func lines(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

// same finds the entry whose whole text it is, box and kind aside if need be.
func same(entries []markdown.Entry, text string) (markdown.Entry, bool) {
	for _, of := range []func(markdown.Entry) string{func(e markdown.Entry) string { return e.Text }, markdown.Entry.Body} {
		if i := slices.IndexFunc(entries, func(e markdown.Entry) bool { return of(e) == text }); i >= 0 && text != "" {
			return entries[i], true
		}
	}
	return markdown.Entry{}, false
}

// containing lists the entries that hold a part, those of one text once.
func containing(entries []markdown.Entry, part string) []markdown.Entry {
	var found []markdown.Entry
	for _, e := range entries {
		if strings.TrimSpace(part) != "" && strings.Contains(e.Text, part) && !slices.ContainsFunc(found, func(f markdown.Entry) bool { return f.Text == e.Text }) {
			found = append(found, e)
		}
	}
	return found
}

// maxNamed bounds the entries that an error names: more than any notebook within
// its limit has, so that an agent that lost the exact text finds it among them.
const maxNamed = 100

func (n *Notebook) unknown(ref string, entries []markdown.Entry) error {
	none := &vault.NotFoundError{Ref: ref}
	for _, e := range entries[:min(len(entries), maxNamed)] {
		none.Near = append(none.Near, n.Address(e)+" "+preview(e))
	}
	return vault.WithHint(none, "name a part of an entry's text, upper and lower case told apart, or its address; %q lists the entries of %s",
		"stet "+n.command, n.path)
}

// previewWidth is what fits beside an address on a line.
const previewWidth = 72

// preview is an entry on one line.
func preview(e markdown.Entry) string {
	text := strings.Join(strings.Fields(e.Text), " ")
	if runes := []rune(text); len(runes) > previewWidth {
		return strings.TrimRight(string(runes[:previewWidth-1]), " ") + "…"
	}
	return text
}
