package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strings"
	"time"

	"stet/vault/gitstore"
	"stet/vault/store"
)

// History reads and reverts the commits of a vault. It is safe for concurrent use.
type History struct{ v *Vault }

// History is the vault's.
func (v *Vault) History() *History { return &History{v} }

// A Commit is one commit of the vault's history.
type Commit struct {
	Rev         Revision
	Parents     []Revision
	Author      string
	AuthorEmail string
	When        time.Time
	Subject     string
	Body        string // between subject and trailers
	Op          Op     // "" for a commit made with git
	Trailers    trailers
	Changes     []Change // filled when asked for

	committer gitstore.Signature
	here      bool // what [History.MadeHere] says of it, where a walk asked
	cut       bool // a shallow clone's history ends here: what the commit itself brought is unknown
}

// Before is the first parent, or [store.EmptyTree] where there is none.
func (c Commit) Before() string {
	if len(c.Parents) == 0 {
		return store.EmptyTree
	}
	return string(c.Parents[0])
}

// Cut reports that a shallow clone's history ends here: what the commit itself brought is unknown.
func (c Commit) Cut() bool { return c.cut }

// Nameless reports a commit that git's configuration knew no author for.
func (c Commit) Nameless() bool {
	nobody := gitstore.Fallback()
	return c.Author == nobody.Name && c.AuthorEmail == nobody.Email
}

// MadeHere tells the commits that stet made in this clone, whatever name git had then: the reflog of HEAD, which no
// clone brings, names the last one of each update. It has to be asked about each commit of a walk, newest first, and
// knows the newest so many at least; 0 is all.
func (h *History) MadeHere(newest int) (func(Commit) bool, error) {
	tips, err := gitstore.Made(h.v.store.Repo(), newest)
	before := map[Revision]Revision{} // what HEAD was before the update that brought a commit
	for tip, old := range tips {
		before[Revision(tip.String())] = Revision(old.String())
	}
	return func(c Commit) bool {
		old, here := before[c.Rev]
		if here && len(c.Parents) == 1 && c.Parents[0] != old {
			before[c.Parents[0]] = old
		}
		return here
	}, err
}

func commitOf(c gitstore.Commit) Commit {
	out := Commit{Rev: Revision(c.ID.String()), Author: c.Author.Name, AuthorEmail: c.Author.Email, When: c.When,
		committer: c.Committer, cut: c.Cut}
	out.Subject, out.Body, out.Trailers = parseMessage(c.Message)
	out.Op = Op(out.Trailers.Get("Stet-Op"))
	for _, p := range c.Parents {
		out.Parents = append(out.Parents, Revision(p.String()))
	}
	return out
}

// LogOptions choose commits; the zero value is every commit that touches the
// vault.
type LogOptions struct {
	Rev     string // start here; "" is HEAD
	Without string // leave out the history of this revision; one that is gone leaves out nothing
	Path    Path   // only commits that change this file, or files below it
	Follow  bool   // follow Path as by [History.Versions] when it is a file
	Limit   int    // 0 = all
	Op      Op
	Actor   string
	Session string
	Since   time.Time
	Until   time.Time
	Changes bool // fill Commit.Changes
}

// Log yields commits newest first. Merge commits are compared with their first
// parent. Cost: one tree comparison per commit walked.
func (h *History) Log(ctx context.Context, o LogOptions) iter.Seq2[Commit, error] {
	return func(yield func(Commit, error) bool) {
		from, err := h.v.store.Resolve(o.Rev)
		if o.Op = o.Op.meant(); o.Op != "" {
			err = errors.Join(err, o.Op.check())
		}
		if err != nil {
			yield(Commit{}, err)
			return
		}
		l := logger{v: h.v, o: o, objects: h.v.store.Repo().Stage()}
		l.o.Changes = o.Changes || h.v.o.Reader != ""
		if l.o.Follow, err = l.isFile(from); err != nil {
			yield(Commit{}, h.v.store.Explain(err))
			return
		}
		found := 0
		for gc, err := range l.walk(from) {
			if err == nil {
				err = context.Cause(ctx)
			}
			if err != nil {
				yield(Commit{}, h.v.store.Explain(err))
				return
			}
			if !o.Since.IsZero() && gc.Committed.Before(o.Since) {
				continue
			}
			c, ok, err := l.match(gc)
			if err != nil {
				yield(Commit{}, h.v.store.Explain(err))
				return
			}
			if !ok {
				continue
			}
			if c, err = h.v.tellCommit(ctx, c); err != nil {
				yield(Commit{}, err)
				return
			}
			if !o.Changes {
				c.Changes = nil
			}
			if !yield(c, nil) {
				return
			}
			if found++; found == o.Limit {
				return
			}
		}
	}
}

type logger struct {
	v       *Vault
	o       LogOptions
	objects *gitstore.Objects
}

func (l *logger) match(gc gitstore.Commit) (Commit, bool, error) {
	c := commitOf(gc)
	switch o := l.o; {
	case !o.Until.IsZero() && gc.Committed.After(o.Until),
		o.Op != "" && c.Op != o.Op,
		o.Actor != "" && c.Trailers.Get("Stet-Actor") != o.Actor && c.Author != o.Actor,
		o.Session != "" && c.Trailers.Get("Stet-Session") != o.Session:
		return c, false, nil
	}
	before, err := l.parentTree(gc)
	if err != nil {
		return c, false, err
	}
	if !l.follows() {
		if ok, err := l.touches(before, gc.Tree); err != nil || !ok {
			return c, false, err
		}
	}
	if !l.o.Changes {
		return c, true, nil
	}
	c.Changes, err = l.v.store.TreeChanges(l.objects, before, gc.Tree)
	return c, err == nil, err
}

func (l *logger) follows() bool { return l.o.Follow && l.o.Path != "" }

// isFile reports whether Path is to be followed and can be: a folder has no
// history of its own, only that of what is in it.
func (l *logger) isFile(from gitstore.ID) (bool, error) {
	if !l.follows() || from.IsZero() {
		return false, nil
	}
	tree, err := l.objects.TreeOf(from)
	if err != nil {
		return false, err
	}
	e, ok, err := l.objects.Lookup(tree, l.v.store.GitPath(l.o.Path))
	return ok && !e.IsDir() || !ok && l.o.Path.IsMarkdown(), err
}

// walk yields the commits to look at: all of them, or those that changed one
// file wherever it was.
func (l *logger) walk(from gitstore.ID) iter.Seq2[gitstore.Commit, error] {
	if !l.follows() || from.IsZero() {
		without := gitstore.ID{}
		if l.o.Without != "" {
			var err error
			// Rewritten away, nothing of it is left to leave out.
			if without, err = l.v.store.Resolve(l.o.Without); err != nil && !errors.Is(err, ErrNoRevision) {
				return func(yield func(gitstore.Commit, error) bool) { yield(gitstore.Commit{}, err) }
			}
		}
		return l.v.store.Repo().History(from, without)
	}
	return func(yield func(gitstore.Commit, error) bool) {
		a := l.v.History().Ancestry()
		start, err := a.walk.At(from, l.v.store.GitPath(l.o.Path))
		if err != nil {
			yield(gitstore.Commit{}, err)
			return
		}
		for step, err := range a.walk.History(start) {
			if err != nil {
				yield(gitstore.Commit{}, err)
				return
			}
			if !yield(l.objects.Commit(step.Commit)) {
				return
			}
		}
	}
}

func (l *logger) parentTree(gc gitstore.Commit) (gitstore.ID, error) {
	if len(gc.Parents) == 0 {
		return gitstore.ID{}, nil
	}
	return l.objects.TreeOf(gc.Parents[0])
}

// touches compares only the ids along the path.
func (l *logger) touches(a, b gitstore.ID) (bool, error) {
	at := strings.TrimSuffix(l.v.store.GitPath(l.o.Path), "/")
	x, _, err := l.objects.Lookup(a, at)
	if err != nil {
		return false, err
	}
	y, _, err := l.objects.Lookup(b, at)
	return x.ID != y.ID, err
}

// Tip is the commit that HEAD is at and when its author made it, "" before the first.
func (h *History) Tip() (Revision, time.Time, error) {
	head, err := h.v.store.Repo().Head()
	if err != nil || head.ID.IsZero() {
		return "", time.Time{}, h.v.store.Explain(err)
	}
	c, err := h.v.store.Repo().Stage().Commit(head.ID)
	return Revision(head.ID.String()), c.When, h.v.store.Explain(err)
}

// CommitAt reads one commit with its changes.
func (h *History) CommitAt(ctx context.Context, rev string) (Commit, error) {
	id, err := h.v.store.Resolve(rev)
	if err != nil {
		return Commit{}, err
	}
	if id.IsZero() {
		return Commit{}, fmt.Errorf("%q: %w: nothing is committed yet", rev, ErrNoRevision)
	}
	l := logger{v: h.v, objects: h.v.store.Repo().Stage()}
	gc, err := l.objects.Commit(id)
	if err != nil {
		return Commit{}, h.v.store.Explain(err)
	}
	before, err := l.parentTree(gc)
	if err != nil {
		return Commit{}, h.v.store.Explain(err)
	}
	c := commitOf(gc)
	if c.Changes, err = h.v.store.TreeChanges(l.objects, before, gc.Tree); err != nil {
		return c, h.v.store.Explain(err)
	}
	return h.v.tellCommit(ctx, c)
}

// movedSince maps the paths that the oldest of the commits knew to where the
// same files are now.
func (h *History) movedSince(ctx context.Context, commits []Commit) (map[Revision]map[Path]Path, error) {
	pending := map[Revision]bool{}
	for _, c := range commits {
		pending[c.Rev] = true
	}
	out, later := map[Revision]map[Path]Path{}, map[Path]Path{}
	for c, err := range h.Log(ctx, LogOptions{Changes: true}) {
		if err != nil {
			return nil, err
		}
		if pending[c.Rev] {
			at := make(map[Path]Path, len(later))
			for from, to := range later {
				at[from] = to
			}
			out[c.Rev] = at
			if delete(pending, c.Rev); len(pending) == 0 {
				break
			}
		}
		// A path renamed in this commit ends where its new name ends. All new
		// names are looked up before any is forgotten: files may trade names.
		renames, next := renamesOf(c), maps.Clone(later)
		for _, to := range renames {
			delete(next, to)
		}
		for from, to := range renames {
			next[from] = cmp.Or(later[to], to)
		}
		later = next
	}
	return out, nil
}

// renamesOf maps old names to new ones. The trailers win over what the bytes
// alone suggest.
func renamesOf(c Commit) map[Path]Path {
	out := map[Path]Path{}
	for _, ch := range c.Changes {
		if ch.Status == Renamed {
			out[ch.From] = ch.Path
		}
	}
	for _, m := range c.Trailers.moves() {
		out[m[0]] = m[1]
	}
	return out
}

// joinMoves makes one rename of a file that a commit moved and edited at once,
// as its trailers say.
func joinMoves(changes []Change, moves [][2]Path) []Change {
	at := map[Path]int{}
	for i, c := range changes {
		at[c.Path] = i
	}
	dead := map[int]bool{}
	for _, m := range moves {
		from, ok := at[m[0]]
		to, ok2 := at[m[1]]
		if ok && ok2 && changes[from].Status == Deleted && changes[to].Status == Added {
			changes[to] = Change{Status: Renamed, Path: m[1], From: m[0], Old: changes[from].Old, New: changes[to].New}
			dead[from] = true
		}
	}
	var out []Change
	for i, c := range changes {
		if !dead[i] {
			out = append(out, c)
		}
	}
	return out
}
