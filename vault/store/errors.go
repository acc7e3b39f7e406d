package store

import (
	"errors"
	"fmt"
	"syscall"

	"stet/vault/durable"
	"stet/vault/filelock"
	"stet/vault/gitstore"
)

var (
	// ErrReadOnly reports a working tree that this user cannot write.
	ErrReadOnly = errors.New("vault is read-only")
	// ErrDamaged reports state that must not be guessed about.
	ErrDamaged = gitstore.ErrDamaged
	// ErrNotFound reports a path that does not exist.
	ErrNotFound = errors.New("not found")
	// ErrConflict reports a file that changed since it was read. Nothing was written.
	ErrConflict = errors.New("conflict")
	// ErrBadPath reports a path that is absolute, leaves the folder, passes through
	// a symbolic link or names git's own state.
	ErrBadPath = errors.New("path is not allowed")
)

// These come from the packages below under the names that callers see.
var (
	errBusy        = filelock.ErrBusy
	errInProgress  = gitstore.ErrInProgress
	errUnsupported = gitstore.ErrUnsupported
	errNotRegular  = durable.ErrNotRegular
	errTooLarge    = durable.ErrTooLarge
)

// hinted attaches the next step to an error without changing its identity.
type hinted struct {
	error
	hint string
}

func (h hinted) Unwrap() error { return h.error }

// Hint names the next step.
func (h hinted) Hint() string { return h.hint }

// WithHint attaches the next step to an error, for the person or the agent who
// meets it, without changing its identity. Whoever prints it asks for an error
// with a method Hint() string.
func WithHint(err error, format string, args ...any) error {
	return hinted{err, fmt.Sprintf(format, args...)}
}

// placeError says of a path whose folder takes no file what to do.
func placeError(p Path, err error) error {
	failed := fmt.Errorf("place %q: %w", p, err)
	if !errors.Is(err, syscall.ENOTDIR) {
		return failed
	}
	return WithHint(failed, "a file stands where a folder of that path has to be: move it away, and do the same again")
}
