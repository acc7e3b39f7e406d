// Package vault is the only writer of a vault: a git working tree, or a
// sub-folder of one, whose Markdown files are memories, notebooks, skills,
// transcripts and notes.
//
// It promises that a write is one commit or none at all whatever happens to the
// process, the disk or the power; that bytes a person wrote are committed as the
// person's own before anything replaces them; that what a person staged stays
// staged; and that files are handed out whole. It refuses to write during a
// merge or rebase, into repository formats it cannot handle, and through
// symbolic links. Its own state lies in <git dir>/stet and never travels.
//
//	v, err := vault.Open(ctx, dir, vault.Options{Now: time.Now, Env: os.Getenv})
//	res, err := v.Update(ctx, why, func(tx *vault.Tx) error {
//		return tx.Put("memories/a.md", "", []byte("The gate code is 4711.\n"))
//	})
//
// A Vault is safe for concurrent use; writers queue, readers never wait.
package vault

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
	"stet/vault/settings"
)

// Marker is the tracked file that makes a folder a vault.
const Marker Path = ".stet/config.yaml"

// A Vault is an open vault.
type Vault struct {
	dir       string        // absolute, symbolic links resolved
	prefix    string        // dir relative to the working tree's root, "" or "notes/sub/"
	tree      *durable.Root // the vault's folder
	top       *durable.Root // the working tree's root
	repo      *gitstore.Repo
	state     string // this worktree's state folder, relative to the git dir
	settings  settings.Settings
	o         Options
	recovered atomic.Pointer[string]
	oneDevice func() bool          // whether the state folder can rename into the tree
	overlay   map[Path]pendingFile // of a journal this process may not finish
	// configProblems are the keys of the vault's file that do not count.
	configProblems []settings.Problem
}

// Find returns the nearest folder at or above start that is a vault. It fails
// with [ErrNotVault].
func Find(start string) (string, error) {
	abs, err := filepath.Abs(start)
	if err != nil {
		return "", err
	}
	for at := abs; ; at = filepath.Dir(at) {
		info, err := os.Stat(filepath.Join(at, filepath.FromSlash(string(Marker))))
		if err == nil && info.Mode().IsRegular() {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", WithHint(fmt.Errorf("%q: %w", start, ErrNotVault),
				`"stet init" makes this folder a vault; -C DIR names another one`)
		}
	}
}

// Open opens the vault whose root is dir, finishing or forgetting what a killed
// process left behind. It fails with [ErrNotVault], [ErrNewerFormat],
// [ErrUnsupportedRepository] or [ErrBusy] and has then written nothing.
func Open(ctx context.Context, dir string, o Options) (*Vault, error) {
	v, err := attach(dir, o)
	if err != nil {
		return nil, err
	}
	if err := v.prepare(ctx); err != nil {
		return nil, errors.Join(err, v.Close())
	}
	return v, nil
}

// prepare reads the vault's configuration and repairs what needs it.
func (v *Vault) prepare(ctx context.Context) error {
	if err := v.loadConfig(); err != nil {
		return err
	}
	if !v.needsRecovery() {
		return nil
	}
	err := v.locked(ctx, v.recoverLocked)
	if err != nil && v.o.ReadOnly && (errors.Is(err, ErrBusy) || isReadOnly(err)) {
		return v.overlayJournal()
	}
	return err
}

// attach opens dir's repository and folders without reading the vault in it.
func attach(dir string, o Options) (*Vault, error) {
	abs, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	if abs, err = filepath.Abs(abs); err != nil {
		return nil, err
	}
	if o.LockWait == 0 {
		o.LockWait = lockWait
	}
	loc, err := gitstore.Locate(abs)
	if err != nil {
		if errors.Is(err, gitstore.ErrNoRepository) {
			err = WithHint(fmt.Errorf("%w: %w", ErrNotVault, err), `"stet init" makes a repository and a vault`)
		}
		return nil, err
	}
	rel, err := filepath.Rel(loc.Worktree, abs)
	if err != nil {
		return nil, err
	}
	v := &Vault{dir: abs, o: o}
	if rel != "." {
		v.prefix = filepath.ToSlash(rel) + "/"
	}
	if v.repo, err = gitstore.Open(loc, o.Env, o.Hook); err != nil {
		return nil, err
	}
	// The state folder is named after the vault's place in the working tree, so
	// that several vaults in one repository keep apart (docs/FORMAT.md, State).
	sum := sha256.Sum256([]byte(strings.TrimSuffix(v.prefix, "/")))
	v.state = v.repo.Own("stet/" + hex.EncodeToString(sum[:4]))
	if err := v.checkState(); err != nil {
		return nil, errors.Join(err, v.Close())
	}
	if v.tree, err = durable.OpenRoot(abs, o.Hook); err != nil {
		return nil, errors.Join(err, v.Close())
	}
	if v.top, err = durable.OpenRoot(loc.Worktree, o.Hook); err != nil {
		return nil, errors.Join(err, v.Close())
	}
	v.oneDevice = sync.OnceValue(v.sameDevice)
	return v, nil
}

// checkState refuses a state folder that is a symbolic link: what stet keeps
// for itself would be written to a place that somebody else chose.
func (v *Vault) checkState() error {
	for _, p := range []string{"stet", v.state, path.Join(v.state, "index")} {
		if info, err := v.repo.Root().Lstat(p); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return WithHint(fmt.Errorf("%q: %w: it is a symbolic link", v.repo.Root().Abs(p), ErrDamaged), "remove the link; a new folder is made in its place")
		}
	}
	return nil
}

// Close releases files and folders.
func (v *Vault) Close() error {
	var errs []error
	if v.repo != nil {
		errs = append(errs, v.repo.Close())
	}
	for _, r := range []*durable.Root{v.tree, v.top} {
		if r != nil {
			errs = append(errs, r.Close())
		}
	}
	return errors.Join(errs...)
}

// Root is the vault's folder, absolute.
func (v *Vault) Root() string { return v.dir }

// StateDir is the folder for derived and local state of this worktree's vault,
// absolute; it may not exist yet.
func (v *Vault) StateDir() string { return v.repo.Root().Abs(v.state) }

// Recovered says in one line what Open repaired, "" when nothing was to do.
func (v *Vault) Recovered() string {
	if text := v.recovered.Load(); text != nil {
		return *text
	}
	return ""
}

// Head is the commit that the branch points to, "" before the first.
func (v *Vault) Head() (Revision, error) {
	h, err := v.repo.Head()
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
func (v *Vault) Git() GitState {
	loc := v.repo.Location()
	return GitState{Dir: loc.GitDir, Common: loc.Common, Operation: v.repo.InProgress(),
		Locked: v.repo.Root().Exists(v.repo.GitIndexPath() + ".lock")}
}

// Claim takes a kernel lock of that name for this working tree's vault until
// release is called or the process dies. It does not wait: another holder is an
// [ErrBusy] that names it.
func (v *Vault) Claim(ctx context.Context, name string) (release func() error, err error) {
	if err := stateName("claim", name); err != nil {
		return nil, err
	}
	root := v.repo.Root()
	if err := root.MkdirAllLazy("state", v.state, 0o777); err != nil {
		return nil, v.writeError(err)
	}
	lock, err := filelock.Acquire(ctx, root, path.Join(v.state, name+".claim"), filelock.Options{Holder: v.o.Holder})
	switch {
	case isReadOnly(err):
		return nil, v.writeError(err)
	case err != nil:
		return nil, err // who holds it is for the caller to say
	}
	return lock.Release, nil
}

// git is p as git names it, relative to the working tree.
func (v *Vault) git(p Path) string { return v.prefix + string(p) }

// Person is the name and address that git knows the person by.
func (v *Vault) Person() (name, email string) {
	who := v.repo.Config().Identity("AUTHOR")
	return who.Name, who.Email
}

// GitPath is the name that git has for a file of the vault: seen from the top of
// the repository, which a vault in a sub-folder is not.
func (v *Vault) GitPath(p Path) string { return v.git(p) }

// own turns git's name of a path into the vault's; ok is false outside.
func (v *Vault) own(name string) (Path, bool) {
	rest, ok := strings.CutPrefix(name, v.prefix)
	return Path(rest), ok && rest != ""
}

// lockFile is shared by all worktrees and vaults of a repository, because they
// share its refs and objects.
const lockFile = "stet/lock"

// locked runs fn while holding the vault lock.
func (v *Vault) locked(ctx context.Context, fn func(context.Context) error) error {
	root := v.repo.Root()
	if err := root.MkdirAllLazy("state", "stet", 0o777); err != nil {
		return v.writeError(err)
	}
	wait := v.o.LockWait
	if v.o.ReadOnly {
		wait = 0
	}
	lock, err := filelock.Acquire(ctx, root, lockFile, filelock.Options{Wait: wait, Holder: v.o.Holder})
	if err != nil {
		return v.writeError(err)
	}
	// Whatever Release says, the kernel drops the lock with the descriptor; a
	// durable write must not be reported as failed for it.
	defer func() { _ = lock.Release() }()
	root.Pin("stet", v.state, v.tmp("."), "objects/pack", "refs/heads", "logs", "logs/refs/heads")
	return fn(ctx)
}

// writeError says what stands behind an error that every write can meet.
func (v *Vault) writeError(err error) error {
	var known interface{ Hint() string }
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return err // whoever met it knows more
	case errors.Is(err, ErrBusy):
		return WithHint(err, "another stet command is writing; try again")
	case errors.Is(err, gitstore.ErrLocked):
		return WithHint(fmt.Errorf("%w: %w", ErrBusy, err),
			"a git command is running; if none is, a crashed one left the lock file and you may remove it")
	case isReadOnly(err) && !errors.Is(err, ErrReadOnly):
		return WithHint(fmt.Errorf("%w: %w", ErrReadOnly, err), "check the owner and permissions of %q", v.dir)
	case errors.Is(err, gitstore.ErrMissing):
		return WithHint(fmt.Errorf("%w: %w", ErrDamaged, err), `"git fsck" lists what is missing; "stet doctor" checks the vault`)
	}
	return err
}

func isReadOnly(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, errReadOnlyFS)
}

// tmp names a temporary file in this worktree's state folder.
func (v *Vault) tmp(name string) string { return path.Join(v.state, "tmp", name) }
