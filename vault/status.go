package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"stet/templates"
	"stet/vault/gitstore"
	"stet/vault/store"
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
	Ends     string    // how that ends
	Busy     bool      // another stet command is writing
	Kept     int       // versions of files beside the repository that could not be brought back: doctor names them
}

// Status compares the working tree with HEAD. It writes nothing and takes no
// lock. Cost: one lstat per file, and a read of those whose stat says nothing.
func (v *Vault) Status(ctx context.Context) (*Status, error) {
	l, err := v.Look(ctx)
	if err != nil {
		return nil, err
	}
	now, err := l.private(ctx)
	if err != nil {
		return nil, v.store.Explain(err)
	}
	counts := map[Class]int{}
	for i := range l.scan.Files {
		if p := l.scan.Files[i].Path; !now.has(p) {
			counts[ClassOf(p)]++
		}
	}
	s, op := l.scan, v.store.Repo().InProgress()
	st := &Status{Root: v.Root(), Branch: s.Head.Branch(), Detached: s.Head.Detached, Head: l.Head(),
		Staged: s.Staged, Problems: s.Skipped, Counts: counts, State: op, Ends: gitstore.Ends(v.store.Repo(), op)}
	if !s.Head.ID.IsZero() {
		gc, err := s.Objects.Commit(s.Head.ID)
		if err != nil {
			return nil, v.store.Explain(err)
		}
		c := commitOf(gc)
		if v.o.Reader != "" {
			if c, err = v.lastTold(ctx, c); err != nil {
				return nil, err
			}
		}
		st.Last = &c
	}
	held, err := v.heldBack(ctx, s)
	if err != nil {
		return nil, v.store.Explain(err)
	}
	unfinished, err := v.unfinishedMerges(ctx, s)
	if err != nil {
		return nil, v.store.Explain(err)
	}
	rules, err := v.editedRules(s)
	if err != nil {
		return nil, v.store.Explain(err)
	}
	st.Problems = v.nameless(ctx, slices.Concat(st.Problems, held, unfinished, rules, missingAttachments(s)))
	st.Busy = v.store.Busy(ctx)
	if kept, kerr := v.store.Kept(); kerr == nil {
		st.Kept = len(kept)
	}
	if st.Changed, err = l.Changed(ctx); err == nil {
		st.Staged, err = v.shownChanges(ctx, st.Staged, v.hidesChange)
	}
	return st, err
}

// lastTold is the last commit as an agent is told of it. One that changed so many files that looking at each
// would be most of the status has no words.
func (v *Vault) lastTold(ctx context.Context, c Commit) (Commit, error) {
	const many = 100
	whole, err := v.Whole().History().CommitAt(ctx, string(c.Rev))
	if err != nil {
		return c, err
	}
	if len(whole.Changes) > many {
		return whole.wordless(nil), nil
	}
	c, err = v.tellCommit(ctx, whole)
	c.Changes = nil
	return c, err
}

// missingAttachments are advice: whoever deleted them may have meant it.
func missingAttachments(s *store.Scan) (out []Problem) {
	for _, p := range s.MissingAttachments() {
		out = append(out, Problem{ID: "attachment", Path: p, Advice: true, Text: "git has it, and the disk has not",
			Hint: "\"stet restore " + templates.Quote(p) + "\" brings it back"})
	}
	return out
}

// editedRules names git's own files in the vault that were edited and not committed. They decide
// what stet sees, but belong to git alone: no command of stet's commits them.
func (v *Vault) editedRules(s *store.Scan) (out []Problem, err error) {
	for _, p := range []Path{".gitattributes", ".gitignore"} {
		was, tracked, err := s.Objects.Lookup(s.Tree, v.store.GitPath(p))
		if err != nil {
			return nil, err
		}
		if now, err := v.store.Look(p); err == nil && tracked && now.ID != was.ID {
			out = append(out, Problem{ID: "git-rules", Path: p, Advice: true,
				Text: "edited by hand, not committed; what it hides, stet does not see",
				Hint: fmt.Sprintf("\"git commit %s\" commits it", templates.Quote(p))})
		}
	}
	return out, nil
}

// Changes lists what differs between two commits of the vault, in path order.
// from "" is the empty tree, to "" is HEAD.
func (t told) Changes(ctx context.Context, from, to Revision) ([]Change, error) {
	v, objects := t.v, t.v.store.Repo().Stage()
	b, err := v.store.TreeOf(objects, string(to))
	if err != nil {
		return nil, v.store.Explain(err)
	}
	a, err := v.store.TreeOf(objects, cmp.Or(string(from), store.EmptyTree))
	if err != nil {
		return nil, v.store.Explain(err)
	}
	out, err := v.store.TreeChanges(objects, a, b)
	if err != nil {
		return nil, v.store.Explain(err)
	}
	return v.shownChanges(ctx, out, v.hidesChange)
}

// Check looks for what recovery, adopting and plain use do not repair by
// themselves in the repository and in stet's own state; package doctor looks
// into the files as well. It writes nothing.
func (v *Vault) Check(ctx context.Context) ([]Problem, error) {
	c := &checkup{v: v.Whole()}
	all, err := c.check(ctx)
	return v.nameless(ctx, all), err
}

func (c *checkup) check(ctx context.Context) ([]Problem, error) {
	v := c.v
	if op := v.store.Repo().InProgress(); op != "" {
		c.add("in-progress", "", false, "an unfinished git "+op, gitstore.Ends(v.store.Repo(), op))
	}
	for _, p := range v.configProblems {
		c.add("configuration", Marker, false, p.Error(), "it is passed over; mend or remove it by hand")
	}
	head, err := v.store.Repo().Head()
	if err == nil && !head.ID.IsZero() {
		_, err = v.store.Repo().Stage().Commit(head.ID)
	}
	if err != nil {
		hint := `"git fsck" and "git reflog" show what is left; a fetch from a clone brings commits back`
		if bad := new(gitstore.BadRefError); errors.As(err, &bad) {
			hint = bad.Hint()
		}
		c.add("head", "", false, "HEAD leads to no commit that can be read: "+err.Error(), hint)
		return c.out, nil
	}
	if err := c.locks(ctx, head); err != nil {
		return nil, v.store.Explain(err)
	}
	c.out = append(c.out, hiddenNotes(v.Root())...)
	if err := c.ignored(); err != nil {
		return nil, v.store.Explain(err)
	}
	s, err := v.scan(ctx)
	if err != nil {
		return nil, v.store.Explain(err)
	}
	rules, err := v.editedRules(s)
	if err != nil {
		return nil, v.store.Explain(err)
	}
	c.out = slices.Concat(c.out, s.Skipped, rules, missingAttachments(s))
	c.objects(s)
	merges, err := v.unfinishedMerges(ctx, s)
	if err != nil {
		return nil, v.store.Explain(err)
	}
	c.out = append(c.out, slices.DeleteFunc(merges, func(p Problem) bool { return p.ID == "conflict-marker" })...)
	if err := c.repository(ctx); err != nil {
		return nil, v.store.Explain(err)
	}
	for _, p := range s.Dropped(ownFile) {
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
	repo := c.v.store.Repo()
	if _, rebuilt, err := repo.ReadGitIndex(head.ID); err != nil {
		return err
	} else if rebuilt {
		c.add("git-index-unreadable", "", true, "git's own index cannot be read", "stet doctor --fix builds it anew from HEAD; what was staged by hand is not in it")
	}
	for _, target := range []string{repo.GitIndexPath(), repo.RefPath("HEAD"), repo.RefPath(head.Ref)} {
		info, err := repo.Root().Lstat(target + ".lock")
		if err != nil || c.v.store.Busy(ctx) {
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
	h, err := c.v.hiding()
	if err == nil && h.hidden {
		c.add("ignored", "", false, fmt.Sprintf("the vault is %v: %s:%d: %s", ErrIgnored, h.rule.File, h.rule.Line, h.rule.Text), "remove or narrow that rule; what it hides is neither found nor committed")
	}
	return err
}

// objects looks for contents of HEAD that git has lost.
func (c *checkup) objects(s *store.Scan) {
	for p, e := range s.Tracked() {
		if err := lost(s, e); err != nil {
			hint := "a fetch from a clone brings it back"
			d, derr := c.v.store.Look(p)
			onDisk := derr == nil && d.Exists && d.ID == e.ID
			if onDisk {
				hint = "stet doctor --fix writes it again from the file"
			}
			c.add("missing-object", p, onDisk, "what HEAD holds of it cannot be read: "+err.Error(), hint)
		}
	}
}

// repository compares branches with their reflogs, and looks for what their history has lost.
func (c *checkup) repository(ctx context.Context) error {
	bad, missing, err := gitstore.Check(ctx, c.v.store.Repo())
	for _, b := range bad {
		c.add("branch", "", false, b.Error(), b.Hint())
	}
	if len(missing) == 0 || slices.ContainsFunc(c.out, func(p Problem) bool { return p.ID == "missing-object" }) {
		return err // those of HEAD are named one by one
	}
	text := fmt.Sprintf("git has lost %d of its objects, %s first", len(missing), missing[0])
	c.add("missing-object", "", false, text, `"git fsck" lists them; a fetch from a clone brings them back, "git add" what was only staged`)
	return err
}

// lost says why the contents of an entry cannot be had.
func lost(s *store.Scan, e gitstore.TreeEntry) error {
	data, err := s.Objects.Blob(e.ID)
	if err == nil && gitstore.HashBlob(data) != e.ID {
		err = errors.New("it is damaged")
	}
	return err
}

// ownFile reports a file that git's index must hold as HEAD does. What a person edited
// counts as well: it comes back as HEAD has it, so the edit shows as one. Notes are
// the person's to leave out of git.
func ownFile(p Path) bool {
	return p == ".gitattributes" || p == ".gitignore" || inDomain(p) && ClassOf(p) != ClassNote
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
	}{{[]string{"missing-object"}, v.rewriteObjects}, {[]string{"git-index-unreadable", "git-index"}, v.repairIndex}} {
		mine := slices.DeleteFunc(slices.Clone(problems), func(p Problem) bool { return !p.Fixable || !slices.Contains(repair.ids, p.ID) })
		if len(mine) == 0 {
			continue
		}
		if err := repair.run(ctx); err != nil {
			return fixed, v.store.Explain(err)
		}
		fixed = append(fixed, mine...)
	}
	return fixed, nil
}

// rewriteObjects writes the contents that git has lost again, from files that still
// have them.
func (v *Vault) rewriteObjects(ctx context.Context) error {
	s, err := v.scan(ctx)
	if err != nil {
		return err
	}
	var contents [][]byte
	for p, e := range s.Tracked() {
		if lost(s, e) == nil {
			continue
		}
		d, err := v.store.Look(p)
		if err != nil {
			return err
		}
		if d.Exists && d.ID == e.ID {
			contents = append(contents, d.Data)
		}
	}
	_, err = v.store.WriteBlobs(ctx, contents)
	return err
}

// repairIndex is [store.Store.RepairIndex] for stet's own files.
func (v *Vault) repairIndex(ctx context.Context) error {
	return v.store.RepairIndex(ctx, domain(), ownFile)
}

// checkKept lists bytes that stood nowhere else.
func (v *Vault) checkKept() ([]Problem, error) {
	files, err := v.store.Kept()
	var out []Problem
	for _, file := range files {
		out = append(out, Problem{ID: "kept-bytes", Text: "an edit that met a write in the same instant was kept in " + file,
			Hint: "copy what you need from it, then remove it"})
	}
	return out, err
}
