package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"stet/vault/durable"
	"stet/vault/filelock"
	"stet/vault/gitstore"
)

// A Store is an open folder of a git working tree. It is safe for concurrent use;
// writers queue, readers never wait.
type Store struct {
	*Worktree
	oneDevice func() bool // whether the state folder can rename into the tree
}

// A Worktree reads the folder that a [Store] writes.
type Worktree struct {
	dir    string        // absolute, symbolic links resolved
	prefix string        // dir relative to the working tree's root, "" or "notes/sub/"
	tree   *durable.Root // dir
	top    *durable.Root // the working tree's root
	repo   *gitstore.Repo
	state  string // this worktree's state folder, relative to the git dir
	o      Options
	// overlay are the files of a published commit that this process may not finish.
	overlay   map[Path]Content
	recovered atomic.Pointer[string]
}

// Open opens dir and the repository that holds it. It repairs nothing: see
// [Store.Recover]. It fails with [gitstore.ErrNoRepository] or
// [gitstore.ErrUnsupported] and writes nothing.
func Open(dir string, o Options) (*Store, error) {
	abs, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	if abs, err = filepath.Abs(abs); err != nil {
		return nil, err
	}
	loc, err := gitstore.Locate(abs)
	if err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(loc.Worktree, abs)
	if err != nil {
		return nil, err
	}
	if o.ReadOnly {
		o.LockWait = 0
	}
	s := &Store{Worktree: &Worktree{dir: abs, o: o}}
	if rel != "." {
		s.prefix = filepath.ToSlash(rel) + "/"
	}
	if s.repo, err = gitstore.Open(loc, o.Env, o.Hook, abs, filepath.Join(abs, path.Dir(string(o.Marker)))); err != nil {
		return nil, err
	}
	s.state = s.repo.Own(stateFolder(s.prefix))
	if err := s.checkState(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if s.tree, err = durable.OpenRoot(abs, o.Hook); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if s.top, err = durable.OpenRoot(loc.Worktree, o.Hook); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.oneDevice = sync.OnceValue(s.sameDevice)
	return s, nil
}

// stateFolder is the folder of a store's state, named after its place in the working
// tree, so that several in one repository keep apart (docs/FORMAT.md, State).
func stateFolder(prefix string) string {
	sum := sha256.Sum256([]byte(strings.TrimSuffix(prefix, "/")))
	return "stet/" + hex.EncodeToString(sum[:4])
}

// Interrupted reports that a transaction in dir was not finished: a process was killed,
// or another one is at it.
func Interrupted(dir string) bool {
	state, err := stateOf(dir)
	if err != nil {
		return false
	}
	info, err := os.Stat(filepath.Join(state, "journal"))
	return err == nil && info.Size() > 0
}

// Known reports a folder that stet wrote to, on whatever branch.
func Known(dir string) bool {
	state, err := stateOf(dir)
	if err == nil {
		_, err = os.Stat(state)
	}
	return err == nil
}

// stateOf is where the local state of a vault in dir lies, if it is one.
func stateOf(dir string) (string, error) {
	loc, err := gitstore.Locate(dir)
	if err != nil {
		return "", err
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	rel, err := filepath.Rel(loc.Worktree, dir)
	state := stateFolder(strings.TrimPrefix(filepath.ToSlash(rel), "."))
	return filepath.Join(loc.GitDir, filepath.FromSlash(state)), err
}

// Recover finishes or forgets what a killed process left behind. A read-only store
// waits for nobody and needs none of it: where it cannot be done, it reads the unfinished
// files from the commit instead.
func (s *Store) Recover(ctx context.Context) error {
	if !s.needsRecovery() && len(s.late()) == 0 {
		return nil
	}
	err := s.Locked(ctx, func(context.Context) error { return nil })
	if err == nil || !s.o.ReadOnly {
		return err
	}
	s.overlayJournal()
	return context.Cause(ctx)
}

// checkState refuses a state folder that is a symbolic link: what stet keeps
// for itself would be written to a place that somebody else chose.
func (s *Store) checkState() error {
	for _, p := range []string{"stet", s.state, path.Join(s.state, "index")} {
		if info, err := s.repo.Root().Lstat(p); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			err := fmt.Errorf("%q: %w: it is a symbolic link", s.repo.Root().Abs(p), ErrDamaged)
			return WithHint(err, "remove the link; a new folder is made in its place")
		}
	}
	return nil
}

// Close releases files and folders.
func (s *Store) Close() error {
	var errs []error
	if s.repo != nil {
		errs = append(errs, s.repo.Close())
	}
	for _, r := range []*durable.Root{s.tree, s.top} {
		if r != nil {
			errs = append(errs, r.Close())
		}
	}
	return errors.Join(errs...)
}

// Repo is the repository.
func (s *Store) Repo() *gitstore.Repo { return s.repo }

// Tree is the folder itself.
func (s *Store) Tree() *durable.Root { return s.tree }

// tell adds to what [Worktree.Recovered] says. The vault lock is held.
func (s *Worktree) tell(text string) {
	if before := s.recovered.Load(); before != nil {
		text = *before + "; " + text
	}
	s.recovered.Store(&text)
}

// Recovered says in one line what recovery finished, "" when nothing was to do.
func (s *Worktree) Recovered() string {
	if text := s.recovered.Load(); text != nil {
		return *text
	}
	return ""
}

// Root is the vault's folder, absolute.
func (s *Worktree) Root() string { return s.dir }

// StateDir is the folder for derived and local state of this worktree's vault,
// absolute; it may not exist yet.
func (s *Worktree) StateDir() string { return s.repo.Root().Abs(s.state) }

// Head is the commit that the branch points to, "" before the first.
func (s *Worktree) Head() (Revision, error) {
	h, err := s.repo.Head()
	return Revision(h.ID.String()), err
}

// GitState is what of git matters to somebody who follows the vault.
type GitState struct {
	Dir    string // of this working tree, absolute: HEAD and the git index
	Common string // shared by all working trees, absolute: branches
	// Operation is an unfinished merge or the like, "" normally.
	Operation string
	// Locked says that a git command, or a stet, is changing the git index.
	Locked bool
}

// Git looks at git's folder. Cost: nine lstat calls.
func (s *Worktree) Git() GitState {
	loc := s.repo.Location()
	return GitState{Dir: loc.GitDir, Common: loc.Common, Operation: s.repo.InProgress(),
		Locked: s.repo.Root().Exists(s.repo.GitIndexPath() + ".lock")}
}

// Person is the name and address that git knows the user by.
func (s *Worktree) Person() (name, email string) {
	who := s.repo.Config().Identity("AUTHOR")
	return who.Name, who.Email
}

// Remotes lists the remotes that git's configuration names. It contacts nobody.
func (s *Worktree) Remotes() []gitstore.Remote { return s.repo.Config().Remotes() }

// GitPath is the name that git has for a file: relative to the top of the
// repository, which the vault's folder may be below.
func (s *Worktree) GitPath(p Path) string { return s.prefix + string(p) }

// Own turns git's name of a path into the store's; ok is false outside.
func (s *Worktree) Own(name string) (p Path, ok bool) {
	rest, ok := strings.CutPrefix(name, s.prefix)
	return Path(rest), ok && rest != ""
}

// lockFile is shared by all worktrees and vaults of a repository, because they
// share its refs and objects.
const lockFile = "stet/lock"

// Locked runs fn under the vault lock, after recovery.
func (s *Store) Locked(ctx context.Context, fn func(context.Context) error) error {
	root := s.repo.Root()
	if err := root.MkdirAllLazy("state", "stet", 0o777); err != nil {
		return s.Explain(err)
	}
	lock, err := filelock.Acquire(ctx, root, lockFile, filelock.Options{Wait: s.o.LockWait, Holder: s.o.Holder})
	if err != nil {
		return s.Explain(err)
	}
	// Whatever Release says, the kernel drops the lock with the descriptor; a
	// durable write must not be reported as failed for it.
	defer func() { _ = lock.Release() }()
	root.Pin("stet", s.state, s.tmp("."), "objects/pack", "refs/heads", "logs", "logs/refs/heads")
	if err := s.recoverLocked(ctx); err != nil {
		return err
	}
	return fn(ctx)
}

// Busy reports whether another process holds the vault lock.
func (s *Store) Busy(ctx context.Context) bool {
	if !s.repo.Root().Exists(lockFile) {
		return false
	}
	lock, err := filelock.Acquire(ctx, s.repo.Root(), lockFile, filelock.Options{})
	if err != nil {
		return errors.Is(err, errBusy)
	}
	return lock.Release() != nil
}

// Explain adds the cause and the next step to an error that every write can meet.
func (s *Store) Explain(err error) error { return Explain(s.dir, err) }

// Explain is [Store.Explain] for a folder that is not open.
func Explain(dir string, err error) error {
	var known interface{ Hint() string }
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return err // whoever met it knows more
	case errors.Is(err, errBusy):
		return WithHint(err, "another stet command is writing; try again")
	case errors.Is(err, gitstore.ErrLocked):
		return WithHint(fmt.Errorf("%w: %w", errBusy, err),
			"a git command is running; if none is, a crashed one left the lock file and you may remove it")
	case IsReadOnly(err) && !errors.Is(err, ErrReadOnly):
		return WithHint(fmt.Errorf("%w: %w", ErrReadOnly, err), "check the owner and permissions of %q", dir)
	case errors.Is(err, gitstore.ErrMissing):
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
		return WithHint(err, `"git fsck" lists what is missing; "stet doctor" checks the vault`)
	}
	return err
}

// IsReadOnly reports an error of a folder that may not be written.
func IsReadOnly(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, errReadOnlyFS)
}

// tmp names a temporary file in this worktree's state folder.
func (s *Worktree) tmp(name string) string { return path.Join(s.state, "tmp", name) }

// progressEvery is the number of files between two reports: often enough to
// see it move, rarely enough to cost nothing.
const progressEvery = 500

// Progress reports long work.
func (s *Store) Progress(phase string, done, total int) {
	if s.o.Progress != nil && (done%progressEvery == 0 || done == total) {
		s.o.Progress(Event{Phase: phase, Done: done, Total: total})
	}
}
