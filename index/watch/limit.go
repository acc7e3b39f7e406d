package watch

import (
	"errors"
	"fmt"
	"syscall"
)

// A LimitError reports that the system lets this user watch no more.
type LimitError struct {
	Folders int // that were watched when the limit was met
	err     error
}

func (e *LimitError) Error() string {
	if e.Folders == 0 {
		return fmt.Sprintf("the system allows no more watchers: %v", e.err)
	}
	return fmt.Sprintf("the system allows no more watched folders than %d: %v", e.Folders, e.err)
}

func (e *LimitError) Unwrap() error { return e.err }

// Hint names what to raise.
func (e *LimitError) Hint() string {
	if errors.Is(e.err, syscall.ENOSPC) {
		return "raise it: sysctl fs.inotify.max_user_watches=524288"
	}
	return "raise it: sysctl fs.inotify.max_user_instances=512, or the number of open files (ulimit -n)"
}

// asLimit wraps the errors by which systems say that a limit is met.
func asLimit(err error, folders int) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return &LimitError{Folders: folders, err: err}
	}
	return err
}
