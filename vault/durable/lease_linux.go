package durable

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Written reports whether some process has the file at p open for writing. ok is false
// where the system does not say: the file is another user's, or the file system has no
// leases. A read lease is refused exactly while there is a writer.
func Written(r *Root, p string) (open, ok bool) {
	f, _, err := r.OpenRegular(p)
	if err != nil {
		return false, false
	}
	defer f.Close() // opened for reading; it gives back the lease as well
	_, err = unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK)
	open = errors.Is(err, unix.EAGAIN)
	return open, open || err == nil
}
