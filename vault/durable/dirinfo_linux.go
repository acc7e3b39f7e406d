package durable

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// describeSplit is from how many entries on a folder is described by several
// goroutines: fewer take less than a millisecond.
const describeSplit = 512

// describe returns a description of every entry of the folder d, links not
// followed, in no order. What vanishes meanwhile is left out.
func describe(d *os.File) ([]fs.FileInfo, error) {
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	infos := make([]entryInfo, len(names))
	workers := 1
	if len(names) >= describeSplit {
		workers = runtime.GOMAXPROCS(0)
	}
	errs := make([]error, workers)
	fd := int(d.Fd())
	var wg sync.WaitGroup
	for w := range workers {
		from, to := len(names)*w/workers, len(names)*(w+1)/workers
		look := func() { errs[w] = describeAll(fd, names[from:to], infos[from:to]) }
		if workers == 1 {
			look()
			continue
		}
		wg.Go(look)
	}
	wg.Wait()
	runtime.KeepAlive(d)
	out := make([]fs.FileInfo, 0, len(infos))
	for i := range infos {
		if infos[i].name != "" {
			out = append(out, &infos[i])
		}
	}
	return slices.Clip(out), errors.Join(errs...)
}

// describeAll fills in infos; an entry that is gone keeps an empty name.
func describeAll(fd int, names []string, infos []entryInfo) error {
	for i, name := range names {
		var st unix.Stat_t
		err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		for errors.Is(err, unix.EINTR) {
			err = unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		}
		switch {
		case errors.Is(err, unix.ENOENT):
			continue
		case err != nil:
			return &fs.PathError{Op: "lstat", Path: name, Err: err}
		}
		infos[i] = entryInfo{name, syscall.Stat_t{
			Dev: st.Dev, Ino: st.Ino, Nlink: st.Nlink, Mode: st.Mode, Uid: st.Uid, Gid: st.Gid, Rdev: st.Rdev, Size: st.Size,
			Blksize: st.Blksize, Blocks: st.Blocks, Atim: syscall.Timespec(st.Atim), Mtim: syscall.Timespec(st.Mtim), Ctim: syscall.Timespec(st.Ctim),
		}}
	}
	return nil
}

// An entryInfo is what os.Lstat would say, made without memory of its own.
type entryInfo struct {
	name string
	st   syscall.Stat_t
}

func (e *entryInfo) Name() string       { return e.name }
func (e *entryInfo) Size() int64        { return e.st.Size }
func (e *entryInfo) ModTime() time.Time { return time.Unix(e.st.Mtim.Unix()) }
func (e *entryInfo) IsDir() bool        { return e.st.Mode&unix.S_IFMT == unix.S_IFDIR }
func (e *entryInfo) Sys() any           { return &e.st }

// Mode translates the bits as the standard library does.
func (e *entryInfo) Mode() fs.FileMode {
	mode := fs.FileMode(e.st.Mode & 0o777)
	switch e.st.Mode & unix.S_IFMT {
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
	if e.st.Mode&unix.S_ISUID != 0 {
		mode |= fs.ModeSetuid
	}
	if e.st.Mode&unix.S_ISGID != 0 {
		mode |= fs.ModeSetgid
	}
	if e.st.Mode&unix.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}
