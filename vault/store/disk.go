package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"syscall"
	"time"

	"stet/vault/durable"
	"stet/vault/gitindex"
	"stet/vault/gitstore"
)

// checkOwn refuses a path inside a nested repository or vault: the inner one
// wins, and its files are not this vault's to write. seen remembers the folders
// looked at.
func (s *Store) checkOwn(p Path, seen map[string]bool) error {
	for dir := p.Dir(); dir != "."; dir = path.Dir(dir) {
		foreign, known := seen[dir]
		if !known {
			foreign = s.isForeign(dir)
			seen[dir] = foreign
		}
		if foreign {
			err := fmt.Errorf("path %q: %w: %q is a repository or vault of its own", p, ErrBadPath, dir)
			return WithHint(err, "use -C %s", dir)
		}
	}
	return nil
}

// isForeign reports a folder that is a repository or a vault of its own.
func (s *Store) isForeign(dir string) bool {
	return s.tree.Exists(dir+"/.git") || s.tree.Exists(dir+"/"+string(s.o.Marker))
}

// CheckOwn refuses a path inside a nested repository or vault, or behind a symbolic
// link.
func (s *Store) CheckOwn(p Path) error {
	return errors.Join(s.checkOwn(p, map[string]bool{}), s.checkParents(p))
}

// A DiskFile is what stands at a path of the working tree.
type DiskFile struct {
	Exists bool
	Data   []byte
	ID     gitstore.ID
	perm   fs.FileMode
	stat   gitindex.Stat
}

// fresh reports a file that changed within the pause, or that is empty and changed within
// ten of them.
func (d DiskFile) fresh(now time.Time, pause time.Duration) bool {
	if len(d.Data) == 0 {
		pause *= 10
	}
	age := now.Sub(time.Unix(int64(d.stat.MtimeSec), int64(d.stat.MtimeNsec)))
	return age < pause && age > -pause
}

// mode is the git mode of a file with these permissions.
func (d DiskFile) mode() uint32 {
	if d.perm&0o100 != 0 {
		return gitstore.ModeExecutable
	}
	return gitstore.ModeFile
}

// Look reads the file at p. A path that is absent, or below something that is
// not a folder, does not exist; one that is not a regular file, or that passes
// through a symbolic link, is an error.
func (s *Store) Look(p Path) (DiskFile, error) {
	if data, e, ok := durable.ReadStraight(s.tree, string(p), MaxFileSize); ok {
		return DiskFile{Exists: true, Data: data, ID: gitstore.HashBlob(data),
			perm: e.Mode.Perm(), stat: gitStat(&e)}, nil
	}
	if err := s.checkParents(p); err != nil {
		return DiskFile{}, err
	}
	data, info, err := s.tree.ReadFile(string(p), MaxFileSize)
	switch {
	case Absent(err):
		return DiskFile{}, nil
	case errors.Is(err, errNotRegular):
		return DiskFile{}, fmt.Errorf("%q: %w: %w", p, ErrBadPath, err)
	case errors.Is(err, errTooLarge):
		err = fmt.Errorf("%q: %w (%d bytes, at most %d)", p, errTooLarge, info.Size(), int64(MaxFileSize))
		return DiskFile{}, WithHint(err,
			"stet leaves it as it is; split it or keep it outside the vault")
	case err != nil:
		return DiskFile{}, err
	}
	return DiskFile{Exists: true, Data: data, ID: gitstore.HashBlob(data),
		perm: info.Mode().Perm(), stat: statOf(info)}, nil
}

// Absent reports an error of a path where nothing stands.
func Absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// linkAt is the first symbolic link on the way to p, p included.
func (s *Worktree) linkAt(p Path) (Path, bool) {
	for i := range len(p) + 1 {
		if i < len(p) && p[i] != '/' {
			continue
		}
		info, err := s.tree.Lstat(string(p[:i]))
		if err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return p[:i], err == nil
		}
	}
	return "", false
}

// checkParents refuses a path that passes through a symbolic link: it could
// name a file under two paths, or one outside.
func (s *Worktree) checkParents(p Path) error {
	// From the top down: what lies behind a link must not even be looked at.
	for i, r := range string(p) {
		if r != '/' {
			continue
		}
		at := string(p[:i])
		info, err := s.tree.Lstat(at)
		switch {
		case Absent(err):
			return nil // nor is there anything below it
		case err != nil:
			return err
		case info.Mode()&fs.ModeSymlink != 0:
			return fmt.Errorf("path %q: %w: %q is a symbolic link", p, ErrBadPath, at)
		}
	}
	return nil
}

// ReadDir lists a folder; one that does not exist is empty.
func (s *Store) ReadDir(dir string) ([]fs.DirEntry, error) {
	if err := s.checkParents(Path(dir + "/x")); err != nil {
		return nil, err
	}
	entries, err := s.tree.ReadDir(dir)
	if Absent(err) {
		return nil, nil
	}
	return entries, err
}
