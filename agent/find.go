package agent

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode"

	"stet/index"
	"stet/index/past"
	"stet/markdown"
	"stet/templates"
	"stet/vault"
	"stet/vault/lineage"
	"stet/vault/notebook"
)

// A Moment is the revision that was current at a time.
type Moment struct {
	Rev  vault.Revision `json:"rev"`
	When string         `json:"when"` // of the commit
	At   string         `json:"at"`   // what was asked for
	at   time.Time
	made time.Time
}

// moment finds the commit that was HEAD at a time, nil for the zero time.
func (a *App) moment(ctx context.Context, at time.Time) (*Moment, error) {
	if at.IsZero() {
		return nil, nil
	}
	if now := a.o.Now(); at.After(now) {
		at = now
	}
	c, err := a.v.History().HeadAt(ctx, at)
	if err != nil {
		return nil, err
	}
	return &Moment{c.Rev, stamp(c.When), stamp(at), at.UTC().Truncate(time.Second), c.When}, nil
}

// SearchOptions are a query, and the time whose files are searched; zero is now.
type SearchOptions struct {
	index.Query
	AsOf   time.Time
	Labels bool // say who wrote what is found, which reads history; always for an agent
}

// Found is the result of a search.
type Found struct {
	Query     string        `json:"query"`
	AsOf      *Moment       `json:"as_of,omitempty"`
	Tier      string        `json:"tier"`
	Total     int           `json:"total"`
	Degraded  string        `json:"degraded,omitempty"` // why files were searched in place of the index
	TookMS    float64       `json:"took_ms"`
	Skipped   []vault.Path  `json:"skipped,omitempty"` // not readable
	Hits      []Hit         `json:"hits"`
	Sessions  []Hit         `json:"sessions"`            // the best message of a few conversations
	Operators []string      `json:"operators,omitempty"` // the parts of the query that were not read as words
	Deleted   []vault.Path  `json:"deleted,omitempty"`   // files that had the words, where none has them now
	Warnings  []string      `json:"-"`
	Took      time.Duration `json:"-"`
}

// A Hit is one match of a search. Times are UTC, RFC 3339.
type Hit struct {
	Path            vault.Path  `json:"path"`
	Entry           string      `json:"entry,omitempty"` // of an entry of a notebook, its address
	Line            int         `json:"line"`
	ID              string      `json:"id,omitempty"`
	Short           string      `json:"short,omitempty"` // as in [Memory]
	Title           string      `json:"title"`
	Kind            string      `json:"kind,omitempty"`
	Scope           string      `json:"scope"`
	Categories      []string    `json:"categories"`
	Class           vault.Class `json:"class"`
	Score           float64     `json:"score"`
	Tier            string      `json:"tier"`
	Snippet         string      `json:"snippet"`
	Updated         string      `json:"updated,omitempty"`
	SupersededBy    string      `json:"superseded_by,omitempty"` // the memory that replaced this one
	MayBeOutdatedBy *Doubt      `json:"may_be_outdated_by,omitempty"`
	ValidFrom       string      `json:"valid_from,omitempty"`
	ValidUntil      string      `json:"valid_until,omitempty"`
	Message         int         `json:"message,omitempty"` // its number in a transcript
	Role            string      `json:"role,omitempty"`
	Speaker         string      `json:"speaker,omitempty"`
	Ref             string      `json:"ref,omitempty"`
	Explain         string      `json:"explain,omitempty"`
	InsteadOf       string      `json:"instead_of,omitempty"` // the text that was found, whose place this one took
	Label
	Highlights []index.Range `json:"-"` // byte ranges of Snippet, in order
	Reply      []Hit         `json:"-"` // of a person's message in Sessions the agent's that matches best
}

func viewHits(hits []index.Hit) []Hit {
	out := make([]Hit, 0, len(hits))
	for _, h := range hits {
		hit := Hit{
			Path: h.Path, Entry: h.Entry, Line: h.Line, ID: h.ID, Title: h.Title, Kind: h.Kind, Scope: h.Scope,
			Categories: append([]string{}, h.Categories...), Class: h.Class, Score: h.Score, Tier: h.Tier,
			Snippet: h.Snippet, Updated: stamp(h.Updated), SupersededBy: h.SupersededBy,
			MayBeOutdatedBy: viewDoubt(h.DoubtedBy), ValidFrom: stamp(h.ValidFrom), ValidUntil: stamp(h.ValidUntil),
			Message: h.Message, Role: h.Role,
			Speaker: h.Speaker, Ref: h.Ref, Explain: h.Explain, Highlights: h.Highlights,
		}
		if h.Reply != nil {
			hit.Reply = viewHits([]index.Hit{*h.Reply})
		}
		out = append(out, hit)
	}
	return out
}

// Search finds memories, notes and messages, best match first, in the files as they are now,
// committed or not, or as they were at o.AsOf. A Limit of 0 is no limit. A scope is also found by
// the name that storing a memory would have given it.
func (m Memories) Search(ctx context.Context, o SearchOptions) (*Found, error) {
	a := m.a
	if o.Limit == 0 {
		o.Limit = -1 // the index takes 0 for its default
	}
	o.Scope = a.scope(o.Scope)
	then, err := a.moment(ctx, o.AsOf)
	if err != nil {
		return nil, err
	}
	x, err := a.indexOf(ctx, then)
	if err != nil {
		return nil, err
	}
	res, err := x.Search(ctx, o.Query)
	if err != nil {
		return nil, err
	}
	if then != nil {
		res.Degraded = "" // there is no index of the past
	}
	found := &Found{
		Query: o.Text, AsOf: then, Tier: res.Tier, Total: res.Total, Degraded: res.Degraded, Skipped: res.Skipped,
		TookMS: milliseconds(res.Took), Hits: viewHits(res.Hits), Sessions: viewHits(res.Sessions),
		Operators: res.Operators, Warnings: res.Warnings, Took: res.Took,
	}
	if found.Total == 0 && len(found.Sessions) == 0 && then == nil {
		if found.Hits, err = a.heirs(ctx, x, o.Query); err != nil {
			return nil, err
		}
		if found.Total = len(found.Hits); found.Total == 0 && err == nil && a.o.Agent == "" {
			found.Deleted, err = a.lostWith(ctx, o.Text)
		}
	}
	a.shortenHits(found.Hits, found.Sessions)
	if o.Labels || a.o.Agent != "" {
		err = errors.Join(a.labelHits(ctx, found.Hits), a.labelHits(ctx, found.Sessions))
	}
	return found, err
}

// lostWith are the deleted files that have all the words of a text in them or in their names, at most a few.
func (a *App) lostWith(ctx context.Context, text string) (out []vault.Path, err error) {
	const most, mostRead = 3, 200
	read := 0
	words := strings.Fields(markdown.Fold(text))
	for l, err := range lineage.LostFiles(ctx, a.v, a.exists) {
		if err != nil || len(out) == most || read == mostRead {
			return out, err
		}
		if !l.Path.IsMarkdown() {
			continue
		}
		read++
		snap, err := a.v.History().View(ctx, string(l.At))
		if err != nil {
			return out, err
		}
		data, _, err := snap.Read(l.Path)
		if err != nil {
			return out, err
		}
		has := markdown.Fold(string(l.Path) + "\n" + string(data))
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(has, w) }) {
			out = append(out, l.Path)
		}
	}
	return out, nil
}

// heirs are the memories that took the place of those which a query finds, where it finds no others: of "where do I
// live" the answer may say that somebody moved.
func (a *App) heirs(ctx context.Context, x *index.Index, q index.Query) ([]Hit, error) {
	q.Text += " is:superseded"
	old, err := x.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	out := []Hit{}
	for _, h := range old.Hits {
		m, err := a.v.Resolve(ctx, h.SupersededBy)
		if err != nil || m.Archived() || slices.ContainsFunc(out, func(o Hit) bool { return o.ID == m.ID }) {
			continue // it went as well, or is withheld
		}
		text := strings.TrimLeftFunc(string(m.Body), unicode.IsSpace)
		first, _, _ := strings.Cut(text, "\n")
		line := m.BodyLine + bytes.Count(m.Body[:len(m.Body)-len(text)], []byte("\n"))
		out = append(out, Hit{Path: m.Path, Line: line, ID: m.ID, Title: m.Headline(), Kind: m.Kind, Scope: m.Scope,
			Categories: append([]string{}, m.Categories...), Class: m.Class, Tier: "superseded",
			Snippet: strings.TrimSpace(first), Updated: stamp(m.Updated), InsteadOf: h.Snippet})
	}
	return out, nil
}

// indexOf opens the index of the files as they are, or searches those of a commit.
func (a *App) indexOf(ctx context.Context, then *Moment) (*index.Index, error) {
	if then == nil {
		return a.Index(false)
	}
	snap, err := a.v.History().View(ctx, string(then.Rev))
	if err != nil {
		return nil, err
	}
	return a.sourceIndex(past.New(snap, then.made), then.at)
}

// scope is a scope as it stands in the vault: the user's own folder as it is named, else the
// name that storing a memory would have given it.
func (a *App) scope(scope string) string {
	name := strings.Trim(scope, "/")
	if name == "" || a.exists(vault.Path("memories/"+name)) || a.exists(vault.Path(name)) {
		return scope
	}
	return vault.Scope(scope).Slug()
}

// ShowOptions name memories, or entries of notebooks as FILE#HASH or HASH, and the revision or the time
// whose version is meant; without either, now.
type ShowOptions struct {
	Refs   []string
	Rev    string
	AsOf   time.Time
	Labels bool // as in [SearchOptions]
}

// Shown is the result of [Memories.Show].
type Shown struct {
	Memories []Memory       // with their bodies
	Rev      vault.Revision // "" is now
	AsOf     *Moment
}

// Show reads memories, or any other file of the vault that a path names.
func (m Memories) Show(ctx context.Context, o ShowOptions) (*Shown, error) {
	out := &Shown{}
	var err error
	if out.AsOf, err = m.a.moment(ctx, o.AsOf); err != nil {
		return nil, err
	}
	if out.AsOf != nil {
		o.Rev = string(out.AsOf.Rev)
	}
	if o.Rev != "" {
		if out.Rev, err = m.a.v.History().ResolveRevision(o.Rev); err != nil {
			return nil, err
		}
	}
	for _, ref := range o.Refs {
		stored, data, err := m.a.readEntry(ctx, m.a.addressed(ctx, ref), o.Rev)
		if err != nil {
			return nil, err
		}
		out.Memories = append(out.Memories, viewWithBody(stored, string(stored.Body), data))
	}
	m.a.shorten(out.Memories)
	if o.Rev == "" {
		m.a.doubt(ctx, out.Memories)
	}
	if o.Labels || m.a.o.Agent != "" {
		return out, m.a.labelMemories(ctx, out.Memories)
	}
	return out, nil
}

// doubt looks up in the search index which memories may outdate those that are shown.
// Without an index nothing is known of it.
func (a *App) doubt(ctx context.Context, shown []Memory) {
	x, err := a.Index(true)
	if err != nil {
		return
	}
	for i, m := range shown {
		if m.ID != "" && m.Class == vault.ClassMemory {
			shown[i].MayBeOutdatedBy = viewDoubt(x.Doubted(ctx, m.ID))
		}
	}
}

// addressed is a word, or where it names no file but one entry of the notebooks by its hash alone, "FILE#HASH".
func (a *App) addressed(ctx context.Context, word string) string {
	if _, _, ok := cutAddress("-#" + word); !ok || strings.Contains(word, "#") {
		return word
	}
	if _, err := a.v.Resolve(ctx, a.ref(word)); !errors.Is(err, vault.ErrNotFound) {
		return word
	}
	var found []string
	for _, book := range []vault.Path{notebook.ProfilePath, notebook.CorePath} {
		m, _, err := a.readEntry(ctx, string(book)+"#"+word, "")
		if err == nil {
			found = append(found, string(m.Path))
		}
	}
	if len(found) != 1 {
		return word
	}
	return found[0]
}

// readEntry reads what a word names: a file, or with "FILE#HASH" one entry of it.
func (a *App) readEntry(ctx context.Context, word, rev string) (vault.Memory, []byte, error) {
	file, hash, ok := cutAddress(word)
	if !ok {
		return a.read(ctx, a.ref(word), rev)
	}
	m, data, err := a.read(ctx, a.ref(file), rev)
	if err != nil {
		return m, nil, err
	}
	for _, entry := range markdown.Parse(data).Entries() {
		if entry.Hash() == hash {
			address := vault.Path(string(m.Path) + "#" + hash)
			return vault.Memory{Path: address, Class: m.Class, Kind: entry.Kind, Body: []byte(entry.Text),
				BodyLine: entry.Line}, []byte(entry.Text + "\n"), nil
		}
	}
	return m, nil, vault.WithHint(&vault.NotFoundError{Ref: word},
		"%q has no such entry now; \"stet history %s\" lists its versions", file, templates.Quote(file))
}

func (a *App) read(ctx context.Context, ref, rev string) (vault.Memory, []byte, error) {
	if rev != "" {
		return a.readAt(ctx, ref, rev)
	}
	m, err := a.v.Resolve(ctx, ref)
	if errors.Is(err, vault.ErrNotFound) {
		file, data, perr := a.readPath(ref, err)
		if none, ok := errors.AsType[*vault.NotFoundError](perr); ok && len(none.Near) == 0 && a.o.Agent == "" {
			perr = cmp.Or(a.gone(ctx, ref, true), perr)
		}
		return file, data, perr
	}
	if err != nil {
		return m, nil, err
	}
	data, _, err := a.v.ReadFile(m.Path)
	return vault.ReadMemory(m.Path, data), data, err
}

// readAt reads what a word named at a revision, or what the file that it names now was then.
func (a *App) readAt(ctx context.Context, ref, rev string) (vault.Memory, []byte, error) {
	was, data, unknown := a.v.History().ReadAt(ctx, rev, ref)
	if !errors.Is(unknown, vault.ErrNotFound) {
		return was, data, unknown
	}
	m, err := a.v.Resolve(ctx, ref)
	if err == nil {
		was, data, err = lineage.AsOf(ctx, a.v, m, rev)
	}
	if errors.Is(err, vault.ErrNotFound) || errors.Is(err, vault.ErrRefused) || errors.Is(err, vault.ErrAmbiguous) {
		err = unknown
	}
	return was, data, err
}

// readPath reads a file that is no memory. What stands there but cannot be read (a FIFO, a link,
// another user's file) is named for what it is; unknown is the error for a word that is no path.
func (a *App) readPath(ref string, unknown error) (vault.Memory, []byte, error) {
	p, err := vault.ParsePath(ref)
	if err != nil {
		return vault.Memory{}, nil, unknown
	}
	data, _, err := a.v.ReadFile(p)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, vault.ErrNotFound):
		return vault.Memory{}, nil, unknown
	case err != nil:
		return vault.Memory{}, nil, err
	}
	return vault.ReadMemory(p, data), data, nil
}
