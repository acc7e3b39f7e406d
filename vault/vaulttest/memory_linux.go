package vaulttest

import (
	"os"
	"syscall"
)

// InMemory puts what the tests of this process write to temporary folders into memory, where the system has room for
// it and runs programs from there: most of what tests cost is otherwise the making, syncing and deleting of small
// files on a disk that none of them reads again. TMPDIR says where else, and with STET_FULL=1 it is the disk.
func InMemory() {
	const dir, tmpfs, noExec, room = "/dev/shm", 0x01021994, 8, 2 << 30
	var on syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || os.Getenv("STET_FULL") != "" || syscall.Statfs(dir, &on) != nil ||
		int64(on.Type) != tmpfs || on.Flags&noExec != 0 || on.Bavail*uint64(on.Bsize) < room {
		return
	}
	if err := os.Setenv("TMPDIR", dir); err != nil {
		panic(err)
	}
}
