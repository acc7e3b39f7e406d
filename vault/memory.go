package vault

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"stet/markdown"
	"stet/vault/gitstore"
	"stet/vault/names"
)

// A Memory is a Markdown file as stet sees it: a memory, a note, a notebook or
// anything else. Every key is optional; a file without front matter is a
// memory as well.
type Memory struct {
	Path         Path
	ID           string
	Title        string   // front matter, else first heading, else ""
	Aliases      []string // other names in front matter, as Obsidian has them
	Kind         string
	Scope        string
	Categories   []string
	Tags         []string // the categories, and the #tags of the text but in transcripts and skills
	Importance   *float64 // 0 to 1; nil = not given
	Created      time.Time
	Date         time.Time // which other programs write of a note, for the most part when it was begun
	Updated      time.Time
	Changed      time.Time // when it was last changed, as [Filter.Times] tells [Vault.List]
	Pinned       bool
	Private      bool
	Source       string
	ValidFrom    time.Time // what it says is true from then, zero = always was
	ValidUntil   time.Time // and until then; midnight UTC stands for the whole day
	Expires      time.Time // a person's date after which the curator archives it; midnight UTC as with ValidUntil
	Supersedes   []string
	SupersededBy string
	Conflicts    []string // ids of what cannot be true as well
	MayOutdate   []string // ids of what may no longer be true because of it
	Encoding     string
	Class        Class
	Hash         Hash
	Body         []byte // after the front matter
	BodyLine     int    // 1-based line of the file where Body starts
	// Problem says why the front matter could not be read, with its line; the
	// body is right all the same.
	Problem string
}

// Archived reports whether the memory lies in cold storage.
func (m Memory) Archived() bool { return m.Class == ClassArchive }

// Valid reports whether what the memory says is true at a time, as far as valid_from
// and valid_until tell.
func (m Memory) Valid(at time.Time) bool {
	return !at.Before(m.ValidFrom) && !over(m.ValidUntil, at)
}

// Expired reports whether the memory is to go to the archive by its date.
func (m Memory) Expired(at time.Time) bool { return over(m.Expires, at) }

// over reports whether an end is over at a time. Midnight UTC stands for the whole day; the zero time never comes.
func over(end, at time.Time) bool {
	if end.IsZero() {
		return false
	}
	if y, mon, day := end.UTC().Date(); end.Equal(time.Date(y, mon, day, 0, 0, 0, 0, time.UTC)) {
		end = end.AddDate(0, 0, 1)
	}
	return !at.Before(end)
}

// Names reports whether the memory is about another one by its id.
func (m Memory) Names(id string) bool {
	return m.SupersededBy == id || slices.Contains(slices.Concat(m.Supersedes, m.Conflicts, m.MayOutdate), id)
}

// Tagged reports whether the memory has a tag, in any case, or one below it: work/home is below work.
func (m Memory) Tagged(tag string) bool {
	return slices.ContainsFunc(m.Tags, func(t string) bool {
		return Scope(markdown.Fold(t)).In(markdown.Fold(strings.TrimPrefix(tag, "#")))
	})
}

// Name is what a person calls the memory: its title, else its file name
// without the extension.
func (m Memory) Name() string {
	if m.Title != "" {
		return m.Title
	}
	return slugOf(m.Path)
}

// headlineWidth is how many characters of a text stand for its title, headlineWindow how many of its bytes are looked
// at for them.
const (
	headlineWidth  = 80
	headlineWindow = 1 << 10
)

// Headline is what a list calls the memory: its title, else the first words of its text, which end in "…" where the
// sentence goes on; "" where it says nothing.
func (m Memory) Headline() string {
	if m.Title != "" {
		return m.Title
	}
	words := markdown.FirstWords(m.Body[:min(len(m.Body), headlineWindow)], headlineWidth/2)
	runes := []rune(words)
	if len(runes) <= headlineWidth {
		return words
	}
	cut := string(runes[:headlineWidth-1])
	if i := strings.LastIndexByte(cut, ' '); i > headlineWidth/2 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,;:.") + "…"
}

// CalledBy is the title by which a memory can be named: its own, or of a memory, whose file is named after them, the
// first words of its text. How a note's text begins is no name of it.
func (m Memory) CalledBy() string {
	if ClassOf(m.Path) != ClassMemory && ClassOf(m.Path) != ClassArchive {
		return m.Title
	}
	return m.Headline()
}

// ReadMemory reads a file's front matter. It never fails: what cannot be read
// is left empty and named in Problem.
func ReadMemory(p Path, data []byte) Memory {
	d := markdown.Parse(data)
	m := Memory{
		Path: p, Scope: ScopeOf(p), Class: ClassOf(p), Hash: Hash(gitstore.HashBlob(data).String()),
		Body: d.Body(), BodyLine: d.BodyLine(), Title: d.Title(), Private: private(p, d),
	}
	if m.Class.tagged() {
		m.Tags = d.Tags()
	}
	if m.readFront(d); m.Problem == "" && !m.Class.tagged() {
		m.Tags = m.Categories
	}
	return m
}

// readFront takes what the keys of the front matter say.
func (m *Memory) readFront(d *markdown.Document) {
	if err := d.FrontMatterError(); err != nil {
		m.Problem = err.Error()
		return
	}
	for _, f := range fields() {
		if v, ok := d.Meta(f.key); ok && f.read != nil {
			f.read(m, v)
		}
	}
}

// slugOf is the file name without its extension.
func slugOf(p Path) string { return names.Slug(p.Base()) }

const mostNear = 3 // names that an error lists

// known is what the memory is called.
func (m Memory) known() names.Known {
	return names.Known{ID: m.ID, Slug: slugOf(m.Path), Title: m.CalledBy(), Aliases: m.Aliases}
}

// A called is what has a word for its id or a part of it, for its title or another name, or as a part of a name.
type called struct {
	ref           string
	typed         names.Ref
	whole, ends   []Path // by id
	titled        []Path
	words, within []Memory // memories and notes with id and title alone
}

func newCalled(ref string) *called {
	return &called{ref: strings.ToLower(ref), typed: names.Parse(ref)}
}

func (c *called) see(p Path, k names.Known) {
	switch class := ClassOf(p); {
	case class == ClassConfig: // a proposal has the id of what it is about
	case k.ID != "" && k.ID == c.ref:
		c.whole = append(c.whole, p)
	case isPart(c.ref, k.ID):
		c.ends = append(c.ends, p)
	case c.typed.Is(k):
		c.titled = append(c.titled, p)
	case class == ClassMemory || class == ClassNote || class == ClassArchive:
		switch c.typed.Degree(k) {
		case names.Words:
			c.words = append(c.words, Memory{Path: p, Class: class, ID: k.ID, Title: k.Title})
		case names.Part:
			c.within = append(c.within, Memory{Path: p, Class: class, ID: k.ID, Title: k.Title})
		}
	}
}

// exact are those that the word alone names.
func (c *called) exact() []Path {
	for _, found := range [][]Path{c.whole, c.ends, c.titled} {
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// called looks through all files for what ref names besides a path and a file's name: in the index, else in the files
// themselves, where for an agent, who is told nothing of parts of names, those are read alone that hold what it typed.
func (v *Vault) called(ctx context.Context, files []File, ref string, parts bool) (*called, error) {
	c := newCalled(ref)
	if v.o.Named != nil && v.o.Named(ctx, func() ([]File, error) { return files, nil }, c.see) == nil {
		return c, nil
	}
	for _, want := range []func([]byte) bool{
		func(data []byte) bool { return containsFold(data, ref) }, func([]byte) bool { return parts },
	} {
		c = newCalled(ref)
		all, err := v.readAll(ctx, files, want, nil)
		if err != nil {
			return nil, err
		}
		for _, m := range all {
			c.see(m.Path, m.known())
		}
		if len(c.exact()) > 0 || !parts {
			break
		}
	}
	return c, nil
}

// A Filter chooses memories for [Vault.List]; the zero value is every live
// memory in path order.
type Filter struct {
	Scope    string // this scope and those below it, by segment
	Folder   Path   // only files below it
	Category string // of the front matter or a #tag of the text, or one above it
	Kind     string
	Classes  []Class // empty = ClassMemory
	Archived bool    // the archive instead
	Public   bool    // without what is private
	Pinned   *bool
	Since    time.Time // changed at or after
	Until    time.Time
	Keep     func(Memory) bool // of those that match otherwise; nil keeps all
	// Times says when a memory was last changed, given the time of its file on disk, and when it was made, zero for
	// unknown; nil, and where the time decides nothing in a vault of very many files: what it says, else the disk.
	Times   func(m Memory, onDisk time.Time) (changed, made time.Time)
	Sort    string // path (default), updated, created, importance
	Reverse bool
	Limit   int // 0 = all
	// Skipped is told, before List returns, of files of these classes and of
	// folders that cannot be read; nil: they are passed over in silence.
	Skipped func(Path, error)
}

// List reads the memories that match, with the time at which they were changed. Superseded ones are included:
// they are still files. Where Limit cuts a list in path order, nothing behind it is read, nor told of as Skipped.
func (v *Vault) List(ctx context.Context, f Filter) ([]Memory, error) {
	less, err := f.order()
	if err != nil {
		return nil, err
	}
	files, err := v.Whole().Files(ctx, WalkOptions{Archive: f.Archived, Under: f.Folder, Denied: f.skipped()})
	if err != nil {
		return nil, v.store.Explain(err)
	}
	modified := map[Path]time.Time{}
	files = slices.DeleteFunc(files, func(file File) bool {
		modified[file.Path] = file.ModTime
		return !f.wantsClass(ClassOf(file.Path))
	})
	if len(files) > manyFiles && !f.Timed() {
		f.Times = nil
	}
	step := len(files)
	if f.Limit > 0 && (f.Sort == "" || f.Sort == "path") {
		slices.SortFunc(files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
		if f.Reverse {
			slices.Reverse(files)
		}
		step = max(f.Limit, leastRead)
	}
	var found []Memory
	for part := range slices.Chunk(files, max(step, 1)) {
		all, err := v.readAll(ctx, part, func([]byte) bool { return true }, f.skipped())
		if err != nil {
			return nil, err
		}
		for i := range all {
			m := &all[i]
			m.Changed, m.Created = f.times(*m, modified[m.Path])
		}
		found = append(found, f.choose(all, less)...)
		if step < len(files) && len(found) >= f.Limit {
			break
		}
	}
	return f.choose(found, less), nil
}

// manyFiles are so many that looking up when each was changed is felt: at 100,000 it is a third of the time of a list.
const manyFiles = 20_000

// The keys by which the newest comes first.
const byUpdated, byCreated = "updated", "created"

func (f Filter) times(m Memory, onDisk time.Time) (changed, made time.Time) {
	if f.Times == nil {
		return cmp.Or(m.Updated, m.Created, onDisk), m.Created
	}
	changed, made = f.Times(m, onDisk)
	return changed, cmp.Or(m.Created, m.Date, made)
}

// Timed reports a filter for which it matters when a memory was made or last changed.
func (f Filter) Timed() bool {
	return f.Sort == byUpdated || f.Sort == byCreated || f.Keep != nil || !f.Since.IsZero() || !f.Until.IsZero()
}

// leastRead are the files that are read at once where a list may be short.
const leastRead = 64

// choose leaves those that match, in order.
func (f Filter) choose(all []Memory, less func(a, b Memory) int) []Memory {
	all = slices.DeleteFunc(all, func(m Memory) bool { return !f.matches(m) })
	slices.SortStableFunc(all, less)
	if f.Reverse {
		slices.Reverse(all)
	}
	if f.Limit > 0 && len(all) > f.Limit {
		all = all[:f.Limit]
	}
	return all
}

// skipped is Skipped for what lies in the scope that is asked for.
func (f Filter) skipped() func(Path, error) {
	if f.Skipped == nil || f.Scope == "" {
		return f.Skipped
	}
	return func(p Path, err error) {
		if scope := ScopeOf(p + "/x.md"); Scope(scope).In(f.Scope) || Scope(scope).In(Scope(f.Scope).Slug()) || Scope(f.Scope).In(scope) {
			f.Skipped(p, err)
		}
	}
}

func (f Filter) wantsClass(c Class) bool {
	switch {
	case f.Archived:
		return c == ClassArchive
	case len(f.Classes) == 0:
		return c == ClassMemory
	}
	return slices.Contains(f.Classes, c)
}

func (f Filter) matches(m Memory) bool {
	switch {
	case f.Scope != "" && !Scope(m.Scope).In(f.Scope) && !Scope(m.Scope).In(Scope(f.Scope).Slug()),
		f.Folder != "" && !strings.HasPrefix(string(m.Path), string(f.Folder)+"/"),
		f.Category != "" && !m.Tagged(f.Category),
		f.Kind != "" && !strings.EqualFold(m.Kind, f.Kind),
		f.Pinned != nil && m.Pinned != *f.Pinned,
		f.Public && m.Private,
		!f.Since.IsZero() && m.Changed.Before(f.Since),
		!f.Until.IsZero() && m.Changed.After(f.Until),
		f.Keep != nil && !f.Keep(m):
		return false
	}
	return true
}

func (f Filter) order() (func(a, b Memory) int, error) {
	byPath := func(a, b Memory) int { return cmp.Compare(a.Path, b.Path) }
	value := func(m Memory) float64 {
		if m.Importance == nil {
			return -1
		}
		return *m.Importance
	}
	switch f.Sort {
	case "", "path":
		return byPath, nil
	case byUpdated:
		return func(a, b Memory) int { return cmp.Or(b.Changed.Compare(a.Changed), byPath(a, b)) }, nil
	case byCreated:
		return func(a, b Memory) int { return cmp.Or(b.Created.Compare(a.Created), byPath(a, b)) }, nil
	case "importance":
		return func(a, b Memory) int { return cmp.Or(cmp.Compare(value(b), value(a)), byPath(a, b)) }, nil
	}
	return nil, WithHint(fmt.Errorf("sort by %q: %w", f.Sort, ErrInvalid), "path, updated, created or importance")
}
