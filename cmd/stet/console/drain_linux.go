package console

import "golang.org/x/sys/unix"

// drain forgets what was typed on a terminal before it is read.
func drain(fd uintptr) error { return unix.IoctlSetInt(int(fd), unix.TCFLSH, unix.TCIFLUSH) }
