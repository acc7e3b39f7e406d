//go:build !unix

package store

import (
	"errors"
	"io/fs"
)

// errReadOnlyFS has no value of its own here: access is denied instead.
var errReadOnlyFS = errors.ErrUnsupported

// device cannot be told here; a rename across volumes then fails and says so.
func device(fs.FileInfo) uint64 { return 0 }
