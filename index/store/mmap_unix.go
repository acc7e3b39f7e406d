//go:build unix

package store

import (
	"os"
	"syscall"
)

// mapFile maps the first size bytes of f for reading. unmap must be called
// once, when nobody can touch data any more.
func mapFile(f *os.File, size int) (data []byte, unmap func(), err error) {
	data, err = syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, err
	}
	return data, func() { syscall.Munmap(data) }, nil
}
