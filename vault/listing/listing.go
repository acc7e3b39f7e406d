// Package listing holds what a walk found, in path order without sorting paths:
// folders are listed at the same time, each in order by itself.
//
//	var l listing.Of[string]
//	l.Add("a.md")
//	go fill(l.Folder()) // what is below a/
//	l.Add("b.md")
package listing

import (
	"cmp"
	"slices"
	"strings"
)

// An Of is what was found in one folder and below it. Files and folders are added
// in the order of [ByPath]; each folder may be filled by a goroutine of its own.
type Of[T any] struct {
	files []T
	below []folder[T]
}

// folder stands before the file with number at.
type folder[T any] struct {
	at int
	in *Of[T]
}

// Add adds a file.
func (l *Of[T]) Add(f T) { l.files = append(l.files, f) }

// Grow makes room for n more files.
func (l *Of[T]) Grow(n int) { l.files = slices.Grow(l.files, n) }

// Folder adds a folder.
func (l *Of[T]) Folder() *Of[T] {
	sub := &Of[T]{}
	l.below = append(l.below, folder[T]{len(l.files), sub})
	return sub
}

// A Cursor goes through a listing in path order.
type Cursor[T any] struct{ at []place[T] }

// place is how far a cursor has come in one folder.
type place[T any] struct {
	in          *Of[T]
	file, below int
}

// Cursor begins at the first file. The listing must be whole.
func (l *Of[T]) Cursor() *Cursor[T] { return &Cursor[T]{[]place[T]{{in: l}}} }

// Next returns the next file; ok is false after the last one.
func (c *Cursor[T]) Next() (f T, ok bool) {
	for len(c.at) > 0 {
		p := &c.at[len(c.at)-1]
		switch {
		case p.below < len(p.in.below) && p.in.below[p.below].at == p.file:
			p.below++
			c.at = append(c.at, place[T]{in: p.in.below[p.below-1].in})
		case p.file < len(p.in.files):
			p.file++
			return p.in.files[p.file-1], true
		default:
			c.at = c.at[:len(c.at)-1]
		}
	}
	return f, false
}

// Len counts the files.
func (l *Of[T]) Len() int {
	n := len(l.files)
	for _, sub := range l.below {
		n += sub.in.Len()
	}
	return n
}

// Flat is every file in path order.
func (l *Of[T]) Flat() []T { return l.appendTo(make([]T, 0, l.Len())) }

func (l *Of[T]) appendTo(out []T) []T {
	at := 0
	for _, sub := range l.below {
		out = append(out, l.files[at:sub.at]...)
		out, at = sub.in.appendTo(out), sub.at
	}
	return append(out, l.files[at:]...)
}

// ByPath orders the entries of a folder as the paths of what they are or hold,
// which is git's order as well: a folder as if its name ended in a slash.
func ByPath(a string, aFolder bool, b string, bFolder bool) int {
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
