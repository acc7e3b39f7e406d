//go:build unix

package gitstore

import (
	"io/fs"
	"syscall"
)

func ownerOf(info fs.FileInfo) (uid int, known bool) {
	s, known := info.Sys().(*syscall.Stat_t)
	if known {
		uid = int(s.Uid)
	}
	return uid, known
}
