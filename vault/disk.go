package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"stet/vault/gitindex"
	"stet/vault/gitstore"
)

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
