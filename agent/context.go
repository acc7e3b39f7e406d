package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"stet/agent/approval"
	"stet/agent/clients"
	"stet/agent/hook"
	"stet/agent/imports"
	"stet/agent/snapshot"
	"stet/index"
	"stet/index/past"
	"stet/markdown"
	"stet/vault"
	"stet/vault/durable"
	"stet/vault/lineage"
	"stet/vault/session"
	"stet/vault/settings"
)

// ContextOptions say what an agent is given of the vault when a conversation begins.
type ContextOptions struct {
	Budget int       // tokens; 0 is the setting context.budget_tokens, negative no bound
	Query  string    // what the memories are about; "" takes the most important ones
	At     string    // as the vault was at a revision
	AsOf   time.Time // or at a time; without either, now
	// Session is noted to have been given the snapshot; it begins with that if need be.
	Session string
	Agent   string // whose session it is
	Labels  bool   // say of each memory who wrote it, which costs the history of the oldest
	// NoIndex leaves out what only the search index knows: memories, pinned or not, and skills.
	NoIndex bool
	look    *vault.Look // at the files, for who has looked
}

// noBudget is more than any vault holds.
const noBudget = 1 << 30

// Context makes a snapshot of the vault: USER.md, MEMORY.md, what is pinned and the best memories. It
// fails with [ErrUsage] for a budget that has no room for anything, and with [vault.ErrNoRevision].
func (m Memories) Context(ctx context.Context, o ContextOptions) (*snapshot.Snapshot, error) {
	a := m.a
	if o.Session != "" {
		var err error
		if o.Session, err = a.noting(ctx, o.Agent, o.Session); err != nil {
			return nil, err
		}
	}
	then, err := a.moment(ctx, o.AsOf)
	if err != nil {
		return nil, err
	}
	if then != nil {
		o.At = string(then.Rev)
	}
	take := snapshot.Options{Query: o.Query, Budget: o.Budget, Now: a.o.Now(), Look: o.look}
	switch {
	case o.Budget == 0:
		take.Budget = a.Settings().Int(settings.ContextBudget)
	case o.Budget < 0:
		take.Budget = noBudget
	}
	var x *index.Index
	if !o.NoIndex {
		x, err = a.openIndex(false, nil)
	}
	if o.At != "" && err == nil {
		x, take.Past, err = a.pastOf(ctx, o.At)
	}
	if err != nil {
		return nil, err
	}
	s, err := snapshot.Take(ctx, a.v, x, take)
	if errors.Is(err, snapshot.ErrBudget) {
		return nil, Usagef("%v", err).Suggest("give more to --budget; 0 is no bound")
	}
	if err == nil && o.Labels {
		err = a.labelItems(ctx, s.Items)
	}
	if err == nil && s.LeftOut.Entries > 0 {
		a.warn("%s of USER.md and MEMORY.md do not fit into %s: give a larger budget, or shorten the notebooks",
			Plural(s.LeftOut.Entries, "entry", "entries"), Plural(s.Budget, "token"))
	}
	if err == nil && o.Session != "" {
		err = session.NoteContext(ctx, a.v, o.Agent, o.Session, a.o.Now(), markdown.FrozenContext{
			Commit: string(s.Commit), Budget: s.Budget, Query: s.Query, SHA256: s.SHA256, Dirty: texts(s.Dirty)})
	}
	return s, err
}

func texts(paths []vault.Path) (out []string) {
	for _, p := range paths {
		out = append(out, string(p))
	}
	return out
}

// ContextOf makes the snapshot that a session was given once more. It fails where it comes out
// otherwise: what was not committed then is nowhere.
func (m Memories) ContextOf(ctx context.Context, ref string) (*snapshot.Snapshot, error) {
	known, c, err := m.noted(ctx, ref)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return nil, vault.WithHint(fmt.Errorf("session %s: %w: it noted no snapshot", known.ID, vault.ErrNotFound),
			`"stet context --session ID" notes what a session is given`)
	}
	s, err := m.Context(ctx, ContextOptions{Budget: c.Budget, Query: c.Query, At: c.Commit})
	if err != nil || s.SHA256 == c.SHA256 {
		return s, err
	}
	why := "the settings, or what may be shown, have changed since"
	if len(c.Dirty) > 0 {
		why = "not committed then: " + strings.Join(c.Dirty, ", ")
	}
	return nil, vault.WithHint(
		fmt.Errorf("session %s: the snapshot that it was given cannot be made again: %s", known.ID, why),
		`"stet context --at %.10s" shows what was committed`, c.Commit)
}

// noted is what a session, sealed or open, says of its snapshot; nil is nothing.
func (m Memories) noted(ctx context.Context, ref string) (session.Known, *markdown.FrozenContext, error) {
	open, err := session.FindOpen(m.a.v, ref)
	if err == nil && open.Facts.Context != nil {
		return open.Known(), open.Facts.Context, nil
	}
	if err != nil && !errors.Is(err, session.ErrUnknownSession) {
		return session.Known{}, nil, err
	}
	known, data, ferr := session.Find(ctx, m.a.v, ref)
	if errors.Is(ferr, session.ErrUnknownSession) && err == nil {
		return open.Known(), nil, nil
	}
	return known, markdown.ParseTranscript(data).Context, ferr
}

// pastOf is the vault as a revision has it, and an index of that.
func (a *App) pastOf(ctx context.Context, rev string) (*index.Index, *snapshot.Past, error) {
	c, err := a.v.History().CommitAt(ctx, rev)
	if err != nil {
		return nil, nil, err
	}
	files, err := a.v.History().View(ctx, string(c.Rev))
	if err != nil {
		return nil, nil, err
	}
	src := past.New(files, c.When)
	x, err := a.sourceIndex(src, c.When)
	return x, &snapshot.Past{Files: files, Commit: c, List: src.Files}, err
}

// An Embedding is the result of putting a snapshot into a file.
type Embedding struct {
	*snapshot.Snapshot
	File      string `json:"file"` // absolute, behind links
	Unchanged bool   `json:"unchanged"`
	Diff      string `json:"diff,omitempty"` // of a dry run
	Removed   bool   `json:"removed,omitempty"`
	DryRun    bool   `json:"dry_run,omitempty"`
}

// Embed keeps a snapshot, nil to take the block out, as the one managed block of a file of the user's,
// outside of what stet keeps in the vault; a file that does not exist is made. Every other byte of it
// stays, and what kind of file it is. Agents are refused: programs take orders from such files. It fails
// as [snapshot.Embed] does.
func (m Memories) Embed(ctx context.Context, w Write, s *snapshot.Snapshot, name string) (*Embedding, error) {
	a := m.a
	if err := a.Environment.check(w, "managed", name); err != nil {
		return nil, err
	}
	file, err := a.target(name)
	if err != nil {
		return nil, err
	}
	out, block := &Embedding{Snapshot: s, File: file, DryRun: w.DryRun, Removed: s == nil}, ""
	if s != nil {
		block = s.Text
	}
	root, err := durable.OpenRoot(filepath.Dir(file), a.o.Hook)
	if err != nil {
		return nil, fmt.Errorf("context --into %q: %w", name, err)
	}
	defer a.closed(file, root)
	base, perm := filepath.Base(file), fs.FileMode(0o644)
	was, info, err := root.ReadFile(base, vault.MaxFileSize)
	switch {
	case err == nil:
		perm = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist) || s == nil:
		return nil, fmt.Errorf("context --into: %w", err)
	}
	data, err := snapshot.Embed(was, block)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", name, err)
	}
	if out.Unchanged = info != nil && bytes.Equal(data, was); out.Unchanged || w.DryRun {
		out.Diff = markdown.Diff(was, data, "a/"+base, "b/"+base, 3)
		return out, nil
	}
	if info == nil {
		was = nil
	} else if was == nil {
		was = []byte{}
	}
	return out, a.swap("context", file, perm, was, append([]byte{}, data...))
}

// target is the file that a name leads to, through links. One that stet keeps in the vault is refused, and
// a link in the vault: whoever made the vault made that, too.
func (a *App) target(name string) (string, error) {
	file := a.expand(name)
	real, err := filepath.EvalSymlinks(file)
	if err != nil {
		if _, lerr := os.Lstat(file); lerr == nil {
			return "", fmt.Errorf("context --into %q: the link leads nowhere: %w", name, vault.ErrInvalid)
		}
		dir, derr := filepath.EvalSymlinks(filepath.Dir(file))
		if derr != nil {
			return "", fmt.Errorf("context --into: %w", derr)
		}
		real = filepath.Join(dir, filepath.Base(file))
	}
	root, err := filepath.EvalSymlinks(a.Root())
	if err != nil {
		return "", err
	}
	for _, at := range []struct{ root, file string }{{a.Root(), file}, {root, real}} {
		inside, err := filepath.Rel(at.root, at.file)
		if err != nil || !filepath.IsLocal(inside) {
			continue
		}
		kept := vault.ClassOf(vault.Path(filepath.ToSlash(inside))) != vault.ClassNote
		if kept || filepath.Join(root, inside) != real {
			return "", Usagef("--into %q: stet keeps that file, or it is a link in the vault", name).
				Suggest("name one outside of the vault, as CLAUDE.md of a project")
		}
	}
	return real, nil
}

// brief is the snapshot that the conversation begins with and what there is to know beside it.
func (h Hooks) brief(ctx context.Context, o HookOptions) (string, error) {
	notes, err := h.notes(ctx, o)
	if err != nil {
		return "", err
	}
	look, ready := h.look(ctx)
	if !ready {
		notes = append(notes, "The search index is being made: memories are not shown here; memory_search finds them.")
	}
	beside := hook.Fence(notes...)
	budget := min(h.a.Settings().Int(settings.ContextBudget), (mostBrief-utf8.RuneCountInString(beside))/4)
	s, err := h.a.Memories().Context(ctx, ContextOptions{Budget: budget, Session: o.Session, Agent: o.Client.Name,
		NoIndex: !ready, look: look})
	if err = passing(err); err != nil {
		return beside, err
	}
	if s == nil || empty(s) {
		return beside, nil
	}
	return s.Text + beside, nil
}

// mostUnread are the bytes of files that a hook may index itself: a tenth of a second of work.
const mostUnread = 256 << 10

// indexReady reports whether the search index can answer a hook, as far as it goes.
func (h Hooks) indexReady(ctx context.Context) bool {
	if x, err := h.a.openIndex(false, nil); err != nil || x.Built() {
		return err == nil
	}
	_, ready := h.look(ctx)
	return ready
}

// look looks at the files, and reports whether the search index can answer a hook in time. Where it cannot,
// [Hooks.Sweep] makes it.
func (h Hooks) look(ctx context.Context) (look *vault.Look, ready bool) {
	x, err := h.a.openIndex(false, nil)
	if err != nil {
		return nil, false
	}
	n, err := x.Unread(func() (files []vault.File, err error) {
		if look, err = h.a.v.Look(ctx); err == nil {
			files = look.Files()
		}
		return files, err
	})
	return look, err == nil && n <= mostUnread
}

// empty reports a snapshot that says nothing.
func empty(s *snapshot.Snapshot) bool {
	written := slices.ContainsFunc(s.Notebooks, func(n snapshot.Notebook) bool { return n.Characters > 0 })
	return !written && len(s.Items)+len(s.Skills) == 0
}

// notes are what has changed since the client's last conversation, and what waits for the person.
func (h Hooks) notes(ctx context.Context, o HookOptions) (notes []string, err error) {
	var was, now lastBrief
	data, err := h.a.v.State().Seen(lastBriefName + o.Client.Name)
	if err != nil || json.Unmarshal(data, &was) != nil {
		was = lastBrief{}
	}
	head, err := h.a.v.Head()
	if err != nil {
		return nil, err
	}
	now = lastBrief{Head: head, Offered: true, Session: o.Session, Started: h.a.o.Now().UTC(), Proposed: was.Proposed}
	if h.a.place.Fallback {
		notes = append(notes, fmt.Sprintf("This folder belongs to no vault: memories are in the default vault, %q.",
			h.a.Root()))
	}
	if o.Source == "compact" {
		notes = append(notes, "The context was compacted: save with memory_save what must survive and is not here.")
	}
	if was.Head != head {
		if changed := h.changes(ctx, was.Head); changed != "" {
			notes = append(notes, changed)
		}
	}
	if waiting, _, lerr := approval.List(ctx, h.a.v); lerr == nil {
		if now.Proposed = len(waiting); now.Proposed > 0 && now.Proposed != was.Proposed {
			notes = append(notes, fmt.Sprintf(`%s for the user: "stet review --proposed".`,
				Plural(now.Proposed, "proposal waits", "proposals wait")))
		}
	}
	n := 0
	if !was.Offered { // it lists every file of the client's
		n = h.older(o.Client)
	}
	if n > 0 {
		notes = append(notes, fmt.Sprintf(`%s of %s on this computer may be missing in the vault: tell the user once `+
			`that "stet import %s" brings them in; nothing is taken unasked.`,
			Plural(n, "older conversation"), o.Client.Title, o.Client.Name))
	}
	return notes, passing(h.a.v.State().SetSeen(ctx, lastBriefName+o.Client.Name, func([]byte) ([]byte, error) {
		return json.Marshal(now)
	}))
}

// mostUndone bounds the commits that a brief names.
const mostUndone = 5

// changes says what agents changed of what the vault says since a revision, and how exactly that is taken back; ""
// where nothing was, or the person has reviewed it.
func (h Hooks) changes(ctx context.Context, since vault.Revision) string {
	if since == "" {
		return ""
	}
	items, _ := lineage.Unreviewed(ctx, h.a.v.Whole(), since, recent) // it is shown, and nothing depends on it
	n, named := 0, ""
	for _, c := range items {
		switch c.Op {
		case vault.OpSeal, vault.OpImport, "":
			continue
		}
		if c.Reverted || !c.ByMachine() {
			continue // taken back, or the person's own; what they approved is not among them
		}
		if n++; n <= mostUndone {
			named += " " + c.Rev.Short()
		}
	}
	switch {
	case n == 0:
		return ""
	case n > mostUndone:
		return fmt.Sprintf(`%s by agents since your last session; the user can look at them and take any back `+
			`with "stet review".`, Plural(n, "change"))
	}
	return fmt.Sprintf(`%s by agents since your last session; the user can take back exactly these with `+
		`"stet revert%s".`, Plural(n, "change"), named)
}

// older counts the files of a client's conversations, where none of them was ever imported.
func (h Hooks) older(c clients.Client) int {
	source, ok := imports.Find(c.Name)
	read, err := h.a.v.State().Seen("import-" + c.Name)
	if !ok || err != nil || len(read) > 0 {
		return 0
	}
	files, _, err := source.Count(source.Find(h.a.importHost()))
	if err != nil {
		return 0
	}
	return max(0, files-1) // without the one that begins
}
