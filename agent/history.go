package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"stet/templates"
	"stet/vault"
	"stet/vault/lineage"
)

// History holds the use cases of what was done to the vault: read it, take it back, review it.
type History struct{ a *App }

// LogOptions selects commits.
type LogOptions struct {
	vault.LogOptions
	// Ref is a memory, file or folder: only the commits that changed it, a file followed through
	// moves. "" is all.
	Ref   string
	Patch bool // with the diff of each commit but merges
}

// A Log is commits, newest first.
type Log struct {
	Commits []Commit `json:"commits"`
}

// Log lists commits. It fails with [vault.ErrInvalid] for an unknown operation, and with
// [vault.ErrNotFound] or [vault.ErrNoRevision] for a name that stands for nothing.
func (h History) Log(ctx context.Context, o LogOptions) (*Log, error) {
	if o.Ref != "" {
		var err error
		if o.Path, err = h.path(ctx, o.Ref); err != nil {
			if withheld(err) != nil && strings.ContainsAny(o.Ref, "./") {
				return &Log{Commits: []Commit{}}, nil // as of a path that no commit has
			}
			return nil, err
		}
		o.Follow = true
	}
	names, err := h.namesOf(ctx, o)
	if err != nil {
		return nil, err
	}
	out := &Log{Commits: []Commit{}}
	for c, err := range h.a.v.History().Log(ctx, o.LogOptions) {
		if err != nil {
			return nil, err
		}
		view := ViewCommit(c)
		view.Subject = h.a.marked(view.Subject)
		if o.Patch && len(c.Parents) < 2 && !c.Cut() { // a merge repeats its parents
			paths, followed := names[c.Rev]
			if !followed && o.Path != "" {
				paths = []vault.Path{o.Path} // a folder for instance
			}
			diffs, err := h.a.v.History().Diff(ctx, c.Before(), string(c.Rev), paths)
			if err != nil {
				return nil, err
			}
			view.Diff = textOf(diffs)
		}
		out.Commits = append(out.Commits, view)
	}
	return out, nil
}

// namesOf is what a followed file was called in each commit, for their diffs.
func (h History) namesOf(ctx context.Context, o LogOptions) (map[vault.Revision][]vault.Path, error) {
	names := map[vault.Revision][]vault.Path{}
	if !o.Patch || o.Path == "" {
		return names, nil
	}
	for version, err := range h.a.v.Whole().History().Versions(ctx, o.Rev, o.Path) {
		if err != nil {
			return nil, err
		}
		paths := []vault.Path{version.Path}
		if version.From != "" {
			paths = append(paths, version.From)
		}
		names[version.Commit.Rev] = paths
		if o.Limit > 0 && len(names) > o.Limit && o.Op == "" && o.Actor == "" && o.Session == "" {
			break // nothing is left out, so no more can be shown
		}
	}
	return names, nil
}

// path is that of a memory or, where the word names none, the path that the word is: history
// knows files that are gone from the disk.
func (h History) path(ctx context.Context, word string) (vault.Path, error) {
	m, err := h.a.named(ctx, h.a.ref(word))
	if err == nil {
		return m.Path, nil
	}
	p, bad := h.a.path(word)
	if !errors.Is(err, vault.ErrNotFound) || bad != nil || !strings.ContainsAny(word, "./") {
		return "", err
	}
	return p, nil
}

// An Origin is the commit that a version, a line or a change comes from.
type Origin struct {
	Rev      vault.Revision `json:"rev"`
	When     time.Time      `json:"when"` // UTC
	By       string         `json:"by"`
	Via      string         `json:"via,omitempty"` // the agent among whose tools the user wrote
	Email    string         `json:"email"`
	Kind     string         `json:"kind"` // "person", for commits of plain git too, or "agent"
	Op       vault.Op       `json:"op,omitempty"`
	Actor    string         `json:"actor,omitempty"`
	Door     string         `json:"door,omitempty"`
	Session  string         `json:"session,omitempty"`
	Run      string         `json:"run,omitempty"`
	Rule     string         `json:"rule,omitempty"`
	Approved string         `json:"approved_by,omitempty"` // the user who let an agent write it, here
	Subject  string         `json:"subject"`
	Why      string         `json:"why,omitempty"`
}

// utc is a time as JSON shows it: UTC, whole seconds; the zero time where JSON cannot hold it.
func utc(t time.Time) time.Time {
	t = t.UTC().Truncate(time.Second)
	if t.Year() < 0 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

// VersionsOptions selects versions of one file.
type VersionsOptions struct {
	Ref   string // a memory or file; an entry of a notebook as FILE#HASH
	Rev   string // start here; "" is HEAD
	Limit int    // 0 is all
	Patch bool   // with the diff of each version
}

// Versions are those of one file, newest first.
type Versions struct {
	Path        vault.Path `json:"path"`
	Uncommitted bool       `json:"uncommitted"` // the file on disk differs from HEAD's
	Versions    []Version  `json:"versions"`
}

// A Version is one state of a file. Added and Removed are lines.
type Version struct {
	Origin
	vault.Change
	Added   int    `json:"added"`
	Removed int    `json:"removed"`
	Diff    string `json:"diff,omitempty"`
}

// Versions lists the versions of a file, followed through renames, the archive and merges. It
// fails with [vault.ErrNotFound] for a name that stands for no file, now or ever.
func (h History) Versions(ctx context.Context, o VersionsOptions) (*Versions, error) {
	p, err := h.path(ctx, o.Ref)
	if err != nil {
		return nil, err
	}
	out := &Versions{Path: p, Versions: []Version{}}
	ancestry := h.a.v.History().Ancestry()
	if out.Uncommitted, err = h.uncommitted(ancestry, p); err != nil {
		return nil, err
	}
	origin := h.a.origins()
	for version, err := range h.a.v.History().Versions(ctx, o.Rev, p) {
		if err != nil {
			return nil, err
		}
		d, err := ancestry.Diff(version)
		if err != nil {
			return nil, err
		}
		view := Version{Origin: origin(version.Commit), Change: version.Change, Added: d.Added, Removed: d.Removed}
		if o.Patch {
			view.Diff = d.Text
		}
		if out.Versions = append(out.Versions, view); len(out.Versions) == o.Limit {
			break
		}
	}
	if len(out.Versions) == 0 && !out.Uncommitted {
		return nil, &vault.NotFoundError{Ref: o.Ref}
	}
	return out, nil
}

func (h History) uncommitted(a *vault.Ancestry, p vault.Path) (bool, error) {
	head, err := a.At("", p)
	if err != nil {
		return false, err
	}
	data, _, err := h.a.v.ReadFile(p)
	if errors.Is(err, fs.ErrNotExist) {
		return head.Hash != "", nil
	}
	return err == nil && vault.ReadMemory(p, data).Hash != head.Hash, err
}

// EntryVersions are those of one entry of a notebook, newest first.
type EntryVersions struct {
	Path     string         `json:"path"` // FILE#HASH
	Versions []EntryVersion `json:"versions"`
}

// An EntryVersion is one state of an entry: its texts before and after, "" where there is none.
type EntryVersion struct {
	Origin
	lineage.EntryVersion
}

// IsEntry reports whether a word has the form FILE#HASH of an entry of a notebook.
func (h History) IsEntry(word string) bool {
	_, _, ok := cutAddress(word)
	return ok
}

// EntryVersions lists the versions of the entry FILE#HASH, followed through its replacements. It
// fails with [vault.ErrNotFound] when no commit has such an entry.
func (h History) EntryVersions(ctx context.Context, o VersionsOptions) (*EntryVersions, error) {
	file, hash, _ := cutAddress(o.Ref)
	p, err := h.path(ctx, file)
	if err != nil {
		return nil, err
	}
	out := &EntryVersions{Path: string(p) + "#" + hash}
	origin := h.a.origins()
	for v, err := range lineage.EntryVersions(ctx, h.a.v, o.Rev, p, hash) {
		if err != nil {
			return nil, err
		}
		out.Versions = append(out.Versions, EntryVersion{origin(v.Commit), v})
		if len(out.Versions) == o.Limit {
			break
		}
	}
	if len(out.Versions) == 0 {
		return nil, vault.WithHint(&vault.NotFoundError{Ref: o.Ref},
			"no commit has such an entry; \"stet show %[1]s\" has those of now, \"stet adopt %[1]s\" commits them",
			templates.Quote(p))
	}
	return out, nil
}

// A Blame is a file line by line.
type Blame struct {
	Path  vault.Path  `json:"path"`
	Lines []BlameLine `json:"lines"`
}

// A BlameLine is one line of a file. Origin is nil for one that is not committed.
type BlameLine struct {
	Number int        `json:"number"` // from 1
	Text   string     `json:"text"`   // without its line break
	From   vault.Path `json:"from,omitempty"`
	Was    int        `json:"was,omitempty"` // its number in the file From of the commit
	Origin *Origin    `json:"origin,omitempty"`
}

// Blame finds for each line of a file the commit that it comes from, through renames and merges.
// rev "" is the file on disk. It fails with [vault.ErrNotFound].
func (h History) Blame(ctx context.Context, ref, rev string) (*Blame, error) {
	p, err := h.path(ctx, ref)
	if err != nil {
		return nil, err
	}
	b, err := lineage.BlameFile(ctx, h.a.v, rev, p)
	if err != nil {
		return nil, err
	}
	origins, origin := map[vault.Revision]*Origin{}, h.a.origins()
	for rev, c := range b.Commits {
		o := origin(c)
		origins[rev] = &o
	}
	out := &Blame{Path: p, Lines: []BlameLine{}}
	for _, l := range b.Lines {
		text := strings.ToValidUTF8(strings.TrimRight(l.Text, "\r\n"), "\ufffd")
		line := BlameLine{Number: l.Number, Text: text, Origin: origins[l.Rev]}
		if line.Origin != nil {
			line.From, line.Was = l.Path, l.Was
		}
		out.Lines = append(out.Lines, line)
	}
	return out, nil
}

// DiffOptions says what to compare.
type DiffOptions struct {
	// Words are at most two revisions, or REV..REV, then memories or paths; no path is all.
	Words []string
	// Literal is how many of Words may be revisions.
	Literal int
	Stat    bool // count lines, without the text
}

// A Diff is what differs between two states.
type Diff struct {
	From  string           `json:"from"` // "" is HEAD
	To    string           `json:"to"`   // "" is the files on disk
	Files []vault.FileDiff `json:"files"`
}

// Diff compares HEAD with the files on disk, a revision with them, or two revisions. The first word that git knows as
// no revision is a path, and so is all that follows. It fails with [vault.ErrNotFound] for a word that is neither.
func (h History) Diff(ctx context.Context, o DiffOptions) (*Diff, error) {
	words := o.Words
	var revs []string
	for i := 0; i < o.Literal && len(revs) < 2; i++ {
		more, err := h.revisions(words[0], len(revs) == 0)
		if err != nil {
			return nil, err
		}
		if more == nil {
			break
		}
		revs, words = append(revs, more...), words[1:]
	}
	var paths []vault.Path
	for _, word := range words {
		p, err := h.compared(ctx, word, len(revs) > 0)
		if err != nil {
			return nil, err
		}
		paths = append(paths, p)
	}
	revs = append(revs, "", "")
	diffs, err := h.a.v.History().Diff(ctx, revs[0], revs[1], paths)
	for i := range diffs {
		if o.Stat {
			diffs[i].Text = ""
		}
	}
	return &Diff{From: revs[0], To: revs[1], Files: append([]vault.FileDiff{}, diffs...)}, err
}

// revisions reads a word as one revision or, where it is the first, as a range REV..REV; nil when
// it is neither.
func (h History) revisions(word string, first bool) ([]string, error) {
	candidates := []string{word}
	if a, b, ok := strings.Cut(word, ".."); ok && first && a != "" {
		candidates = []string{a, cmp.Or(b, "HEAD")}
	}
	for _, c := range candidates {
		switch _, err := h.a.v.History().ResolveRevision(c); {
		case errors.Is(err, vault.ErrNoRevision):
			return nil, nil
		case err != nil:
			return nil, err
		}
	}
	return candidates, nil
}

// compared is the path of a memory, else a path, which may be of the past where a revision was
// named. A word that is nothing is an error: an empty diff would look like "no difference".
func (h History) compared(ctx context.Context, word string, historic bool) (vault.Path, error) {
	m, err := h.a.named(ctx, h.a.ref(word))
	if err == nil {
		return m.Path, nil
	}
	if !errors.Is(Told(err), vault.ErrNotFound) {
		return "", err
	}
	p, err := h.a.path(word)
	if err != nil || historic || h.a.exists(p) || strings.HasSuffix(word, ".md") {
		return p, err
	}
	return "", vault.WithHint(fmt.Errorf("%q is neither a revision, a memory nor a path: %w", word, vault.ErrNotFound),
		`"stet log" shows revisions, "stet list" memories`)
}

func textOf(diffs []vault.FileDiff) string {
	var b strings.Builder
	for _, d := range diffs {
		b.WriteString(d.Text)
	}
	return b.String()
}
