package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"

	"stet/vault/gitindex"
	"stet/vault/gitstore"
)

// A Scan compares the working tree with HEAD. The git index serves as a cache
// of hashes: a file whose stat is the one it holds is not read, as in git. HEAD
// is the git index but for where they differ, so that nothing of either is held
// for a file that did not change.
type Scan struct {
	Head    gitstore.Head
	Tree    gitstore.ID // HEAD's
	Objects *gitstore.Objects
	Total   int                         // files of HEAD that the filter keeps
	Changed []Change                    // uncommitted: HEAD to disk
	Before  map[Path]gitstore.TreeEntry // what HEAD has of them
	Staged  []Change                    // HEAD to git index
	Covered []Change                    // those of Staged whose disk is HEAD's: the next write would lose them
	Skipped []Problem                   // what could not be compared
	Files   []File                      // on disk, in path order

	store  *Store
	filter Filter
	index  *gitindex.File
	sec    uint32 // when the git index was written
	nsec   uint32
	apart  []gitindex.Difference // between HEAD and git index, in path order
}

// Scan walks the working tree while it reads git's side: neither waits for the
// other's processor.
func (s *Store) Scan(ctx context.Context, filter Filter) (*Scan, error) {
	var files []File
	var failed error
	w := &walker{store: s, ctx: ctx, filter: filter, git: &tracked{store: s}}
	var walk sync.WaitGroup
	walk.Go(func() { files, failed = w.run("") })
	sc, err := s.readGit(filter)
	walk.Wait()
	if err = cmp.Or(err, failed); err != nil {
		return nil, err
	}
	sc.Skipped = append(sc.Skipped, w.shut...)
	if err := sc.compare(ctx, files); err != nil {
		return nil, err
	}
	return sc, sc.leaveToGit(ctx)
}

// readGit takes up HEAD, the git index and where they differ.
func (s *Store) readGit(filter Filter) (*Scan, error) {
	sc := &Scan{store: s, filter: filter, Objects: s.repo.Stage(), Before: map[Path]gitstore.TreeEntry{}}
	var err error
	if sc.Head, err = s.repo.Head(); err != nil {
		return nil, err
	}
	if sc.Tree, err = sc.Objects.TreeOf(sc.Head.ID); err != nil {
		return nil, err
	}
	stamp, err := s.repo.GitIndexStamp()
	if err != nil {
		return nil, err
	}
	sc.sec, sc.nsec = uint32(stamp.Time().Unix()), uint32(stamp.Time().Nanosecond())
	if sc.index, _, err = s.repo.ReadGitIndex(sc.Head.ID); err != nil {
		return nil, err
	}
	return sc, sc.readTree()
}

// leaveToGit takes files whose bytes git itself converts out of the changes:
// on disk they differ from their blobs without any edit.
func (sc *Scan) leaveToGit(ctx context.Context) error {
	rules := sc.store.attributes()
	kept := sc.Changed[:0]
	for _, c := range sc.Changed {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if c.Status != Deleted {
			d, err := sc.store.Look(c.Path)
			if err != nil {
				return err
			}
			err = rules.check(c.Path, d.Data)
			if errors.Is(err, errUnsupported) {
				sc.Skipped = append(sc.Skipped, Problem{ID: "attributes", Path: c.Path, Text: err.Error(),
					Hint: "commit it with git"})
				continue
			}
			if err != nil {
				return err
			}
		}
		kept = append(kept, c)
	}
	sc.Changed = kept
	return nil
}

// readTree finds where HEAD and git index differ, and what is staged.
func (sc *Scan) readTree() error {
	dir := trimSlash(sc.store.prefix)
	top, _, err := sc.Objects.Lookup(sc.Tree, dir)
	if err != nil {
		return err
	}
	if !top.IsDir() {
		top.ID = gitstore.ID{}
	}
	for d, err := range sc.Objects.IndexDiff(sc.index, dir, top.ID) {
		if err != nil {
			return err
		}
		p, ok := sc.store.Own(d.Path)
		if !ok {
			continue
		}
		sc.apart = append(sc.apart, d)
		if sc.index.Conflicted(d.Path) {
			if sc.filter.Keep(p) {
				sc.Skipped = append(sc.Skipped, Problem{ID: "unmerged", Path: p, Text: "a merge left it in conflict",
					Hint: `choose one side in an editor, then "git add" it`})
			}
			continue
		}
		if !sc.filter.Keep(p) || d.Entry.IntentToAdd || d.Entry.Hash == d.Tree.Hash {
			continue
		}
		if d.Entry.Mode != 0 || regular(d.Tree.Mode) {
			sc.Staged = append(sc.Staged, sc.stagedChange(p, d))
		}
	}
	return nil
}

func (sc *Scan) stagedChange(p Path, d gitindex.Difference) Change {
	var was gitstore.ID
	if regular(d.Tree.Mode) {
		was = d.Tree.Hash
	}
	c := Change{Status: statusOf(was, d.Entry.Hash), Path: p}
	if !was.IsZero() {
		c.Old = Hash(was.String())
	}
	if d.Entry.Mode != 0 {
		c.New = Hash(gitstore.ID(d.Entry.Hash).String())
	}
	return c
}

func regular(mode uint32) bool {
	return mode == gitstore.ModeFile || mode == gitstore.ModeExecutable
}

// A pair is what HEAD and the git index hold under one name. Mode 0 is nothing. It is
// good until the next one.
type pair struct {
	name []byte // below the vault
	head gitindex.TreeItem
	git  gitindex.Entry
}

// pairs yields every name in HEAD or, merged, in the git index, in path order.
func (sc *Scan) pairs() iter.Seq[*pair] {
	return func(yield func(*pair) bool) {
		at, cut := 0, len(sc.store.prefix)
		// Differences that the git index has no entry for stand between its rows.
		upTo := func(name []byte) bool {
			for ; at < len(sc.apart) && (name == nil || sc.apart[at].Path < string(name)); at++ {
				if d := &sc.apart[at]; d.Entry.Mode == 0 && !yield(&pair{[]byte(d.Path[cut:]), d.Tree, d.Entry}) {
					return false
				}
			}
			return true
		}
		var x pair
		for row := range sc.index.Rows(sc.store.prefix) {
			e, name := row.Bare(), row.Name()
			if e.Stage != 0 {
				continue
			}
			if !upTo(name) {
				return
			}
			x = pair{name[cut:], gitindex.TreeItem{Mode: e.Mode, Hash: e.Hash}, e}
			if at < len(sc.apart) && sc.apart[at].Path == string(name) {
				x.head = sc.apart[at].Tree
				at++
			}
			if !yield(&x) {
				return
			}
		}
		upTo(nil)
	}
}

// Tracked yields the files of HEAD that the filter keeps, in path order.
func (sc *Scan) Tracked() iter.Seq2[Path, gitstore.TreeEntry] {
	return func(yield func(Path, gitstore.TreeEntry) bool) {
		for x := range sc.pairs() {
			p := Path(x.name)
			if !regular(x.head.Mode) || !sc.filter.Keep(p) {
				continue
			}
			if !yield(p, gitstore.TreeEntry{Name: string(p), Mode: x.head.Mode, ID: x.head.Hash}) {
				return
			}
		}
	}
}

// compare goes through HEAD, git index and disk side by side.
func (sc *Scan) compare(ctx context.Context, files []File) error {
	at := 0
	sc.Files = files[:0] // which those that are still there move up in
	take := func(x *pair) error {
		at++
		sc.store.Progress("reading", at, len(files))
		return sc.present(ctx, &files[at-1], x)
	}
	for x := range sc.pairs() {
		for at < len(files) && string(files[at].Path) < string(x.name) {
			if err := take(&pair{}); err != nil {
				return err
			}
		}
		if at == len(files) || string(files[at].Path) != string(x.name) {
			sc.absent(x)
		} else if err := take(x); err != nil {
			return err
		}
	}
	for at < len(files) {
		if err := take(&pair{}); err != nil {
			return err
		}
	}
	SortChanges(sc.Changed)
	return nil
}

// absent takes up a name that no file on disk has. One outside a sparse checkout is not to be there.
func (sc *Scan) absent(x *pair) {
	p := Path(x.name)
	if !regular(x.head.Mode) || x.git.SkipWorktree || !sc.filter.Keep(p) {
		return
	}
	sc.Total++
	if !sc.hidden(p) {
		sc.change(Deleted, p, x.head, gitstore.ID{})
	} else {
		sc.nameLink(p)
	}
}

// nameLink says once that a link stands where HEAD has a file, or a folder with files.
func (sc *Scan) nameLink(p Path) {
	at, ok := sc.store.linkAt(p)
	known := func(x Problem) bool { return x.ID == "link" && x.Path == at }
	if ok && !slices.ContainsFunc(sc.Skipped, known) {
		sc.Skipped = append(sc.Skipped, Problem{ID: "link", Path: at,
			Text: "a symbolic link stands in the place of what is committed there; nothing behind it is found",
			Hint: "put the file or folder itself back, or commit with git that it is gone"})
	}
}

// present takes up a file on disk.
func (sc *Scan) present(ctx context.Context, f *File, x *pair) error {
	if !regular(x.head.Mode) {
		x.head = gitindex.TreeItem{}
	}
	if x.head.Mode != 0 {
		sc.Total++
	}
	id, known, err := sc.hash(ctx, f, x)
	if err != nil {
		return err
	}
	if !known {
		if x.head.Mode != 0 && !sc.hidden(f.Path) {
			sc.change(Deleted, f.Path, x.head, gitstore.ID{}) // gone since it was listed
		}
		return nil
	}
	if sc.Files = sc.Files[:len(sc.Files)+1]; &sc.Files[len(sc.Files)-1] != f {
		sc.Files[len(sc.Files)-1] = *f
	}
	switch {
	case x.head.Mode == 0:
		sc.change(Added, f.Path, x.head, id)
	case x.head.Hash != id:
		sc.change(Modified, f.Path, x.head, id)
	case x.git.Mode != 0 && !x.git.IntentToAdd && x.git.Hash != x.head.Hash:
		sc.Covered = append(sc.Covered, sc.stagedChange(f.Path, gitindex.Difference{Tree: x.head, Entry: x.git}))
	}
	return nil
}

func (sc *Scan) change(status string, p Path, head gitindex.TreeItem, id gitstore.ID) {
	c := Change{Status: status, Path: p}
	if head.Mode != 0 {
		c.Old = Hash(gitstore.ID(head.Hash).String())
		sc.Before[p] = gitstore.TreeEntry{Name: string(p), Mode: head.Mode, ID: head.Hash}
	}
	if !id.IsZero() {
		c.New = Hash(id.String())
	}
	sc.Changed = append(sc.Changed, c)
}

// hash finds the blob id of a file. One that cannot be read counts as
// unchanged: what stet cannot see it must not commit away.
func (sc *Scan) hash(ctx context.Context, f *File, x *pair) (id gitstore.ID, known bool, err error) {
	if e := &x.git; e.Mode != 0 && !e.IntentToAdd && e.Stat.Matches(f.stat) && !sc.index.Racy(*e, sc.sec, sc.nsec) {
		return e.Hash, true, nil
	}
	if err := context.Cause(ctx); err != nil {
		return id, false, err // asked where it costs nothing beside the reading
	}
	d, err := sc.store.Look(f.Path)
	if err == nil {
		return d.ID, d.Exists, nil
	}
	if !errors.Is(err, errTooLarge) && !IsReadOnly(err) && !errors.Is(err, ErrBadPath) {
		return id, false, err
	}
	sc.Skipped = append(sc.Skipped, Problem{ID: "unreadable", Path: f.Path, Text: err.Error(),
		Hint: "it is left as it is and not searched"})
	return x.head.Hash, x.head.Mode != 0, nil
}

// MissingAttachments are the files of the git index that are no Markdown, lie in no hidden folder, and are not on disk.
// stet commits none of them, so that they are in no change. Cost: an lstat for each that is no Markdown.
func (sc *Scan) MissingAttachments() (out []Path) {
	for row := range sc.index.Rows(sc.store.prefix) {
		name := row.Name()
		if bytes.HasSuffix(name, []byte(".md")) || name[0] == '.' || bytes.Contains(name, []byte("/.")) {
			continue
		}
		p, ok := sc.store.Own(string(name))
		if e := row.Bare(); ok && regular(e.Mode) && !e.SkipWorktree && e.Stage == 0 {
			if _, err := sc.store.tree.Lstat(string(p)); Absent(err) {
				out = append(out, p)
			}
		}
	}
	return out
}

// hidden reports a tracked file that was not walked but is not gone either: it
// is ignored, lies in a nested vault, or in a folder that cannot be read.
func (sc *Scan) hidden(p Path) bool {
	_, err := sc.store.tree.Lstat(string(p))
	return !Absent(err)
}

func statusOf(before, after gitstore.ID) string {
	switch {
	case before.IsZero():
		return Added
	case after.IsZero():
		return Deleted
	}
	return Modified
}

// SortChanges puts changes in path order.
func SortChanges(c []Change) {
	slices.SortFunc(c, func(a, b Change) int { return strings.Compare(string(a.Path), string(b.Path)) })
}
