package durable

import (
	"os"

	"golang.org/x/sys/unix"
)

// startWriteback asks the kernel to begin writing a file's data, so that the
// blocks of a whole batch are allocated before the first fsync waits. It is a
// hint: the fsync that follows is what counts, so its outcome is not looked at.
func startWriteback(f *os.File) {
	_ = unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE)
}
