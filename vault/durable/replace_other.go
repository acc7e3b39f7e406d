//go:build !linux

package durable

import (
	"io/fs"
	"os"
	"path/filepath"
)

// Elsewhere the folders' paths are used: both were resolved inside their roots
// a moment ago, which is the best these systems offer through the os package.

func renameExchange(*os.File, string, *os.File, string) error { return ErrNoExchange }

func renameNoReplace(a *os.File, from string, b *os.File, to string) error {
	if _, err := os.Lstat(filepath.Join(b.Name(), to)); err == nil {
		return fs.ErrExist
	}
	return renameReplace(a, from, b, to)
}

func renameReplace(a *os.File, from string, b *os.File, to string) error {
	return os.Rename(filepath.Join(a.Name(), from), filepath.Join(b.Name(), to))
}
