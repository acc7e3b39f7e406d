package store

import (
	"cmp"
	"strings"
)

// A listing is what a walk found in one folder and below it, in path order without
// sorting paths: folders are listed at the same time, each in order by itself. Files and folders are added
// in the order of [byPath]; each folder may be filled by a goroutine of its own.
type listing struct {
	files []File
	below []subfolder
}

// subfolder stands before the file with number at.
type subfolder struct {
	at int
	in *listing
}

// folder adds a folder.
func (l *listing) folder() *listing {
	sub := &listing{}
	l.below = append(l.below, subfolder{len(l.files), sub})
	return sub
}

// len counts the files.
func (l *listing) len() int {
	n := len(l.files)
	for _, sub := range l.below {
		n += sub.in.len()
	}
	return n
}

// flat is every file in path order.
func (l *listing) flat() []File { return l.appendTo(make([]File, 0, l.len())) }

func (l *listing) appendTo(out []File) []File {
	at := 0
	for _, sub := range l.below {
		out = append(out, l.files[at:sub.at]...)
		out, at = sub.in.appendTo(out), sub.at
	}
	return append(out, l.files[at:]...)
}

// byPath orders the entries of a folder as the paths of what they are or hold,
// which is git's order as well: a folder as if its name ended in a slash.
func byPath(a string, aFolder bool, b string, bFolder bool) int {
	n := min(len(a), len(b))
	if c := strings.Compare(a[:n], b[:n]); c != 0 {
		return c
	}
	next := func(name string, folder bool) byte {
		switch {
		case len(name) > n:
			return name[n]
		case folder:
			return '/'
		}
		return 0
	}
	return cmp.Compare(next(a, aFolder), next(b, bFolder))
}
