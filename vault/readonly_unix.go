//go:build unix

package vault

import "syscall"

// errReadOnlyFS is what a file system mounted read-only answers.
const errReadOnlyFS = syscall.EROFS
