package store

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"stet/vault/durable"
	"stet/vault/gitstore"
)

// The write path. Everything above the commit point can be repeated or dropped
// without a trace; everything below it is finished by whoever comes next.
//
//	vault lock
//	  recover what an earlier process left
//	  ┌ read HEAD, git index; stage; build commits        in memory
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

// minAttempts are how often an update starts again because the branch or a file moved,
// before it looks whether the time to wait for others is over. From the second attempt on
// index.lock is taken first, so only plumbing that ignores it and a person's saves can still
// get in between.
const minAttempts = 5

// errRetry reports that what the attempt was based on has changed.
var errRetry = errors.New("vault changed meanwhile")

// A Result is what a transaction did, or in a preview would do.
type Result struct {
	Base     Revision          // HEAD before
	Commits  []gitstore.Commit // oldest first, adopted edits included; none when nothing changed
	Whys     []Description     // of the commits
	Changes  []Change          // of all commits together
	Each     [][]Change        // of each commit
	Adopted  []Path            // uncommitted edits that were committed first
	Warnings []string          // what was left for the next command to finish
	Objects  *gitstore.Objects // reads From and To, published or not
	From, To gitstore.ID       // the trees before and after
	Detached bool              // the commits are on no branch
}

// Stage stages the changes of a transaction and returns what checks them. It may run
// several times and must not have effects of its own.
type Stage func(*Tx) (BeforeCommit, error)

// Update publishes what stage stages as one commit, or a chain of them, with one move
// of the branch. When it returns without an error the commits are durable. It fails
// with an error of the lock, of the working tree or of stage, and has then changed
// nothing.
func (s *Store) Update(ctx context.Context, why func() Description, stage Stage) (res *Result, err error) {
	err = s.Locked(ctx, func(ctx context.Context) error {
		patient, cancel := context.WithTimeout(ctx, s.o.LockWait)
		defer cancel()
		for attempt := 0; attempt < minAttempts || patient.Err() == nil; attempt++ {
			p := &publication{store: s, lockFirst: attempt > 0}
			res, err = p.run(ctx, why(), stage)
			if !errors.Is(err, errRetry) {
				return err
			}
		}
		return WithHint(fmt.Errorf("%w: the branch or the file kept changing", errBusy),
			"another program commits or saves without pause; try again")
	})
	return res, err
}

// Preview is Update without publishing: it takes no lock and writes nothing. Its
// transaction can be read afterwards.
func (s *Store) Preview(ctx context.Context, why Description, stage Stage) (*Tx, *Result, error) {
	tx, c, err := s.plan(ctx, why, stage)
	if err != nil {
		return nil, nil, err
	}
	res, err := tx.result(c)
	return tx, res, err
}

// plan stages and builds the commits, all in memory.
func (s *Store) plan(ctx context.Context, why Description, stage Stage) (*Tx, *chain, error) {
	if err := s.checkWritable(); err != nil {
		return nil, nil, err
	}
	tx, err := s.begin(why)
	if err != nil {
		return nil, nil, err
	}
	check, err := stage(tx)
	if err != nil {
		return nil, nil, err
	}
	c, err := tx.build(ctx, check)
	return tx, c, err
}

// checkWritable refuses while the person is in the middle of a git operation:
// a commit now would become part of it.
func (s *Store) checkWritable() error {
	op := s.repo.InProgress()
	if op == "" {
		return nil
	}
	return WithHint(fmt.Errorf("%w: %s", errInProgress, op), "%s", gitstore.Ends(s.repo, op))
}

func (t *Tx) result(c *chain) (*Result, error) {
	res := &Result{Base: Revision(t.head.ID.String()), Adopted: c.adopted, Objects: t.Objects, From: t.base, To: t.base,
		Detached: t.head.Detached}
	if len(c.commits) == 0 {
		return res, nil
	}
	res.Commits, res.Whys, res.To, res.Each = c.commits, c.whys, c.tree, c.changes
	if res.Changes = c.changes[0]; len(c.commits) == 1 {
		return res, nil
	}
	var err error
	res.Changes, err = t.store.TreeChanges(t.Objects, t.base, c.tree)
	return res, err
}

// A publication is one attempt to publish.
type publication struct {
	store     *Store
	lockFirst bool
	tx        *Tx
	chain     *chain
	files     []*placement
	folders   []*folderMove
	index     *gitstore.FileLock
	ref       *gitstore.FileLock
	update    gitstore.RefUpdate
	mark      gitstore.Mark
	flush     *gitstore.Flush
	refStaged bool // a temporary file waits to become the ref
	journaled bool
}

func (p *publication) run(ctx context.Context, why Description, stage Stage) (res *Result, err error) {
	defer func() { err = errors.Join(err, p.abandon()) }()
	if p.mark, err = p.store.ensureState(); err != nil {
		return nil, err
	}
	if p.lockFirst {
		if err := p.lockIndex(ctx); err != nil {
			return nil, err
		}
	}
	if p.tx, p.chain, err = p.store.plan(ctx, why, stage); err != nil {
		return nil, err
	}
	if res, err = p.tx.result(p.chain); err != nil || len(res.Commits) == 0 {
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
		res.Warnings = append(res.Warnings,
			fmt.Sprintf("committed, but the working tree is not up to date: %v; the next stet command finishes", err))
		return res, nil
	}
	if err := p.mark.MergePacks(p.store.tmp(".")); err != nil {
		res.Warnings = append(res.Warnings,
			fmt.Sprintf("committed, but git's packs could not be merged: %v; the next write tries again", err))
	}
	return res, nil
}

func (p *publication) lockIndex(ctx context.Context) (err error) {
	p.index, err = p.mark.Lock(ctx, p.store.repo.GitIndexPath(), p.store.o.LockWait)
	return err
}

// stage makes everything durable that the commit needs, out of sight: all
// contents in one batch, then the names.
func (p *publication) stage() (err error) {
	var batch durable.Batch
	defer func() { err = errors.Join(err, batch.Close()) }()
	if p.flush, err = p.tx.Objects.Flush(p.store.tmp("."), &batch); err != nil {
		return err
	}
	for _, at := range p.tx.written() {
		final, changed := p.chain.final[at]
		if !changed {
			continue
		}
		before := p.tx.touched[at].Disk
		pl := &placement{store: p.store, path: at, want: final, exists: before.Exists, perm: before.perm,
			inPlace: final.same(before), stat: before.stat, known: map[gitstore.ID]bool{before.ID: true}}
		p.files = append(p.files, pl)
	}
	p.folders = p.wholeFolders()
	for i, pl := range p.files {
		p.store.Progress("writing", i, len(p.files))
		if err := pl.stage(&batch); err != nil {
			return err
		}
	}
	p.store.Progress("writing", len(p.files), len(p.files))
	p.refStaged = true
	if err := batch.Create(p.store.repo.Root(), "ref", p.store.tmp("ref"), []byte(p.chain.tip().String()+"\n"), 0o666); err != nil {
		return err
	}
	p.journaled = true
	if err := p.store.writeJournal(p.tx.head, p.chain.tip(), &batch); err != nil {
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
	for _, m := range p.folders {
		if err := m.ready(p.store); err != nil {
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
		if same, err := p.store.unchanged(pl.path, p.tx.touched[pl.path].Disk); err != nil || !same {
			return errors.Join(err, errRetry)
		}
	}
	head := p.tx.head
	subject, _, _ := strings.Cut(p.chain.commits[len(p.chain.commits)-1].Message, "\n")
	var err error
	if p.ref, err = p.mark.Lock(ctx, p.store.repo.RefPath(head.Ref), p.store.o.LockWait); err != nil {
		return err
	}
	p.update = gitstore.RefUpdate{
		Head: head, New: p.chain.tip(), TempPath: p.store.tmp("ref"),
		By: p.store.repo.Config().Identity("COMMITTER"), When: p.store.o.Now(),
		Message: gitstore.LogMark + subject,
	}
	err = p.store.repo.PublishRef(p.update)
	if errors.Is(err, gitstore.ErrMoved) {
		return errors.Join(errRetry, err)
	}
	if err != nil {
		return err
	}
	p.refStaged, p.journaled = false, false
	if err := p.store.repo.Root().SyncDir("ref", path.Dir(p.store.repo.RefPath(head.Ref))); err != nil {
		p.index, p.ref, p.files = nil, nil, nil // published: the next command finishes
		return fmt.Errorf("commit %s is published but may not survive a power cut: %w", p.chain.tip(), err)
	}
	return nil
}

// unmoved compares HEAD and the touched entries of the git index with what the
// commits were built from. index.lock is held.
func (p *publication) unmoved() error {
	head, err := p.store.repo.Head()
	if err != nil {
		return err
	}
	if head != p.tx.head {
		return errRetry
	}
	if err := p.store.checkWritable(); err != nil {
		return err
	}
	stamp, err := p.store.repo.GitIndexStamp()
	if err != nil || stamp.Same(p.tx.stamp) {
		return err
	}
	index, _, err := p.store.repo.ReadGitIndex(head.ID)
	if err != nil {
		return err
	}
	for at, t := range p.tx.touched {
		name := p.store.GitPath(at)
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
	logged := p.update.Log(p.store.repo)
	if err := errors.Join(logged, ref.Unlock(), p.flush.Release()); err != nil {
		return err
	}
	f := finisher{store: p.store, files: p.files, folders: p.folders, index: p.tx.index,
		objects: p.tx.Objects, tree: p.chain.tree}
	if err := f.run(); err != nil {
		return err
	}
	p.files = nil
	index := p.index
	p.index = nil
	if err := index.Unlock(); err != nil {
		return err
	}
	return p.store.clearJournal()
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
		errs = append(errs, p.store.clearJournal())
	}
	if p.refStaged {
		errs = append(errs, p.store.repo.Root().Remove("ref", p.store.tmp("ref")))
	}
	for _, l := range []*gitstore.FileLock{p.ref, p.index} {
		if l != nil {
			errs = append(errs, l.Unlock())
		}
	}
	return errors.Join(errs...)
}
