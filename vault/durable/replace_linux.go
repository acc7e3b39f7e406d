package durable

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func renameExchange(a *os.File, from string, b *os.File, to string) error {
	return unsupported(unix.Renameat2(int(a.Fd()), from, int(b.Fd()), to, unix.RENAME_EXCHANGE))
}

func renameNoReplace(a *os.File, from string, b *os.File, to string) error {
	err := unsupported(unix.Renameat2(int(a.Fd()), from, int(b.Fd()), to, unix.RENAME_NOREPLACE))
	if !errors.Is(err, ErrNoExchange) {
		return err
	}
	// Without the flag, a hard link is the other call that refuses to replace.
	if err := unix.Linkat(int(a.Fd()), from, int(b.Fd()), to, 0); err != nil {
		return err
	}
	return unix.Unlinkat(int(a.Fd()), from, 0)
}

func renameReplace(a *os.File, from string, b *os.File, to string) error {
	return unix.Renameat(int(a.Fd()), from, int(b.Fd()), to)
}

func unsupported(err error) error {
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return ErrNoExchange
	}
	return err
}
