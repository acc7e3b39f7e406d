package console

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detach lets a process outlive this one and its terminal.
func detach(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}
