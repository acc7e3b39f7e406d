package store

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"stet/vault/gitindex"
	"stet/vault/gitstore"
)

// A Tx stages changes in memory. Reads see the working tree as it is on disk,
// uncommitted edits included, with the staged changes on top. A Tx lives only during
// the function it is passed to and is not safe for concurrent use.
type Tx struct {
	// Objects reads the repository and the objects of this transaction.
	Objects *gitstore.Objects
	// Groups are the changes of the commits that are closed, in order.
	Groups []Group

	store   *Store
	head    gitstore.Head
	base    gitstore.ID // HEAD's tree
	index   *gitindex.File
	stamp   gitstore.GitIndexStamp
	touched map[Path]*Touched
	rules   *attributes
	moved   map[Path]Path   // where files come from
	looks   int             // how often files were looked at again
	foreign map[string]bool // folders looked at: a repository or vault of its own
	layer   overlay
	why     Description // of the group that is open
	// adopting lists paths whose uncommitted edits are committed for their own sake.
	adopting []Path
}

// Touched is what stood at a path when the transaction first used it.
type Touched struct {
	Disk   DiskFile
	InHead gitstore.TreeEntry // zero when absent
	staged gitindex.Entry
	inGit  bool // the git index has an entry
}

// A Description is what a commit says about itself. It is asked for the last time
// after [BeforeCommit].
type Description interface {
	Author(*gitstore.Config) gitstore.Signature
	Message() string
}

// A Group is the changes of one commit.
type Group struct {
	Why   Description
	Paths []Path // sorted
	Files map[Path]Content
}

// Content is what a file is to hold.
type Content struct {
	Remove bool
	Data   []byte // nil while Stored
	ID     gitstore.ID
	Mode   uint32 // 0 while staged: what the file has, else plain
	// Stored says that the repository has the bytes already.
	Stored bool
}

func (f Content) same(d DiskFile) bool {
	if f.Remove {
		return !d.Exists
	}
	return d.Exists && d.ID == f.ID && d.mode() == f.Mode
}

// begin reads what the transaction is based on.
func (s *Store) begin(why Description) (*Tx, error) {
	head, err := s.repo.Head()
	if err != nil {
		return nil, err
	}
	objects := s.repo.Stage()
	base, err := objects.TreeOf(head.ID)
	if err != nil {
		return nil, err
	}
	stamp, err := s.repo.GitIndexStamp()
	if err != nil {
		return nil, err
	}
	index, _, err := s.repo.ReadGitIndex(head.ID)
	if err != nil {
		return nil, err
	}
	tx := &Tx{store: s, head: head, base: base, Objects: objects, index: index, stamp: stamp, why: why,
		touched: map[Path]*Touched{}, moved: map[Path]Path{}, rules: s.attributes(), foreign: map[string]bool{}}
	tx.layer = newOverlay(func(p Path) ([]byte, error) {
		t, err := tx.Touch(p)
		if err != nil || !t.Disk.Exists {
			return nil, err
		}
		return t.Disk.Data, nil
	})
	tx.layer.blob = objects.Blob
	return tx, nil
}

// Touch records what stands at p, once.
func (t *Tx) Touch(p Path) (*Touched, error) {
	if have, ok := t.touched[p]; ok {
		return have, nil
	}
	if clean, err := ParsePath(string(p)); err != nil || clean != p {
		return nil, errors.Join(err, fmt.Errorf("path %q: %w", p, ErrBadPath))
	}
	if err := t.store.checkOwn(p, t.foreign); err != nil {
		return nil, err
	}
	disk, err := t.store.Look(p)
	if err != nil {
		return nil, err
	}
	name := t.store.GitPath(p)
	entry, ok, err := t.Objects.Lookup(t.base, name)
	if err != nil {
		return nil, err
	}
	if disk.ID != entry.ID { // what git has as it stands here hides nothing
		if err := t.rules.check(p, disk.Data); err != nil {
			return nil, err
		}
		if disk, err = t.settled(p, disk); err != nil {
			return nil, err
		}
	}
	got := &Touched{Disk: disk}
	if ok && (entry.Mode == gitstore.ModeSymlink || entry.Mode == gitstore.ModeSubmodule) {
		return nil, fmt.Errorf("path %q: %w: git keeps a link or submodule there", p, ErrBadPath)
	}
	if ok && !entry.IsDir() {
		got.InHead = entry
	}
	if t.index.Conflicted(name) {
		return nil, fmt.Errorf("%q: %w: it has unresolved conflicts", p, errInProgress)
	}
	got.staged, got.inGit = t.index.Entry(name)
	if got.inGit && got.staged.SkipWorktree {
		err := fmt.Errorf("%q: %w: it is outside the sparse checkout", p, errUnsupported)
		return nil, WithHint(err, `"git sparse-checkout add" brings it in`)
	}
	if got.inGit && got.staged.IntentToAdd {
		got.inGit = false // announced only: there is no staged content to lose
	}
	t.touched[p] = got
	return got, nil
}

// settled looks at an edited file again that is empty or changed a moment ago: many
// programs empty a file before they write it. One that stays empty is looked at a few
// times more.
func (t *Tx) settled(p Path, disk DiskFile) (DiskFile, error) {
	const looks = 20 // of one transaction: it does not wait for ever
	for n := 0; disk.Exists && t.looks < looks && disk.fresh(t.store.o.Now(), t.store.o.Glance); t.looks++ {
		if n++; n > 1 && len(disk.Data) > 0 {
			break
		}
		time.Sleep(t.store.o.Glance)
		now, err := t.store.Look(p)
		if err != nil {
			return now, err
		}
		disk = now
	}
	return disk, nil
}

// Read returns the bytes at p, which must not be changed, and their hash. A
// file that does not exist has no bytes and the hash "".
func (t *Tx) Read(p Path) ([]byte, Hash, error) {
	if _, err := t.Touch(p); err != nil {
		return nil, "", err
	}
	return t.layer.read(p)
}

// Put stages data at p. was is the hash of the bytes the caller saw, "" for a
// new file; it fails with [ErrConflict] when something else stands there.
func (t *Tx) Put(p Path, was Hash, data []byte) error {
	if _, err := t.expect(p, was); err != nil {
		return err
	}
	if len(data) > MaxFileSize {
		return fmt.Errorf("%q: %w (%d bytes, at most %d)", p, errTooLarge, len(data), int64(MaxFileSize))
	}
	if err := t.rules.check(p, data); err != nil {
		return err
	}
	t.layer.put(p, data)
	return nil
}

// Remove stages the removal of p, whose bytes hash to was.
func (t *Tx) Remove(p Path, was Hash) error {
	if _, err := t.expect(p, was); err != nil {
		return err
	}
	t.layer.remove(p)
	return nil
}

// Move stages a rename of from to to, which must not exist and gets the permissions that from has.
// Links are not rewritten.
func (t *Tx) Move(from, to Path) error {
	data, was, err := t.Read(from)
	if err != nil {
		return err
	}
	if was == "" {
		return fmt.Errorf("move %q: %w", from, ErrNotFound)
	}
	if err := t.Put(to, "", data); err != nil {
		return fmt.Errorf("move %q to %q: %w", from, to, err)
	}
	f := t.layer.files[to]
	f.Mode = t.mode(from)
	t.layer.files[to], t.moved[to] = f, from
	return t.Remove(from, was)
}

// PermitAs makes a staged file executable where the one at from was that in a commit.
func (t *Tx) PermitAs(p Path, sn *Snapshot, from Path) error {
	e, _, err := sn.objects.Lookup(sn.tree, t.store.GitPath(from))
	if e.Mode == gitstore.ModeExecutable {
		t.Permit(p, true)
	}
	return err
}

// Permitted reports whether a file that stands at p is executable where that of HEAD is not, or the other way round.
func (t *Tx) Permitted(p Path) (bool, error) {
	at, err := t.Touch(p)
	if err != nil || !at.Disk.Exists || at.InHead.ID.IsZero() {
		return false, err
	}
	return (t.mode(p) == gitstore.ModeExecutable) != (at.InHead.Mode == gitstore.ModeExecutable), nil
}

// Permit makes a staged file executable, or plain.
func (t *Tx) Permit(p Path, executable bool) {
	if f, staged := t.layer.files[p]; staged {
		if f.Mode = gitstore.ModeFile; executable {
			f.Mode = gitstore.ModeExecutable
		}
		t.layer.files[p] = f
	}
}

// mode is what a file has that is staged or stands at p: a new one is plain.
func (t *Tx) mode(p Path) uint32 {
	at := t.touched[p]
	switch staged := t.layer.mode(p); {
	case staged != 0:
		return staged
	case at.Disk.Exists && t.store.repo.Config().Bool("core", "filemode", true):
		return at.Disk.mode()
	case at.InHead.Mode == gitstore.ModeExecutable:
		return at.InHead.Mode // the disk's permissions mean nothing here
	}
	return gitstore.ModeFile
}

func (t *Tx) expect(p Path, was Hash) ([]byte, error) {
	data, have, err := t.Read(p)
	if err != nil {
		return nil, err
	}
	if have == was {
		return data, nil
	}
	switch {
	case was == "":
		err = fmt.Errorf("%q: %w: it exists already", p, ErrConflict)
	case have == "":
		err = fmt.Errorf("%q: %w: it is gone", p, ErrConflict)
	default:
		err = fmt.Errorf("%q: %w: it changed meanwhile", p, ErrConflict)
	}
	return nil, err
}

// Split ends the commit being staged: what follows goes into the next one of
// the chain, described by why. All commits are published together.
func (t *Tx) Split(why Description) {
	t.Flush()
	t.why = why
}

// Flush closes the commit being staged.
func (t *Tx) Flush() {
	files := t.layer.take()
	if len(files) == 0 {
		return
	}
	g := Group{Why: t.why, Files: files}
	for p, f := range files {
		f.Mode = t.mode(p)
		files[p] = f
		g.Paths = append(g.Paths, p)
	}
	slices.Sort(g.Paths)
	t.Groups = append(t.Groups, g)
}

// StageInto adds a file to a group that is closed; nil removes it.
func (t *Tx) StageInto(g *Group, p Path, data []byte) error {
	if _, err := t.Touch(p); err != nil {
		return err
	}
	if _, ok := g.Files[p]; !ok {
		g.Paths = append(g.Paths, p)
		slices.Sort(g.Paths)
	}
	if data == nil {
		g.Files[p] = Content{Remove: true}
		return nil
	}
	g.Files[p] = Content{Data: data, ID: gitstore.HashBlob(data), Mode: gitstore.ModeFile}
	return nil
}

// Adopt has the uncommitted edits of these paths committed, whether or not the
// transaction writes there.
func (t *Tx) Adopt(paths []Path) {
	t.adopting = slices.Clone(paths)
	slices.Sort(t.adopting)
	t.adopting = slices.Compact(t.adopting)
}

// Head is what the transaction is based on.
func (t *Tx) Head() gitstore.Head { return t.head }

// Touched is everything that was used so far.
func (t *Tx) Touched() map[Path]*Touched { return t.touched }

// Staged yields the paths that are staged, in closed groups and the open one.
func (t *Tx) Staged() iter.Seq[Path] {
	return func(yield func(Path) bool) {
		for _, layer := range []map[Path]Content{t.layer.kept, t.layer.files} {
			for p := range layer {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// NamesIn lists the names that a folder has on disk and in HEAD, in no order, one in both twice. Cost: no look at
// what they name.
func (t *Tx) NamesIn(folder string) ([]string, error) {
	if err := t.store.checkParents(Path(folder + "/x")); err != nil {
		return nil, err
	}
	names, err := t.store.tree.Names(folder)
	if err != nil && !Absent(err) {
		return nil, err
	}
	at, ok, err := t.Objects.Lookup(t.base, t.store.GitPath(Path(folder)))
	if err != nil || !ok || !at.IsDir() {
		return names, err
	}
	tree, err := t.Objects.Tree(at.ID)
	for _, e := range tree {
		names = append(names, e.Name)
	}
	return names, err
}
