package markdown

import (
	"errors"
	"fmt"
)

// These can happen when front matter is edited. Nothing was changed.
var (
	// ErrUnsupported reports front matter whose form cannot be edited by bytes
	// without touching other keys: one flow mapping for all keys, an explicit
	// "? key", a key with an anchor, a value that another key refers to.
	ErrUnsupported = errors.New("front matter has a form that cannot be edited here")
	// ErrInvalidValue reports a key or value that YAML cannot hold: text that is
	// not UTF-8, an empty key, a number that is not finite.
	ErrInvalidValue = errors.New("value cannot be written as YAML")
)

// ErrInvalidTarget reports a link target that its kind of link cannot hold, such
// as a bracket in a wiki link. Nothing was changed.
var ErrInvalidTarget = errors.New("target cannot be written in this kind of link")

// ErrInvalidEntry reports a text that cannot stand as an entry of a notebook, or
// an entry that is not there as given. Nothing was changed.
var ErrInvalidEntry = errors.New("text cannot stand as an entry")

// A FrontMatterError says why front matter cannot be read. The body of such a
// document is right all the same.
type FrontMatterError struct {
	Line   int // in the file, from 1
	Reason string
}

func (e *FrontMatterError) Error() string {
	return fmt.Sprintf("front matter line %d: %s", e.Line, e.Reason)
}
