//go:build !unix

package store

import (
	"errors"
	"os"
)

// mapFile is not available: a mapped file cannot be removed on Windows.
func mapFile(*os.File, int) (data []byte, unmap func(), err error) {
	return nil, nil, errors.ErrUnsupported
}
