package console

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"golang.org/x/term"

	"stet/vault"
	"stet/vault/durable"
)

// Stdio is the three standard streams and what is known about them. A stream
// that is not a terminal gets no colour, no pager, no progress and no question.
type Stdio struct {
	In       io.Reader
	Out, Err io.Writer

	InTerminal, OutTerminal, ErrTerminal bool
}

// Standard returns the streams of this process.
func Standard() Stdio {
	return Stdio{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTerminal:  term.IsTerminal(int(os.Stdin.Fd())),
		OutTerminal: term.IsTerminal(int(os.Stdout.Fd())),
		ErrTerminal: term.IsTerminal(int(os.Stderr.Fd())),
	}
}

// Columns is how wide the terminal of standard error is, where questions are asked; 80 where that cannot be had.
func (s Stdio) Columns() int {
	columns, _ := sizeOf(s.Err)
	return columns
}

// A Host is everything a command may learn from outside itself.
type Host struct {
	Stdio
	Getenv func(string) string
	// Dir is the folder the command was started in.
	Dir string
	Now func() time.Time
	PID int
	// Hook sees every mutating file-system step; the shipped command has none.
	Hook durable.Hook
	// Spawn starts this program once more, with its own arguments, as a process that nobody waits for.
	Spawn func(args ...string) error
}

// ThisHost describes this process. Without a current folder it fails, with a host that can say so.
func ThisHost(stdio Stdio) (Host, error) {
	dir, err := os.Getwd()
	if err != nil {
		var call *os.SyscallError
		if errors.As(err, &call) {
			err = call.Err // its name says nothing to a person
		}
		return Host{Stdio: stdio, Getenv: os.Getenv, Now: time.Now}, vault.WithHint(
			fmt.Errorf("the current folder cannot be found, it may have been removed or renamed: %w", err),
			"change to a folder that exists, as by \"cd\", and give the command again")
	}
	return Host{Stdio: stdio, Getenv: os.Getenv, Dir: dir, Now: time.Now, PID: os.Getpid(), Spawn: spawn}, nil
}

// spawn starts this program in a session of its own: a signal to whoever started this command does not
// reach it.
func spawn(args ...string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.Command(exe, args...)
	detach(c)
	if err := c.Start(); err != nil {
		return err
	}
	return c.Process.Release()
}
