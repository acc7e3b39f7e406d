package gitindex

import "encoding/binary"

// A Stat is what git remembers of lstat(2) to see that a file did not change.
// Every field is cut to its low 32 bits, as git does.
type Stat struct {
	CtimeSec, CtimeNsec uint32
	MtimeSec, MtimeNsec uint32
	Dev, Ino            uint32
	UID, GID            uint32
	Size                uint32
}

// Matches reports whether a file with stat o is, by its stat alone, the one that
// had stat s: times to the nanosecond, inode, owner and size. The device is left
// out, since it differs between mounts of one file system. An entry with size 0
// of a blob that is not empty never matches its file; that is how git asks for
// a look at the content. See also [File.Racy].
func (s Stat) Matches(o Stat) bool {
	s.Dev, o.Dev = 0, 0
	return s == o
}

// Racy reports whether e's stat proves nothing, because its file changed at or
// after the moment the git index was written (mtime of the index file): a later
// edit within the same tick of the clock could look the same. A zero size of
// a non-empty file (git's own mark) is racy too. Compare the content then.
func (f *File) Racy(e Entry, indexMtimeSec, indexMtimeNsec uint32) bool {
	m := e.Stat
	if m.MtimeSec > indexMtimeSec || m.MtimeSec == indexMtimeSec && m.MtimeNsec >= indexMtimeNsec {
		return true
	}
	return m.Size == 0 && string(e.Hash[:]) != emptyBlob
}

// emptyBlob is the id of a file without content.
const emptyBlob = "\xe6\x9d\xe2\x9b\xb2\xd1\xd6\x43\x4b\x8b\x29\xae\x77\x5a\xd8\xc2\xe4\x8c\x53\x91"

// WithTimestamp returns f knowing the modification time, in seconds, of the file
// it was parsed from. [File.Apply] then writes size 0 into each untouched entry
// whose file changed in that second or later, as C git does when it rewrites an
// index: such an entry counted as doubtful only because its mtime was not older
// than the index's, and the rewrite makes the index younger. Without this an edit of
// the same length within that second would never be seen by git. Seconds,
// because most builds of git compare no finer. Git then looks at the content of
// those files once. Zero means unknown and leaves entries alone.
func (f *File) WithTimestamp(sec uint32) *File {
	g := *f
	g.timestamp = sec
	return &g
}

func readStat(b []byte) Stat {
	u := func(i int) uint32 { return binary.BigEndian.Uint32(b[4*i:]) }
	// Word 6 is the mode.
	return Stat{u(0), u(1), u(2), u(3), u(4), u(5), u(7), u(8), u(9)}
}

// appendStat writes the ten words that open an entry.
func appendStat(b []byte, s Stat, mode uint32) []byte {
	for _, v := range [...]uint32{
		s.CtimeSec, s.CtimeNsec, s.MtimeSec, s.MtimeNsec, s.Dev, s.Ino, mode, s.UID, s.GID, s.Size,
	} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}
