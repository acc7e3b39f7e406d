//go:build !linux

package durable

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

type lister struct{}

func (*lister) close() error { return nil }

// list calls use with a description of every entry of folder p, links not followed,
// by file name. What vanishes meanwhile is left out.
func (r *Root) list(p string, use func([]Entry)) error {
	infos, err := r.readDir(p)
	if err == nil {
		slices.SortFunc(infos, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
		entries := make([]Entry, len(infos))
		for i, info := range infos {
			entries[i] = EntryOf(info)
		}
		use(entries)
	}
	return err
}

func (r *Root) readDir(p string) (infos []fs.FileInfo, err error) {
	d, err := r.root.Open(filepath.FromSlash(p))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	return d.Readdir(-1)
}
