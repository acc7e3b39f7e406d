package vault

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"stet/vault/durable"
	"stet/vault/filelock"
	"stet/vault/gitindex"
	"stet/vault/gitstore"
)

// Status says where a vault stands.
type Status struct {
	Root     string
	Branch   string // "" when detached
	Detached bool
	Head     Revision
	Last     *Commit  // nil before the first commit
	Changed  []Change // by hand: HEAD to disk, not committed yet
	Staged   []Change // in the git index: HEAD to git index
	Counts   map[Class]int
	Problems []Problem // files that stet leaves alone
	State    string    // an unfinished git operation, "" normally
	Busy     bool      // another stet command is writing
}

// Status compares the working tree with HEAD. It writes nothing and takes no
// lock. Cost: one lstat per file, and a read of those whose stat says nothing.
func (v *Vault) Status(ctx context.Context) (*Status, error) {
	s, err := v.scan(ctx)
	if err != nil {
		return nil, v.writeError(err)
	}
	st := &Status{Root: v.dir, Branch: s.head.Branch(), Detached: s.head.Detached, Head: Revision(s.head.ID.String()),
		Changed: joinRenames(s.changed), Staged: s.staged, Problems: s.skipped, Counts: s.counts, State: v.repo.InProgress()}
	if !s.head.ID.IsZero() {
		gc, err := s.objects.Commit(s.head.ID)
		if err != nil {
			return nil, v.writeError(err)
		}
		c := commitOf(gc)
		st.Last = &c
	}
	held, err := v.heldBack(ctx, s)
	if err != nil {
		return nil, v.writeError(err)
	}
	st.Problems = append(st.Problems, held...)
	st.Busy = v.busy(ctx)
	return st, nil
}

func (v *Vault) busy(ctx context.Context) bool {
	if !v.repo.Root().Exists(lockFile) {
		return false
	}
	lock, err := filelock.Acquire(ctx, v.repo.Root(), lockFile, filelock.Options{})
	if err != nil {
		return errors.Is(err, ErrBusy)
	}
	return lock.Release() != nil
}

// Changes lists what differs between two commits of the vault, in path order.
// from "" is the empty tree, to "" is HEAD.
func (v *Vault) Changes(_ context.Context, from, to Revision) ([]Change, error) {
	objects := v.repo.Stage()
	b, err := v.treeOf(objects, string(to))
	if err != nil {
		return nil, v.writeError(err)
	}
	if from == "" {
		out, err := v.treeChanges(objects, [20]byte{}, b)
		return out, v.writeError(err)
	}
	a, err := v.treeOf(objects, string(from))
	if err != nil {
		return nil, v.writeError(err)
	}
	out, err := v.treeChanges(objects, a, b)
	return out, v.writeError(err)
}

// Check looks for what recovery, adopting and plain use do not repair by
// themselves in the repository and in stet's own state; package doctor looks
// into the files as well. It writes nothing.
func (v *Vault) Check(ctx context.Context) ([]Problem, error) {
	c := &checkup{v: v}
	if op := v.repo.InProgress(); op != "" {
		c.add("in-progress", "", false, "an unfinished git "+op, endOf(op))
	}
	for _, p := range v.configProblems {
		c.add("configuration", Marker, false, p.Error(), "it is passed over; mend or remove it by hand")
	}
	head, err := v.repo.Head()
	if err == nil && !head.ID.IsZero() {
		_, err = v.repo.Commit(head.ID)
	}
	if err != nil {
		c.add("head", "", false, "HEAD leads to no commit that can be read: "+err.Error(), `"git fsck" and "git reflog" show what is left; a fetch from a clone brings commits back`)
		return c.out, nil
	}
	if err := c.locks(ctx, head); err != nil {
		return nil, v.writeError(err)
	}
	if err := c.ignored(); err != nil {
		return nil, v.writeError(err)
	}
	s, err := v.scan(ctx)
	if err != nil {
		return nil, v.writeError(err)
	}
	c.out = append(c.out, s.skipped...)
	c.objects(s)
	for _, e := range s.dropped(v) {
		p, _ := v.own(e.Path)
		c.add("git-index", p, true, "it is committed and on disk, but not in git's index: the next git commit would take it out", `"git add" puts it back, or stet doctor --fix`)
	}
	for _, more := range []func() ([]Problem, error){v.checkKept, v.checkStones} {
		found, err := more()
		if err != nil {
			return nil, err
		}
		c.out = append(c.out, found...)
	}
	return c.out, nil
}

// checkup collects problems.
type checkup struct {
	v   *Vault
	out []Problem
}

func (c *checkup) add(id string, p Path, fixable bool, text, hint string) {
	c.out = append(c.out, Problem{ID: id, Path: p, Text: text, Hint: hint, Fixable: fixable})
}

// locks looks at git's index and at the lock files that git leaves when it is
// killed.
func (c *checkup) locks(ctx context.Context, head gitstore.Head) error {
	repo := c.v.repo
	if _, rebuilt, err := repo.ReadGitIndex(head.ID); err != nil {
		return err
	} else if rebuilt {
		c.add("git-index-unreadable", "", true, "git's own index cannot be read", "stet doctor --fix builds it anew from HEAD; what was staged by hand is not in it")
	}
	for _, target := range []string{repo.GitIndexPath(), repo.RefPath("HEAD"), repo.RefPath(head.Ref)} {
		info, err := repo.Root().Lstat(target + ".lock")
		if err != nil || c.v.busy(ctx) {
			continue
		}
		if repo.IsOurLock("stet", target) {
			c.add("stray-lock", "", false, path.Base(target)+".lock is stet's own: a published commit is not finished yet",
				"leave the lock where it is; see to it that the folders of the vault can be written, and the next stet command finishes the commit")
			continue
		}
		if age := c.v.o.Now().Sub(info.ModTime()); age > staleLock {
			c.add("stray-lock", "", false, path.Base(target)+".lock is "+age.Round(time.Second).String()+" old",
				"if no git command is running, remove "+repo.Root().Abs(target+".lock"))
		}
	}
	return nil
}

// ignored looks for a rule that came later than init and hides the vault.
func (c *checkup) ignored() error {
	rule, hidden, err := c.v.hidingRule()
	if err == nil && hidden {
		c.add("ignored", "", false, fmt.Sprintf("the vault is %v: %s:%d: %s", ErrIgnored, rule.File, rule.Line, rule.Text), "remove or narrow that rule; what it hides is neither found nor committed")
	}
	return err
}

// objects looks for contents of HEAD that git has lost.
func (c *checkup) objects(s *scan) {
	for p, e := range s.tracked() {
		if err := s.lost(e); err != nil {
			hint := "a fetch from a clone brings it back"
			d, derr := c.v.look(p)
			onDisk := derr == nil && d.exists && d.id == e.ID
			if onDisk {
				hint = "stet doctor --fix writes it again from the file"
			}
			c.add("missing-object", p, onDisk, "what HEAD holds of it cannot be read: "+err.Error(), hint)
		}
	}
}

// lost says why the contents of an entry cannot be had.
func (s *scan) lost(e gitstore.TreeEntry) error {
	data, err := s.objects.Blob(e.ID)
	if err == nil && gitstore.HashBlob(data) != e.ID {
		err = errors.New("it is damaged")
	}
	return err
}

// dropped lists stet's own files that HEAD and the disk hold and git's index does
// not hold at all, in path order. What a person edited counts as well: it comes
// back as HEAD has it, so the edit shows as one. Notes are the person's to leave
// out of git.
func (s *scan) dropped(v *Vault) []gitindex.Edit {
	var out []gitindex.Edit
	for _, d := range s.apart {
		p, _ := v.own(d.Path)
		rules := p == ".gitattributes" || p == ".gitignore"
		if d.Entry.Mode != 0 || !regular(d.Tree.Mode) || !rules && (!inDomain(p) || ClassOf(p) == ClassNote) || !v.tree.Exists(string(p)) {
			continue
		}
		out = append(out, gitindex.Edit{Path: d.Path, Hash: d.Tree.Hash, Mode: d.Tree.Mode})
	}
	return out
}

// endOf says how an unfinished git operation ends.
func endOf(op string) string {
	if op == "bisect" {
		return `end it with "git bisect reset"`
	}
	return "finish it with git, or abort it with \"git " + op + ` --abort"`
}

// staleLock is the age from which a lock file of git's is worth mentioning: no
// git command holds one for minutes in a vault.
const staleLock = 2 * time.Minute

// Fix repairs what [Vault.Check] marked as fixable and returns what it
// repaired. Files are never changed.
func (v *Vault) Fix(ctx context.Context, problems []Problem) ([]Problem, error) {
	var fixed []Problem
	for _, repair := range []struct {
		ids []string
		run func(context.Context) error
	}{{[]string{"missing-object"}, v.mendObjects}, {[]string{"git-index-unreadable", "git-index"}, v.mendGitIndex}} {
		mine := slices.DeleteFunc(slices.Clone(problems), func(p Problem) bool { return !p.Fixable || !slices.Contains(repair.ids, p.ID) })
		if len(mine) == 0 {
			continue
		}
		if err := v.locked(ctx, repair.run); err != nil {
			return fixed, v.writeError(err)
		}
		fixed = append(fixed, mine...)
	}
	return fixed, nil
}

// mendObjects writes the contents that git has lost again, from files that
// still have them.
func (v *Vault) mendObjects(ctx context.Context) (err error) {
	if err := v.recoverLocked(ctx); err != nil {
		return err
	}
	mark, err := v.ensureState()
	if err != nil {
		return err
	}
	s, err := v.scan(ctx)
	if err != nil {
		return err
	}
	again := v.repo.Stage()
	for p, e := range s.tracked() {
		if s.lost(e) == nil {
			continue
		}
		d, err := v.look(p)
		if err != nil {
			return err
		}
		if d.exists && d.id == e.ID {
			again.PutBlob(d.data)
		}
	}
	var batch durable.Batch
	defer func() { err = errors.Join(err, batch.Close()) }()
	flush, err := again.Flush(v.tmp("."), &batch)
	if err != nil {
		return err
	}
	if err := batch.Sync(); err != nil {
		return errors.Join(err, flush.Discard())
	}
	return errors.Join(flush.Publish(mark), flush.Release())
}

// mendGitIndex builds an unreadable git index anew from HEAD, and adds what
// fell out of a readable one.
func (v *Vault) mendGitIndex(ctx context.Context) error {
	if err := v.recoverLocked(ctx); err != nil {
		return err
	}
	mark, err := v.ensureState()
	if err != nil {
		return err
	}
	lock, err := v.repo.LockFile(ctx, mark, v.repo.GitIndexPath(), v.o.LockWait)
	if err != nil {
		return err
	}
	return errors.Join(v.publishMended(ctx), lock.Unlock())
}

func (v *Vault) publishMended(ctx context.Context) error {
	s, err := v.scan(ctx)
	if err != nil {
		return err
	}
	data, err := s.index.Apply(s.dropped(v), nil)
	if err != nil {
		return err
	}
	return v.repo.PublishGitIndex(v.tmp("index"), data, func() error { return nil })
}
