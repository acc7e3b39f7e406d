package durable

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// ErrSaved reports that a file no longer holds what was read from it: somebody saved it meanwhile.
var ErrSaved = errors.New("it was saved meanwhile")

// Swap puts now, nil for no file, in the place of a file anywhere that held was, nil for none; perm are its
// permissions, to which the umask of the process is applied where there was no file. temp is the name of a file
// beside it for the meantime. What somebody saved there in between stays there, and it fails with [ErrSaved].
func Swap(label, temp, file string, perm fs.FileMode, was, now []byte, hook Hook) (err error) {
	root, err := OpenRoot(filepath.Dir(file), hook)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	m := Move{Label: label, Temp: root, TempPath: temp, Target: root, Path: filepath.Base(file)}
	if err := root.Remove(label, temp); err != nil { // of a process that was killed
		return err
	}
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
