package durable

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// EntryOf is what info, of a system call, says.
func EntryOf(info fs.FileInfo) Entry {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return plainEntry(info)
	}
	return Entry{
		Name: info.Name(), Mode: info.Mode(), Size: st.Size, MtimeSec: int64(st.Mtim.Sec), MtimeNsec: uint32(st.Mtim.Nsec),
		Ino: st.Ino, Dev: uint64(st.Dev), CtimeSec: int64(st.Ctim.Sec), CtimeNsec: uint32(st.Ctim.Nsec), UID: st.Uid, GID: st.Gid,
	}
}

// set takes up what the kernel said.
func (e *Entry) set(name string, st *unix.Stat_t) {
	*e = Entry{
		Name: name, Mode: modeOf(st.Mode), Size: st.Size, MtimeSec: int64(st.Mtim.Sec), MtimeNsec: uint32(st.Mtim.Nsec),
		Ino: st.Ino, Dev: uint64(st.Dev), CtimeSec: int64(st.Ctim.Sec), CtimeNsec: uint32(st.Ctim.Nsec), UID: st.Uid, GID: st.Gid,
	}
}

// modeOf translates the bits as the standard library does.
func modeOf(bits uint32) fs.FileMode {
	mode := fs.FileMode(bits & 0o777)
	switch bits & unix.S_IFMT {
	case unix.S_IFBLK:
		mode |= fs.ModeDevice
	case unix.S_IFCHR:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	}
	if bits&unix.S_ISUID != 0 {
		mode |= fs.ModeSetuid
	}
	if bits&unix.S_ISGID != 0 {
		mode |= fs.ModeSetgid
	}
	if bits&unix.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}
