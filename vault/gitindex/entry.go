package gitindex

import (
	"bytes"
	"encoding/binary"
	"iter"
	"sort"
)

// An Entry is one line of the git index.
type Entry struct {
	// Path is slash-separated and relative to the working tree's root. Git
	// treats it as bytes; it need not be UTF-8.
	Path string
	Hash [20]byte
	// Mode is git's: 0o100644, 0o100755, 0o120000 (symlink) or 0o160000
	// (submodule).
	Mode uint32
	// Stage is 0, or 1 to 3 (base, ours, theirs) in a conflict.
	Stage int
	Stat  Stat
	// IntentToAdd marks a path that "git add -N" announced: it has no content
	// yet and is in no tree.
	IntentToAdd bool
	// SkipWorktree marks a path that a sparse checkout left out.
	SkipWorktree bool
	// AssumeValid marks a path the person told git not to look at.
	AssumeValid bool
}

// Len returns the number of entries, conflict stages counted one by one.
func (f *File) Len() int { return len(f.off) - 1 }

// Version returns 2 or 3.
func (f *File) Version() int { return f.version }

// Entry returns the merged (stage 0) entry of path.
func (f *File) Entry(path string) (Entry, bool) {
	i := f.search(path)
	if i == f.Len() || string(f.name(i)) != path || f.stage(i) != 0 {
		return Entry{}, false
	}
	return f.entry(i), true
}

// Conflicted reports whether path has conflict stages.
func (f *File) Conflicted(path string) bool {
	i := f.search(path)
	return i < f.Len() && string(f.name(i)) == path && f.stage(i) != 0
}

// All yields every entry in git's order: by path as bytes, then by stage.
func (f *File) All() iter.Seq[Entry] { return f.Under("") }

// Under yields the entries whose path begins with prefix, in git's order. The
// prefix is bytes, not a directory: "a/" for what is below a.
func (f *File) Under(prefix string) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for i := f.search(prefix); i < f.Len(); i++ {
			if !bytes.HasPrefix(f.name(i), []byte(prefix)) || !yield(f.entry(i)) {
				return
			}
		}
	}
}

// search returns the first entry whose path is not before path.
func (f *File) search(path string) int {
	return sort.Search(f.Len(), func(i int) bool { return string(f.name(i)) >= path })
}

// below returns the range of entries inside dir; "" is the root.
func (f *File) below(dir string) (lo, hi int) {
	if dir == "" {
		return 0, f.Len()
	}
	// '0' is the byte after '/'.
	return f.search(dir + "/"), f.search(dir + "0")
}

func (f *File) flags(i int) uint16 {
	return binary.BigEndian.Uint16(f.b[f.off[i]+fixedSize-2:])
}

func (f *File) stage(i int) int { return int(f.flags(i)&maskStage) >> shiftStage }

// extended returns the extended flags of entry i, 0 when it has none.
func (f *File) extended(i int) uint16 {
	if f.flags(i)&flagExtended == 0 {
		return 0
	}
	return binary.BigEndian.Uint16(f.b[f.off[i]+fixedSize:])
}

func (f *File) name(i int) []byte {
	start := f.off[i] + fixedSize
	flags := f.flags(i)
	if flags&flagExtended != 0 {
		start += 2
	}
	size := int(flags & maskName)
	if size == maskName {
		size = bytes.IndexByte(f.b[start:], 0)
	}
	return f.b[start : int(start)+size]
}

func (f *File) hash(i int) (h [20]byte) {
	copy(h[:], f.b[f.off[i]+40:])
	return h
}

func (f *File) mode(i int) uint32 { return binary.BigEndian.Uint32(f.b[f.off[i]+24:]) }

func (f *File) entry(i int) Entry {
	e := f.bare(i)
	e.Path = string(f.name(i))
	return e
}

// bare is the entry without its path.
func (f *File) bare(i int) Entry {
	ext := f.extended(i)
	return Entry{
		Hash:         f.hash(i),
		Mode:         f.mode(i),
		Stage:        f.stage(i),
		Stat:         readStat(f.b[f.off[i]:]),
		IntentToAdd:  ext&extIntentToAdd != 0,
		SkipWorktree: ext&extSkipWorktree != 0,
		AssumeValid:  f.flags(i)&flagAssumeValid != 0,
	}
}
