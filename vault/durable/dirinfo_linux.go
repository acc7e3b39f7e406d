package durable

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// describeSplit is from how many entries on a folder is described by several
// goroutines: fewer take less than a millisecond.
const describeSplit = 512

// A lister is what listing folders needs again and again.
type lister struct {
	once sync.Once
	top  *os.File // the root itself, for openat2; nil when it cannot be had
	bufs sync.Pool
}

func (l *lister) close() error {
	if l.once.Do(func() {}); l.top == nil {
		return nil
	}
	return l.top.Close()
}

// list returns a description of every entry of folder p, links not followed, by
// file name. What vanishes meanwhile is left out. A walk lists every folder of a
// vault, and what it asks of the kernel besides one look at each entry is most of
// what can be saved: openat2 opens a path of any depth in one call and keeps it
// below the root as os.Root does in one call a segment. Where it fails, os.Root
// says why.
func (r *Root) list(p string) ([]fs.FileInfo, error) {
	fd, err := r.openBeneath(p)
	if err == nil {
		infos, err := r.describe(fd)
		return infos, errors.Join(err, unix.Close(fd))
	}
	d, err := r.root.Open(filepath.FromSlash(p))
	if err != nil {
		return nil, err
	}
	infos, err := r.describe(int(d.Fd()))
	return infos, errors.Join(err, d.Close())
}

func (r *Root) openBeneath(p string) (int, error) {
	r.lister.once.Do(func() {
		// Without it every folder takes the long way.
		r.lister.top, _ = r.root.Open(".")
	})
	if r.lister.top == nil {
		return -1, fs.ErrClosed
	}
	conn, err := r.lister.top.SyscallConn()
	if err != nil {
		return -1, err
	}
	fd := -1
	// Control keeps the root open meanwhile.
	cerr := conn.Control(func(top uintptr) {
		how := &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS}
		fd, err = unix.Openat2(int(top), p, how)
	})
	return fd, errors.Join(err, cerr)
}

// describe looks at every entry of an open folder.
func (r *Root) describe(fd int) ([]fs.FileInfo, error) {
	names, err := r.names(fd)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	infos := make([]entryInfo, len(names))
	workers := 1
	if len(names) >= describeSplit {
		workers = runtime.GOMAXPROCS(0)
	}
	errs := make([]error, workers)
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
	out := make([]fs.FileInfo, 0, len(infos))
	for i := range infos {
		if infos[i].name != "" {
			out = append(out, &infos[i])
		}
	}
	return out, errors.Join(errs...)
}

// names reads the names in an open folder, in the order of the file system. They
// share the memory they were read into.
func (r *Root) names(fd int) ([]string, error) {
	buf, ok := r.lister.bufs.Get().(*[]byte)
	if !ok {
		b := make([]byte, 32<<10)
		buf = &b
	}
	defer r.lister.bufs.Put(buf)
	var names []string
	for {
		n, err := unix.Getdents(fd, *buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, &fs.PathError{Op: "readdir", Path: r.dir, Err: err}
		}
		if n == 0 {
			return names, nil
		}
		names = appendNames(names, string((*buf)[:n]))
	}
}

// appendNames takes the names out of what getdents64(2) gave: records of an inode
// (8 bytes), an offset (8), their length (2), a type (1) and a name that ends in
// a NUL.
func appendNames(names []string, dents string) []string {
	const length, name = 16, 19
	for len(dents) > name {
		n := min(int(binary.NativeEndian.Uint16([]byte(dents[length:length+2]))), len(dents))
		if n <= name {
			break
		}
		rec := dents[:n]
		dents = dents[n:]
		text, _, _ := strings.Cut(rec[name:], "\x00")
		if text != "." && text != ".." && text != "" {
			names = append(names, text)
		}
	}
	return names
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
