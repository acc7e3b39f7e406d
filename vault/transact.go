package vault

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"stet/vault/store"
)

// A Tx stages changes to the vault in memory. Reads see the working tree as it
// is on disk, uncommitted edits included, with the staged changes on top. A Tx
// lives only during the function it is passed to and is not safe for
// concurrent use.
type Tx struct {
	v   *Vault
	tx  *store.Tx
	why *Why // of the commit being staged

	taken    map[string]map[string]bool // names by folder, for FreeName
	adopted  Why                        // subject and moves of adopted edits
	rejected *rejections
	judge    *judge
	// What the guard leaves uncommitted, and what it only flags.
	held     []Problem
	warnings []string
	named    []Path // edits that were asked for by name: refused, not held
	unasked  string // see [Result.Unasked]

	ancestry *Ancestry      // of all files whose authors are asked for
	persons  map[Path]bool  // whether a person wrote what stands there, as far as it was asked for
	groups   map[Path][]int // by path the commits that write there
	counted  int            // so many commits there were when groups was made
}

// Why is the description of the commit being staged; it may be changed until
// the function returns or [Tx.Split] is called.
func (t *Tx) Why() *Why { return t.why }

// NewID makes an id for a memory, of the vault's clock.
func (t *Tx) NewID() string { return newID(t.v.o.Now()) }

// Read returns the bytes at p, which must not be changed, and their hash. A
// file that does not exist has no bytes and the hash "".
func (t *Tx) Read(p Path) ([]byte, Hash, error) { return t.tx.Read(p) }

// Put stages data at p. was is the hash of the bytes the caller saw, "" for a
// new file; it fails with [ErrConflict] when something else stands there.
func (t *Tx) Put(p Path, was Hash, data []byte) error {
	if err := t.checkMerged(p, data); err != nil {
		return err
	}
	return t.tx.Put(p, was, data)
}

// Permitted reports whether the permissions of a file were changed and not committed.
func (t *Tx) Permitted(p Path) (bool, error) { return t.tx.Permitted(p) }

// Remove stages the removal of p, whose bytes hash to was.
func (t *Tx) Remove(p Path, was Hash) error { return t.tx.Remove(p, was) }

// Move stages a rename of from to to, which must not exist. Links are not
// rewritten.
func (t *Tx) Move(from, to Path) error {
	err := t.tx.Move(from, to)
	if err == nil {
		t.why.Moved = append(t.why.Moved, [2]Path{from, to})
	}
	return err
}

// Split ends the commit being staged: what follows goes into the next one of
// the chain, described by why. All commits are published together.
func (t *Tx) Split(why Why) {
	t.why = &why
	t.tx.Split(t.why)
}

// PutStored is [Tx.Put] of a transcript, or of what stands beside one, with the hash
// h that [State.WriteBlobs] returned for it.
func (t *Tx) PutStored(p Path, was, h Hash) error {
	if ClassOf(p) != ClassSession {
		return fmt.Errorf("%q: %w: only transcripts are stored before their commit", p, ErrInvalid)
	}
	return t.tx.PutStored(p, was, h)
}

// A Result is what a write did, or with DryRun would do.
type Result struct {
	Root     string
	Base     Revision // HEAD before
	Commits  []Commit // oldest first, a person's adopted edits included
	Changes  []Change // of all commits together
	each     [][]Change
	Adopted  []Path    // hand edits that were committed first
	Memories []Memory  // the memories written, in the order asked for
	Held     []Problem // hand edits that the guard left uncommitted
	Skipped  []Problem // of adopt: what could not be looked at
	Passed   []Commit  // of undo: newer commits that it does not take back, newest first
	Took     []string  // of undo and redo: the commits that they take back, newest first
	Diff     string    // unified; filled for dry runs and for reverts
	DryRun   bool
	// Proposed is what waits for a person instead of having been written: the
	// commits hold the proposals, and Memories would be as they say.
	Proposed []Proposed
	// Unasked says why the turns that were named for a change do not ask for it; it waits then.
	Unasked  string
	Detached bool // the commits are on no branch
	// Unrun names what git's own commits here go through and these did not: hooks, and the setting that signs.
	Unrun func() []string
	// Unchanged reports that there was nothing to do.
	Unchanged bool
	// Warnings tell of what was left for the next command to finish; the
	// commits themselves are durable.
	Warnings []string
}

// Transact runs fn on a transaction and publishes what it staged as one commit, or a
// chain of them, with one move of the branch. With dry it takes no lock and writes
// nothing. What a machine may not write without a person is proposed instead. fn may run several times and must not have effects of its own. When
// Transact returns nil the commits are durable. It fails with [ErrBusy],
// [ErrConflict], [ErrInProgress], [ErrReadOnly] or fn's own error and has then changed
// nothing.
func (v *Vault) Transact(ctx context.Context, why Why, dry bool, fn func(*Tx) error) (_ *Result, err error) {
	defer func() {
		var refused *GuardError
		if errors.As(err, &refused) {
			refused.machine = why.actor() != ActorUser
		}
		if errors.As(err, new(needsApproval)) {
			err = fmt.Errorf("%w: %w", ErrRefused, err)
		}
		err = v.store.Explain(v.keptOut(err))
	}()
	if err := why.checkActor(v.namesOfUser); err != nil {
		return nil, err
	}
	if by := agentName(v.o.Via); why.Via == "" && by != why.machineName() {
		why.Via = by
	}
	r := &run{ctx: ctx, v: v.Whole(), why: why, fn: fn}
	waits := v.waits(why)
	asks := func(err error) bool { return errors.As(err, &waits) && !why.Op.known().rule }
	switch {
	case waits != "":
		return v.propose(ctx, r, dry, waits)
	case dry:
		_, done, err := v.store.Preview(ctx, r.describe(), r.stage)
		if asks(err) {
			return v.propose(ctx, r, dry, waits)
		}
		if err != nil {
			return nil, err
		}
		res := r.result(done)
		res.DryRun = true
		if err = v.tell(ctx, res, done); err == nil {
			res.Diff, err = v.diffText(done.Objects, res.Changes)
		}
		return res, err
	}
	done, err := v.store.Update(ctx, r.describe, r.stage)
	if asks(err) {
		return v.propose(ctx, r, dry, waits)
	}
	if err != nil {
		return nil, err
	}
	res := r.result(done)
	if err := v.keepAccepted(ctx, done); err != nil && ctx.Err() == nil {
		res.Warnings = append(res.Warnings, fmt.Sprintf("a skill from elsewhere waits for you again: %v", err))
	}
	return res, v.tell(ctx, res, done)
}

// A run is one transaction of the vault's on the store.
type run struct {
	ctx context.Context
	v   *Vault
	why Why
	fn  func(*Tx) error
	now *Why // of the attempt that is running
	tx  *Tx
	// proposing says that what the run builds is to become proposals.
	proposing bool
}

// describe begins an attempt.
func (r *run) describe() store.Description {
	why := r.why
	r.now = &why
	return r.now
}

// stage stages what fn wants and compares it with what was rejected.
func (r *run) stage(low *store.Tx) (store.BeforeCommit, error) {
	r.tx = &Tx{v: r.v, tx: low, why: r.now, taken: map[string]map[string]bool{}}
	if err := r.fn(r.tx); err != nil {
		return nil, err
	}
	if err := r.tx.unflag(r.ctx); err != nil {
		return nil, err
	}
	low.Flush()
	if err := r.tx.checkAuthority(r.ctx, r.proposing); err != nil {
		return nil, err
	}
	return r.tx.check, r.tx.settle(r.proposing)
}

// check passes what is about to be committed through the guard, and describes the
// edits of the person's that are committed first.
func (t *Tx) check(ctx context.Context, staged, disk *store.Group) error {
	if err := t.guardEdits(ctx, staged, disk); err != nil {
		return err
	}
	if err := t.warnOfNames(slices.Concat(staged.Paths, disk.Paths)); err != nil {
		return err
	}
	t.describe(staged, "staged ")
	t.describe(disk, "")
	groups := []*store.Group{staged, disk}
	for i := range t.tx.Groups {
		groups = append(groups, &t.tx.Groups[i])
	}
	return t.guardGroups(ctx, groups...)
}

// Chain yields the commits with their changes, oldest first; those of a sum of several results have none. No agent is
// given it.
func (r *Result) Chain() iter.Seq[Commit] {
	return func(yield func(Commit) bool) {
		for i, c := range r.Commits {
			if i < len(r.each) {
				c.Changes = r.each[i]
			}
			if !yield(c) {
				return
			}
		}
	}
}

func (r *run) result(done *store.Result) *Result {
	res := &Result{Root: r.v.Root(), Detached: done.Detached, Unrun: r.v.unrun, Base: done.Base, Changes: done.Changes, each: done.Each, Adopted: done.Adopted,
		Held: r.tx.held, Unchanged: len(done.Commits) == 0}
	if !res.Unchanged {
		res.Warnings = append(r.tx.warnings, done.Warnings...)
	}
	for i, gc := range done.Commits {
		c := commitOf(gc)
		c.Op = whyOf(done.Whys[i]).Op
		res.Commits = append(res.Commits, c)
	}
	return res
}

// whyOf is the description of a commit of ours.
func whyOf(d store.Description) *Why { return d.(*Why) }

// unrun is [Result.Unrun].
func (v *Vault) unrun() (found []string) {
	repo := v.store.Repo()
	dir := repo.Config().Path("core", "hooksPath")
	if dir == "" {
		dir = repo.Root().Abs("hooks")
	} else if !filepath.IsAbs(dir) {
		dir = filepath.Join(repo.Location().Worktree, dir)
	}
	for _, hook := range []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"} {
		if info, err := os.Stat(filepath.Join(dir, hook)); err == nil && info.Mode()&0o111 != 0 {
			found = append(found, hook)
		}
	}
	if repo.Config().Bool("commit", "gpgSign", false) {
		found = append(found, "commit.gpgSign")
	}
	return found
}
