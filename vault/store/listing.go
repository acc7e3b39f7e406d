package store

import (
	"cmp"
	"slices"
	"strings"
)

// A listing is what a walk found in one folder and below it, in path order without
// sorting paths: folders are listed at the same time, each in order by itself. Files and folders are added
// in the order of [byPath]; each folder may be filled by a goroutine of its own.
type listing[T any] struct {
	files []T
	below []subfolder[T]
}

// subfolder stands before the file with number at.
type subfolder[T any] struct {
	at int
	in *listing[T]
}

// add adds a file.
func (l *listing[T]) add(f T) { l.files = append(l.files, f) }

// grow makes room for n more files.
func (l *listing[T]) grow(n int) { l.files = slices.Grow(l.files, n) }

// folder adds a folder.
func (l *listing[T]) folder() *listing[T] {
	sub := &listing[T]{}
	l.below = append(l.below, subfolder[T]{len(l.files), sub})
	return sub
}

// A cursor goes through a listing in path order.
type cursor[T any] struct{ at []position[T] }

// position is how far a cursor has come in one folder.
type position[T any] struct {
	in          *listing[T]
	file, below int
}

// cursor begins at the first file. The listing must be whole.
func (l *listing[T]) cursor() *cursor[T] { return &cursor[T]{[]position[T]{{in: l}}} }

// next returns the next file; ok is false after the last one.
func (c *cursor[T]) next() (f T, ok bool) {
	for len(c.at) > 0 {
		p := &c.at[len(c.at)-1]
		switch {
		case p.below < len(p.in.below) && p.in.below[p.below].at == p.file:
			p.below++
			c.at = append(c.at, position[T]{in: p.in.below[p.below-1].in})
		case p.file < len(p.in.files):
			p.file++
			return p.in.files[p.file-1], true
		default:
			c.at = c.at[:len(c.at)-1]
		}
	}
	return f, false
}

// len counts the files.
func (l *listing[T]) len() int {
	n := len(l.files)
	for _, sub := range l.below {
		n += sub.in.len()
	}
	return n
}

// flat is every file in path order.
func (l *listing[T]) flat() []T { return l.appendTo(make([]T, 0, l.len())) }

func (l *listing[T]) appendTo(out []T) []T {
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
