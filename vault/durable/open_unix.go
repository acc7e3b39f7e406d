//go:build unix

package durable

import "syscall"

// openNonblock keeps open from waiting for a writer should the path have
// become a FIFO since it was looked at. Package os also asks the kernel less
// about a file that it knows to be opened so.
const openNonblock = syscall.O_NONBLOCK

// SyncsReaders says whether a file that is open for reading can be fsynced.
const SyncsReaders = true
