//go:build unix

package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

var errWouldBlock = errors.New("lock is held")

func tryLock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return errWouldBlock
		}
		return err
	}
}

func unlock(f *os.File) error {
	fd := f.Fd()
	if fd == ^uintptr(0) {
		return nil // closed already, which Close reports
	}
	return unix.Flock(int(fd), unix.LOCK_UN)
}
