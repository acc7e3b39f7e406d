//go:build unix

package store

import (
	"io/fs"
	"syscall"
)

// errReadOnlyFS is what a file system mounted read-only answers.
const errReadOnlyFS = syscall.EROFS

// device tells file systems apart.
func device(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev)
	}
	return 0
}
