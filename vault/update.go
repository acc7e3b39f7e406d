package vault

import (
	"context"
	"errors"
	"fmt"

	"stet/vault/durable"
	"stet/vault/gitstore"
)

// The write path. Everything above the commit point can be repeated or dropped
// without a trace; everything below it is finished by whoever comes next.
//
//	vault lock
//	  recover what an earlier process left
//	  ┌ read HEAD, git index; run fn; build commits        in memory
//	  │ fsync objects, new files (aside), journal          on disk, unreachable
//	  │ index.lock → <ref>.lock
//	  │ HEAD, git index, files still as they were?  no: again, index.lock first
//	  └ rename ref                                         ← the commit point
//	    swap the files in, fsync folders
//	    rename git index, fsync
//	    unlock, empty the journal
//
// With the ref published first and the git index later without index.lock, a
// person's "git commit" in between would silently drop the memory.

// maxAttempts bounds how often an update starts again because the branch or a
// file moved. From the second attempt on index.lock is taken first, so only
// plumbing that ignores it can still get in between.
const maxAttempts = 5

// errRetry reports that what the attempt was based on has changed.
var errRetry = errors.New("vault changed meanwhile")

// A Result is what a write did, or with DryRun would do.
type Result struct {
	Root     string
	Base     Revision  // HEAD before
	Commits  []Commit  // oldest first, a person's adopted edits included
	Changes  []Change  // of all commits together
	Adopted  []Path    // hand edits that were committed first
	Memories []Memory  // the memories written, in the order asked for
	Held     []Problem // hand edits that the guard left uncommitted
	Skipped  []Problem // of adopt: what could not be looked at
	Diff     string    // unified; filled for dry runs and for reverts
	DryRun   bool
	// Proposed is what waits for a person instead of having been written: the
	// commits hold the proposals, and Memories would be as they say.
	Proposed []Proposed
	// Unchanged reports that there was nothing to do.
	Unchanged bool
	// Warnings tell of what was left for the next command to finish; the
	// commits themselves are durable.
	Warnings []string
}

// Update runs fn on a transaction and publishes what it staged as one commit,
// or a chain of them, with one move of the branch. fn may run several times
// and must not have effects of its own. When Update returns nil the commits
// are durable. It fails with [ErrBusy], [ErrConflict], [ErrInProgress],
// [ErrReadOnly] or fn's own error and has then changed nothing.
func (v *Vault) Update(ctx context.Context, why Why, fn func(*Tx) error) (*Result, error) {
	return v.Transact(ctx, why, false, fn)
}

// Preview is Update without publishing: it takes no lock and writes nothing.
func (v *Vault) Preview(ctx context.Context, why Why, fn func(*Tx) error) (*Result, error) {
	return v.Transact(ctx, why, true, fn)
}

// Transact is Update, or with dry Preview.
func (v *Vault) Transact(ctx context.Context, why Why, dry bool, fn func(*Tx) error) (res *Result, err error) {
	if v.waits(why) {
		res, err = v.propose(ctx, why, dry, fn)
		return res, v.writeError(err)
	}
	if dry {
		res, err = v.preview(ctx, why, fn)
		return res, v.writeError(err)
	}
	err = v.locked(ctx, func(ctx context.Context) error {
		if err := v.recoverLocked(ctx); err != nil {
			return err
		}
		for attempt := range maxAttempts {
			p := &publication{v: v, lockFirst: attempt > 0}
			res, err = p.run(ctx, why, fn)
			if !errors.Is(err, errRetry) {
				return err
			}
		}
		return WithHint(fmt.Errorf("%w: the branch kept moving", ErrBusy), "another program commits without pause; try again")
	})
	return res, v.writeError(err)
}

func (v *Vault) preview(ctx context.Context, why Why, fn func(*Tx) error) (*Result, error) {
	tx, c, err := v.plan(ctx, why, fn)
	if err != nil {
		return nil, err
	}
	res, err := tx.result(c)
	if err != nil {
		return nil, err
	}
	res.DryRun = true
	res.Diff, err = tx.v.diffText(tx.objects, tx.base, c.tree)
	return res, err
}

// plan runs fn and turns what it staged into commits, all in memory.
func (v *Vault) plan(ctx context.Context, why Why, fn func(*Tx) error) (*Tx, *chain, error) {
	if err := v.checkWritable(); err != nil {
		return nil, nil, err
	}
	tx, err := v.begin(why)
	if err != nil {
		return nil, nil, err
	}
	if err := fn(tx); err != nil {
		return nil, nil, err
	}
	c, err := tx.build(ctx)
	return tx, c, err
}

// checkWritable refuses while the person is in the middle of a git operation:
// a commit now would become part of it.
func (v *Vault) checkWritable() error {
	op := v.repo.InProgress()
	switch op {
	case "":
		return nil
	case "bisect":
		return WithHint(fmt.Errorf("%w: %s", ErrInProgress, op), `end it with "git bisect reset"`)
	}
	return WithHint(fmt.Errorf("%w: %s", ErrInProgress, op), `finish it with git, or abort it with "git %s --abort"`, op)
}

func (t *Tx) result(c *chain) (*Result, error) {
	res := &Result{Root: t.v.dir, Base: Revision(t.head.ID.String()), Adopted: c.adopted, Held: c.held, Warnings: c.warned}
	if len(c.commits) == 0 {
		res.Unchanged = true
		c.tree = t.base
		return res, nil
	}
	for i, gc := range c.commits {
		commit := commitOf(gc)
		commit.Op = c.whys[i].Op
		res.Commits = append(res.Commits, commit)
	}
	changes, err := t.v.treeChanges(t.objects, t.base, c.tree)
	res.Changes = changes
	return res, err
}

// A publication is one attempt to publish.
type publication struct {
	v         *Vault
	lockFirst bool
	tx        *Tx
	chain     *chain
	files     []*placement
	index     *gitstore.FileLock
	ref       *gitstore.FileLock
	mark      gitstore.Mark
	flush     *gitstore.Flush
	refStaged bool // a temporary file waits to become the ref
	journaled bool
}

func (p *publication) run(ctx context.Context, why Why, fn func(*Tx) error) (res *Result, err error) {
	defer func() { err = errors.Join(err, p.abandon()) }()
	if p.mark, err = p.v.ensureState(); err != nil {
		return nil, err
	}
	if p.lockFirst {
		if err := p.lockIndex(ctx); err != nil {
			return nil, err
		}
	}
	if p.tx, p.chain, err = p.v.plan(ctx, why, fn); err != nil {
		return nil, err
	}
	if res, err = p.tx.result(p.chain); err != nil || res.Unchanged {
		return res, err
	}
	if err := p.stage(); err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err // the last moment at which Ctrl-C undoes
	}
	if err := p.commit(ctx); err != nil {
		return nil, err
	}
	if err := p.finish(); err != nil {
		// The commit stands and is durable. The journal and index.lock stay in
		// place, so no git command can act on the old git index, and the next
		// stet command finishes.
		p.index, p.ref, p.files = nil, nil, nil
		res.Warnings = append(res.Warnings, fmt.Sprintf("committed, but the working tree is not up to date: %v; the next stet command finishes", err))
		return res, nil
	}
	if err := p.v.repo.Gather(p.v.tmp("."), p.mark); err != nil {
		res.Warnings = append(res.Warnings, fmt.Sprintf("committed, but git's packs could not be tidied: %v; the next write tries again", err))
	}
	return res, nil
}

func (p *publication) lockIndex(ctx context.Context) (err error) {
	p.index, err = p.v.repo.LockFile(ctx, p.mark, p.v.repo.GitIndexPath(), p.v.o.LockWait)
	return err
}

// stage makes everything durable that the commit needs, out of sight: all
// contents in one batch, then the names.
func (p *publication) stage() (err error) {
	var batch durable.Batch
	defer func() { err = errors.Join(err, batch.Close()) }()
	if p.flush, err = p.tx.objects.Flush(p.v.tmp("."), &batch); err != nil {
		return err
	}
	written := p.tx.written()
	for i, path := range written {
		p.v.progress("writing", i, len(written))
		final, changed := p.chain.final[path]
		if !changed {
			continue
		}
		before := p.tx.touched[path].disk
		pl := &placement{v: p.v, path: path, want: final, exists: before.exists, perm: before.perm, inPlace: final.same(before),
			stat: before.stat, known: map[gitstore.ID]bool{before.id: true}}
		p.files = append(p.files, pl)
		if err := pl.stage(&batch); err != nil {
			return err
		}
	}
	p.v.progress("writing", len(written), len(written))
	p.refStaged = true
	if err := p.v.repo.PrepareRef(p.v.tmp("ref"), p.chain.tip(), &batch); err != nil {
		return err
	}
	p.journaled = true
	if err := p.v.writeJournal(p.tx.head, p.chain.tip(), &batch); err != nil {
		return err
	}
	if err := batch.Sync(); err != nil {
		return err
	}
	// Objects first: recovery reads the journal's trees to find the folders.
	if err := p.flush.Publish(p.mark); err != nil {
		return err
	}
	for _, pl := range p.files {
		if err := pl.ready(); err != nil {
			return err
		}
	}
	return nil
}

// commit takes git's locks, looks whether everything is still as it was when
// the commits were built, and moves the branch.
func (p *publication) commit(ctx context.Context) error {
	if p.index == nil {
		if err := p.lockIndex(ctx); err != nil {
			return err
		}
		if err := p.unmoved(); err != nil {
			return err
		}
	}
	for _, pl := range p.files {
		if same, err := p.v.unchanged(pl.path, p.tx.touched[pl.path].disk); err != nil || !same {
			return errors.Join(err, errRetry)
		}
	}
	head := p.tx.head
	var err error
	if p.ref, err = p.v.repo.LockFile(ctx, p.mark, p.v.repo.RefPath(head.Ref), p.v.o.LockWait); err != nil {
		return err
	}
	err = p.v.repo.PublishRef(gitstore.RefUpdate{
		Head: head, New: p.chain.tip(), TempPath: p.v.tmp("ref"),
		By: p.v.repo.Config().Identity("COMMITTER"), When: p.v.o.Now(),
		Message: "stet: " + subjectOf(p.chain.commits[len(p.chain.commits)-1].Message),
	})
	if errors.Is(err, gitstore.ErrMoved) {
		return errors.Join(errRetry, err)
	}
	if err != nil {
		return err
	}
	p.refStaged, p.journaled = false, false
	if err := p.v.repo.SyncRef(head.Ref); err != nil {
		p.index, p.ref, p.files = nil, nil, nil // published: the next command finishes
		return fmt.Errorf("commit %s is published but may not survive a power cut: %w", p.chain.tip(), err)
	}
	return nil
}

// unmoved compares HEAD and the touched entries of the git index with what the
// commits were built from. index.lock is held.
func (p *publication) unmoved() error {
	head, err := p.v.repo.Head()
	if err != nil {
		return err
	}
	if head != p.tx.head {
		return errRetry
	}
	if err := p.v.checkWritable(); err != nil {
		return err
	}
	stamp, err := p.v.repo.GitIndexStamp()
	if err != nil || stamp.Same(p.tx.stamp) {
		return err
	}
	index, _, err := p.v.repo.ReadGitIndex(head.ID)
	if err != nil {
		return err
	}
	for path, t := range p.tx.touched {
		name := p.v.git(path)
		entry, ok := index.Entry(name)
		ok = ok && !entry.IntentToAdd
		if ok != t.inGit || ok && entry.Hash != t.staged.Hash || index.Conflicted(name) {
			return errRetry
		}
	}
	p.tx.index = index
	return nil
}

// finish brings the working tree and the git index up to the published commit.
func (p *publication) finish() error {
	ref := p.ref
	p.ref = nil
	if err := errors.Join(ref.Unlock(), p.flush.Release()); err != nil {
		return err
	}
	f := finisher{v: p.v, files: p.files, index: p.tx.index, trees: p.chain.trees}
	if err := f.run(); err != nil {
		return err
	}
	p.files = nil
	index := p.index
	p.index = nil
	if err := index.Unlock(); err != nil {
		return err
	}
	return p.v.clearJournal()
}

// abandon gives back what an attempt that did not publish holds.
func (p *publication) abandon() error {
	var errs []error
	if p.flush != nil {
		errs = append(errs, p.flush.Discard())
	}
	for _, pl := range p.files {
		errs = append(errs, pl.discard())
	}
	if p.journaled {
		errs = append(errs, p.v.clearJournal())
	}
	if p.refStaged {
		errs = append(errs, p.v.repo.Root().Remove("ref", p.v.tmp("ref")))
	}
	for _, l := range []*gitstore.FileLock{p.ref, p.index} {
		if l != nil {
			errs = append(errs, l.Unlock())
		}
	}
	return errors.Join(errs...)
}
