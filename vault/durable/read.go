package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
)

// Lstat describes p without following it.
func (r *Root) Lstat(p string) (fs.FileInfo, error) {
	root, name := r.at(p)
	return root.Lstat(name)
}

// Exists reports whether p names anything at all.
func (r *Root) Exists(p string) bool {
	_, err := r.Lstat(p)
	return err == nil
}

// ReadDir lists a folder in file-name order.
func (r *Root) ReadDir(p string) ([]fs.DirEntry, error) {
	return fs.ReadDir(r.root.FS(), path.Clean(p))
}

// Names lists the names in a folder, in no order. Cost: no look at any of them.
func (r *Root) Names(p string) (names []string, err error) {
	d, err := r.openFolder(p)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return d.Readdirnames(-1)
}

// ReadFile reads a regular file of at most max bytes (0 = no bound) and its
// description from the same open handle. It fails with [ErrNotRegular] or
// [ErrTooLarge] rather than block on a FIFO or exhaust memory.
func (r *Root) ReadFile(p string, max int64) ([]byte, fs.FileInfo, error) {
	f, info, err := r.OpenRegular(p)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close() // opened for reading: nothing to lose
	if max > 0 && info.Size() > max {
		return nil, info, &fs.PathError{Op: "read", Path: p, Err: ErrTooLarge}
	}
	data, err := readAll(f, info.Size())
	if err != nil {
		return nil, info, &fs.PathError{Op: "read", Path: p, Err: err}
	}
	return data, info, nil
}

// OpenRegular opens a regular file for reading.
func (r *Root) OpenRegular(p string) (*os.File, fs.FileInfo, error) {
	info, err := r.Lstat(p)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, &fs.PathError{Op: "open", Path: p, Err: ErrNotRegular}
	}
	// Between Lstat and open the file may turn into a FIFO; openNonblock keeps
	// that from hanging, and the second look catches it.
	root, name := r.at(p)
	f, err := root.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err = f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: p, Err: ErrNotRegular}
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// readAll reads to the end in one allocation when size was right.
func readAll(f io.Reader, size int64) ([]byte, error) {
	buf := make([]byte, 0, size+1)
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := f.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
