package durabletest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Write makes the image real; see [Disk.Crash]. Files that the target folders
// hold already, from the image before, are not written again: so a sweep uses
// the same folders for all its images.
func (m *Image) Write(into map[string]string) error {
	if len(into) != len(m.tops) {
		return fmt.Errorf("write image: %d target folders for %d followed ones", len(into), len(m.tops))
	}
	w := writer{names: map[*file]int{}, made: map[*file]string{}, kept: map[fileStamp][]fs.FileInfo{}}
	for _, top := range m.tops {
		w.count(top)
	}
	for dir, to := range into {
		abs, err := filepath.Abs(dir)
		if err != nil {
			return err
		}
		top := m.tops[abs]
		if top == nil {
			return fmt.Errorf("write image: %q is not followed", dir)
		}
		if err := w.write(top, to); err != nil {
			return err
		}
	}
	return nil
}

type writer struct {
	names map[*file]int    // how many names a file has
	made  map[*file]string // the first of several
	kept  map[fileStamp][]fs.FileInfo
}

func (w *writer) count(f *file) {
	for _, child := range f.list {
		if w.names[child]++; child.node.kind == fs.ModeDir {
			w.count(child)
		}
	}
}

// write makes to what f is, whatever stands there.
func (w *writer) write(f *file, to string) error {
	if f.node.kind == fs.ModeDir {
		return w.writeDir(f, to)
	}
	if w.holds(f, to) {
		return nil
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if f.node.kind == fs.ModeSymlink {
		return os.Symlink(string(f.data), to)
	}
	if first, ok := w.made[f]; ok {
		return os.Link(first, to)
	}
	w.made[f] = to
	return errors.Join(writeNew(to, f.data, f.perm), f.chmod(to))
}

func (w *writer) writeDir(f *file, to string) error {
	info, err := os.Lstat(to)
	if err != nil || !info.IsDir() {
		if err := errors.Join(os.RemoveAll(to), os.Mkdir(to, f.perm|0o700)); err != nil {
			return err
		}
	}
	there, err := os.ReadDir(to)
	if err != nil {
		return err
	}
	for _, e := range there {
		if f.list[e.Name()] == nil {
			if err := os.RemoveAll(filepath.Join(to, e.Name())); err != nil {
				return err
			}
		}
	}
	for name, child := range f.list {
		if err := w.write(child, filepath.Join(to, name)); err != nil {
			return err
		}
	}
	return f.chmod(to)
}

// holds reports whether to is a file just like f already. A file of several
// names, in the image or in the folder, is always made anew, so that only the
// names which belong together share their bytes.
func (w *writer) holds(f *file, to string) bool {
	info, err := os.Lstat(to)
	if err != nil || f.node.kind != 0 || !f.set || w.names[f] > 1 ||
		info.Mode() != f.perm || info.Size() != int64(len(f.data)) {
		return false
	}
	stamp := fileStamp{info.Size(), info.ModTime()}
	for _, other := range w.kept[stamp] {
		if os.SameFile(info, other) {
			return false
		}
	}
	data, err := os.ReadFile(to)
	if err != nil || !bytes.Equal(data, f.data) {
		return false
	}
	w.kept[stamp] = append(w.kept[stamp], info)
	return true
}

// chmod undoes the umask where the permissions were read from a disk.
func (f *file) chmod(to string) error {
	if !f.set {
		return nil
	}
	return os.Chmod(to, f.perm)
}

func writeNew(name string, data []byte, perm fs.FileMode) error {
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return errors.Join(err, out.Close())
}
