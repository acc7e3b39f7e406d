package vault

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"stet/vault/gitstore"
)

// A chain is the commits one update publishes together, and what they do to
// the working tree in the end.
type chain struct {
	commits []gitstore.Commit
	whys    []Why
	final   map[Path]pendingFile
	trees   map[string]gitstore.TreeChange // folders of the final tree that changed
	tree    gitstore.ID                    // the final tree
	adopted []Path
	held    []Problem
	warned  []string
}

func (c *chain) tip() gitstore.ID { return c.commits[len(c.commits)-1].ID }

// build turns the staged groups into commits. A path with hand edits gets the
// person's own commits first: what is staged in the git index, then what is on
// disk, so that neither can be lost to what follows.
func (t *Tx) build(ctx context.Context) (*chain, error) {
	t.flush()
	if err := t.settle(); err != nil {
		return nil, err
	}
	c := &chain{final: map[Path]pendingFile{}, trees: map[string]gitstore.TreeChange{}, tree: t.base}
	paths := t.written()
	if len(paths) == 0 {
		return c, nil
	}
	now := t.v.o.Now()
	staged, disk, err := t.handEdits(ctx, paths)
	if err != nil {
		return nil, err
	}
	groups := []*group{&staged, &disk}
	for i := range t.groups {
		groups = append(groups, &t.groups[i])
	}
	if err := t.guardGroups(ctx, groups...); err != nil {
		return nil, err
	}
	c.held, c.warned = t.held, t.warnings
	for _, g := range []group{staged, disk} {
		if err := t.commit(c, g, now); err != nil {
			return nil, err
		}
		c.adopted = append(c.adopted, g.paths...)
	}
	slices.Sort(c.adopted)
	c.adopted = slices.Compact(c.adopted)
	own := len(c.commits)
	for _, g := range t.groups {
		if err := t.commit(c, g, now); err != nil {
			return nil, err
		}
	}
	if own == len(c.commits) && len(t.groups) > 0 {
		// Nothing of the machine's changed anything: hand edits stay as they are.
		return &chain{held: c.held}, nil
	}
	return c, nil
}

// commit adds one commit to the chain unless it would change nothing.
func (t *Tx) commit(c *chain, g group, now time.Time) error {
	edits := make([]gitstore.TreeEdit, 0, len(g.paths))
	for _, p := range g.paths {
		f := g.files[p]
		if !f.remove && !f.deposited {
			t.objects.PutBlob(f.data)
		}
		edits = append(edits, gitstore.TreeEdit{Path: t.v.git(p), Mode: f.mode, ID: f.id, Remove: f.remove})
	}
	next, err := t.objects.EditTree(c.tree, edits, c.trees)
	if err != nil || next == c.tree {
		return err
	}
	commit := gitstore.Commit{
		Tree: next, Author: g.why.author(t.v.repo.Config()), Committer: t.v.repo.Config().Identity("COMMITTER"),
		When: now, Committed: now, Message: g.why.message(),
	}
	if len(c.commits) > 0 {
		commit.Parents = []gitstore.ID{c.tip()}
	} else if !t.head.ID.IsZero() {
		commit.Parents = []gitstore.ID{t.head.ID}
	}
	if commit.ID, err = t.objects.PutCommit(commit); err != nil {
		return err
	}
	for _, p := range g.paths {
		c.final[p] = g.files[p]
	}
	c.tree, c.commits, c.whys = next, append(c.commits, commit), append(c.whys, g.why)
	return nil
}

// handEdits finds what a person changed at the paths about to be written: the
// staged bytes that differ from HEAD and from the disk, and the bytes on disk
// that differ from HEAD.
func (t *Tx) handEdits(ctx context.Context, paths []Path) (staged, disk group, err error) {
	staged.files, disk.files = map[Path]pendingFile{}, map[Path]pendingFile{}
	for _, p := range paths {
		at := t.touched[p]
		inGit := gitstore.ID(at.staged.Hash)
		if at.inGit && inGit != at.inHead.ID && !(at.disk.exists && inGit == at.disk.id) {
			data, err := t.objects.Blob(inGit)
			if err != nil {
				return staged, disk, WithHint(pathErrorf("read what is staged for", p, err), `"git restore --staged %s" gives up the staged version`, p)
			}
			staged.paths = append(staged.paths, p)
			staged.files[p] = pendingFile{data: data, id: inGit, mode: at.staged.Mode}
		}
		if _, again := staged.files[p]; again || at.disk.id != at.inHead.ID {
			disk.paths = append(disk.paths, p)
			disk.files[p] = pendingFile{remove: !at.disk.exists, data: at.disk.data, id: at.disk.id, mode: at.disk.mode()}
		}
	}
	if err := t.guardEdits(ctx, &staged, &disk); err != nil {
		return staged, disk, err
	}
	t.describe(&staged, "staged ")
	t.describe(&disk, "")
	return staged, disk, nil
}

// written lists the paths of all groups and adoptions, sorted, once each.
func (t *Tx) written() []Path {
	out := slices.Clone(t.adopting)
	for _, g := range t.groups {
		out = append(out, g.paths...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// adoptSubject names the first paths and counts the rest.
func adoptSubject(paths []Path) string {
	const named = 3
	names := make([]string, 0, named)
	for _, p := range paths[:min(named, len(paths))] {
		names = append(names, string(p))
	}
	text := strings.Join(names, ", ")
	if more := len(paths) - named; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
