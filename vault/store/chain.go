package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"stet/templates"
	"stet/vault/gitstore"
)

// A chain is the commits that one transaction publishes together, and what they do
// to the working tree in the end.
type chain struct {
	commits []gitstore.Commit
	changes [][]Change // of each commit
	whys    []Description
	final   map[Path]Content
	tree    gitstore.ID // the final tree
	adopted []Path
}

func (c *chain) tip() gitstore.ID { return c.commits[len(c.commits)-1].ID }

// BeforeCommit checks a transaction when everything is staged, before its commits
// are built. staged and disk are the uncommitted edits at the paths that are
// written or adopted: what the git index holds, and what the disk holds. Files taken
// out of them are left uncommitted. It describes both groups, and may add to
// [Tx.Groups].
type BeforeCommit func(ctx context.Context, staged, disk *Group) error

// build turns the groups into commits. A path with uncommitted edits gets the user's
// own commits first: what is staged in the git index, then what is on disk, so that
// neither can be lost to what follows.
func (t *Tx) build(ctx context.Context, check BeforeCommit) (*chain, error) {
	t.Flush()
	c := &chain{final: map[Path]Content{}, tree: t.base}
	paths := t.written()
	if len(paths) == 0 {
		return c, nil
	}
	if err := t.checkIgnored(); err != nil {
		return nil, err
	}
	now := t.store.o.Now()
	staged, disk, err := t.edits(paths)
	if err != nil {
		return nil, err
	}
	if err := check(ctx, &staged, &disk); err != nil {
		return nil, err
	}
	for _, g := range []Group{staged, disk} {
		if err := t.commit(c, g, now); err != nil {
			return nil, err
		}
		c.adopted = append(c.adopted, g.Paths...)
	}
	slices.Sort(c.adopted)
	c.adopted = slices.Compact(c.adopted)
	own := len(c.commits)
	for _, g := range t.Groups {
		if err := t.commit(c, g, now); err != nil {
			return nil, err
		}
	}
	if own == len(c.commits) && len(t.Groups) > 0 {
		// Nothing that was staged changed anything: uncommitted edits stay as they are.
		return &chain{}, nil
	}
	return c, nil
}

// commit adds one commit to the chain unless it would change nothing.
func (t *Tx) commit(c *chain, g Group, now time.Time) error {
	edits := make([]gitstore.TreeEdit, 0, len(g.Paths))
	for _, p := range g.Paths {
		f := g.Files[p]
		if !f.Remove && !f.Stored {
			t.Objects.PutBlob(f.Data)
		}
		edits = append(edits, gitstore.TreeEdit{Path: t.store.GitPath(p), Mode: f.Mode, ID: f.ID, Remove: f.Remove})
	}
	next, err := t.Objects.EditTree(c.tree, edits)
	if err != nil || next == c.tree {
		return err
	}
	changes, err := t.store.TreeChanges(t.Objects, c.tree, next)
	if err != nil {
		return err
	}
	config := t.store.repo.Config()
	commit := gitstore.Commit{
		Tree: next, Author: g.Why.Author(config), Committer: config.Identity("COMMITTER"),
		When: now, Committed: now, Message: g.Why.Message(),
	}
	if len(c.commits) > 0 {
		commit.Parents = []gitstore.ID{c.tip()}
	} else if !t.head.ID.IsZero() {
		commit.Parents = []gitstore.ID{t.head.ID}
	}
	if commit.ID, err = t.Objects.PutCommit(commit); err != nil {
		return err
	}
	for _, p := range g.Paths {
		c.final[p] = g.Files[p]
	}
	c.tree, c.commits, c.whys = next, append(c.commits, commit), append(c.whys, g.Why)
	c.changes = append(c.changes, changes)
	return nil
}

// edits finds what the user changed at the paths about to be written: the staged
// bytes that differ from HEAD and from the disk, and the bytes on disk that differ
// from HEAD.
func (t *Tx) edits(paths []Path) (staged, disk Group, err error) {
	staged.Files, disk.Files = map[Path]Content{}, map[Path]Content{}
	for _, p := range paths {
		at := t.touched[p]
		inGit := gitstore.ID(at.staged.Hash)
		if at.inGit && inGit != at.InHead.ID && !(at.Disk.Exists && inGit == at.Disk.ID) {
			data, err := t.Objects.Blob(inGit)
			if err != nil {
				err = fmt.Errorf("read what is staged for %q: %w", p, err)
				return staged, disk, WithHint(err, `"git restore --staged %s" gives up the staged version`,
					templates.Quote(p))
			}
			staged.Paths = append(staged.Paths, p)
			staged.Files[p] = Content{Data: data, ID: inGit, Mode: at.staged.Mode}
		}
		if _, again := staged.Files[p]; again || at.Disk.ID != at.InHead.ID {
			disk.Paths = append(disk.Paths, p)
			disk.Files[p] = Content{Remove: !at.Disk.Exists, Data: at.Disk.Data, ID: at.Disk.ID, Mode: at.Disk.mode()}
		}
	}
	return staged, disk, nil
}

// written lists the paths of all groups and adoptions, sorted, once each.
func (t *Tx) written() []Path {
	out := slices.Clone(t.adopting)
	for _, g := range t.Groups {
		out = append(out, g.Paths...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Tree is the git tree that the vault's repository will have with what is staged so far.
func (t *Tx) Tree() (gitstore.ID, error) {
	var edits []gitstore.TreeEdit
	for p := range t.Staged() {
		f, open := t.layer.files[p]
		if !open {
			f = t.layer.kept[p]
		}
		edits = append(edits, gitstore.TreeEdit{Path: t.store.GitPath(p), Mode: t.mode(p), ID: f.ID, Remove: f.Remove})
	}
	slices.SortFunc(edits, func(a, b gitstore.TreeEdit) int { return strings.Compare(a.Path, b.Path) })
	return t.Objects.EditTree(t.base, edits)
}
