package durable

import (
	"errors"
	"io/fs"
	"os"
	"path"
)

// A Move brings a finished temporary file to its place in another root on the
// same device, or takes a file away from there, without ever destroying bytes
// that the caller did not know about.
type Move struct {
	Label    string
	Temp     *Root  // where the new bytes wait, and where displaced bytes go
	TempPath string // in Temp
	Target   *Root
	Path     string // in Target
}

// ErrNoExchange reports that the system cannot swap two names in one step;
// the caller falls back to compare and rename.
var ErrNoExchange = errors.New("file system cannot exchange two names")

// Exchange swaps the temporary file and the target, which must both exist: the
// displaced bytes are then at TempPath for inspection.
func (m Move) Exchange() error {
	return m.run(Step{Op: OpExchange}, false, renameExchange)
}

// Place moves the temporary file to the target, which must not exist
// (fs.ErrExist otherwise).
func (m Move) Place() error {
	return m.run(Step{Op: OpRename, Exclusive: true}, false, renameNoReplace)
}

// Take moves the target to TempPath, which must not exist.
func (m Move) Take() error {
	return m.run(Step{Op: OpRename, Exclusive: true}, true, renameNoReplace)
}

// Replace moves the temporary file over the target whatever it holds: the
// fallback where [Move.Exchange] is not to be had.
func (m Move) Replace() error { return m.run(Step{Op: OpRename}, false, renameReplace) }

// run resolves both parents inside their roots and calls rename on the open
// folders, so that no later symbolic link can redirect either name.
func (m Move) run(s Step, take bool, rename func(from *os.File, a string, to *os.File, b string) error) (err error) {
	s.Label, s.Path, s.To = m.Label, m.Temp.Abs(m.TempPath), m.Target.Abs(m.Path)
	if take {
		s.Path, s.To = s.To, s.Path
	}
	for _, p := range []string{m.TempPath, m.Path} {
		if base := path.Base(p); base == "." || base == ".." || base == "/" {
			return &fs.PathError{Op: string(s.Op), Path: p, Err: fs.ErrInvalid}
		}
	}
	if done, err := m.Target.ask(s); done {
		return err
	}
	a, err := m.Temp.openFolder(path.Dir(m.TempPath))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	b, err := m.Target.openFolder(path.Dir(m.Path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	from, to := path.Base(m.TempPath), path.Base(m.Path)
	if take {
		a, b, from, to = b, a, to, from
		defer func() { a, b = b, a }()
	}
	if err := rename(a, from, b, to); err != nil {
		return &fs.PathError{Op: string(s.Op), Path: m.Path, Err: err}
	}
	return nil
}
