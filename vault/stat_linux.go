package vault

import (
	"io/fs"
	"syscall"

	"stet/vault/gitindex"
)

// Identity mixes the inode with the time of the last change, which no program
// can set. The factor spreads the inode over the bits that times differ in.
func Identity(info fs.FileInfo) uint64 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return st.Ino*0x9e3779b97f4a7c15 ^ uint64(st.Ctim.Nano())
}

// statOf is what git stores of a file's description.
func statOf(info fs.FileInfo) gitindex.Stat {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return gitindex.Stat{}
	}
	return gitindex.Stat{
		CtimeSec: uint32(st.Ctim.Sec), CtimeNsec: uint32(st.Ctim.Nsec),
		MtimeSec: uint32(st.Mtim.Sec), MtimeNsec: uint32(st.Mtim.Nsec),
		Dev: uint32(st.Dev), Ino: uint32(st.Ino), UID: st.Uid, GID: st.Gid, Size: uint32(st.Size),
	}
}
