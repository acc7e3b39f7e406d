package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"

	"stet/vault/durable"
	"stet/vault/gitindex"
	"stet/vault/gitstore"
)

// A placement brings one file of a published commit into the working tree. It
// swaps names instead of overwriting, looks at the bytes it displaced, and
// puts them back when they are newer than what the commit was built on.
type placement struct {
	store   *Store
	path    Path
	want    Content
	exists  bool // something stood there when the commit was built
	perm    fs.FileMode
	inPlace bool                 // the working tree already holds the content
	known   map[gitstore.ID]bool // ids the displaced bytes may have
	staged  bool
	fresh   fs.FileInfo   // the staged file, as it was before anybody could reach it
	stat    gitindex.Stat // of the file that is in place already
	left    bool          // newer bytes of a person stand there and stay
	whole   bool          // goes or arrives with its folder
	above   []string      // folders in which one on the way to it is new
	// patience is what is left of the transaction's time to wait for displaced files to
	// be closed; nil is none.
	patience *time.Duration
}

// TempPrefix begins the temporary files beside their targets, where the git
// folder is on another device.
const TempPrefix = ".stet-tmp-"

// temp is where the new bytes wait. The name is derived from the path, so that
// recovery knows whose displaced bytes a leftover holds.
func (pl *placement) temp() (*durable.Root, string) {
	sum := sha256.Sum256([]byte(pl.path))
	name := "w-" + hex.EncodeToString(sum[:8])
	if pl.store.oneDevice() {
		return pl.store.repo.Root(), pl.store.tmp(name)
	}
	return pl.store.tree, path.Join(pl.path.Dir(), TempPrefix+name)
}

// stage writes the new bytes aside and makes the folders they need, before the
// commit point, so that a full disk shows itself while nothing has happened.
// The batch is synced before [placement.ready].
func (pl *placement) stage(batch *durable.Batch) error {
	if pl.inPlace {
		return nil
	}
	if err := pl.store.tree.CheckWritable(pl.path.Dir()); err != nil {
		return placeError(pl.path, err)
	}
	if pl.want.Remove && pl.whole { // it arrives with the bytes that are here
		return batch.Existing(pl.store.tree, "file", string(pl.path))
	}
	if pl.want.Remove || pl.whole {
		return nil
	}
	root, temp := pl.temp()
	if root == pl.store.tree {
		if err := pl.store.tree.MkdirAll("file", pl.path.Dir(), 0o777); err != nil {
			return err
		}
	}
	perm := fs.FileMode(0o666)
	if pl.want.Mode == gitstore.ModeExecutable {
		perm = 0o777
	}
	data, err := pl.want.bytes(pl.path, func(id gitstore.ID) ([]byte, error) { return pl.store.repo.Stage().Blob(id) })
	if err != nil {
		return err
	}
	pl.staged = true
	if err := batch.Create(root, "file", temp+unfinished, data, perm); err != nil {
		return err
	}
	if !pl.exists {
		return nil
	}
	if pl.want.Mode != (DiskFile{perm: pl.perm}).mode() { // whoever may read it may run it, or nobody
		pl.perm = pl.perm&^0o111 | pl.perm>>2&perm&0o111
	}
	if info, err := root.Lstat(temp + unfinished); err == nil && info.Mode().Perm() == pl.perm {
		return nil
	}
	return root.Chmod("file", temp+unfinished, pl.perm)
}

// ready marks the staged bytes as whole and makes the folders they need, whose names
// the finisher syncs. The journal is durable by then and names them to recovery, which syncs them when
// this process is killed before it could.
func (pl *placement) ready() error {
	if !pl.staged {
		return nil
	}
	for dir := pl.path.Dir(); dir != "." && !pl.store.tree.Exists(dir); dir = path.Dir(dir) {
		pl.above = append(pl.above, path.Dir(dir))
	}
	if err := pl.store.tree.MkdirAllLazy("file", pl.path.Dir(), 0o777); err != nil {
		return err
	}
	root, temp := pl.temp()
	if err := root.Rename("file", temp+unfinished, temp); err != nil {
		return err
	}
	var err error
	pl.fresh, err = root.Lstat(temp)
	return err
}

// unfinished ends the name of a temporary file until its bytes are whole and
// on disk, so that recovery can take any other for bytes it displaced.
const unfinished = ".part"

// discard removes what stage wrote.
func (pl *placement) discard() error {
	if !pl.staged {
		return nil
	}
	root, temp := pl.temp()
	return errors.Join(root.Remove("file", temp), root.Remove("file", temp+unfinished))
}

// move is the swap of the waiting bytes with the target.
func (pl *placement) move() durable.Move {
	root, temp := pl.temp()
	return durable.Move{Label: "file", Temp: root, TempPath: temp, Target: pl.store.tree, Path: string(pl.path)}
}

// place makes the change visible.
func (pl *placement) place() (err error) {
	if pl.inPlace {
		return nil
	}
	m := pl.move()
	switch {
	case pl.want.Remove:
		err = pl.take(m)
	case pl.exists:
		err = pl.swap(m)
	default:
		err = m.Place()
		if errors.Is(err, fs.ErrExist) {
			pl.left, err = true, nil
		}
	}
	if err != nil {
		return fmt.Errorf("place %q: %w", pl.path, err)
	}
	return pl.dispose(m)
}

// dispose removes the temporary file. Bytes in it that nobody else has are
// kept: a person saved several times within the same instant. So is a file that
// somebody has open: bytes may still come.
func (pl *placement) dispose(m durable.Move) error {
	open := pl.awaitClose()
	id, err := pl.tempID(m)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !pl.ours(id):
		return pl.store.keep(m.Temp, m.TempPath, pl.path)
	case open && m.Temp == pl.store.repo.Root():
		return pl.store.keepLate(m.TempPath, pl.path, id)
	}
	return m.Temp.Remove("file", m.TempPath)
}

// swap replaces a file. One that vanished stays away: the person removed it.
func (pl *placement) swap(m durable.Move) error {
	err := m.Exchange()
	switch {
	case errors.Is(err, durable.ErrNoExchange):
		return pl.compareAndReplace(m)
	case errors.Is(err, fs.ErrNotExist):
		pl.left = true
		return nil
	case err != nil:
		return err
	}
	if known, err := pl.tempKnown(m); err != nil || known {
		return err
	}
	pl.left = true
	return pl.giveBack(m)
}

// giveBack swaps a person's bytes back into place. What that displaces is what the swap before it
// had placed, unless the person saved again in between: then that is the newest.
func (pl *placement) giveBack(m durable.Move) error {
	pl.store.keepCopy(m, pl.path, pl.known)
	if err := m.Exchange(); err != nil {
		return err
	}
	if ours, err := pl.tempKnown(m); err != nil || ours {
		return err
	}
	return m.Exchange()
}

// take removes a file.
func (pl *placement) take(m durable.Move) error {
	if err := m.Temp.Remove("file", m.TempPath); err != nil {
		return err
	}
	err := m.Take()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if known, err := pl.tempKnown(m); err != nil || known {
		return err
	}
	if err := m.Place(); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil // the person saved again: dispose keeps the older bytes
}

// tempKnown reports whether the temporary file holds the commit's bytes or
// those it was built on, once nobody writes into it.
func (pl *placement) tempKnown(m durable.Move) (bool, error) {
	pl.awaitClose()
	id, err := pl.tempID(m)
	return err == nil && pl.ours(id), err
}

func (pl *placement) ours(id gitstore.ID) bool {
	return pl.known[id] || !pl.want.Remove && id == pl.want.ID
}

// tempID is the id of what the temporary file holds; no id that is known for what is not
// a file.
func (pl *placement) tempID(m durable.Move) (gitstore.ID, error) {
	data, _, err := m.Temp.ReadFile(m.TempPath, 0)
	if errors.Is(err, durable.ErrNotRegular) {
		return gitstore.ID{1}, nil
	}
	return gitstore.HashBlob(data), err
}

// compareAndReplace is the best there is on systems that cannot swap names:
// the window between the look and the rename is a few microseconds.
func (pl *placement) compareAndReplace(m durable.Move) error {
	now, err := pl.store.Look(pl.path)
	if err != nil {
		return err
	}
	if !now.Exists || !pl.known[now.ID] {
		pl.left = true
		return nil
	}
	return m.Replace()
}

// edit is what the git index must say about the file now.
func (pl *placement) edit() (gitindex.Edit, error) {
	e := gitindex.Edit{Path: pl.store.GitPath(pl.path), Remove: pl.want.Remove, Hash: pl.want.ID, Mode: pl.want.Mode}
	if pl.left || pl.want.Remove {
		return e, nil // without stat data git looks at the content
	}
	info, err := pl.store.tree.Lstat(string(pl.path))
	if errors.Is(err, fs.ErrNotExist) {
		return e, nil
	}
	if err != nil {
		return e, err
	}
	// Only a description of our own bytes may enter the git index: a save of
	// the same size a moment later must not pass for them.
	switch now := statOf(info); {
	case pl.inPlace && pl.stat.Matches(now):
		e.Stat = now
	case !pl.inPlace && pl.fresh != nil && os.SameFile(info, pl.fresh) &&
		info.Size() == pl.fresh.Size() && info.ModTime().Equal(pl.fresh.ModTime()):
		e.Stat = now // the rename changed the inode's ctime alone
	}
	return e, nil
}

// A finisher brings a working tree up to a published commit: the same steps
// for the process that published it and for the one that recovers. index.lock
// is held.
type finisher struct {
	store   *Store
	files   []*placement
	folders []*folderMove
	index   *gitindex.File
	objects *gitstore.Objects
	tree    gitstore.ID // which the git index is to hold then, but for what is staged
	// again says that a killed process may have placed files, or made folders, and not
	// synced the folders they are in.
	again bool
}

func (f finisher) run() error {
	if err := f.moveFolders(); err != nil {
		return err
	}
	dirs, left := map[string]bool{}, patience // to sync; true when a file was taken out
	for _, pl := range f.files {
		pl.patience = &left
		if err := pl.place(); err != nil {
			return err
		}
		if dir := pl.path.Dir(); !pl.inPlace || f.again || pl.whole {
			dirs[dir] = dirs[dir] || pl.want.Remove
		}
		for dir := pl.path.Dir(); f.again && dir != "."; dir = path.Dir(dir) {
			pl.above = append(pl.above, path.Dir(dir))
		}
		for _, dir := range pl.above {
			dirs[dir] = dirs[dir] || false
		}
	}
	edits := make([]gitindex.Edit, 0, len(f.files))
	for _, pl := range f.files {
		e, err := pl.edit()
		if err != nil {
			return err
		}
		edits = append(edits, e)
	}
	data, err := f.objects.ApplyIndex(f.index, edits, f.tree)
	if err != nil {
		return fmt.Errorf("git index: %w", err)
	}
	return f.store.repo.PublishGitIndex(f.store.tmp("index"), data, func() error { return f.store.syncAll(dirs) })
}

// syncAll makes the names in folders durable. A file that was taken out went
// through our own folder: where a file system keeps both names of a rename or
// neither, its way out must be durable there as well.
func (s *Store) syncAll(dirs map[string]bool) error {
	through, stay, look := false, map[string]bool{}, map[string]bool{}
	for dir := range dirs {
		look[dir] = true
	}
	for len(look) > 0 {
		parents := map[string]bool{}
		for _, dir := range sortedKeys(look) {
			gone, err := s.prune(dir)
			if err != nil {
				return err
			}
			if gone {
				delete(stay, dir)
				parents[path.Dir(dir)] = true
				continue
			}
			stay[dir], through = true, through || dirs[dir]
		}
		look = parents // each once, however many were removed in it
	}
	for _, dir := range sortedKeys(stay) {
		if err := s.tree.SyncDir("file", dir); err != nil && !Absent(err) { // somebody removed it since
			return err
		}
	}
	if !through || !s.oneDevice() {
		return nil
	}
	return s.repo.Root().SyncDir("file", path.Clean(s.tmp(".")))
}

// prune removes a folder that became empty, as git does on a checkout, and reports whether it is gone.
func (s *Store) prune(dir string) (gone bool, err error) {
	names, err := s.tree.Names(dir)
	switch {
	case Absent(err) && dir != ".": // a killed process removed it and came no further
		return true, nil
	case err != nil || len(names) > 0 || dir == ".":
		return false, err
	}
	err = s.tree.Remove("prune", dir)
	if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, fs.ErrExist) {
		return false, nil // something appeared in it meanwhile
	}
	return err == nil, err
}
