package gitindex

import "errors"

// These can happen when a git index is parsed.
var (
	// ErrUnsupported reports a git index that is well formed as far as it was
	// read but uses something this package does not handle: version 4, or an
	// extension that must be understood (split or sparse index). The message
	// names it. Git itself can edit such an index (git update-index).
	ErrUnsupported = errors.New("unsupported git index")
	// ErrCorrupt reports bytes that are not a whole git index: a wrong
	// checksum, a cut, entries out of order.
	ErrCorrupt = errors.New("corrupt git index")
)

// These can happen when edits are applied. Nothing was changed then.
var (
	// ErrConflicted reports an edit of a path that has unresolved conflict
	// stages: deciding the conflict is for the person who merges.
	ErrConflicted = errors.New("path has unresolved conflict stages")
	// ErrSkipWorktree reports an edit of a path outside the sparse checkout.
	ErrSkipWorktree = errors.New("path is outside the sparse checkout")
	// ErrDirFile reports that a path would be a file and a directory at once.
	ErrDirFile = errors.New("path would be both a file and a directory")
	// ErrEdit reports an edit that git could not read back: an illegal path or
	// mode, a zero hash, or two edits of one path.
	ErrEdit = errors.New("illegal edit")
)
