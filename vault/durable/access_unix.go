//go:build unix

package durable

import (
	"os"

	"golang.org/x/sys/unix"
)

// writable reports whether names in an open folder can be made and removed by this user.
func writable(d *os.File) error {
	return unix.Faccessat(int(d.Fd()), ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS)
}
