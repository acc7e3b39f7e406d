package vault

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"stet/vault/store"
	"strings"
	"time"

	"stet/markdown"
	"stet/vault/gitstore"
	"stet/vault/names"
)

// A Version is one state in the history of a file, and how it came about: the
// change is against the first parent that knows the file. A file that was moved
// and edited in one commit is Renamed with Old and New apart.
type Version struct {
	Commit Commit
	Change
}

// Versions yields the versions of one file from a revision on ("" is HEAD),
// newest first. It is followed through renames: by the Stet-Moved trailer, by
// the id in its front matter, or by its unchanged bytes; through a time when it
// was deleted, as long as it came back as the same memory; and through merges,
// where a branch that did not change it is passed over, as git log does. Cost:
// one commit and the changed trees along its path for each commit walked.
func (h *History) Versions(ctx context.Context, rev string, p Path) iter.Seq2[Version, error] {
	return h.Ancestry().versions(ctx, rev, p)
}

// versions is [History.Versions]; of many files it reads what they have in common once.
func (a *Ancestry) versions(ctx context.Context, rev string, p Path) iter.Seq2[Version, error] {
	h := a.v.History()
	return func(yield func(Version, error) bool) {
		from, err := a.At(rev, p)
		if err != nil || from.node == nil {
			if err != nil {
				yield(Version{}, err)
			}
			return
		}
		for step, err := range a.walk.History(from.node) {
			if err == nil {
				err = context.Cause(ctx)
			}
			if err != nil {
				yield(Version{}, h.v.store.Explain(err))
				return
			}
			version, ok, err := a.version(step)
			if err != nil {
				yield(Version{}, h.v.store.Explain(err))
				return
			}
			if !ok {
				continue
			}
			shown, err := h.v.shownChanges(ctx, []Change{version.Change}, h.v.hidesChange)
			if err == nil && len(shown) == 0 && h.v.o.Reader != "" {
				err = withheld(string(p))
			}
			if !yield(version, err) || err != nil {
				return
			}
		}
	}
}

// version describes one step; ok is false for a path outside the vault.
func (a *Ancestry) version(s gitstore.FileStep) (Version, bool, error) {
	p, ok := a.v.store.Own(s.Path)
	if !ok {
		return Version{}, false, nil
	}
	c, err := a.commit(s.Commit)
	if err != nil {
		return Version{}, false, err
	}
	out := Version{Commit: c, Change: Change{Path: p, New: Hash(s.Blob.String())}}
	for _, parent := range s.Parents {
		if parent.Blob.IsZero() {
			continue
		}
		out.Old = Hash(parent.Blob.String())
		if from, ok := a.v.store.Own(parent.Path); ok && from != p {
			out.From = from
		}
		break
	}
	out.Status = statusOfHash(out.Old, out.New)
	if out.From != "" {
		out.Status = Renamed
	}
	return out, true, nil
}

// A Point is a file as one commit has it; Hash is "" where there is none.
type Point struct {
	Rev  Revision
	Path Path
	Hash Hash
	node *gitstore.FileNode
}

// When is the committer time of the point's commit.
func (p Point) When() time.Time { return p.node.When() }

// An Ancestry goes back through the history of files one commit at a time. It
// is not safe for concurrent use.
type Ancestry struct {
	v       *Vault
	objects *gitstore.Objects
	walk    *gitstore.FileWalk
	head    gitstore.ID // what HEAD is to be, the zero id: what it is whenever it is asked for
	ids     map[gitstore.ID]string
	last    Commit               // that was read last: many files have it in their histories
	pair    [2]gitstore.ID       // the trees that were compared last
	gone    []gitstore.Delta     // their Markdown files that were changed or removed
	came    map[gitstore.ID]bool // the contents of those that are new
}

// Ancestry starts one.
func (h *History) Ancestry() *Ancestry {
	a := &Ancestry{v: h.v, objects: h.v.store.Repo().Stage(), ids: map[gitstore.ID]string{}}
	a.walk = h.v.store.Repo().WalkFile(a.origin)
	return a
}

// At is the file p in a revision ("" is HEAD); before the first commit it is
// the zero point.
func (a *Ancestry) At(rev string, p Path) (Point, error) {
	id, err := a.head, error(nil)
	if rev != "" || id.IsZero() {
		id, err = a.v.store.Resolve(rev)
	}
	if err != nil || id.IsZero() {
		return Point{}, err
	}
	n, err := a.walk.At(id, a.v.store.GitPath(p))
	if err != nil {
		return Point{}, a.v.store.Explain(err)
	}
	return a.point(n), nil
}

func (a *Ancestry) point(n *gitstore.FileNode) Point {
	p, _ := a.v.store.Own(n.Path) // a path outside the vault stays "": it is none of ours
	return Point{Rev: Revision(n.Commit.String()), Path: p, Hash: Hash(n.Blob.String()), node: n}
}

// Before is where the file was one commit earlier. changed is false when one
// parent has the very same file at the same path, which then is the only one
// returned.
func (a *Ancestry) Before(p Point) (parents []Point, changed bool, err error) {
	nodes, changed, err := a.walk.Parents(p.node)
	for _, n := range nodes {
		parents = append(parents, a.point(n))
	}
	return parents, changed, a.v.store.Explain(err)
}

// Read is the content that stood at a point. It fails with [ErrRefused] for what is marked as private, or has
// the id of what was, where an agent asks: only who knows the path, as [History.Versions] does, can tell more.
func (a *Ancestry) Read(h Hash) ([]byte, error) {
	data, err := a.objects.Content(string(h))
	if err == nil && a.v.o.Reader != "" && h != "" {
		ever, herr := a.v.privateEver(context.Background())
		if err = herr; err == nil && (markdown.Parse(data).Private() || ever.ids[frontID(data)]) {
			err = withheld(string(h))
		}
	}
	return data, a.v.store.Explain(err)
}

// Merge joins a file's newer edits with theirs, made of the bytes that hash to base. It fails with
// [ErrConflict] where they overlap, or history does not have base.
func (a *Ancestry) Merge(base Hash, now, theirs []byte) ([]byte, error) {
	was, err := a.Read(base)
	if err != nil {
		return nil, fmt.Errorf("%w: it was edited since, and what it was then is not in history", ErrConflict)
	}
	out, conflicts := merge(was, now, theirs)
	if len(conflicts) > 0 {
		return nil, fmt.Errorf("%w: newer edits overlap at %s", ErrConflict, conflicts[0].Where)
	}
	return out, nil
}

// Commit reads a commit without its changes.
func (a *Ancestry) Commit(rev Revision) (Commit, error) {
	id, err := gitstore.ParseID(string(rev))
	if err != nil {
		return Commit{}, err
	}
	gc, err := a.objects.Commit(id)
	if err == nil && a.v.o.Reader != "" {
		return a.v.History().CommitAt(context.Background(), string(rev))
	}
	return commitOf(gc), a.v.store.Explain(err)
}

// origin says where a file was before a commit that changed it.
func (a *Ancestry) origin(node, parent *gitstore.FileNode) (string, bool, error) {
	if node.Blob.IsZero() {
		// Behind a deletion another memory may have stood at the same path.
		same, err := a.sameThing(node.Last, parent.Blob)
		return node.Path, same, err
	}
	if from, ok, err := a.trailerOrigin(node, parent); err != nil || ok {
		return from, ok, err
	}
	if !parent.Blob.IsZero() {
		same, err := a.sameThing(node.Blob, parent.Blob)
		if err != nil || same {
			return node.Path, same, err
		}
	}
	from, ok, err := a.treeOrigin(node, parent)
	if err != nil || ok {
		return from, ok, err
	}
	// Nothing of that name in the parent: it may have been there before that.
	return node.Path, parent.Blob.IsZero(), nil
}

func (a *Ancestry) commit(id gitstore.ID) (Commit, error) {
	if rev := Revision(id.String()); a.last.Rev != rev {
		gc, err := a.objects.Commit(id)
		if err != nil {
			return Commit{}, err
		}
		a.last = commitOf(gc)
	}
	return a.last, nil
}

// trailerOrigin reads the commit's own word for it, when the parent really has
// a file there.
func (a *Ancestry) trailerOrigin(node, parent *gitstore.FileNode) (string, bool, error) {
	c, err := a.commit(node.Commit)
	if err != nil {
		return "", false, err
	}
	for _, m := range c.Trailers.moves() {
		if a.v.store.GitPath(m[1]) != node.Path {
			continue
		}
		from := a.v.store.GitPath(m[0])
		e, ok, err := a.objects.Lookup(parent.Root(), from)
		if err != nil || ok && !e.IsDir() {
			return from, err == nil, err
		}
	}
	return "", false, nil
}

// treeOrigin looks among the files that the commit changed or removed for the
// same memory, else for the same bytes under another name.
func (a *Ancestry) treeOrigin(node, parent *gitstore.FileNode) (string, bool, error) {
	id, err := a.idOf(node.Blob)
	if err != nil {
		return "", false, err
	}
	exact := ""
	if pair := [2]gitstore.ID{parent.Root(), node.Root()}; a.pair != pair {
		a.pair, a.gone, a.came = [2]gitstore.ID{}, nil, map[gitstore.ID]bool{}
		for d, err := range a.objects.DiffTrees(pair[0], pair[1]) {
			if err != nil {
				return "", false, err
			}
			if !d.OldID.IsZero() && store.IsFile(d.OldMode) && Path(d.Path).IsMarkdown() {
				a.gone = append(a.gone, d)
			}
			a.came[d.NewID] = a.came[d.NewID] || d.OldID.IsZero()
		}
		a.pair = pair
	}
	for _, d := range a.gone {
		if d.Path == node.Path {
			continue
		}
		if d.NewID.IsZero() && d.OldID == node.Blob && (exact == "" || Path(d.Path).Base() == Path(node.Path).Base()) {
			exact = d.Path
		}
		if id == "" {
			continue
		}
		was, err := a.idOf(d.OldID)
		if err != nil {
			return "", false, err
		}
		is, err := a.idOf(d.NewID)
		if err != nil || was == id && is != id {
			return d.Path, err == nil, err
		}
	}
	if exact == "" && parent.Blob.IsZero() {
		exact, err = a.likest(node)
	}
	return exact, exact != "", err
}

// sameThing reports whether two contents are one memory: the same id, or no
// ids to tell.
func (a *Ancestry) sameThing(x, y gitstore.ID) (bool, error) {
	one, err := a.idOf(x)
	if err != nil {
		return false, err
	}
	other, err := a.idOf(y)
	return one == "" || other == "" || one == other, err
}

func (a *Ancestry) idOf(blob gitstore.ID) (string, error) {
	if blob.IsZero() {
		return "", nil
	}
	if id, ok := a.ids[blob]; ok {
		return id, nil
	}
	data, err := a.objects.Blob(blob)
	if err != nil {
		return "", err
	}
	id := frontID(data)
	a.ids[blob] = id
	return id, nil
}

// frontID is the id in a file's front matter. Thousands of versions are read
// for it, so the usual form, one line, is not worth a YAML parser.
func frontID(data []byte) string {
	if !bytes.HasPrefix(data, []byte("---\n")) {
		if !bytes.HasPrefix(data, []byte("---\r\n")) && !bytes.HasPrefix(data, []byte("\ufeff---")) {
			return ""
		}
		return ReadMemory("", data).ID
	}
	first := true
	for line := range bytes.Lines(data) {
		text := strings.TrimRight(string(line), "\r\n")
		if !first && (text == "---" || text == "...") {
			return ""
		}
		first = false
		if value, ok := strings.CutPrefix(text, "id: "); ok && IsID(value) {
			return strings.ToLower(value)
		} else if ok || strings.HasPrefix(text, "\"id\"") || strings.HasPrefix(text, "'id'") {
			return ReadMemory("", data).ID
		}
	}
	return ""
}

// IsID reports whether s is nothing but the 26 letters and digits of an id, in
// either case.
func IsID(s string) bool { return names.IsID(s) }

// identified are the files with an id, as an index says and as they stand on disk; none where it does not know.
func (v *Vault) identified(ctx context.Context, id string) []Memory {
	if !IsID(id) || v.o.Identified == nil {
		return nil
	}
	paths, err := v.o.Identified(ctx, id)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(v.read(paths), func(m Memory) bool { return m.ID != strings.ToLower(id) })
}

// Diff is what a version changed, as text.
func (a *Ancestry) Diff(v Version) (FileDiff, error) {
	if v.Old == v.New {
		return fileDiff(v.Change, nil, nil), nil
	}
	before, err := a.Read(v.Old)
	if err != nil {
		return FileDiff{}, err
	}
	after, err := a.Read(v.New)
	return fileDiff(v.Change, before, after), err
}
