package vault

import (
	"errors"
	"io/fs"
	"path"

	"stet/vault/durable"
	"stet/vault/gitindex"
	"stet/vault/gitstore"
)

// leftovers works out from the trees of the journal what is still to be done.
func (v *Vault) leftovers(t transition, head gitstore.Head) (finisher, error) {
	objects := v.repo.Stage()
	base, err := gitTree(objects, t.head.ID)
	if err != nil {
		return finisher{}, err
	}
	next, err := gitTree(objects, t.next)
	if err != nil {
		return finisher{}, err
	}
	now, err := gitTree(objects, head.ID)
	if err != nil {
		return finisher{}, err
	}
	f := finisher{v: v, again: true}
	if f.index, _, err = v.repo.ReadGitIndex(head.ID); err != nil {
		return f, err
	}
	between, err := v.between(objects, t)
	if err != nil {
		return f, err
	}
	var names []string
	for d, err := range objects.DiffTrees(base, next) {
		if err != nil {
			return f, err
		}
		p, ok := v.own(d.Path)
		if !ok {
			continue
		}
		names = append(names, d.Path)
		pl, err := v.leftover(objects, d, p, now, between, f.index)
		if err != nil {
			return f, err
		}
		if pl != nil {
			f.files = append(f.files, pl)
		}
	}
	f.trees, err = treeChangesAt(objects, base, next, names)
	return f, err
}

// between lists the trees of the chain before its last commit: the base, and
// the person's own adopted edits, which are what the disk may still hold.
func (v *Vault) between(objects *gitstore.Objects, t transition) ([]gitstore.ID, error) {
	var trees []gitstore.ID
	for id := t.next; id != t.head.ID && !id.IsZero(); {
		c, err := objects.Commit(id)
		if err != nil {
			return nil, err
		}
		if id != t.next {
			trees = append(trees, c.Tree)
		}
		id = gitstore.ID{}
		if len(c.Parents) > 0 {
			id = c.Parents[0]
		}
	}
	base, err := gitTree(objects, t.head.ID)
	return append(trees, base), err
}

// leftover is the placement that one path still needs, nil when HEAD has moved
// on from it or the person staged something else.
func (v *Vault) leftover(objects *gitstore.Objects, d gitstore.Delta, p Path, now gitstore.ID, between []gitstore.ID, index *gitindex.File) (*placement, error) {
	if at, _, err := objects.Lookup(now, d.Path); err != nil || at.ID != d.NewID {
		return nil, err
	}
	pl := &placement{v: v, path: p, known: map[gitstore.ID]bool{}}
	pl.want = pendingFile{remove: d.NewID.IsZero(), id: d.NewID, mode: d.NewMode}
	var absentBefore bool
	for _, tree := range between {
		at, ok, err := objects.Lookup(tree, d.Path)
		if err != nil {
			return nil, err
		}
		pl.known[at.ID] = true
		absentBefore = absentBefore || !ok
	}
	if !pl.want.remove {
		data, err := objects.Blob(d.NewID)
		if err != nil {
			return nil, err
		}
		pl.want.data = data
	}
	entry, ok := index.Entry(d.Path)
	switch {
	case ok && (entry.Hash == d.NewID || pl.known[entry.Hash]), !ok && (absentBefore || pl.want.remove):
		return pl, nil
	}
	return nil, nil // staged by the person since
}

// restoreDisplaced puts back bytes of a person that a swap had taken out of
// the working tree when the process died.
func (pl *placement) restoreDisplaced() error {
	root, temp := pl.temp()
	data, _, err := root.ReadFile(temp, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	id := gitstore.HashBlob(data)
	disk, err := pl.v.look(pl.path)
	if err != nil {
		return err
	}
	ours := id == pl.want.id || pl.known[id]
	if !ours {
		// Bytes that were ever committed are no edit of a person's that only
		// stands here: a power cut can bring back what an earlier write displaced.
		_, err := pl.v.repo.Blob(id)
		ours = err == nil
	}
	switch {
	case ours:
		return root.Remove("file", temp)
	case disk.exists && disk.id != pl.want.id: // the person has saved again since
		return pl.v.keep(root, temp, pl.path.Base())
	case disk.exists:
		return pl.move().Exchange()
	}
	return pl.move().Place()
}

// settle makes each leftover ready to be placed.
func (f finisher) settle() (err error) {
	var batch durable.Batch
	defer func() { err = errors.Join(err, batch.Close()) }()
	for _, pl := range f.files {
		if err := pl.restoreDisplaced(); err != nil {
			return err
		}
		if err := pl.settle(&batch); err != nil {
			return err
		}
	}
	if err := batch.Sync(); err != nil {
		return err
	}
	for _, pl := range f.files {
		if err := pl.ready(); err != nil {
			return err
		}
	}
	return nil
}

// settle decides from what is on disk now whether the file is done, still to
// be placed, or a person's.
func (pl *placement) settle(batch *durable.Batch) error {
	disk, err := pl.v.look(pl.path)
	if err != nil {
		return err
	}
	pl.exists, pl.perm, pl.stat = disk.exists, disk.perm, disk.stat
	switch {
	case pl.want.remove && !disk.exists, disk.exists && disk.id == pl.want.id:
		pl.inPlace = true
	case pl.known[disk.id]:
		return pl.stage(batch)
	default:
		pl.inPlace, pl.left = true, true
	}
	return nil
}

// treeChangesAt finds how the folders that hold the paths changed.
func treeChangesAt(objects *gitstore.Objects, base, next gitstore.ID, names []string) (map[string]gitstore.TreeChange, error) {
	out := map[string]gitstore.TreeChange{}
	for dir := range spine(names) {
		a, _, err := objects.Lookup(base, dir)
		if err != nil {
			return nil, err
		}
		b, _, err := objects.Lookup(next, dir)
		if err != nil {
			return nil, err
		}
		if a.ID != b.ID {
			out[dir] = gitstore.TreeChange{Old: a.ID, New: b.ID}
		}
	}
	return out, nil
}

// lostDir is the folder of kept bytes in this worktree's state.
func (v *Vault) lostDir() string { return path.Join(v.state, "lost") }

// keep moves a temporary file to where "stet doctor" shows it. It holds bytes
// of a person's that stand nowhere else.
func (v *Vault) keep(root *durable.Root, temp, name string) error {
	data, _, err := root.ReadFile(temp, 0)
	if err != nil {
		return err
	}
	state, dir := v.repo.Root(), v.lostDir()
	if err := state.MkdirAll("lost", dir, 0o777); err != nil {
		return err
	}
	file := path.Join(dir, gitstore.HashBlob(data).String()[:8]+"-"+name)
	err = state.CreateSync("lost", file, data, 0o666)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := state.SyncDir("lost", dir); err != nil {
		return err
	}
	return root.Remove("lost", temp)
}

// checkKept lists kept bytes.
func (v *Vault) checkKept() ([]Problem, error) {
	entries, err := v.repo.Root().ReadDir(v.lostDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Problem
	for _, e := range entries {
		out = append(out, Problem{ID: "kept-bytes",
			Text: "an edit that met a write in the same instant was kept in " + v.repo.Root().Abs(path.Join(v.lostDir(), e.Name())),
			Hint: "copy what you need from it, then remove it"})
	}
	return out, nil
}
