//go:build !unix

package vault

import "errors"

// errReadOnlyFS has no value of its own here: access is denied instead.
var errReadOnlyFS = errors.ErrUnsupported
