package agent

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"stet/index"
	"stet/vault"
	"stet/vault/lineage"
)

// ListOptions choose memories, and the time at which they are listed; zero is now.
type ListOptions struct {
	vault.Filter
	// Where are words as a user types them: one scope or folder, and filters as in a search (tag:x, #x, path:x,
	// kind:x, since:2w …), which "-" or the word NOT before one turns round. Filters of one key are alternatives.
	Where  []string
	AsOf   time.Time
	Labels bool // as in [SearchOptions]
}

// A Listing is the result of listing memories.
type Listing struct {
	AsOf     *Moment      `json:"as_of,omitempty"`
	Memories []Memory     `json:"memories"`
	Skipped  []vault.Path `json:"skipped,omitempty"` // not readable
	// Missing is the scope or folder that was asked for, where there is none.
	Missing string `json:"missing,omitempty"`
	Near    string `json:"-"` // one whose name is like it
	// Notes counts the other Markdown files of the vault where it has no memory at all.
	Notes int `json:"-"`
}

// List lists memories; of a folder that is no scope, the notes below it. It fails with [ErrUsage] for a word of
// o.Where that means nothing.
func (m Memories) List(ctx context.Context, o ListOptions) (*Listing, error) {
	a := m.a
	then, err := a.moment(ctx, o.AsOf)
	if err != nil {
		return nil, err
	}
	out := &Listing{AsOf: then}
	if err := a.where(&o); err != nil {
		return nil, err
	}
	o.Skipped = func(p vault.Path, _ error) { out.Skipped = append(out.Skipped, p) }
	var found []vault.Memory
	if then == nil {
		found, err = a.listNow(ctx, o.Filter)
	} else {
		var snap *vault.Snapshot
		if snap, err = a.v.History().View(ctx, string(then.Rev)); err == nil {
			found, err = snap.List(ctx, o.Filter, then.made)
		}
	}
	if err == nil && len(found) == 0 && then == nil {
		err = a.explainEmpty(ctx, o, out)
	}
	out.Memories = viewMemories(found)
	a.shorten(out.Memories)
	if err == nil && (o.Labels || a.o.Agent != "") {
		err = a.labelMemories(ctx, out.Memories)
	}
	return out, err
}

// listNow lists the files as they are. What is asked by time is worth a look at the history; elsewhere what is known
// of it will do.
func (a *App) listNow(ctx context.Context, f vault.Filter) ([]vault.Memory, error) {
	var failed error
	times := sync.OnceValue(func() *lineage.ChangeTimes {
		t, err := lineage.Changed(ctx, a.v, f.Timed())
		failed = err
		return t
	})
	f.Times = func(m vault.Memory, onDisk time.Time) (changed, made time.Time) {
		if t := times(); t != nil {
			return t.Memory(m, onDisk)
		}
		return onDisk, time.Time{}
	}
	found, err := a.v.List(ctx, f)
	return found, errors.Join(err, failed)
}

// where reads o.Where into the filter.
func (a *App) where(o *ListOptions) error {
	s, rest := index.Select(o.Where, a.o.Now())
	if !s.Empty() {
		o.Keep = s.Keeps
		o.Archived = o.Archived || s.Archived()
		if o.Classes = append(o.Classes, s.Classes()...); len(o.Classes) == 0 {
			o.Classes = taggedClasses()
		}
	}
	switch {
	case s.Wrong() != "":
		return Usagef("%s", s.Wrong())
	case len(rest) == 0:
		return nil
	case slices.Contains(rest, "NOT"):
		return Usagef("NOT stands before a filter").Suggest(`for example NOT tag:draft`)
	case len(rest) > 1:
		return Usagef("%q and %q: one scope or folder can be listed", rest[0], rest[1]).
			Suggest(`"stet search WORDS" finds words; filters are tag:x, #x, path:x, kind:x, since:2w and their like`)
	case o.Scope != "":
		return Usagef("the scope is given twice: %q and --scope %q", rest[0], o.Scope)
	}
	a.placed(rest[0], o)
	return nil
}

// taggedClasses are those of files whose tags are listed.
func taggedClasses() []vault.Class {
	return []vault.Class{vault.ClassMemory, vault.ClassNote, vault.ClassCore, vault.ClassProfile}
}

// placed reads a word as a scope, or as a folder of the vault that is none.
func (a *App) placed(word string, o *ListOptions) {
	if a.isRoot(word) {
		if len(o.Classes) == 0 {
			o.Classes = LiveClasses()
		}
		return // all of it
	}
	name := strings.Trim(word, "/")
	if p, err := a.path(word); err == nil && !strings.HasPrefix(word, "/") && a.exists(p) {
		name = string(p) // as seen from the current folder
	}
	scope, isScope := strings.CutPrefix(name+"/", "memories/")
	known := a.exists(vault.Path("memories/"+name)) || !a.exists(vault.Path(name))
	switch {
	case isScope:
		o.Scope = "/" + strings.TrimSuffix(scope, "/")
	case strings.HasPrefix(word, "/") || name == "" || known:
		o.Scope = word
	default:
		o.Folder = vault.Path(name)
		o.Archived = o.Archived || name == "archive" || strings.HasPrefix(name, "archive/")
		if len(o.Classes) == 0 {
			o.Classes = LiveClasses()
		}
	}
}

// isRoot reports whether a word, as "." or "..", leads from the current folder to the vault's.
func (a *App) isRoot(word string) bool {
	if !strings.HasPrefix(word, ".") || strings.Trim(word, "./") != "" {
		return false
	}
	there, err := os.Stat(filepath.Join(cmp.Or(a.o.At, a.o.Dir), word))
	root, err2 := os.Stat(a.Root())
	return err == nil && err2 == nil && os.SameFile(there, root)
}

// Lists reports whether a word means a list and no memory: a filter, or a folder of the vault.
func (m Memories) Lists(word string) bool {
	if s, _ := index.Select([]string{word}, m.a.o.Now()); !s.Empty() {
		return true
	}
	p, err := m.a.path(word)
	if err != nil {
		return false
	}
	info, err := os.Lstat(filepath.Join(m.a.Root(), filepath.FromSlash(string(p))))
	return err == nil && info.IsDir()
}

// explainEmpty says of a list with nothing in it what there is instead.
func (a *App) explainEmpty(ctx context.Context, o ListOptions, out *Listing) error {
	asked := cmp.Or(o.Scope, string(o.Folder))
	there := o.Folder != "" || o.Archived || a.exists(vault.Path("memories/"+strings.Trim(a.scope(o.Scope), "/")))
	if a.o.Agent != "" {
		there = false // it is told of no folder whose files are all kept from it
	}
	if asked != "" && !there {
		out.Missing = asked
		found, err := a.countScopes(ctx, false)
		var names []string
		for scope := range found {
			names = append(names, scope)
		}
		slices.Sort(names)
		out.Near = Nearest("/"+strings.Trim(asked, "/"), names)
		return err
	}
	if o.Kind != "" || o.Category != "" || o.Timed() || o.Pinned != nil || len(o.Classes) > 0 || o.Archived {
		return nil // nothing matches
	}
	files, err := a.v.Files(ctx, vault.WalkOptions{})
	for _, f := range files {
		if vault.ClassOf(f.Path) == vault.ClassMemory {
			out.Notes = 0
			return err
		}
		out.Notes++
	}
	return err
}

// A TagList is tags in order, the most used first.
type TagList struct {
	Tags []Tag `json:"tags"`
}

// A Tag is a category of the front matter, or a #tag of a text, in small letters.
type Tag struct {
	Tag   string `json:"tag"`
	Files int    `json:"files"`
}

// Tags counts the files that have each tag, live memories, notes and notebooks; with a tag, this one and those below
// it.
func (m Memories) Tags(ctx context.Context, below string) (*TagList, error) {
	a := m.a
	counts := map[string]int{}
	x, err := a.Index(true)
	if err == nil && x.Built() {
		counts, err = index.Tags(ctx, x)
	} else if err == nil {
		err = index.ErrBusy // there is none
	}
	if err != nil {
		if counts, err = a.tagsOfFiles(ctx); err != nil {
			return nil, err
		}
	}
	out := &TagList{Tags: []Tag{}}
	for tag, n := range counts {
		if below == "" || vault.Scope(tag).In(strings.ToLower(strings.TrimPrefix(below, "#"))) {
			out.Tags = append(out.Tags, Tag{tag, n})
		}
	}
	slices.SortFunc(out.Tags, func(a, b Tag) int {
		return cmp.Or(cmp.Compare(b.Files, a.Files), cmp.Compare(a.Tag, b.Tag))
	})
	return out, nil
}

// tagsOfFiles counts tags without an index.
func (a *App) tagsOfFiles(ctx context.Context) (map[string]int, error) {
	found, err := a.v.List(ctx, vault.Filter{Public: a.o.Agent != "", Classes: taggedClasses()})
	counts := map[string]int{}
	for _, m := range found {
		for _, tag := range m.Tags {
			counts[strings.ToLower(tag)]++
		}
	}
	return counts, err
}
