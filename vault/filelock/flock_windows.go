package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

var errWouldBlock = errors.New("lock is held")

// lockOffset puts the locked byte range beyond the holder line, since Windows
// keeps others from reading a locked range.
const lockOffset = 1 << 30

func tryLock(f *os.File) error {
	at := windows.Overlapped{Offset: lockOffset}
	err := windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errWouldBlock
	}
	return err
}

// unlock leaves the rest to Close: an unlock of a range that was never locked
// is an error here, and a child inherits no handles.
func unlock(*os.File) error { return nil }
