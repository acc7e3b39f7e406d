package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"syscall"

	"stet/vault/gitindex"
	"stet/vault/gitstore"
)

// A Tx stages changes to the vault in memory. Reads see the working tree as it
// is on disk, uncommitted edits included, with the staged changes on top. A Tx
// lives only during the function it is passed to and is not safe for
// concurrent use.
type Tx struct {
	v       *Vault
	head    gitstore.Head
	base    gitstore.ID // HEAD's tree
	objects *gitstore.Objects
	index   *gitindex.File
	stamp   gitstore.GitIndexStamp
	touched map[Path]*touched
	rules   *attributes
	foreign map[string]bool // folders looked at: a repository or vault of its own
	layer   Overlay
	names   *namer // of FreeName
	why     Why
	groups  []group
	// adopting lists paths whose hand edits are committed for their own sake.
	adopting []Path
	adoptWhy Why         // their subject and moves
	rejected *rejections // read when first asked for
	// What the guard leaves uncommitted, and what it only flags.
	held     []Problem
	warnings []string
	named    []Path // hand edits a person asked for by name: refused, not held
	judge    *judge
}

// touched is what stood at a path when the transaction first wrote to it.
type touched struct {
	disk   diskFile
	inHead gitstore.TreeEntry // zero when absent
	staged gitindex.Entry
	inGit  bool // the git index has an entry
}

// group is the changes of one commit of the chain.
type group struct {
	why   Why
	paths []Path
	files map[Path]pendingFile
}

// pendingFile is content waiting to be committed.
type pendingFile struct {
	remove bool
	data   []byte
	id     gitstore.ID
	mode   uint32
	// deposited says that the repository has the content already, and data is
	// nil.
	deposited bool
}

func (f pendingFile) same(d diskFile) bool {
	if f.remove {
		return !d.exists
	}
	return d.exists && d.id == f.id && d.mode() == f.mode
}

// begin reads what the transaction is based on.
func (v *Vault) begin(why Why) (*Tx, error) {
	head, err := v.repo.Head()
	if err != nil {
		return nil, err
	}
	objects := v.repo.Stage()
	base, err := gitTree(objects, head.ID)
	if err != nil {
		return nil, err
	}
	stamp, err := v.repo.GitIndexStamp()
	if err != nil {
		return nil, err
	}
	index, _, err := v.repo.ReadGitIndex(head.ID)
	if err != nil {
		return nil, err
	}
	tx := &Tx{v: v, head: head, base: base, objects: objects, index: index, stamp: stamp, why: why, touched: map[Path]*touched{}, rules: v.attributes(), foreign: map[string]bool{}}
	tx.layer = newOverlay(func(p Path) ([]byte, error) {
		t, err := tx.touch(p)
		if err != nil || !t.disk.exists {
			return nil, err
		}
		return t.disk.data, nil
	})
	tx.layer.blob = objects.Blob
	return tx, nil
}

// touch records what stands at p, once.
func (t *Tx) touch(p Path) (*touched, error) {
	if have, ok := t.touched[p]; ok {
		return have, nil
	}
	if clean, err := ParsePath(string(p)); err != nil || clean != p {
		return nil, errors.Join(err, fmt.Errorf("path %q: %w", p, ErrBadPath))
	}
	if err := t.checkOwn(p); err != nil {
		return nil, err
	}
	disk, err := t.v.look(p)
	if err != nil {
		return nil, err
	}
	if err := t.rules.check(p, disk.data); err != nil {
		return nil, err
	}
	got := &touched{disk: disk}
	name := t.v.git(p)
	entry, ok, err := t.objects.Lookup(t.base, name)
	if err != nil {
		return nil, err
	}
	if ok && (entry.Mode == gitstore.ModeSymlink || entry.Mode == gitstore.ModeSubmodule) {
		return nil, fmt.Errorf("path %q: %w: git keeps a link or submodule there", p, ErrBadPath)
	}
	if ok && !entry.IsDir() {
		got.inHead = entry
	}
	if t.index.Conflicted(name) {
		return nil, fmt.Errorf("%q: %w: it has unresolved conflicts", p, ErrInProgress)
	}
	got.staged, got.inGit = t.index.Entry(name)
	if got.inGit && got.staged.SkipWorktree {
		return nil, WithHint(fmt.Errorf("%q: %w: it is outside the sparse checkout", p, ErrUnsupportedRepository), `"git sparse-checkout add" brings it in`)
	}
	if got.inGit && got.staged.IntentToAdd {
		got.inGit = false // announced only: there is no staged content to lose
	}
	t.touched[p] = got
	return got, nil
}

// checkOwn refuses a path inside a nested repository or vault: the inner one
// wins, and its files are not this vault's to write.
func (t *Tx) checkOwn(p Path) error {
	for dir := p.Dir(); dir != "."; dir = path.Dir(dir) {
		foreign, known := t.foreign[dir]
		if !known {
			foreign = t.v.tree.Exists(dir+"/.git") || t.v.tree.Exists(dir+"/"+string(Marker))
			t.foreign[dir] = foreign
		}
		if foreign {
			return WithHint(fmt.Errorf("path %q: %w: %q is a repository or vault of its own", p, ErrBadPath, dir), "use -C %s", dir)
		}
	}
	return nil
}

// Why is the description of the commit being staged; it may be changed until
// the function returns or [Tx.Split] is called.
func (t *Tx) Why() *Why { return &t.why }

// NewID makes an id for a memory, of the vault's clock.
func (t *Tx) NewID() string { return newID(t.v.o.Now()) }

// Read returns the bytes at p, which must not be changed, and their hash. A
// file that does not exist has no bytes and the hash "".
func (t *Tx) Read(p Path) ([]byte, Hash, error) {
	if _, err := t.touch(p); err != nil {
		return nil, "", err
	}
	return t.layer.Read(p)
}

// Put stages data at p. was is the hash of the bytes the caller saw, "" for a
// new file; it fails with [ErrConflict] when something else stands there.
func (t *Tx) Put(p Path, was Hash, data []byte) error {
	if _, err := t.expect(p, was); err != nil {
		return err
	}
	if len(data) > MaxFileSize {
		return fmt.Errorf("%q: %w (%d bytes, at most %d)", p, ErrTooLarge, len(data), int64(MaxFileSize))
	}
	if err := t.rules.check(p, data); err != nil {
		return err
	}
	t.layer.Put(p, data)
	return nil
}

// Remove stages the removal of p, whose bytes hash to was.
func (t *Tx) Remove(p Path, was Hash) error {
	if _, err := t.expect(p, was); err != nil {
		return err
	}
	t.layer.Remove(p)
	return nil
}

// Move stages a rename of from to to, which must not exist. Links are not
// rewritten.
func (t *Tx) Move(from, to Path) error {
	data, was, err := t.Read(from)
	if err != nil {
		return err
	}
	if was == "" {
		return fmt.Errorf("move %q: %w", from, ErrNotFound)
	}
	if err := t.Put(to, "", data); err != nil {
		return fmt.Errorf("move %q to %q: %w", from, to, err)
	}
	t.why.Moved = append(t.why.Moved, [2]Path{from, to})
	return t.Remove(from, was)
}

func (t *Tx) expect(p Path, was Hash) ([]byte, error) {
	data, have, err := t.Read(p)
	if err != nil {
		return nil, err
	}
	if have == was {
		return data, nil
	}
	switch {
	case was == "":
		err = fmt.Errorf("%q: %w: it exists already", p, ErrConflict)
	case have == "":
		err = fmt.Errorf("%q: %w: it is gone", p, ErrConflict)
	default:
		err = fmt.Errorf("%q: %w: it changed meanwhile", p, ErrConflict)
	}
	return nil, err
}

// Split ends the commit being staged: what follows goes into the next one of
// the chain, described by why. All commits are published together.
func (t *Tx) Split(why Why) {
	t.flush()
	t.why = why
}

// flush closes the current group of changes.
func (t *Tx) flush() {
	files := t.layer.take()
	if len(files) == 0 {
		return
	}
	g := group{why: t.why, files: files}
	for p, f := range files {
		// A file keeps the permissions it has; a new one is plain.
		f.mode = gitstore.ModeFile
		switch at := t.touched[p]; {
		case t.v.repo.Config().Bool("core", "filemode", true) && at.disk.exists:
			f.mode = at.disk.mode()
		case at.inHead.Mode == gitstore.ModeExecutable:
			f.mode = at.inHead.Mode // the disk's permissions mean nothing here
		}
		files[p] = f
		g.paths = append(g.paths, p)
	}
	slices.SortFunc(g.paths, func(a, b Path) int { return strings.Compare(string(a), string(b)) })
	t.groups = append(t.groups, g)
}

// A diskFile is what stands at a path of the working tree.
type diskFile struct {
	exists bool
	data   []byte
	id     gitstore.ID
	perm   fs.FileMode
	stat   gitindex.Stat
}

// mode is the git mode of a file with these permissions.
func (d diskFile) mode() uint32 {
	if d.perm&0o100 != 0 {
		return gitstore.ModeExecutable
	}
	return gitstore.ModeFile
}

// look reads the file at p. A path that is absent, or below something that is
// not a folder, does not exist; one that is not a regular file, or that passes
// through a symbolic link, is an error.
func (v *Vault) look(p Path) (diskFile, error) {
	if err := v.checkParents(p); err != nil {
		return diskFile{}, err
	}
	data, info, err := v.tree.ReadFile(string(p), MaxFileSize)
	switch {
	case absent(err):
		return diskFile{}, nil
	case errors.Is(err, ErrNotRegular):
		return diskFile{}, fmt.Errorf("%q: %w: %w", p, ErrBadPath, err)
	case errors.Is(err, ErrTooLarge):
		return diskFile{}, WithHint(fmt.Errorf("%q: %w (%d bytes, at most %d)", p, ErrTooLarge, info.Size(), int64(MaxFileSize)),
			"stet leaves it as it is; split it or keep it outside the vault")
	case err != nil:
		return diskFile{}, err
	}
	return diskFile{exists: true, data: data, id: gitstore.HashBlob(data), perm: info.Mode().Perm(), stat: statOf(info)}, nil
}

func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// checkParents refuses a path that passes through a symbolic link: it could
// name a file under two paths, or one outside.
func (v *Vault) checkParents(p Path) error {
	// From the top down: what lies behind a link must not even be looked at.
	for i, r := range string(p) {
		if r != '/' {
			continue
		}
		at := string(p[:i])
		info, err := v.tree.Lstat(at)
		switch {
		case absent(err):
			return nil // nor is there anything below it
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			return fmt.Errorf("path %q: %w: %q is a symbolic link", p, ErrBadPath, at)
		}
	}
	return nil
}

// gitTree is the tree of commit id, zero before the first commit.
func gitTree(objects *gitstore.Objects, id gitstore.ID) (gitstore.ID, error) {
	if id.IsZero() {
		return id, nil
	}
	c, err := objects.Commit(id)
	return c.Tree, err
}

// spine lists the folders that hold the paths, as git names them, "" first.
func spine(paths []string) map[string]bool {
	dirs := map[string]bool{"": true}
	for _, p := range paths {
		for i := strings.LastIndexByte(p, '/'); i > 0; i = strings.LastIndexByte(p[:i], '/') {
			dirs[p[:i]] = true
		}
	}
	return dirs
}
