package vault

import (
	"context"
	"errors"
	"path"
	"time"

	"stet/vault/filelock"
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
		Changed: joinRenames(s.changed), Staged: s.staged, Problems: s.skipped, Counts: map[Class]int{}, State: v.repo.InProgress()}
	for p := range s.disk {
		if p.IsMarkdown() {
			st.Counts[ClassOf(p)]++
		}
	}
	if !s.head.ID.IsZero() {
		gc, err := s.objects.Commit(s.head.ID)
		if err != nil {
			return nil, v.writeError(err)
		}
		c := commitOf(gc)
		st.Last = &c
	}
	held, err := v.heldBack(s)
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
// themselves. It writes nothing.
func (v *Vault) Check(ctx context.Context) ([]Problem, error) {
	var out []Problem
	add := func(id string, p Path, fixable bool, text, hint string) {
		out = append(out, Problem{ID: id, Path: p, Text: text, Hint: hint, Fixable: fixable})
	}
	if op := v.repo.InProgress(); op != "" {
		add("in-progress", "", false, "an unfinished git "+op, endOf(op))
	}
	head, err := v.repo.Head()
	if err != nil {
		return nil, err
	}
	if _, rebuilt, err := v.repo.ReadGitIndex(head.ID); err != nil {
		return nil, v.writeError(err)
	} else if rebuilt {
		add("git-index-unreadable", "", true, "git's own index cannot be read", "stet doctor --fix builds it anew from HEAD; what was staged by hand is not in it")
	}
	for _, target := range []string{v.repo.GitIndexPath(), v.repo.RefPath("HEAD"), v.repo.RefPath(head.Ref)} {
		info, err := v.repo.Root().Lstat(target + ".lock")
		if err != nil || v.busy(ctx) {
			continue
		}
		if age := v.o.Now().Sub(info.ModTime()); age > staleLock {
			add("stray-lock", "", false, path.Base(target)+".lock is "+age.Round(time.Second).String()+" old",
				"if no git command is running, remove "+v.repo.Root().Abs(target+".lock"))
		}
	}
	s, err := v.scan(ctx)
	if err != nil {
		return nil, v.writeError(err)
	}
	out = append(out, s.skipped...)
	kept, err := v.checkKept()
	if err != nil {
		return nil, err
	}
	out = append(out, kept...)
	stones, err := v.checkStones()
	if err != nil {
		return nil, err
	}
	out = append(out, stones...)
	bad, err := v.checkFiles(ctx)
	return append(out, bad...), err
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

// checkFiles reads every file for what makes a memory unusable.
func (v *Vault) checkFiles(ctx context.Context) ([]Problem, error) {
	files, err := v.Files(ctx, WalkOptions{Archive: true})
	if err != nil {
		return nil, v.writeError(err)
	}
	all, err := v.readAll(ctx, files, func([]byte) bool { return true })
	if err != nil {
		return nil, err
	}
	var out []Problem
	ids := map[string]Path{}
	for _, m := range all {
		if m.Problem != "" {
			out = append(out, Problem{ID: "front-matter", Path: m.Path, Text: m.Problem, Hint: "mend it by hand; the text is still found"})
		}
		if m.ID == "" {
			continue
		}
		if first, ok := ids[m.ID]; ok {
			out = append(out, Problem{ID: "duplicate-id", Path: m.Path, Text: "has the id of " + string(first), Hint: "remove the id line from the copy"})
			continue
		}
		ids[m.ID] = m.Path
	}
	return out, nil
}

// Fix repairs what [Vault.Check] marked as fixable and returns what it
// repaired. Files are never changed.
func (v *Vault) Fix(ctx context.Context, problems []Problem) ([]Problem, error) {
	var fixed []Problem
	for _, p := range problems {
		if !p.Fixable || p.ID != "git-index-unreadable" {
			continue
		}
		if err := v.locked(ctx, v.rebuildGitIndex); err != nil {
			return fixed, v.writeError(err)
		}
		fixed = append(fixed, p)
	}
	return fixed, nil
}

func (v *Vault) rebuildGitIndex(ctx context.Context) error {
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
	head, err := v.repo.Head()
	if err == nil {
		f, _, rerr := v.repo.ReadGitIndex(head.ID)
		if err = rerr; err == nil {
			var data []byte
			if data, err = f.Apply(nil, nil); err == nil {
				err = v.repo.PublishGitIndex(v.tmp("index"), data, func() error { return nil })
			}
		}
	}
	return errors.Join(err, lock.Unlock())
}
