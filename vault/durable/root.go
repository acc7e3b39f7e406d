package durable

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync/atomic"
	"syscall"
)

// A Root is a folder that reads and writes cannot leave, symbolic links
// included. Paths are slash-separated and relative to it. It is safe for
// concurrent use.
type Root struct {
	root   *os.Root
	dir    string
	hook   Hook
	pins   atomic.Pointer[map[string]*os.Root]
	lister lister
}

// OpenRoot opens dir, which must exist. hook may be nil.
func OpenRoot(dir string, hook Hook) (*Root, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	r, err := os.OpenRoot(abs)
	if err != nil {
		return nil, err
	}
	return &Root{root: r, dir: abs, hook: hook}, nil
}

// Close releases the folder's handle.
func (r *Root) Close() error {
	var errs []error
	if pins := r.pins.Load(); pins != nil {
		for _, pinned := range *pins {
			errs = append(errs, pinned.Close())
		}
	}
	return errors.Join(append(errs, r.lister.close(), r.root.Close())...)
}

// Abs is the absolute form of p, for messages and hooks only.
func (r *Root) Abs(p string) string { return filepath.Join(r.dir, filepath.FromSlash(p)) }

// ask announces a step. done means that the step must not be performed and err
// is its outcome.
func (r *Root) ask(s Step) (done bool, err error) {
	if r.hook == nil {
		return false, nil
	}
	switch err := r.hook(s); {
	case err == nil:
		return false, nil
	case errors.Is(err, ErrSkip):
		return true, nil
	default:
		return true, &fs.PathError{Op: string(s.Op), Path: s.Path, Err: err}
	}
}

// step announces a step and performs it with do unless the hook decided it.
func (r *Root) step(s Step, do func() error) error {
	if done, err := r.ask(s); done {
		return err
	}
	return do()
}

// Announce lets another package's mutating call (a kernel lock) be seen by the
// hook. It reports whether the call must be left out and the error to return.
func (r *Root) Announce(op Op, label, p string) (skip bool, err error) {
	return r.ask(Step{Op: op, Label: label, Path: r.Abs(p)})
}

// CreateSync makes p, which must not exist, with data and permissions, and
// fsyncs its contents. The name itself is durable only after [Root.SyncDir] of
// its folder. On failure nothing is left behind where that can be helped.
func (r *Root) CreateSync(label, p string, data []byte, perm fs.FileMode) (err error) {
	return r.create(label, p, data, perm, true)
}

// Create is [Root.CreateSync] without the fsync, for files that are rebuilt
// when lost.
func (r *Root) Create(label, p string, data []byte, perm fs.FileMode) error {
	return r.create(label, p, data, perm, false)
}

func (r *Root) create(label, p string, data []byte, perm fs.FileMode, sync bool) (err error) {
	abs := r.Abs(p)
	if done, err := r.ask(Step{Op: OpCreate, Label: label, Path: abs, Perm: perm.Perm()}); done {
		return err
	}
	root, name := r.at(p)
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|openNonblock, perm.Perm())
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			err = errors.Join(err, r.Remove(label, p))
		}
	}()
	if err := r.write(f, label, abs, data, 0); err != nil {
		return err
	}
	if !sync {
		return nil
	}
	return r.step(Step{Op: OpSync, Label: label, Path: abs}, f.Sync)
}

// openWritable opens or makes a regular file. A FIFO would block until somebody
// reads it, and a symbolic link would change a file that nobody named.
func (r *Root) openWritable(p string, flag int, perm fs.FileMode) (*os.File, error) {
	info, err := r.Lstat(p)
	if err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: p, Err: ErrNotRegular}
	}
	root, name := r.at(p)
	return root.OpenFile(name, flag|os.O_CREATE|openNonblock, perm.Perm())
}

// write puts data at offset off of an open file.
func (r *Root) write(f *os.File, label, abs string, data []byte, off int64) error {
	if len(data) == 0 {
		return nil
	}
	s := Step{Op: OpWrite, Label: label, Path: abs, Data: data, Offset: off}
	if r.hook != nil {
		switch err := r.hook(s); {
		case errors.Is(err, ErrSkip):
			return nil
		case errors.Is(err, ErrShortWrite):
			_, werr := f.WriteAt(data[:len(data)/2], off)
			return errors.Join(&fs.PathError{Op: "write", Path: abs, Err: syscall.ENOSPC}, werr)
		case err != nil:
			return &fs.PathError{Op: "write", Path: abs, Err: err}
		}
	}
	_, err := f.WriteAt(data, off)
	return err
}

// Chmod sets the permissions of p.
func (r *Root) Chmod(label, p string, perm fs.FileMode) error {
	return r.step(Step{Op: OpChmod, Label: label, Path: r.Abs(p), Perm: perm.Perm()}, func() error {
		root, name := r.at(p)
		return root.Chmod(name, perm.Perm())
	})
}

// Rename moves from to to, replacing it. Atomic for every observer; durable
// after SyncDir of both folders.
func (r *Root) Rename(label, from, to string) error {
	return r.step(Step{Op: OpRename, Label: label, Path: r.Abs(from), To: r.Abs(to)}, func() error {
		return r.root.Rename(filepath.FromSlash(from), filepath.FromSlash(to))
	})
}

// Link gives from the second name to. It fails with fs.ErrExist when to exists:
// the atomic way to take a lock file whose contents are whole from the start.
func (r *Root) Link(label, from, to string) error {
	return r.step(Step{Op: OpLink, Label: label, Path: r.Abs(from), To: r.Abs(to)}, func() error {
		return r.root.Link(filepath.FromSlash(from), filepath.FromSlash(to))
	})
}

// Remove unlinks a file or an empty folder. A path that is already gone is
// not an error.
func (r *Root) Remove(label, p string) error {
	return r.step(Step{Op: OpRemove, Label: label, Path: r.Abs(p)}, func() error {
		root, name := r.at(p)
		err := root.Remove(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

// SyncDir makes the names in folder p durable. File systems that cannot fsync
// a folder (EINVAL, ENOTSUP) are taken to keep the order by themselves.
func (r *Root) SyncDir(label, p string) (err error) {
	return r.step(Step{Op: OpSyncDir, Label: label, Path: r.Abs(p)}, func() error {
		d, err := r.openFolder(p)
		if err != nil {
			return err
		}
		err = d.Sync()
		if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
			err = nil
		}
		return errors.Join(err, d.Close())
	})
}

// MkdirAll makes folder p and its missing parents, each durable in its parent
// before it returns. It refuses to pass through a symbolic link. A folder that
// exists is taken to be durable.
func (r *Root) MkdirAll(label, p string, perm fs.FileMode) error {
	return r.mkdirAll(label, p, perm, true)
}

// MkdirAllLazy is [Root.MkdirAll] without the fsyncs, for folders of derived
// data.
func (r *Root) MkdirAllLazy(label, p string, perm fs.FileMode) error {
	return r.mkdirAll(label, p, perm, false)
}

// Mkdir makes one folder whose parent exists and reports whether it was missing;
// its name is durable after SyncDir of the parent.
func (r *Root) Mkdir(label, p string, perm fs.FileMode) (made bool, err error) {
	info, err := r.Lstat(p)
	switch {
	case err == nil && info.IsDir():
		return false, nil
	case err == nil:
		return false, &fs.PathError{Op: "mkdir", Path: p, Err: syscall.ENOTDIR}
	case !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	return true, r.step(Step{Op: OpMkdir, Label: label, Path: r.Abs(p), Perm: perm.Perm()}, func() error {
		err := r.root.Mkdir(filepath.FromSlash(p), perm.Perm())
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	})
}

// mkdirAll looks at every folder on the way: one look at the last would follow
// a symbolic link in the middle.
func (r *Root) mkdirAll(label, p string, perm fs.FileMode, sync bool) error {
	p = path.Clean(p)
	if p == "." || r.pinned(p) != nil {
		return nil
	}
	if !filepath.IsLocal(filepath.FromSlash(p)) {
		return &fs.PathError{Op: "mkdir", Path: p, Err: fs.ErrInvalid}
	}
	if err := r.mkdirAll(label, path.Dir(p), perm, sync); err != nil {
		return err
	}
	info, err := r.Lstat(p)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return &fs.PathError{Op: "mkdir", Path: p, Err: syscall.ENOTDIR}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	err = r.step(Step{Op: OpMkdir, Label: label, Path: r.Abs(p), Perm: perm.Perm()}, func() error {
		err := r.root.Mkdir(filepath.FromSlash(p), perm.Perm())
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	})
	if err != nil || !sync {
		return err
	}
	return r.SyncDir(label, path.Dir(p))
}

// Entries lists a folder and calls use with what stands in it, in the order of the
// names, links not followed. What vanishes meanwhile is left out. The slice is good
// until use returns, the names are for good. Cost: one lstat an entry, and the reading
// of the names unless they are known from earlier calls.
func (r *Root) Entries(p string, use func([]Entry)) error { return r.list(p, use) }
