package gitstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A Location says where the parts of a repository are. All paths are absolute.
type Location struct {
	Worktree string // the folder that holds .git
	GitDir   string // this worktree's git dir: HEAD, index
	Common   string // objects, refs, config: GitDir unless the worktree is linked
}

// Locate finds the repository whose working tree holds dir, which must exist.
// It fails with [ErrNoRepository].
func Locate(dir string) (Location, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Location{}, err
	}
	if resolved, err := filepath.EvalSymlinks(abs); err == nil {
		abs = resolved
	}
	for at := abs; ; at = filepath.Dir(at) {
		loc, err := locateAt(at)
		if err == nil || !errors.Is(err, ErrNoRepository) {
			return loc, err
		}
		if at == filepath.Dir(at) {
			return Location{}, fmt.Errorf("%q: %w", dir, ErrNoRepository)
		}
	}
}

func locateAt(dir string) (Location, error) {
	dot := filepath.Join(dir, ".git")
	info, err := os.Stat(dot)
	if errors.Is(err, fs.ErrNotExist) {
		return Location{}, ErrNoRepository
	}
	if err != nil {
		return Location{}, err
	}
	loc := Location{Worktree: dir, GitDir: dot}
	if !info.IsDir() {
		text, err := os.ReadFile(dot)
		if err != nil {
			return Location{}, err
		}
		target, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
		if !ok {
			return Location{}, fmt.Errorf("%q: %w: not a git folder or link", dot, ErrUnsupported)
		}
		loc.GitDir = absFrom(dir, target)
	} else if _, err := os.Lstat(filepath.Join(dot, "HEAD")); err != nil {
		return Location{}, headless(dot)
	}
	loc.Common = loc.GitDir
	if text, err := os.ReadFile(filepath.Join(loc.GitDir, "commondir")); err == nil {
		loc.Common = absFrom(loc.GitDir, strings.TrimSpace(string(text)))
	}
	return loc, nil
}

// headless is what a folder .git without HEAD is: git itself passes over it, but one with
// objects and refs was a repository, and is none to make a new one of.
func headless(dot string) error {
	for _, name := range [...]string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(dot, name)); err != nil || !info.IsDir() {
			return ErrNoRepository
		}
	}
	return &BadRefError{Ref: "HEAD", File: filepath.Join(dot, "HEAD"), Err: errors.New("its file is missing")}
}

func absFrom(base, p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(base, p)
}
