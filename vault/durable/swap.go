package durable

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrSaved reports that a file no longer holds what was read from it: somebody saved it meanwhile.
var ErrSaved = errors.New("it was saved meanwhile")

// Swap puts now, nil for no file, in the place of a file anywhere that held was, nil for none; perm are its
// permissions, to which the umask of the process is applied where there was no file. temp is the name of a file
// beside it for the meantime, where none is. What somebody saved there in between stays there, and it fails with
// [ErrSaved].
func Swap(label, temp, file string, perm fs.FileMode, was, now []byte, hook Hook) (err error) {
	root, err := OpenRoot(filepath.Dir(file), hook)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	m := Move{Label: label, Temp: root, TempPath: temp, Target: root, Path: filepath.Base(file)}
	if now == nil {
		err = m.takeOut(was)
	} else if err = root.CreateSync(label, temp, now, perm); err == nil {
		if was != nil {
			err = root.Chmod(label, temp, perm) // whatever the umask took away
		}
		err = errors.Join(err, m.swapIn(was, now))
	}
	return errors.Join(err, root.SyncDir(label, "."))
}

// ErrLink reports a link that leads nowhere.
var ErrLink = errors.New("the link leads nowhere")

// maxLinked is how large a file may be that is read as a whole.
const maxLinked = 64 << 20

// ReadLinked reads the file that path leads to through links, and says which that is; nil data is no file. It fails
// with [ErrLink].
func ReadLinked(path string) (real string, data []byte, info fs.FileInfo, err error) {
	real, err = filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if now, lerr := os.Lstat(path); lerr == nil && now.Mode()&fs.ModeSymlink != 0 {
			return path, nil, nil, fmt.Errorf("%q: %w", path, ErrLink)
		} else if lerr == nil {
			return ReadLinked(path) // somebody has just made it
		}
		top := Standing(filepath.Dir(path))
		if real, err = filepath.EvalSymlinks(top); err == nil {
			real += strings.TrimPrefix(path, top)
		}
		return real, nil, nil, err
	}
	if err != nil {
		return path, nil, nil, err
	}
	root, err := OpenRoot(filepath.Dir(real), nil)
	if err != nil {
		return real, nil, nil, err
	}
	if data, info, err = root.ReadFile(filepath.Base(real), maxLinked); data == nil && err == nil {
		data = []byte{}
	}
	return real, data, info, errors.Join(err, root.Close())
}

// Standing is the deepest folder at or above dir that is there.
func Standing(dir string) string {
	for _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist); _, err = os.Stat(dir) {
		dir = filepath.Dir(dir)
	}
	return dir
}

// Rewrite makes of the file that a path leads to what edit says, nil being no file before and after; perm are the
// permissions of a new one. What somebody saves meanwhile is edited in its turn, and never lost; it fails with
// [ErrSaved] where that does not end. Of a process that was killed it removes the copy from which the file was made or
// will be, or an empty one, and no other. One process at a time rewrites a file.
func Rewrite(
	label, path string, perm fs.FileMode, edit func([]byte) ([]byte, error), hook Hook,
) (changed bool, err error) {
	for try := 0; ; try++ {
		file, was, info, err := ReadLinked(path)
		if err != nil {
			return false, err
		}
		next, err := edit(was)
		if err != nil {
			return false, err
		}
		temp, left := "", []byte(nil)
		for n := 0; ; n++ {
			temp = fmt.Sprintf(".%s.stet-t%d", filepath.Base(file), n)
			if _, left, _, err = ReadLinked(filepath.Join(filepath.Dir(file), temp)); err != nil || left == nil {
				break
			}
			if made, merr := edit(left); merr == nil && same(made, was) || same(left, was) || same(left, next) ||
				len(left) == 0 {
				break
			}
		}
		if err != nil {
			return false, err
		}
		now, err := edit(was) // what it notes is of the file
		if err == nil && left != nil {
			err = removeAt(label, filepath.Join(filepath.Dir(file), temp), hook)
		}
		if err != nil || same(now, was) {
			return false, err
		}
		if info != nil {
			perm = info.Mode().Perm()
		} else if err := MakeFolder(label, filepath.Dir(file), 0o777, hook); err != nil {
			return false, err
		}
		if err = Swap(label, temp, file, perm, was, now, hook); !errors.Is(err, ErrSaved) || try == 4 {
			return err == nil, err
		}
	}
}

func same(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) }

func removeAt(label, path string, hook Hook) error {
	root, err := OpenRoot(filepath.Dir(path), hook)
	if err != nil {
		return err
	}
	return errors.Join(root.Remove(label, filepath.Base(path)), root.Close())
}

// SweepFolders removes a folder and those above it, below top, while they are empty.
func SweepFolders(label, dir, top string, hook Hook) error {
	for ; ; dir = filepath.Dir(dir) {
		rel, err := filepath.Rel(top, dir)
		if err != nil || rel == "." || !filepath.IsLocal(rel) {
			return nil
		}
		info, err := os.Lstat(dir)
		if errors.Is(err, fs.ErrNotExist) { // it was never made
			continue
		}
		if err != nil || !info.IsDir() {
			return nil
		}
		if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
			return nil
		}
		if err := removeAt(label, dir, hook); err != nil {
			return err
		}
	}
}

func (m Move) holds(name string, want []byte) bool {
	have, _, err := m.Target.ReadFile(name, int64(len(want))+1)
	return err == nil && bytes.Equal(have, want)
}

// swapIn puts the finished temporary file in the place of one that held was.
func (m Move) swapIn(was, now []byte) error {
	saved := fmt.Errorf("%q: %w", m.Target.Abs(m.Path), ErrSaved)
	if was == nil {
		err := m.Place()
		if errors.Is(err, fs.ErrExist) {
			err = saved
		}
		if err != nil {
			err = errors.Join(err, m.Temp.Remove(m.Label, m.TempPath))
		}
		return err
	}
	err := m.Exchange()
	switch {
	case errors.Is(err, ErrNoExchange):
		if err = saved; m.holds(m.Path, was) {
			return m.Replace()
		}
	case errors.Is(err, fs.ErrNotExist):
		err = saved
	case err == nil && !m.holds(m.TempPath, was):
		if err = errors.Join(saved, m.Exchange()); !m.holds(m.TempPath, now) {
			return errors.Join(err, fmt.Errorf("and saved once more: an older save is in %q", m.Temp.Abs(m.TempPath)))
		}
	}
	return errors.Join(err, m.Temp.Remove(m.Label, m.TempPath))
}

// takeOut removes a file that held was.
func (m Move) takeOut(was []byte) error {
	saved := fmt.Errorf("%q: %w", m.Target.Abs(m.Path), ErrSaved)
	switch err := m.Take(); {
	case errors.Is(err, fs.ErrNotExist):
		return saved
	case err != nil:
		return err
	case !m.holds(m.TempPath, was):
		return errors.Join(saved, m.Place())
	}
	return m.Temp.Remove(m.Label, m.TempPath)
}
