//go:build !windows

package forked

import (
	"os/exec"
	"syscall"
)

// apart puts a process into a group of its own, which ends as a whole.
func apart(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}

// limitMemory lets this process ask for so much memory and no more, as far as the system counts it.
func limitMemory() error {
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: maxMemory, Max: maxMemory})
}
