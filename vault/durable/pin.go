package durable

import (
	"maps"
	"os"
	"path"
	"path/filepath"
)

// Pin keeps folders open, so that a path in one of them costs one system call
// and not one a segment. It is for folders that nobody moves, such as our own
// state: a folder that is moved or replaced later keeps being meant until the
// next Pin. Folders that do not exist are left out. Pinned folders are given
// back with the Root, or after the next Pin that finds another in its place.
func (r *Root) Pin(dirs ...string) {
	for old := r.pins.Load(); !r.pins.CompareAndSwap(old, r.pin(old, dirs)); old = r.pins.Load() {
	}
}

// pin returns old with handles of dirs.
func (r *Root) pin(old *map[string]*os.Root, dirs []string) *map[string]*os.Root {
	next := map[string]*os.Root{}
	if old != nil {
		maps.Copy(next, *old)
	}
	for _, dir := range dirs {
		dir = path.Clean(dir)
		now, err := r.root.Lstat(filepath.FromSlash(dir))
		if err != nil || !now.IsDir() {
			delete(next, dir)
			continue
		}
		if have := next[dir]; have != nil {
			if info, err := have.Stat("."); err == nil && os.SameFile(now, info) {
				continue
			}
		}
		// A replaced handle is closed by the garbage collector: another goroutine
		// may be using it.
		if next[dir], err = r.root.OpenRoot(filepath.FromSlash(dir)); err != nil {
			delete(next, dir)
		}
	}
	return &next
}

// at is the nearest folder that is open, and p in it.
func (r *Root) at(p string) (root *os.Root, name string) {
	dir, base := path.Split(p)
	if base == "" || base == "." || base == ".." {
		return r.root, filepath.FromSlash(p)
	}
	if pinned := r.pinned(dir); pinned != nil {
		return pinned, base
	}
	return r.root, filepath.FromSlash(p)
}

// openFolder opens folder p itself, links not followed.
func (r *Root) openFolder(p string) (*os.File, error) {
	if pinned := r.pinned(p); pinned != nil {
		return pinned.OpenFile(".", os.O_RDONLY|openNonblock, 0)
	}
	root, name := r.at(p)
	return root.OpenFile(name, os.O_RDONLY|openNonblock, 0)
}

func (r *Root) pinned(dir string) *os.Root {
	pins := r.pins.Load()
	if pins == nil {
		return nil
	}
	return (*pins)[path.Clean(dir)]
}
