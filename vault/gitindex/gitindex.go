// Package gitindex edits git's index (.git/index, versions 2 and 3) as bytes.
//
// It promises that an index it wrote is one that git could have written: C git
// reports no phantom changes after it, write-tree gives the tree of the commit,
// and what a person staged, left half merged or marked intent-to-add is still
// there, byte for byte. It refuses what it does not understand ([ErrUnsupported])
// and what is damaged ([ErrCorrupt]) instead of guessing.
//
// All functions are pure: bytes in, bytes out. Reading, git's index.lock and the
// rename over .git/index are the caller's. Unlike a decode and encode of every
// entry, an edit costs one copy and one SHA-1 of the file:
//
//	f, err := gitindex.Parse(b)                   // b: the whole of .git/index
//	f = f.WithTimestamp(sec)                      // its mtime, see WithTimestamp
//	out, err := f.Apply([]gitindex.Edit{{Path: "a/b.md", Hash: id, Mode: 0o100644, Stat: st}})
package gitindex

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"math"
)

// Sizes and flag bits of gitformat-index(5).
const (
	headerSize = 12
	hashSize   = sha1.Size
	// fixedSize is an entry's length before its extended flags and path.
	fixedSize = 62
	// minEntry is the shortest possible entry: a path of one byte, padded.
	minEntry = 64

	flagAssumeValid = 0x8000
	flagExtended    = 0x4000
	maskStage       = 0x3000
	shiftStage      = 12
	maskName        = 0x0fff

	extSkipWorktree = 0x4000
	extIntentToAdd  = 0x2000
)

// A File is one parsed git index. It keeps the bytes it was parsed from, which
// must not change afterwards, and four bytes per entry. It is immutable and safe
// for concurrent use.
type File struct {
	b       []byte
	version int
	// off holds where each entry begins and, last, where the entries end.
	off      []uint32
	skipHash bool
	// tree and undo are the contents of the extensions worth keeping.
	tree, undo []byte
	// timestamp is the mtime of the file in seconds, 0 when unknown.
	timestamp uint32
}

// Empty returns a version 2 index without entries, for a repository that has
// none yet.
func Empty() *File {
	return &File{version: 2, off: []uint32{headerSize}}
}

// Parse checks b, the whole of a git index file, and gives access to it. It
// allocates one table of four bytes per entry and no more. The error is
// [ErrUnsupported] or [ErrCorrupt] with the reason. A trailing hash of zeros
// (index.skipHash) is accepted and means there is no checksum to verify.
func Parse(b []byte) (*File, error) {
	if len(b) < headerSize+hashSize {
		return nil, corrupt("it is too short, with length %d", len(b))
	}
	if uint64(len(b)) > math.MaxUint32 {
		return nil, fmt.Errorf("%w: larger than 4 GiB", ErrUnsupported)
	}
	if string(b[:4]) != "DIRC" {
		return nil, corrupt("signature %q", b[:4])
	}
	f := &File{b: b, version: int(binary.BigEndian.Uint32(b[4:]))}
	switch f.version {
	case 2, 3:
	case 4:
		return nil, fmt.Errorf("%w: version 4 (compressed paths)", ErrUnsupported)
	default:
		return nil, corrupt("version %d", f.version)
	}
	end := len(b) - hashSize
	var trailer [hashSize]byte
	copy(trailer[:], b[end:])
	f.skipHash = trailer == [hashSize]byte{}
	if !f.skipHash && sha1.Sum(b[:end]) != trailer {
		return nil, corrupt("checksum does not match")
	}
	if err := f.scanEntries(end); err != nil {
		return nil, err
	}
	if err := f.scanExtensions(end); err != nil {
		return nil, err
	}
	return f, nil
}

// scanEntries fills the offset table and checks lengths, flags and order.
func (f *File) scanEntries(end int) error {
	n := int(binary.BigEndian.Uint32(f.b[8:]))
	if n > (end-headerSize)/minEntry {
		return corrupt("its length of %[2]d is too short for the number of entries, %[1]d", n, len(f.b))
	}
	f.off = make([]uint32, n+1)
	off := headerSize
	var prev []byte
	prevStage := 0
	for i := range n {
		f.off[i] = uint32(off)
		name, stage, next, err := f.scanEntry(off, end)
		if err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
		// Git orders by path as unsigned bytes, then by stage; a path with a
		// stage 0 entry has no other.
		switch c := bytes.Compare(prev, name); {
		case c > 0:
			return corrupt("entry %d: %q after %q", i, name, prev)
		case c == 0 && (prevStage == 0 || prevStage >= stage):
			return corrupt("entry %d: %q stage %d after stage %d", i, name, stage, prevStage)
		}
		prev, prevStage, off = name, stage, next
	}
	f.off[n] = uint32(off)
	return nil
}

func (f *File) scanEntry(off, end int) (name []byte, stage, next int, err error) {
	if end-off < minEntry {
		return nil, 0, 0, corrupt("cut short")
	}
	flags := binary.BigEndian.Uint16(f.b[off+fixedSize-2:])
	start := off + fixedSize
	if flags&flagExtended != 0 {
		if f.version < 3 {
			return nil, 0, 0, corrupt("extended flags in version %d", f.version)
		}
		ext := binary.BigEndian.Uint16(f.b[start:])
		if ext&^(extSkipWorktree|extIntentToAdd) != 0 {
			return nil, 0, 0, fmt.Errorf("%w: unknown entry flags %#04x", ErrUnsupported, ext)
		}
		start += 2
	}
	size := bytes.IndexByte(f.b[start:end], 0)
	if size < 0 {
		return nil, 0, 0, corrupt("path without end")
	}
	if size == 0 {
		// Only a split index has such entries: changes to one of its base.
		return nil, 0, 0, fmt.Errorf("%w: split index (entry without a path)", ErrUnsupported)
	}
	if int(flags&maskName) != min(size, maskName) {
		return nil, 0, 0, corrupt("path length %d, recorded as %d", size, flags&maskName)
	}
	next = off + entrySize(start-off, size)
	if next > end {
		return nil, 0, 0, corrupt("cut short")
	}
	return f.b[start : start+size], int(flags&maskStage) >> shiftStage, next, nil
}

// entrySize is the padded length of an entry with head bytes before its path:
// one to eight NULs make it a multiple of eight.
func entrySize(head, path int) int { return (head + path + 8) &^ 7 }

// scanExtensions keeps what Apply carries over and refuses what must be
// understood. Of the optional extensions only the cache-tree and resolve-undo
// survive an edit; the others (untracked cache, file monitor, offset tables, and
// any unknown one) may speak of entry positions, and git rebuilds or ignores
// a missing one, as it drops unknown ones itself.
func (f *File) scanExtensions(end int) error {
	off := int(f.off[len(f.off)-1])
	for off < end {
		if end-off < 8 {
			return corrupt("%d stray bytes after the last extension", end-off)
		}
		name := f.b[off : off+4]
		size := binary.BigEndian.Uint32(f.b[off+4:])
		off += 8
		if uint64(size) > uint64(end-off) {
			return corrupt("extension %q cut short", name)
		}
		data := f.b[off : off+int(size)]
		off += int(size)
		switch string(name) {
		case "TREE":
			f.tree = data
		case "REUC":
			f.undo = data
		case "link":
			return fmt.Errorf("%w: split index (extension \"link\")", ErrUnsupported)
		case "sdir":
			return fmt.Errorf("%w: sparse index (extension \"sdir\")", ErrUnsupported)
		default:
			if name[0] < 'A' || name[0] > 'Z' {
				return fmt.Errorf("%w: mandatory extension %q", ErrUnsupported, name)
			}
		}
	}
	return nil
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
}
