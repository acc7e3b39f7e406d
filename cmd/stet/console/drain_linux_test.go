package console

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// terminals opens both ends of a pseudo terminal: what is written to the first is typed on
// the second.
func terminals(t *testing.T) (keyboard, tty *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("skip: no pseudo terminal: %v", err)
	}
	t.Cleanup(func() { _ = keyboard.Close() })
	if err := unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Skipf("skip: no pseudo terminal: %v", err)
	}
	t.Cleanup(func() { _ = tty.Close() })
	return keyboard, tty
}

// What was typed before a question is no answer to it, be it yes or no.
func TestWhatWasTypedAheadIsNoAnswer(t *testing.T) {
	t.Parallel()
	for ahead, answer := range map[string]string{"yes\n": "n\n", "no\n": "maybe\nyes\n", "git status\n": "y\n"} {
		keyboard, tty := terminals(t)
		if !term.IsTerminal(int(tty.Fd())) {
			t.Fatal("no terminal")
		}
		if _, err := keyboard.WriteString(ahead); err != nil {
			t.Fatal(err)
		}
		asked := make(chan struct{}, 9)
		go func() {
			select {
			case <-asked:
				_, _ = keyboard.WriteString(answer) // the read below ends or the test does
			case <-time.After(time.Minute):
			}
		}()
		e := &Env{Host: Host{Stdio: Stdio{In: tty, Err: told{asked}}}}
		got, err := Choose(e, true, "ynq", "is it so? [y/N]", "yes or no")
		if want := answer != "n\n"; err != nil || (got == 'y') != want {
			t.Errorf("%q ahead of %q: %v, %v", ahead, answer, got, err)
		}
	}
}

// told says when a question was asked.
type told struct{ asked chan struct{} }

func (w told) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("[y/N]")) {
		w.asked <- struct{}{}
	}
	return len(p), nil
}
