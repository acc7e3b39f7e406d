package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"stet/agent/imports"
	"stet/index"
	"stet/index/document"
	"stet/vault"
	"stet/vault/names"
)

// A Memory is a memory as JSON shows it. Times are UTC, RFC 3339; a key
// that the file does not set is absent.
type Memory struct {
	ID           string      `json:"id,omitempty"`
	Short        string      `json:"short,omitempty"` // the end of the id that names the memory, see [names.Short]
	Path         vault.Path  `json:"path"`
	Class        vault.Class `json:"class"`
	Title        string      `json:"title"`
	Scope        string      `json:"scope"`
	Kind         string      `json:"kind,omitempty"`
	Categories   []string    `json:"categories"`
	Tags         []string    `json:"tags,omitempty"` // the categories, and the #tags of the text
	Importance   *float64    `json:"importance,omitempty"`
	Created      string      `json:"created,omitempty"`
	Updated      string      `json:"updated,omitempty"`
	Changed      string      `json:"changed,omitempty"` // when it was last changed, by whatever tells; of a list
	Pinned       bool        `json:"pinned,omitempty"`
	Private      bool        `json:"private,omitempty"`
	Archived     bool        `json:"archived,omitempty"`
	Source       string      `json:"source,omitempty"`
	ValidFrom    string      `json:"valid_from,omitempty"`
	ValidUntil   string      `json:"valid_until,omitempty"`
	Supersedes   []string    `json:"supersedes,omitempty"`
	SupersededBy string      `json:"superseded_by,omitempty"`
	MayOutdate   []string    `json:"may_outdate,omitempty"`
	Encoding     string      `json:"encoding,omitempty"`
	Hash         vault.Hash  `json:"hash,omitempty"`
	Problem      string      `json:"problem,omitempty"`
	Body         *string     `json:"body,omitempty"`
	// The memory that may outdate this one; [Memories.Show] alone says so.
	MayBeOutdatedBy *Doubt `json:"may_be_outdated_by,omitempty"`
	Label
	stored vault.Memory
	data   []byte
}

// Entry reports whether it is an entry of a notebook, and no file.
func (m Memory) Entry() bool {
	return (m.Class == vault.ClassCore || m.Class == vault.ClassProfile) && strings.Contains(string(m.Path), "#")
}

// Stored is the memory as the vault holds it.
func (m Memory) Stored() vault.Memory { return m.stored }

// Data is the bytes of the file that [Memories.Show] has read.
func (m Memory) Data() []byte { return m.data }

// viewMemory renders m without its body.
func viewMemory(m vault.Memory) Memory {
	return Memory{
		ID: m.ID, Path: m.Path, Class: m.Class, Title: m.Headline(), Scope: m.Scope, Kind: m.Kind,
		Categories: append([]string{}, m.Categories...), Tags: m.Tags, Changed: stamp(m.Changed),
		Importance: m.Importance,
		ValidFrom:  stamp(m.ValidFrom), ValidUntil: stamp(m.ValidUntil), Created: stamp(m.Created),
		Updated: stamp(m.Updated), Pinned: m.Pinned, Private: m.Private,
		Archived: m.Archived(), Source: m.Source, Supersedes: m.Supersedes, SupersededBy: m.SupersededBy,
		MayOutdate: m.MayOutdate, Encoding: m.Encoding, Hash: m.Hash, Problem: m.Problem, stored: m,
	}
}

// viewWithBody renders m with a text of it, made valid UTF-8.
func viewWithBody(m vault.Memory, body string, data []byte) Memory {
	out := viewMemory(m)
	body = strings.ToValidUTF8(body, "\ufffd")
	out.Body, out.data = &body, data
	return out
}

// viewMemories renders many, never nil.
func viewMemories(ms []vault.Memory) []Memory {
	out := make([]Memory, 0, len(ms))
	for _, m := range ms {
		out = append(out, viewMemory(m))
	}
	return out
}

// A Commit is a commit as JSON shows it.
type Commit struct {
	Rev      vault.Revision    `json:"rev"`
	Parents  []vault.Revision  `json:"parents"`
	Op       vault.Op          `json:"op,omitempty"`
	Subject  string            `json:"subject"`
	Body     string            `json:"body,omitempty"`
	Author   string            `json:"author"`
	Via      string            `json:"via,omitempty"` // the agent among whose tools the user wrote
	Email    string            `json:"email"`
	When     string            `json:"when"`
	Trailers map[string]string `json:"trailers,omitempty"`
	Changes  []vault.Change    `json:"changes,omitempty"`
	Diff     string            `json:"diff,omitempty"`
	Deletes  bool              `json:"-"` // it records nothing but deletions by hand; unknown to an agent
	at       time.Time
}

// Writer is the author, and the agent that the user wrote through.
func (c Commit) Writer() string { return through(c.Author, c.Via) }

// Writer is the author, and the agent that the user wrote through.
func (o Origin) Writer() string { return through(o.By, o.Via) }

func through(author, via string) string {
	if via == "" {
		return author
	}
	return author + " via " + via
}

// At is when the commit was made.
func (c Commit) At() time.Time { return c.at }

// ViewCommit renders c. A trailer that stands more than once has its values
// joined by newlines.
func ViewCommit(c vault.Commit) Commit {
	view := Commit{
		Rev: c.Rev, Parents: append([]vault.Revision{}, c.Parents...), Op: c.Op, Subject: c.Subject, Body: c.Body,
		Author: c.Author, Email: c.AuthorEmail, When: stamp(c.When), Changes: c.Changes, at: c.When,
		Via: c.Trailers.Get("Stet-Via"),
	}
	values := map[string][]string{} // a move has one for each memory
	for _, t := range c.Trailers {
		values[t.Key] = append(values[t.Key], t.Value)
	}
	for key, all := range values {
		if view.Trailers == nil {
			view.Trailers = map[string]string{}
		}
		view.Trailers[key] = strings.Join(all, "\n")
	}
	return view
}

// viewCommits renders many, never nil.
func viewCommits(cs []vault.Commit) []Commit {
	out := make([]Commit, 0, len(cs))
	for _, c := range cs {
		out = append(out, ViewCommit(c))
	}
	return out
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// A Source is a program whose conversations or memories can be imported.
type Source struct {
	Source   string   `json:"source"`
	Title    string   `json:"title"`
	Memories bool     `json:"memories"`
	Named    bool     `json:"-"`      // it has no place of its own
	Places   []string `json:"places"` // where it keeps them on this machine
	Files    int      `json:"files"`
	Bytes    int64    `json:"bytes"`
	Chosen   bool     `json:"chosen,omitempty"` // by the person, the last time they were asked
	// Of conversations, compared with the vault in question; nil without one.
	Brings *Brings `json:"brings,omitempty"`
}

// Brings counts the conversations of a source; docs/FORMAT.md says how they are told apart.
type Brings struct {
	New       int `json:"new"`
	Grown     int `json:"grown"`
	Unchanged int `json:"unchanged"`
	Unread    int `json:"unread"` // here, and may have grown
}

// Sources lists what can be imported on this machine.
func (e *Environment) Sources(ctx context.Context) []Source {
	var v *vault.Vault
	var chosen []string
	a, err := e.Open(ctx, true)
	if err == nil {
		v = a.v.Whole()
		chosen, _ = imports.Chosen(v)    // of what cannot be read nothing is chosen
		defer func() { _ = a.Close() }() // it was only read
	} else if !errors.Is(err, vault.ErrNotVault) {
		e.warn("%v", err) // what there is to import is worth knowing all the same
	}
	out := []Source{}
	for _, s := range imports.Sources() {
		view := Source{Source: s.Name, Title: s.Title, Memories: s.Memories,
			Places: append([]string{}, s.Find(e.importHost())...), Named: s.Named(),
			Chosen: slices.Contains(chosen, s.Name)}
		var err error
		if v == nil || s.Memories || len(view.Places) == 0 {
			view.Files, view.Bytes, err = s.Count(view.Places)
		} else {
			var l imports.Survey
			l, err = imports.Look(ctx, v, s, view.Places)
			view.Files, view.Bytes, view.Brings = l.Files, l.Bytes, &Brings{l.New, l.Grown, l.Unchanged, l.Unread}
		}
		if err != nil {
			e.warn("%v", err)
		}
		out = append(out, view)
	}
	return out
}

// ChooseSources remembers which sources the person wants to bring in; none forgets them.
func (v Vault) ChooseSources(ctx context.Context, w Write, names []string) error {
	if err := v.a.check(w, "import", ""); err != nil {
		return err
	}
	if w.Agent != "" {
		return w.refused("import", "", "the user chooses what comes in")
	}
	return imports.Choose(ctx, v.a.v.Whole(), names)
}

// A Doubt is a newer memory that may outdate another one.
type Doubt struct {
	Path vault.Path `json:"path"`
	ID   string     `json:"id,omitempty"`
	Date string     `json:"date,omitempty"` // YYYY-MM-DD, UTC
}

func viewDoubt(d *index.Doubt) *Doubt {
	if d == nil {
		return nil
	}
	out := &Doubt{Path: d.Path, ID: d.ID}
	if !d.Updated.IsZero() {
		out.Date = d.Updated.UTC().Format(time.DateOnly)
	}
	return out
}

// String names the memory and its date: "may be outdated by memories/new.md (2026-03-01)".
func (d *Doubt) String() string {
	text := "may be outdated by " + string(d.Path)
	if d.Date != "" {
		text += " (" + d.Date + ")"
	}
	return text
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Shorts are the short forms of ids as [names.Short] says, among all that the search index knew when it was last
// written, and those of ids itself: for an agent without what it is not given, whose ids make no end longer. Where
// there is no index they are compared with each other, and are longer. Cost: one look at each record of the index.
func (a *App) Shorts(ids []string) map[string]string {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == "" })
	if len(ids) == 0 {
		return nil
	}
	x, err := a.anyIndex()
	if err == nil && !x.Built() {
		err = vault.ErrNotFound
	}
	return names.Short(ids, func(yield func(string) bool) {
		more := err == nil
		if !more {
			return
		}
		_ = x.Known(func(r *document.Record) { // it was built a moment ago
			k := r.Names()
			more = more && yield(k.ID) && yield(strings.ToLower(k.Slug))
		})
	}, err != nil)
}

// anyIndex is an index of the files that is open already, else one to read.
func (a *App) anyIndex() (*index.Index, error) {
	for _, x := range a.indexes {
		if !x.use.source {
			return x.Index, nil
		}
	}
	return a.openIndex(true, nil)
}

// shorten gives memories their short ids.
func (a *App) shorten(all []Memory) {
	ids := make([]string, 0, len(all))
	for _, m := range all {
		ids = append(ids, m.ID)
	}
	short := a.Shorts(ids)
	for i := range all {
		all[i].Short = short[all[i].ID]
	}
}

// shortenHits gives hits their short ids.
func (a *App) shortenHits(lists ...[]Hit) {
	var ids []string
	for _, hits := range lists {
		for _, h := range hits {
			ids = append(ids, h.ID)
		}
	}
	short := a.Shorts(ids)
	for _, hits := range lists {
		for i := range hits {
			hits[i].Short = short[hits[i].ID]
		}
	}
}

// A Called is what a file is called.
type Called struct {
	names.Known
	Path       vault.Path
	Updated    time.Time // when it says that it was, else when the file changed on disk
	Kind       string
	Categories []string // and the #tags of the text
}

// Called lists what the files of the vault are called, without reading them: those that are there, with the titles and
// aliases that the search index knew when it was last written, in path order.
func (a *App) Called(ctx context.Context, o vault.WalkOptions) ([]Called, error) {
	x, err := a.anyIndex()
	if err != nil {
		return nil, err
	}
	warm := make(chan struct{})
	go func() { x.Warm(); close(warm) }()
	files, err := a.v.Files(ctx, o)
	<-warm
	if err != nil {
		return nil, err
	}
	out := make([]Called, len(files))
	for i, f := range files {
		out[i] = Called{Known: names.Known{Slug: names.Slug(f.Path.Base())}, Path: f.Path, Updated: f.ModTime}
	}
	at := 0
	_ = x.Known(func(r *document.Record) { // without an index there are no titles
		if at > 0 && r.Path < out[at-1].Path {
			at = 0 // the transcripts begin
		}
		for at < len(out) && out[at].Path < r.Path {
			at++
		}
		if at < len(out) && out[at].Path == r.Path {
			m := document.DecodeMeta(r.Meta)
			out[at].ID, out[at].Title, out[at].Aliases = m.ID, m.Title, m.Aliases
			out[at].Kind, out[at].Categories = m.Kind, m.Categories
			if m.Updated != 0 {
				out[at].Updated = document.TimeOf(m.Updated)
			}
		}
	})
	return out, nil
}
