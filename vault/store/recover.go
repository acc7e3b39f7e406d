package store

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
func (s *Store) needsRecovery() bool {
	root := s.repo.Root()
	if info, err := root.Lstat(s.journalPath()); err == nil && info.Size() > 0 {
		return true
	}
	if names, err := root.Names(s.tmp(".")); err == nil && len(names) > 0 {
		return true
	}
	if root.Exists(s.repo.GitIndexPath() + ".lock") {
		return true
	}
	// After a power cut a ref's lock may be back alone: its folder was synced
	// with the ref while it was held.
	head, err := s.repo.Head()
	return err == nil && root.Exists(s.repo.RefPath(head.Ref)+".lock")
}

// recoverLocked finishes a published commit or forgets an unpublished one, and
// removes what dead processes left. The vault lock is held, so whatever is
// marked as ours has no living owner.
func (s *Store) recoverLocked(ctx context.Context) error {
	if s.needsRecovery() {
		if err := s.recoverNow(ctx); err != nil {
			return err
		}
	}
	return s.bringLate(ctx)
}

func (s *Store) recoverNow(ctx context.Context) error {
	mark, err := s.ensureState()
	if err != nil {
		return err
	}
	t, err := s.readJournal()
	if err != nil {
		return err
	}
	published := false
	if t.wasPresent {
		now, err := s.repo.ReadRef(t.head.Ref)
		if err != nil {
			return err
		}
		if published, err = s.isPublished(t, now); err != nil {
			return err
		}
	}
	if err := s.syncLeftBehind(t); err != nil {
		return err
	}
	if published {
		if err := s.rollForward(ctx, mark, t); err != nil {
			return fmt.Errorf("finish commit %s: %w", t.next, err)
		}
		s.tell(fmt.Sprintf("finished commit %s that an interrupted command had published", Revision(t.next.String()).Short()))
	}
	if err := errors.Join(s.dropDeadLocks(mark, t), mark.DropKeeps()); err != nil {
		return err
	}
	if err := s.sweepTemp(); err != nil {
		return err
	}
	if !t.wasPresent && !s.repo.Root().Exists(s.journalPath()) {
		return nil
	}
	return s.clearJournal()
}

// isPublished reports whether a branch at now holds the journal's commits. A
// journal whose base is not below them cannot be ours and tells nothing.
func (s *Store) isPublished(t transition, now gitstore.ID) (bool, error) {
	ok, err := s.repo.Stage().IsAncestor(t.next, now)
	if err != nil || !ok {
		return false, err
	}
	return s.repo.Stage().IsAncestor(t.head.ID, t.next)
}

// syncLeftBehind makes durable what a killed process may have made and not
// synced, and what later writes would rely on because they find it there: the
// folders of objects, of our state, of the ref and of the files.
func (s *Store) syncLeftBehind(t transition) error {
	if err := errors.Join(s.repo.SyncFolders("recover", "objects"), s.syncState()); err != nil || !t.wasPresent {
		return err
	}
	if err := s.repo.SyncFolders("ref", path.Dir(s.repo.RefPath(t.head.Ref))); err != nil {
		return err
	}
	objects := s.repo.Stage()
	base, err := objects.TreeOf(t.head.ID)
	next, err2 := objects.TreeOf(t.next)
	if err != nil || err2 != nil {
		return nil // its objects never reached the disk, so no folder was made for it
	}
	dirs := map[string]bool{}
	for d, err := range objects.DiffTrees(base, next) {
		if err != nil {
			return nil
		}
		if p, ok := s.Own(d.Path); ok {
			for dir := p.Dir(); !dirs[dir]; dir = path.Dir(dir) {
				dirs[dir] = true
			}
		}
	}
	for _, dir := range sortedKeys(dirs) {
		if err := s.tree.SyncDir("recover", dir); err != nil && !Absent(err) {
			return err
		}
	}
	return nil
}

// dropDeadLocks removes our lock files of a dead process.
func (s *Store) dropDeadLocks(mark gitstore.Mark, t transition) error {
	targets := []string{s.repo.GitIndexPath(), s.repo.RefPath("HEAD")}
	if head, err := s.repo.Head(); err == nil {
		targets = append(targets, s.repo.RefPath(head.Ref))
	}
	if t.wasPresent {
		targets = append(targets, s.repo.RefPath(t.head.Ref))
	}
	for _, target := range targets {
		if _, err := mark.DropDead(target); err != nil {
			return err
		}
	}
	return nil
}

// sweepTemp removes temporary files; displaced bytes of a person's were put
// back by rollForward before.
func (s *Store) sweepTemp() error {
	root := s.repo.Root()
	entries, err := root.ReadDir(s.tmp("."))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := s.sweep(root, e.Name()); err != nil {
			return err
		}
	}
	return nil
}

// sweep removes one temporary file. One that may hold displaced bytes which no
// commit has, because git was used before stet could put them back, is kept.
func (s *Store) sweep(root *durable.Root, name string) error {
	if strings.HasPrefix(name, "w-") && !strings.HasSuffix(name, unfinished) {
		open, _ := durable.Written(root, s.tmp(name)) // before the read: bytes may still come
		data, _, err := root.ReadFile(s.tmp(name), 0)
		if err != nil {
			return err
		}
		id := gitstore.HashBlob(data)
		if _, err := s.repo.Stage().Blob(id); errors.Is(err, gitstore.ErrMissing) {
			return s.keep(root, s.tmp(name), Path(name))
		} else if err != nil {
			return err
		}
		if open {
			return s.keepLate(s.tmp(name), Path(name), id)
		}
	}
	if err := s.repo.DropHalf(name); err != nil {
		return err
	}
	return root.Remove("tmp", s.tmp(name))
}

// rollForward repeats the steps after the commit point. It may run any number
// of times and never replaces bytes that are not part of the journal's chain.
func (s *Store) rollForward(ctx context.Context, mark gitstore.Mark, t transition) error {
	lock, err := mark.Lock(ctx, s.repo.GitIndexPath(), s.o.LockWait)
	if err != nil {
		return err
	}
	head, err := s.repo.Head()
	if err != nil {
		return err
	}
	f, err := s.unfinished(t, head)
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

// overlayJournal lets a reader that may not finish a published commit see it. Where the
// repository does not tell what that is, the files are read as they stand.
func (s *Store) overlayJournal() {
	t, err := s.readJournal()
	if err != nil || !t.wasPresent {
		return
	}
	head, err := s.repo.Head()
	if err != nil {
		return
	}
	if ok, err := s.isPublished(t, head.ID); err != nil || !ok {
		return
	}
	f, err := s.unfinished(t, head)
	if err != nil {
		return
	}
	s.overlay = map[Path]Content{}
	for _, pl := range f.files {
		if disk, err := s.Look(pl.path); err == nil && pl.known[disk.ID] {
			s.overlay[pl.path] = pl.want
		}
	}
}

// ensureState makes this worktree's state folder and the lock mark. The first
// journal syncs the folder with all those above it.
func (s *Store) ensureState() (gitstore.Mark, error) {
	if err := s.repo.Root().MkdirAllLazy("state", strings.TrimSuffix(s.tmp("."), "/"), 0o777); err != nil {
		return gitstore.Mark{}, err
	}
	mark, err := s.repo.EnsureMark("stet")
	if err != nil || s.oneDevice() {
		return mark, err
	}
	return mark, s.repo.Exclude(TempPrefix + "*")
}

// sameDevice looks whether the state folder, which must exist by then, can rename
// into the tree.
func (s *Store) sameDevice() bool {
	a, err := s.repo.Root().Lstat(path.Clean(s.tmp(".")))
	if err != nil {
		return true
	}
	b, err := s.tree.Lstat(".")
	return err != nil || device(a) == device(b)
}
