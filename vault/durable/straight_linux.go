package durable

import (
	"errors"
	"io"
	"path"

	"golang.org/x/sys/unix"
)

// ReadStraight is [Root.ReadFile] for a path in which no symbolic link stands, in eight system calls where
// os.Root, which opens every folder on the way, takes some twenty. ok is false where anything is not as
// expected: then ReadFile says what.
func ReadStraight(r *Root, p string, max int64) (data []byte, e Entry, ok bool) {
	// A look first: to open a FIFO or a device does something to it.
	if !regular(r, p, unix.O_PATH, &e, func(int) {}) {
		return nil, Entry{}, false
	}
	var err error
	ok = regular(r, p, unix.O_RDONLY|unix.O_NONBLOCK, &e, func(fd int) {
		if max == 0 || e.Size <= max {
			data, err = readAll(fdReader(fd), e.Size)
		} else {
			err = ErrTooLarge
		}
	})
	return data, e, ok && err == nil
}

// regular opens p, describes it in e and gives it to use, where it is a regular file behind no symbolic link.
func regular(r *Root, p string, flags uint64, e *Entry, use func(fd int)) bool {
	fd, err := r.openBeneath(p, &unix.OpenHow{Flags: flags | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return false
	}
	defer unix.Close(fd) // opened for reading: nothing to lose
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return false
	}
	if e.set(path.Base(p), &st); !e.Regular() {
		return false
	}
	use(fd)
	return true
}

// An fdReader reads an open file without the bookkeeping of an os.File.
type fdReader int

func (fd fdReader) Read(b []byte) (int, error) {
	for {
		n, err := unix.Read(int(fd), b)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}
