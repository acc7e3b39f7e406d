//go:build unix

package durable

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

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
	err = unix.Faccessat(int(d.Fd()), ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS)
	if err = errors.Join(d.Close(), wrapAccess(r.Abs(p), err)); err != nil {
		return err
	}
	return nil
}

func wrapAccess(path string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: "write in", Path: path, Err: err}
}
