// Package gitstore is the only user of go-git: objects, refs, configuration,
// ignore rules and git's own lock files of one repository. It knows nothing of
// vaults, memories or Markdown.
//
// go-git is used as plumbing: it reads loose objects and alternates, encodes and
// decodes trees, commits and pack indexes, reads refs and configuration. What it
// leaves out is done here: every object is fsynced before it is relied on, an
// object in a large pack is found without reading the pack's whole index, refs
// and the git index are published under git's own <name>.lock files by rename,
// and reflog lines are written.
//
// A Repo is safe for concurrent use: go-git's storage is not, so one mutex
// guards it.
package gitstore

import (
	"encoding/hex"
	"errors"
	"fmt"
)

var (
	// ErrUnsupported reports a repository format that cannot be written safely.
	ErrUnsupported = errors.New("git repository format is not supported")
	// ErrInProgress reports an unfinished merge, rebase, cherry-pick or revert.
	ErrInProgress = errors.New("git operation in progress")
	// ErrNoRepository reports that no git repository holds the folder.
	ErrNoRepository = errors.New("not in a git repository")
	// ErrNoRevision reports a revision that cannot be resolved.
	ErrNoRevision = errors.New("no such revision")
	// ErrMoved reports that the branch moved since it was read: read it again
	// and retry.
	ErrMoved = errors.New("branch moved meanwhile")
	// ErrLocked reports that git's own lock file stayed in place past the wait.
	ErrLocked = errors.New("locked by git")
	// ErrMissing reports an object that the repository should hold and does
	// not, or cannot be read.
	ErrMissing = errors.New("git object is missing or damaged")
)

// An ID is a SHA-1 object id.
type ID [20]byte

// IsZero reports whether the id names nothing.
func (i ID) IsZero() bool { return i == ID{} }

// String is the id as 40 hex digits, "" for the zero id.
func (i ID) String() string {
	if i.IsZero() {
		return ""
	}
	return hex.EncodeToString(i[:])
}

// ParseID reads 40 hex digits; "" is the zero id.
func ParseID(s string) (ID, error) {
	var id ID
	if s == "" {
		return id, nil
	}
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(id) {
		return id, fmt.Errorf("object id %q: want 40 hex digits", s)
	}
	return ID(b), nil
}

// Modes of tree entries, as git writes them.
const (
	ModeFile       uint32 = 0o100644
	ModeExecutable uint32 = 0o100755
	ModeSymlink    uint32 = 0o120000
	ModeSubmodule  uint32 = 0o160000
	ModeDir        uint32 = 0o040000
)
