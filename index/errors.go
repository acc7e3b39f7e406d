package index

import "errors"

// ErrDamaged reports index files that are torn, corrupt, of another version or
// not what they claim to be. Search never returns it: it rebuilds the index or
// reads the files instead.
var ErrDamaged = errors.New("search index is damaged")

// errNone reports that there is no index yet.
var errNone = errors.New("no search index yet")
