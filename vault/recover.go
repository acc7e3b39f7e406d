package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"stet/vault/durable"
	"stet/vault/gitstore"
)

// needsRecovery reports, without a lock, whether a killed process may have left
// something: a journal with text in it, a temporary file, or a lock of ours.
func (v *Vault) needsRecovery() bool {
	root := v.repo.Root()
	if info, err := root.Lstat(v.journalPath()); err == nil && info.Size() > 0 {
		return true
	}
	if names, err := root.Names(v.tmp(".")); err == nil && len(names) > 0 {
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
		if published, err = v.isPublished(t, now); err != nil {
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
		text := fmt.Sprintf("finished commit %s that an interrupted command had published", Revision(t.next.String()).Short())
		v.recovered.Store(&text)
	}
	if err := errors.Join(v.dropDeadLocks(mark, t), v.repo.DropKeeps(mark)); err != nil {
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

// isPublished reports whether a branch at now holds the journal's commits. A
// journal whose base is not below them cannot be ours and tells nothing.
func (v *Vault) isPublished(t transition, now gitstore.ID) (bool, error) {
	ok, err := v.repo.IsAncestor(t.next, now)
	if err != nil || !ok {
		return false, err
	}
	return v.repo.IsAncestor(t.head.ID, t.next)
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
		if err := v.sweep(root, e.Name()); err != nil {
			return err
		}
	}
	return nil
}

// sweep removes one temporary file. One that may hold displaced bytes which no
// commit has, because git was used before stet could put them back, is kept.
func (v *Vault) sweep(root *durable.Root, name string) error {
	if strings.HasPrefix(name, "w-") && !strings.HasSuffix(name, unfinished) {
		data, _, err := root.ReadFile(v.tmp(name), 0)
		if err != nil {
			return err
		}
		if _, err := v.repo.Blob(gitstore.HashBlob(data)); errors.Is(err, gitstore.ErrMissing) {
			return v.keep(root, v.tmp(name), name)
		} else if err != nil {
			return err
		}
	}
	if err := v.repo.DropHalf(name); err != nil {
		return err
	}
	return root.Remove("tmp", v.tmp(name))
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
	if ok, err := v.isPublished(t, head.ID); err != nil || !ok {
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

// ensureState makes this worktree's state folder and the lock mark. The first
// journal syncs the folder with all those above it.
func (v *Vault) ensureState() (gitstore.Mark, error) {
	if err := v.repo.Root().MkdirAllLazy("state", strings.TrimSuffix(v.tmp("."), "/"), 0o777); err != nil {
		return "", err
	}
	mark, err := v.repo.EnsureMark("stet")
	if err != nil || v.oneDevice() {
		return mark, err
	}
	return mark, v.repo.Exclude(tempPrefix + "*")
}

// sameDevice looks whether the state folder, which must exist by then, can rename
// into the tree.
func (v *Vault) sameDevice() bool {
	a, err := v.repo.Root().Lstat(path.Clean(v.tmp(".")))
	if err != nil {
		return true
	}
	b, err := v.tree.Lstat(".")
	return err != nil || device(a) == device(b)
}
