package vault

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"

	"stet/vault/gitindex"
	"stet/vault/gitstore"
	"stet/vault/listing"
)

// A scan compares the working tree with HEAD. The git index serves as a cache
// of hashes: a file whose stat is the one it holds is not read, as in git. HEAD
// is the git index but for where they differ, so that nothing of either is held
// for a file that did not change.
type scan struct {
	v       *Vault
	head    gitstore.Head
	objects *gitstore.Objects
	tree    gitstore.ID
	index   *gitindex.File
	sec     uint32 // when the git index was written
	nsec    uint32
	apart   []gitindex.Difference // between HEAD and git index, in path order

	total   int                         // files of HEAD that stet looks after
	counts  map[Class]int               // Markdown files on disk
	changed []Change                    // hand edits: HEAD to disk
	before  map[Path]gitstore.TreeEntry // what HEAD has of them
	staged  []Change                    // HEAD to git index
	covered []Change                    // those of staged whose disk is HEAD's: the next write would lose them
	skipped []Problem
}

// scan walks the working tree while it reads git's side: neither waits for the
// other's processor.
func (v *Vault) scan(ctx context.Context) (*scan, error) {
	var files *listing.Of[walked]
	var shut []Problem
	var failed error
	var walk sync.WaitGroup
	walk.Go(func() { files, shut, failed = v.trackable(ctx) })
	s, err := v.readGit()
	walk.Wait()
	if err = cmp.Or(err, failed); err != nil {
		return nil, err
	}
	s.skipped = shut
	if err := s.compare(ctx, files); err != nil {
		return nil, err
	}
	return s, s.leaveToGit(ctx, v)
}

// readGit takes up HEAD, the git index and where they differ.
func (v *Vault) readGit() (*scan, error) {
	s := &scan{v: v, objects: v.repo.Stage(), counts: map[Class]int{}, before: map[Path]gitstore.TreeEntry{}}
	var err error
	if s.head, err = v.repo.Head(); err != nil {
		return nil, err
	}
	if s.tree, err = gitTree(s.objects, s.head.ID); err != nil {
		return nil, err
	}
	stamp, err := v.repo.GitIndexStamp()
	if err != nil {
		return nil, err
	}
	s.sec, s.nsec = uint32(stamp.Time().Unix()), uint32(stamp.Time().Nanosecond())
	if s.index, _, err = v.repo.ReadGitIndex(s.head.ID); err != nil {
		return nil, err
	}
	return s, s.readTree()
}

// leaveToGit takes files whose bytes git itself converts out of the changes:
// on disk they differ from their blobs without any edit.
func (s *scan) leaveToGit(ctx context.Context, v *Vault) error {
	rules := v.attributes()
	kept := s.changed[:0]
	for _, c := range s.changed {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if c.Status != Deleted {
			d, err := v.look(c.Path)
			if err != nil {
				return err
			}
			err = rules.check(c.Path, d.data)
			if errors.Is(err, ErrUnsupportedRepository) {
				s.skipped = append(s.skipped, Problem{ID: "attributes", Path: c.Path, Text: err.Error(), Hint: "commit it with git"})
				continue
			}
			if err != nil {
				return err
			}
		}
		kept = append(kept, c)
	}
	s.changed = kept
	return nil
}

// readTree finds where HEAD and git index differ, and what is staged.
func (s *scan) readTree() error {
	dir := trimSlash(s.v.prefix)
	top, _, err := s.objects.Lookup(s.tree, dir)
	if err != nil {
		return err
	}
	if !top.IsDir() {
		top.ID = gitstore.ID{}
	}
	for d, err := range s.objects.IndexDiff(s.index, dir, top.ID) {
		if err != nil {
			return err
		}
		p, ok := s.v.own(d.Path)
		if !ok {
			continue
		}
		s.apart = append(s.apart, d)
		if !inDomain(p) || d.Entry.IntentToAdd || d.Entry.Hash == d.Tree.Hash {
			continue
		}
		if d.Entry.Mode != 0 || regular(d.Tree.Mode) {
			s.staged = append(s.staged, s.stagedChange(p, d))
		}
	}
	return nil
}

func (s *scan) stagedChange(p Path, d gitindex.Difference) Change {
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
func (s *scan) pairs() iter.Seq[*pair] {
	return func(yield func(*pair) bool) {
		at, cut := 0, len(s.v.prefix)
		// Differences that the git index has no entry for stand between its rows.
		upTo := func(name []byte) bool {
			for ; at < len(s.apart) && (name == nil || s.apart[at].Path < string(name)); at++ {
				if d := &s.apart[at]; d.Entry.Mode == 0 && !yield(&pair{[]byte(d.Path[cut:]), d.Tree, d.Entry}) {
					return false
				}
			}
			return true
		}
		var x pair
		for row := range s.index.Rows(s.v.prefix) {
			e, name := row.Bare(), row.Name()
			if e.Stage != 0 {
				continue
			}
			if !upTo(name) {
				return
			}
			x = pair{name[cut:], gitindex.TreeItem{Mode: e.Mode, Hash: e.Hash}, e}
			if at < len(s.apart) && s.apart[at].Path == string(name) {
				x.head = s.apart[at].Tree
				at++
			}
			if !yield(&x) {
				return
			}
		}
		upTo(nil)
	}
}

// tracked yields the files of HEAD that stet looks after, in path order.
func (s *scan) tracked() iter.Seq2[Path, gitstore.TreeEntry] {
	return func(yield func(Path, gitstore.TreeEntry) bool) {
		for x := range s.pairs() {
			if p := Path(x.name); regular(x.head.Mode) && inDomain(p) && !yield(p, gitstore.TreeEntry{Name: string(p), Mode: x.head.Mode, ID: x.head.Hash}) {
				return
			}
		}
	}
}

// compare goes through HEAD, git index and disk side by side.
func (s *scan) compare(ctx context.Context, files *listing.Of[walked]) error {
	disk, done, total := files.Cursor(), 0, files.Len()
	f, more := disk.Next()
	take := func(x *pair) error {
		err := s.present(ctx, f, x)
		f, more = disk.Next()
		done++
		s.v.progress("reading", done, total)
		return err
	}
	for x := range s.pairs() {
		for more && string(f.path) < string(x.name) {
			if err := take(&pair{}); err != nil {
				return err
			}
		}
		if !more || string(f.path) != string(x.name) {
			s.absent(x)
		} else if err := take(x); err != nil {
			return err
		}
	}
	for more {
		if err := take(&pair{}); err != nil {
			return err
		}
	}
	sortChanges(s.changed)
	return nil
}

// absent takes up a name that no file on disk has.
func (s *scan) absent(x *pair) {
	p := Path(x.name)
	if !regular(x.head.Mode) || !inDomain(p) {
		return
	}
	s.total++
	if !s.hidden(s.v, p) {
		s.change(Deleted, p, x.head, gitstore.ID{})
	}
}

// present takes up a file on disk.
func (s *scan) present(ctx context.Context, f walked, x *pair) error {
	if !regular(x.head.Mode) {
		x.head = gitindex.TreeItem{}
	}
	if x.head.Mode != 0 {
		s.total++
	}
	id, known, err := s.hash(ctx, &f, x)
	if err != nil {
		return err
	}
	if !known {
		if x.head.Mode != 0 && !s.hidden(s.v, f.path) {
			s.change(Deleted, f.path, x.head, gitstore.ID{}) // gone since it was listed
		}
		return nil
	}
	if f.path.IsMarkdown() {
		s.counts[ClassOf(f.path)]++
	}
	switch {
	case x.head.Mode == 0:
		s.change(Added, f.path, x.head, id)
	case x.head.Hash != id:
		s.change(Modified, f.path, x.head, id)
	case x.git.Mode != 0 && !x.git.IntentToAdd && x.git.Hash != x.head.Hash:
		s.covered = append(s.covered, s.stagedChange(f.path, gitindex.Difference{Tree: x.head, Entry: x.git}))
	}
	return nil
}

func (s *scan) change(status string, p Path, head gitindex.TreeItem, id gitstore.ID) {
	c := Change{Status: status, Path: p}
	if head.Mode != 0 {
		c.Old = Hash(gitstore.ID(head.Hash).String())
		s.before[p] = gitstore.TreeEntry{Name: string(p), Mode: head.Mode, ID: head.Hash}
	}
	if !id.IsZero() {
		c.New = Hash(id.String())
	}
	s.changed = append(s.changed, c)
}

// hash finds the blob id of a file. One that cannot be read counts as
// unchanged: what stet cannot see it must not commit away.
func (s *scan) hash(ctx context.Context, f *walked, x *pair) (id gitstore.ID, known bool, err error) {
	if e := &x.git; e.Mode != 0 && !e.IntentToAdd && e.Stat.Matches(f.stat) && !s.index.Racy(*e, s.sec, s.nsec) {
		return e.Hash, true, nil
	}
	if err := context.Cause(ctx); err != nil {
		return id, false, err // asked where it costs nothing beside the reading
	}
	d, err := s.v.look(f.path)
	if err == nil {
		return d.id, d.exists, nil
	}
	if !errors.Is(err, ErrTooLarge) && !isReadOnly(err) && !errors.Is(err, ErrBadPath) {
		return id, false, err
	}
	s.skipped = append(s.skipped, Problem{ID: "unreadable", Path: f.path, Text: err.Error(), Hint: "it is left as it is and not searched"})
	return x.head.Hash, x.head.Mode != 0, nil
}

// hidden reports a tracked file that was not walked but is not gone either: it
// is ignored, lies in a nested vault, or in a folder that cannot be read.
func (s *scan) hidden(v *Vault, p Path) bool {
	_, err := v.tree.Lstat(string(p))
	return !absent(err)
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

func sortChanges(c []Change) {
	slices.SortFunc(c, func(a, b Change) int { return strings.Compare(string(a.Path), string(b.Path)) })
}
