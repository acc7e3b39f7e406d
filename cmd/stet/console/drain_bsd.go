//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package console

import "golang.org/x/sys/unix"

// drain forgets what was typed on a terminal before it is read.
func drain(fd uintptr) error { return unix.IoctlSetPointerInt(int(fd), unix.TIOCFLUSH, 1) } // 1 is FREAD
