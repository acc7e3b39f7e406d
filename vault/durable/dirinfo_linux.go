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

	"golang.org/x/sys/unix"
)

// describeSplit is from how many entries on a folder is described by several
// goroutines: fewer take less than a millisecond.
const describeSplit = 512

// A lister is what listing folders needs again and again.
type lister struct {
	once  sync.Once
	top   *os.File  // the root itself, for openat2; nil when it cannot be had
	bufs  sync.Pool // of *dirBuffer
	known knownFolders
}

// A dirBuffer is the memory that one folder is listed into.
type dirBuffer struct {
	dents   []byte
	names   []string
	entries []Entry
}

func (l *lister) close() error {
	if l.once.Do(func() {}); l.top == nil {
		return nil
	}
	return l.top.Close()
}

// dentsSize is how much of a folder is read in one call. The Go scheduler gives the
// processor of a call that takes long (20 us) to another thread; with 32 KB a walk of
// 200 folders of 500 files spent a tenth of its time on that (BenchmarkFresh, two
// processors, ext4).
const dentsSize = 2 << 10

// list calls use with a description of every entry of folder p, links not followed,
// by file name. What vanishes meanwhile is left out. A walk lists every folder of a
// vault, and what it asks of the kernel besides one look at each entry is most of
// what can be saved: openat2 opens a path of any depth in one call and keeps it
// below the root as os.Root does in one call a segment. Where it fails, os.Root
// says why.
func (r *Root) list(p string, use func([]Entry)) error {
	buf, ok := r.lister.bufs.Get().(*dirBuffer)
	if !ok {
		buf = &dirBuffer{dents: make([]byte, dentsSize)}
	}
	defer r.lister.bufs.Put(buf)
	err := r.open(p, func(fd int) error {
		names, err := r.lister.known.names(p, fd, buf.names, buf.readNames)
		if err != nil {
			return &fs.PathError{Op: "readdir", Path: r.Abs(p), Err: err}
		}
		buf.names = names
		return buf.describe(fd, names, r.Abs(p))
	})
	switch {
	case err == nil:
		use(buf.entries)
	case errors.Is(err, fs.ErrNotExist):
		r.lister.known.forget(p)
	}
	return err
}

// open calls f with a handle of folder p.
func (r *Root) open(p string, f func(fd int) error) error {
	fd, err := r.openBeneath(p, &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS})
	if err == nil {
		return errors.Join(f(fd), unix.Close(fd))
	}
	d, err := r.root.Open(filepath.FromSlash(p))
	if err != nil {
		return err
	}
	return errors.Join(f(int(d.Fd())), d.Close())
}

func (r *Root) openBeneath(p string, how *unix.OpenHow) (fd int, err error) {
	return fd, r.atTop(func(top int) error {
		fd, err = unix.Openat2(top, p, how)
		return err
	})
}

// atTop calls f with a handle of the root.
func (r *Root) atTop(f func(top int) error) (err error) {
	r.lister.once.Do(func() {
		// Without it every folder takes the long way.
		r.lister.top, _ = r.root.Open(".")
	})
	if r.lister.top == nil {
		return fs.ErrClosed
	}
	conn, err := r.lister.top.SyscallConn()
	if err != nil {
		return err
	}
	// Control keeps the root open meanwhile.
	cerr := conn.Control(func(top uintptr) { err = f(int(top)) })
	return errors.Join(err, cerr)
}

// describe looks at every entry of an open folder.
func (b *dirBuffer) describe(fd int, names []string, dir string) error {
	b.entries = slices.Grow(b.entries[:0], len(names))[:len(names)]
	workers := 1
	if len(names) >= describeSplit {
		workers = runtime.GOMAXPROCS(0)
	}
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		from, to := len(names)*w/workers, len(names)*(w+1)/workers
		look := func() { errs[w] = describeAll(fd, names[from:to], b.entries[from:to], dir) }
		if workers == 1 {
			look()
			continue
		}
		wg.Go(look)
	}
	wg.Wait()
	gone := func(e Entry) bool { return e.Name == "" }
	if slices.ContainsFunc(b.entries, gone) {
		b.entries = slices.DeleteFunc(b.entries, gone)
	}
	return errors.Join(errs...)
}

// readNames reads the names in an open folder, in order. They share the memory they
// were read into; the slice is good until the next folder.
func (b *dirBuffer) readNames(fd int) ([]string, error) {
	b.names = b.names[:0]
	for {
		n, err := unix.Getdents(fd, b.dents)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if n == 0 {
			slices.Sort(b.names)
			return b.names, nil
		}
		b.names = appendNames(b.names, string(b.dents[:n]))
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

// describeAll fills in entries; one that is gone keeps an empty name.
func describeAll(fd int, names []string, entries []Entry, dir string) error {
	var st unix.Stat_t
	for i, name := range names {
		err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		for errors.Is(err, unix.EINTR) {
			err = unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		}
		switch {
		case err == nil:
			entries[i].set(name, &st)
		case errors.Is(err, unix.ENOENT):
			entries[i].Name = ""
		default:
			return &fs.PathError{Op: "lstat", Path: filepath.Join(dir, name), Err: err}
		}
	}
	return nil
}
