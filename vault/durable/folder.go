package durable

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// MakeFolder makes a folder anywhere and what is missing above it, each durable in
// its parent. One that exists is left as it is; a symbolic link to a folder is one.
func MakeFolder(label, dir string, perm fs.FileMode, hook Hook) (err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return err
	}
	top := dir
	for {
		if info, err := os.Stat(top); err == nil && info.IsDir() || top == filepath.Dir(top) {
			break
		}
		top = filepath.Dir(top)
	}
	rel, err := filepath.Rel(top, dir)
	if err != nil || rel == "." {
		return err
	}
	root, err := OpenRoot(top, hook)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return root.MkdirAll(label, filepath.ToSlash(rel), perm)
}

// RemoveAll removes what stands at p, a folder with all that is in it; nothing is
// no error. Nothing is followed out of the folder. A crash leaves a part of it.
func (r *Root) RemoveAll(label, p string) error {
	info, err := r.Lstat(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		names, err := r.Names(p)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := r.RemoveAll(label, path.Join(p, name)); err != nil {
				return err
			}
		}
	}
	return r.Remove(label, p)
}

// PutWhole puts a file in the place of another through a temporary one of this name, of
// which a dead process leaves at most one. Its name is durable after SyncDir.
func PutWhole(r *Root, label, temp, p string, data []byte, perm fs.FileMode) error {
	if err := r.Remove(label, temp); err != nil {
		return err
	}
	if err := r.CreateSync(label, temp, data, perm); err != nil {
		return err
	}
	if err := r.Rename(label, temp, p); err != nil {
		return errors.Join(err, r.Remove(label, temp))
	}
	return nil
}

// CheckWritable reports whether names in folder p can be made and removed by this
// user: a rename that could not be undone should not be found out half-way. A
// folder that does not exist has no answer yet. It fails with an fs.PathError.
func (r *Root) CheckWritable(p string) error {
	d, err := r.openFolder(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err = writable(d); err != nil {
		err = &fs.PathError{Op: "write in", Path: r.Abs(p), Err: err}
	}
	return errors.Join(err, d.Close())
}
