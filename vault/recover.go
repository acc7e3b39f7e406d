package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"stet/vault/durable"
	"stet/vault/gitindex"
	"stet/vault/gitstore"
)

// needsRecovery reports, without a lock, whether a killed process may have left
// something: a journal with text in it, a temporary file, or a lock of ours.
func (v *Vault) needsRecovery() bool {
	root := v.repo.Root()
	if info, err := root.Lstat(v.journalPath()); err == nil && info.Size() > 0 {
		return true
	}
	if entries, err := root.ReadDir(v.tmp(".")); err == nil && len(entries) > 0 {
		return true
	}
	if root.Exists(v.repo.GitIndexPath() + ".lock") {
		return true
	}
	// After a power cut a ref's lock may be back alone: its folder was synced
	// with the ref while it was held.
	head, err := v.repo.Head()
	return err == nil && root.Exists(v.repo.RefPath(head.Ref)+".lock")
}

// recoverLocked finishes a published commit or forgets an unpublished one, and
// removes what dead processes left. The vault lock is held, so whatever is
// marked as ours has no living owner.
func (v *Vault) recoverLocked(ctx context.Context) error {
	if !v.needsRecovery() {
		return nil
	}
	mark, err := v.ensureState()
	if err != nil {
		return err
	}
	t, err := v.readJournal()
	if err != nil {
		return err
	}
	published := false
	if t.wasPresent {
		now, err := v.repo.ReadRef(t.head.Ref)
		if err != nil {
			return err
		}
		if published, err = v.repo.IsAncestor(t.next, now); err != nil {
			return err
		}
	}
	if err := v.syncLeftBehind(t); err != nil {
		return err
	}
	if published {
		if err := v.rollForward(ctx, mark, t); err != nil {
			return fmt.Errorf("finish commit %s: %w", t.next, err)
		}
		v.recovered = fmt.Sprintf("finished commit %s that an interrupted command had published", Revision(t.next.String()).Short())
	}
	if err := v.dropDeadLocks(mark, t); err != nil {
		return err
	}
	if err := v.sweepTemp(); err != nil {
		return err
	}
	if !t.wasPresent && !v.repo.Root().Exists(v.journalPath()) {
		return nil
	}
	return v.clearJournal()
}

// syncLeftBehind makes durable what a killed process may have made and not
// synced, and what later writes would rely on because they find it there: the
// folders of objects, of our state, of the ref and of the files.
func (v *Vault) syncLeftBehind(t transition) error {
	if err := errors.Join(v.repo.SyncFolders("recover", "objects"), v.syncState()); err != nil || !t.wasPresent {
		return err
	}
	if err := v.repo.SyncRefFolders(t.head.Ref); err != nil {
		return err
	}
	objects := v.repo.Stage()
	base, err := gitTree(objects, t.head.ID)
	next, err2 := gitTree(objects, t.next)
	if err != nil || err2 != nil {
		return nil // its objects never reached the disk, so no folder was made for it
	}
	dirs := map[string]bool{}
	for d, err := range objects.DiffTrees(base, next) {
		if err != nil {
			return nil
		}
		if p, ok := v.own(d.Path); ok {
			for dir := p.Dir(); !dirs[dir]; dir = path.Dir(dir) {
				dirs[dir] = true
			}
		}
	}
	for _, dir := range sortedKeys(dirs) {
		if err := v.tree.SyncDir("recover", dir); err != nil && !absent(err) {
			return err
		}
	}
	return nil
}

// dropDeadLocks removes our lock files of a dead process.
func (v *Vault) dropDeadLocks(mark gitstore.Mark, t transition) error {
	targets := []string{v.repo.GitIndexPath(), v.repo.RefPath("HEAD")}
	if head, err := v.repo.Head(); err == nil {
		targets = append(targets, v.repo.RefPath(head.Ref))
	}
	if t.wasPresent {
		targets = append(targets, v.repo.RefPath(t.head.Ref))
	}
	for _, target := range targets {
		if _, err := v.repo.DropDead(mark, target); err != nil {
			return err
		}
	}
	return nil
}

// sweepTemp removes temporary files; displaced bytes of a person's were put
// back by rollForward before.
func (v *Vault) sweepTemp() error {
	root := v.repo.Root()
	entries, err := root.ReadDir(v.tmp("."))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := root.Remove("tmp", v.tmp(e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// rollForward repeats the steps after the commit point. It may run any number
// of times and never replaces bytes that are not part of the journal's chain.
func (v *Vault) rollForward(ctx context.Context, mark gitstore.Mark, t transition) error {
	lock, err := v.repo.ResumeLock(ctx, mark, v.repo.GitIndexPath(), v.o.LockWait)
	if err != nil {
		return err
	}
	head, err := v.repo.Head()
	if err != nil {
		return err
	}
	f, err := v.leftovers(t, head)
	if err != nil {
		return err
	}
	if err := f.settle(); err != nil {
		return err
	}
	if err := f.run(); err != nil {
		return err
	}
	return lock.Unlock()
}

// leftovers works out from the trees of the journal what is still to be done.
func (v *Vault) leftovers(t transition, head gitstore.Head) (finisher, error) {
	objects := v.repo.Stage()
	base, err := gitTree(objects, t.head.ID)
	if err != nil {
		return finisher{}, err
	}
	next, err := gitTree(objects, t.next)
	if err != nil {
		return finisher{}, err
	}
	now, err := gitTree(objects, head.ID)
	if err != nil {
		return finisher{}, err
	}
	f := finisher{v: v, again: true}
	if f.index, _, err = v.repo.ReadGitIndex(head.ID); err != nil {
		return f, err
	}
	between, err := v.between(objects, t)
	if err != nil {
		return f, err
	}
	var names []string
	for d, err := range objects.DiffTrees(base, next) {
		if err != nil {
			return f, err
		}
		p, ok := v.own(d.Path)
		if !ok {
			continue
		}
		names = append(names, d.Path)
		pl, err := v.leftover(objects, d, p, now, between, f.index)
		if err != nil {
			return f, err
		}
		if pl != nil {
			f.files = append(f.files, pl)
		}
	}
	f.trees, err = treeChangesAt(objects, base, next, names)
	return f, err
}

// between lists the trees of the chain before its last commit: the base, and
// the person's own adopted edits, which are what the disk may still hold.
func (v *Vault) between(objects *gitstore.Objects, t transition) ([]gitstore.ID, error) {
	var trees []gitstore.ID
	for id := t.next; id != t.head.ID && !id.IsZero(); {
		c, err := objects.Commit(id)
		if err != nil {
			return nil, err
		}
		if id != t.next {
			trees = append(trees, c.Tree)
		}
		id = gitstore.ID{}
		if len(c.Parents) > 0 {
			id = c.Parents[0]
		}
	}
	base, err := gitTree(objects, t.head.ID)
	return append(trees, base), err
}

// leftover is the placement that one path still needs, nil when HEAD has moved
// on from it or the person staged something else.
func (v *Vault) leftover(objects *gitstore.Objects, d gitstore.Delta, p Path, now gitstore.ID, between []gitstore.ID, index *gitindex.File) (*placement, error) {
	if at, _, err := objects.Lookup(now, d.Path); err != nil || at.ID != d.NewID {
		return nil, err
	}
	pl := &placement{v: v, path: p, known: map[gitstore.ID]bool{}}
	pl.want = pendingFile{remove: d.NewID.IsZero(), id: d.NewID, mode: d.NewMode}
	var absentBefore bool
	for _, tree := range between {
		at, ok, err := objects.Lookup(tree, d.Path)
		if err != nil {
			return nil, err
		}
		pl.known[at.ID] = true
		absentBefore = absentBefore || !ok
	}
	if !pl.want.remove {
		data, err := objects.Blob(d.NewID)
		if err != nil {
			return nil, err
		}
		pl.want.data = data
	}
	entry, ok := index.Entry(d.Path)
	switch {
	case ok && (entry.Hash == d.NewID || pl.known[entry.Hash]), !ok && (absentBefore || pl.want.remove):
		return pl, nil
	}
	return nil, nil // staged by the person since
}

// restoreDisplaced puts back bytes of a person that a swap had taken out of
// the working tree when the process died.
func (pl *placement) restoreDisplaced() error {
	root, temp := pl.temp()
	data, _, err := root.ReadFile(temp, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	id := gitstore.HashBlob(data)
	disk, err := pl.v.look(pl.path)
	if err != nil {
		return err
	}
	ours := id == pl.want.id || pl.known[id]
	if !ours {
		// Bytes that were ever committed are no edit of a person's that only
		// stands here: a power cut can bring back what an earlier write displaced.
		_, err := pl.v.repo.Blob(id)
		ours = err == nil
	}
	// Bytes of a person's that the person has replaced since are history.
	if ours || disk.exists && disk.id != pl.want.id {
		return root.Remove("file", temp)
	}
	if disk.exists {
		return pl.move().Exchange()
	}
	return pl.move().Place()
}

// settle makes each leftover ready to be placed.
func (f finisher) settle() (err error) {
	var batch durable.Batch
	defer func() { err = errors.Join(err, batch.Close()) }()
	for _, pl := range f.files {
		if err := pl.restoreDisplaced(); err != nil {
			return err
		}
		if err := pl.settle(&batch); err != nil {
			return err
		}
	}
	if err := batch.Sync(); err != nil {
		return err
	}
	for _, pl := range f.files {
		if err := pl.ready(); err != nil {
			return err
		}
	}
	return nil
}

// settle decides from what is on disk now whether the file is done, still to
// be placed, or a person's.
func (pl *placement) settle(batch *durable.Batch) error {
	disk, err := pl.v.look(pl.path)
	if err != nil {
		return err
	}
	pl.exists, pl.perm = disk.exists, disk.perm
	switch {
	case pl.want.remove && !disk.exists, disk.exists && disk.id == pl.want.id:
		pl.inPlace = true
	case pl.known[disk.id]:
		return pl.stage(batch)
	default:
		pl.inPlace, pl.left = true, true
	}
	return nil
}

// overlayJournal lets a reader that may not finish a published commit see it.
func (v *Vault) overlayJournal() error {
	t, err := v.readJournal()
	if err != nil || !t.wasPresent {
		return err
	}
	head, err := v.repo.Head()
	if err != nil {
		return err
	}
	if ok, err := v.repo.IsAncestor(t.next, head.ID); err != nil || !ok {
		return err
	}
	f, err := v.leftovers(t, head)
	if err != nil {
		return err
	}
	v.overlay = map[Path]pendingFile{}
	for _, pl := range f.files {
		disk, err := v.look(pl.path)
		if err != nil {
			return err
		}
		if pl.known[disk.id] {
			v.overlay[pl.path] = pl.want
		}
	}
	return nil
}

// treeChangesAt finds how the folders that hold the paths changed.
func treeChangesAt(objects *gitstore.Objects, base, next gitstore.ID, names []string) (map[string]gitstore.TreeChange, error) {
	out := map[string]gitstore.TreeChange{}
	for dir := range spine(names) {
		a, _, err := objects.Lookup(base, dir)
		if err != nil {
			return nil, err
		}
		b, _, err := objects.Lookup(next, dir)
		if err != nil {
			return nil, err
		}
		if a.ID != b.ID {
			out[dir] = gitstore.TreeChange{Old: a.ID, New: b.ID}
		}
	}
	return out, nil
}

// ensureState makes this worktree's state folder and the lock mark.
func (v *Vault) ensureState() (gitstore.Mark, error) {
	if err := v.repo.Root().MkdirAll("state", strings.TrimSuffix(v.tmp("."), "/"), 0o777); err != nil {
		return "", err
	}
	mark, err := v.repo.EnsureMark("stet")
	if err != nil || v.sameDevice() {
		return mark, err
	}
	return mark, v.repo.Exclude(tempPrefix + "*")
}

// sameDevice reports whether the state folder can rename into the tree.
func (v *Vault) sameDevice() bool {
	a, err := v.repo.Root().Lstat(path.Clean(v.tmp(".")))
	if err != nil {
		return true
	}
	b, err := v.tree.Lstat(".")
	return err != nil || device(a) == device(b)
}
