package store

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"stet/vault/gitstore"
)

// A Filter says which files a walk lists.
type Filter struct {
	Keep  func(Path) bool // a file
	Enter func(Path) bool // a folder; what is below it is listed only then
	Shown func(Path) bool // a path that is listed although git ignores it; nil is none
	// Passed is told, one at a time, of what is neither a file nor a folder of this tree: links, devices,
	// repositories and vaults of their own, names that no path can have; and of what git ignores, a folder
	// once for all that is in it. nil is nobody.
	Passed func(p Path, ignored bool)
	// Whole says that a walk from a folder lists nothing where one from the root would not
	// come to it.
	Whole bool
}

// Walk lists the files that the filter keeps, in path order, from the folder under
// on, "" for the whole vault, and the folders that it entered below that. Passed over
// are git-ignored paths, links, nested repositories and vaults. Folders that this user
// may not list are told to denied, unless it is nil. Cost: one listing per folder and
// one lstat per file, spread over the processors.
func (s *Store) Walk(ctx context.Context, f Filter, under Path, denied func(Path, error)) ([]File, []Path, error) {
	w := &walker{store: s, ctx: ctx, filter: f, told: denied, git: &tracked{store: s}}
	if f.Whole && under != "" {
		if _, ok, err := w.admits(string(under)); err != nil || !ok {
			return nil, nil, err
		}
	}
	const waits = fs.ModeNamedPipe | fs.ModeDevice | fs.ModeSocket // opening one may wait for ever
	if info, err := s.tree.Lstat(string(under)); under != "" && err == nil && info.Mode()&waits != 0 {
		return nil, nil, fmt.Errorf("%q is no folder: %w", under, syscall.ENOTDIR)
	}
	files, err := w.run(under)
	return files, w.dirs, err
}

// Unfinished are the files that a published commit changed and that this reader sees
// in place of those on disk: nil data is a removed file.
func (s *Store) Unfinished() map[Path][]byte {
	out := map[Path][]byte{}
	for p, f := range s.overlay {
		if f.Remove {
			out[p] = nil
		} else {
			out[p] = append([]byte{}, f.Data...)
		}
	}
	return out
}

// Pick returns those of the paths, in their order, that [Store.Walk] would list. Cost:
// a few calls a folder and one lstat a path, however large the vault is.
func (s *Store) Pick(ctx context.Context, f Filter, paths []Path) ([]File, error) {
	type rules struct {
		below gitstore.Below
		ok    bool
	}
	w, seen := &walker{store: s, ctx: ctx, filter: f, git: &tracked{store: s}}, map[string]rules{}
	var out []File
	for _, p := range paths {
		if !f.Keep(p) {
			continue
		}
		dir := p.Dir()
		in, known := seen[dir]
		if !known {
			var err error
			if in.below, in.ok, err = w.admits(dir); err != nil {
				return nil, err
			}
			seen[dir] = in
		}
		if !in.ok || strings.HasPrefix(p.Base(), TempPrefix) || !w.sees(in.below, p, p.Base()) {
			continue
		}
		if info, err := s.tree.Lstat(string(p)); err == nil && info.Mode().IsRegular() {
			out = append(out, fileAt(p, info))
		}
	}
	return out, context.Cause(ctx)
}

// IgnoreRules are git's rules that hold for the root folder, and those that hold in it.
func (s *Store) IgnoreRules() (above, here *gitstore.Ignore, err error) {
	ignore, err := s.repo.Ignore()
	if err != nil {
		return nil, nil, err
	}
	if ignore, err = s.above(ignore, "."); err != nil {
		return nil, nil, err
	}
	data, err := readSmall(s.tree, ".gitignore")
	return ignore, ignore.In(trimSlash(s.prefix), data), err
}
