//go:build !windows

package console

import (
	"os/exec"
	"syscall"
)

// detach lets a process outlive this one and its terminal.
func detach(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
