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
//	res, err := v.Transact(ctx, why, false, func(tx *vault.Tx) error {
//		return tx.Put("memories/a.md", "", []byte("The gate code is 4711.\n"))
//	})
//
// A Vault is safe for concurrent use; writers queue, readers never wait.
package vault

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"

	"stet/templates"
	"stet/vault/filelock"
	"stet/vault/gitstore"
	"stet/vault/settings"
	"stet/vault/store"
)

// Marker is the tracked file that makes a folder a vault.
const Marker Path = ".stet/config.yaml"

// A Vault is an open vault.
type Vault struct {
	told
	store    *store.Store
	settings settings.Settings
	o        Options
	// configProblems are the keys of the vault's file that do not count.
	configProblems []settings.Problem
	hidden         *hidings
	first          *introductions
	// judged is what the guard said of texts before their commit: an import looks at them without the lock.
	judged map[judgedKey]judged
}

// Find returns the nearest folder at or above start that is a vault, or one that an
// interrupted [Init] has committed and not finished. It fails with [ErrNotVault].
func Find(start string) (string, error) {
	abs, err := filepath.Abs(start)
	if err != nil {
		return "", err
	}
	for _, is := range [...]func(string) bool{marked, store.Interrupted} {
		for at := abs; ; at = filepath.Dir(at) {
			if is(at) {
				return at, nil
			}
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	hint := `"stet init" makes this folder a vault; -C DIR names another one, ` +
		`"stet config set default_vault DIR" one for everywhere`
	if store.Known(abs) {
		hint = fmt.Sprintf(`it was one on another branch: "git log --all --decorate -- %s" names that; `+
			`"stet init" makes a second one on this branch`, Marker)
	}
	return "", WithHint(fmt.Errorf("%q: %w", start, ErrNotVault), "%s", hint)
}

func marked(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(string(Marker))))
	return err == nil && info.Mode().IsRegular()
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

// prepare reads the vault's configuration and repairs what needs it: where the
// configuration is missing, an interrupted [Init] may have committed it.
func (v *Vault) prepare(ctx context.Context) error {
	err := v.loadConfig()
	if err != nil && !errors.Is(err, ErrNotVault) {
		return err
	}
	if rerr := v.store.Recover(ctx); rerr != nil || err == nil {
		return rerr
	}
	return v.loadConfig()
}

// attach opens dir's repository and folders without reading the vault in it.
func attach(dir string, o Options) (*Vault, error) {
	if o.LockWait == 0 {
		o.LockWait = lockWait
	}
	now := o.Now
	o.Now = func() time.Time { // neither git nor an id can say an earlier time
		at, first := now(), time.Unix(0, 0)
		if at.Before(first) {
			return first
		}
		return at
	}
	s, err := store.Open(dir, store.Options{Now: o.Now, Env: o.Env, Hook: o.Hook, LockWait: o.LockWait,
		Holder: o.Holder, Progress: o.Progress, Marker: Marker, ReadOnly: o.ReadOnly,
		Merge: func(base, ours, theirs []byte) ([]byte, bool) {
			merged, conflicts := merge(base, ours, theirs)
			return merged, len(conflicts) == 0
		}, Glance: glance(o.SecondLook)})
	if errors.Is(err, gitstore.ErrNoRepository) {
		err = WithHint(fmt.Errorf("%w: %w", ErrNotVault, err), `"stet init" makes a repository and a vault`)
	}
	if owner, ok := errors.AsType[*gitstore.OwnerError](err); ok {
		err = WithHint(fmt.Errorf("%w: %w, and git does not trust it either", ErrRefused, err),
			`if you trust them: git config --global --add safe.directory %s`, templates.Quote(owner.Worktree))
	}
	if err != nil {
		return nil, err
	}
	v := &Vault{store: s, o: o, hidden: &hidings{}, first: &introductions{}}
	v.told = told{s.Worktree, v}
	return v, nil
}

// glance is the pause before an edit that is a moment old is looked at again: as long as
// an editor takes between opening a file and writing it. A shorter second look asks for a
// shorter one.
func glance(second time.Duration) time.Duration {
	const pause = 50 * time.Millisecond
	if second > 0 {
		return min(pause, second)
	}
	return pause
}

// Close releases files and folders.
func (v *Vault) Close() error { return v.store.Close() }

// Claim takes a kernel lock of that name for this working tree's vault until
// release is called or the process dies. It does not wait: another holder is an
// [ErrBusy] that names it.
func (v *Vault) Claim(ctx context.Context, name string) (release func() error, err error) {
	if err := stateName("claim", name); err != nil {
		return nil, err
	}
	root, dir := v.store.Repo().Root(), v.store.Repo().Own("stet/"+filepath.Base(v.StateDir()))
	if err := root.MkdirAllLazy("state", dir, 0o777); err != nil {
		return nil, v.store.Explain(err)
	}
	lock, err := filelock.Acquire(ctx, root, path.Join(dir, name+".claim"), filelock.Options{Holder: v.o.Holder})
	switch {
	case store.IsReadOnly(err):
		return nil, v.store.Explain(err)
	case err != nil:
		return nil, err // who holds it is for the caller to say
	}
	return lock.Release, nil
}
