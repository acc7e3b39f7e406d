//go:build unix

package durable

import "syscall"

// openNonblock keeps open from waiting for a writer should the path have
// become a FIFO since it was looked at.
const openNonblock = syscall.O_NONBLOCK
