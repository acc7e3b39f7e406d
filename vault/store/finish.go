package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"stet/vault/durable"
	"stet/vault/gitindex"
	"stet/vault/gitstore"
)

// unfinished works out from the trees of the journal what is still to be done.
func (s *Store) unfinished(t transition, head gitstore.Head) (finisher, error) {
	objects := s.repo.Stage()
	base, err := objects.TreeOf(t.head.ID)
	if err != nil {
		return finisher{}, err
	}
	next, err := objects.TreeOf(t.next)
	if err != nil {
		return finisher{}, err
	}
	now, err := objects.TreeOf(head.ID)
	if err != nil {
		return finisher{}, err
	}
	f := finisher{store: s, again: true, objects: objects, tree: now}
	if f.index, _, err = s.repo.ReadGitIndex(head.ID); err != nil {
		return f, err
	}
	between, err := s.between(objects, t)
	if err != nil {
		return f, err
	}
	for d, err := range objects.DiffTrees(base, next) {
		if err != nil {
			return f, err
		}
		p, ok := s.Own(d.Path)
		if !ok {
			continue
		}
		pl, err := s.unplaced(objects, d, p, now, between, f.index)
		if err != nil {
			return f, err
		}
		if pl != nil {
			f.files = append(f.files, pl)
		}
	}
	return f, nil
}

// between lists the trees of the chain before its last commit: the base, and
// the person's own adopted edits, which are what the disk may still hold.
func (s *Store) between(objects *gitstore.Objects, t transition) ([]gitstore.ID, error) {
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
	base, err := objects.TreeOf(t.head.ID)
	return append(trees, base), err
}

// unplaced is the placement that one path still needs, nil when HEAD has moved
// on from it or the person staged something else.
func (s *Store) unplaced(objects *gitstore.Objects, d gitstore.Delta, p Path, now gitstore.ID,
	between []gitstore.ID, index *gitindex.File) (*placement, error) {
	if at, _, err := objects.Lookup(now, d.Path); err != nil || at.ID != d.NewID {
		return nil, err
	}
	pl := &placement{store: s, path: p, known: map[gitstore.ID]bool{}}
	pl.want = Content{Remove: d.NewID.IsZero(), ID: d.NewID, Mode: d.NewMode}
	var absentBefore bool
	for _, tree := range between {
		at, ok, err := objects.Lookup(tree, d.Path)
		if err != nil {
			return nil, err
		}
		pl.known[at.ID] = true
		absentBefore = absentBefore || !ok
	}
	if !pl.want.Remove {
		data, err := objects.Blob(d.NewID)
		if err != nil {
			return nil, err
		}
		pl.want.Data = data
	}
	entry, ok := index.Entry(d.Path)
	switch {
	case ok && (entry.Hash == d.NewID || pl.known[entry.Hash]), !ok && (absentBefore || pl.want.Remove):
		return pl, nil
	}
	return nil, nil // staged by the person since
}

// restoreDisplaced puts back bytes of a person that a swap had taken out of
// the working tree when the process died.
func (pl *placement) restoreDisplaced() error {
	root, temp := pl.temp()
	open := pl.awaitClose() // before the read: bytes may still come
	data, _, err := root.ReadFile(temp, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	id := gitstore.HashBlob(data)
	disk, err := pl.store.Look(pl.path)
	if err != nil {
		return err
	}
	ours := id == pl.want.ID || pl.known[id]
	if !ours {
		// Bytes that were ever committed are no edit of a person's that only
		// stands here: a power cut can bring back what an earlier write displaced.
		_, err := pl.store.repo.Stage().Blob(id)
		ours = err == nil
	}
	switch {
	case ours && open && root == pl.store.repo.Root():
		return pl.store.keepLate(temp, pl.path, id)
	case ours:
		return root.Remove("file", temp)
	case disk.Exists && disk.ID != pl.want.ID: // the person has saved again since
		return pl.store.keep(root, temp, pl.path)
	case disk.Exists:
		return pl.giveBack(pl.move())
	}
	return pl.move().Place()
}

// settle makes each leftover ready to be placed.
func (f finisher) settle() error {
	for _, pl := range f.files {
		if err := pl.restoreDisplaced(); err != nil {
			return err
		}
	}
	return f.settleFiles()
}

func (f finisher) settleFiles() (err error) {
	var batch durable.Batch
	defer func() { err = errors.Join(err, batch.Close()) }()
	for _, pl := range f.files {
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
	disk, err := pl.store.Look(pl.path)
	if err != nil {
		return err
	}
	pl.exists, pl.perm, pl.stat = disk.Exists, disk.perm, disk.stat
	switch {
	case pl.want.Remove && !disk.Exists, pl.want.same(disk), disk.Exists && disk.ID == pl.want.ID && !pl.known[disk.ID]:
		pl.inPlace = true
	case pl.known[disk.ID]:
		return pl.stage(batch)
	default:
		pl.inPlace, pl.left = true, true
	}
	return nil
}

// lostDir is the folder of kept bytes in this worktree's state.
func (s *Store) lostDir() string { return path.Join(s.state, "lost") }

// keep moves a temporary file to where "stet doctor" shows it. It holds bytes
// of a person's that stood at p and stand nowhere else.
func (s *Store) keep(root *durable.Root, temp string, p Path) error {
	if open, _ := durable.Written(root, temp); open && root == s.repo.Root() {
		return s.keepLate(temp, p, gitstore.ID{})
	}
	data, _, err := root.ReadFile(temp, 0)
	if err != nil {
		return err
	}
	state, dir := s.repo.Root(), s.lostDir()
	if err := state.MkdirAll("lost", dir, 0o777); err != nil {
		return err
	}
	// Whole under its name: what a process that dies here leaves must not pass for kept.
	file := path.Join(dir, gitstore.HashBlob(data).String()[:16]+"-"+p.Base())
	if err := durable.PutWhole(state, "lost", s.tmp("kept"), file, data, 0o666); err != nil {
		return err
	}
	if err := state.SyncDir("lost", dir); err != nil {
		return err
	}
	return root.Remove("lost", temp)
}

// Kept lists the files, absolute, in which recovery kept bytes that stood nowhere else, and
// where it is known, in parentheses, the path that they were written to.
func (s *Store) Kept() ([]string, error) {
	entries, err := s.repo.Root().ReadDir(s.lostDir())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), latePrefix) {
			continue // as long as it is open, it is no loss
		}
		if strings.HasPrefix(e.Name(), keptPrefix) && strings.HasSuffix(e.Name(), lateFor) {
			continue // the note of the file before it
		}
		file := path.Join(s.lostDir(), e.Name())
		text := s.repo.Root().Abs(file)
		if note, _, err := s.repo.Root().ReadFile(file+lateFor, 2*maxJournal); err == nil {
			_, at, _ := strings.Cut(strings.TrimSuffix(string(note), "\n"), " ")
			text = fmt.Sprintf("%s (of %q)", text, at)
		}
		out = append(out, text)
	}
	return out, err
}
