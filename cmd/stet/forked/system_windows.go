package forked

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// apart puts a process into a group of its own: Ctrl-C does not reach it.
func apart(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// limitMemory does nothing: Windows bounds a process from outside alone.
func limitMemory() error { return nil }
