//go:build unix

package vault

import (
	"io/fs"
	"syscall"
)

// errReadOnlyFS is what a file system mounted read-only answers.
const errReadOnlyFS = syscall.EROFS

// inode is a file's number on its device, 0 when it is not known.
func inode(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}

// device tells file systems apart.
func device(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev)
	}
	return 0
}
