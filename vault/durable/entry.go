package durable

import (
	"io/fs"
	"time"
)

// An Entry is what lstat says of one name in a folder. What only some systems tell
// is 0 on the others: everything from Ino on.
type Entry struct {
	Name                string
	Mode                fs.FileMode
	MtimeNsec           uint32
	Size, MtimeSec      int64
	Ino, Dev            uint64
	CtimeSec            int64 // of the last change, which no program can set
	CtimeNsec, UID, GID uint32
}

// IsDir reports a folder.
func (e *Entry) IsDir() bool { return e.Mode.IsDir() }

// Regular reports a file that is no link, folder or device.
func (e *Entry) Regular() bool { return e.Mode.IsRegular() }

// ModTime is when the file was last written.
func (e *Entry) ModTime() time.Time { return time.Unix(e.MtimeSec, int64(e.MtimeNsec)) }

// plainEntry is what info says on every system.
func plainEntry(info fs.FileInfo) Entry {
	at := info.ModTime()
	return Entry{Name: info.Name(), Mode: info.Mode(), Size: info.Size(), MtimeSec: at.Unix(), MtimeNsec: uint32(at.Nanosecond())}
}
