package durable

import (
	"errors"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// knownFolders spares a process that walks a tree again and again the reading and
// sorting of names: they are what they were while the times of their folder are. It
// is what git's cache of untracked files relies on. The entries themselves are looked
// at each time.
type knownFolders struct {
	mu sync.Mutex
	at map[string]*knownFolder // by path below the root
}

// A knownFolder is a folder as it was when its names were read.
type knownFolder struct {
	own   Entry
	seen  int      // how often in a row it was like that
	names []string // nil until it was seen often enough
}

const (
	// knownFrom is how often a folder must be seen unchanged before its names are
	// kept: a process that looks once or twice keeps none.
	knownFrom = 3
	// knownAge is how many seconds ago a folder must have changed: within one tick
	// of the kernel's clock, ten milliseconds at most, two changes look like one.
	knownAge = 1
)

// names returns the names in folder p, open as fd, in order: those it knows, or what
// read says. They are not to be changed.
func (k *knownFolders) names(p string, fd int, read func(fd int) ([]string, error)) ([]string, error) {
	own, err := ownEntry(fd)
	if err != nil {
		return read(fd)
	}
	if names, ok := k.have(p, own); ok {
		return names, nil
	}
	names, err := read(fd)
	if err == nil {
		k.keep(p, own, fd, names)
	}
	return names, err
}

func (k *knownFolders) have(p string, own Entry) ([]string, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f := k.at[p]
	if f == nil || f.own != own || f.names == nil {
		return nil, false
	}
	return f.names, true
}

// keep takes note of a folder that was like own before its names were read.
func (k *knownFolders) keep(p string, own Entry, fd int, names []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f := k.at[p]
	if f == nil || f.own != own {
		if k.at == nil {
			k.at = map[string]*knownFolder{}
		}
		k.at[p] = &knownFolder{own: own, seen: 1}
		return
	}
	if f.seen++; f.seen >= knownFrom && settled(own) && tellsChanges(fd) {
		f.names = slices.Clone(names)
		if f.names == nil {
			f.names = []string{}
		}
	}
}

// ownEntry describes an open folder by what changes with its names.
func ownEntry(fd int) (e Entry, err error) {
	var st unix.Stat_t
	for {
		if err = unix.Fstat(fd, &st); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	e.set("", &st)
	return e, err
}

// settled reports that another change of the folder would get another time. It asks
// the clock that the kernel takes the times of files from.
func settled(e Entry) bool {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now); err != nil {
		return false
	}
	return int64(now.Sec) > e.CtimeSec+knownAge && int64(now.Sec) > e.MtimeSec+knownAge
}

// tellsChanges reports that a file system on this machine stamps a folder whenever a
// name in it comes, goes or changes. Of others, those over a network or made by a
// program, that is not known.
func tellsChanges(fd int) bool {
	var st unix.Statfs_t
	if err := unix.Fstatfs(fd, &st); err != nil {
		return false
	}
	switch uint32(st.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC:
		return true
	}
	return false
}
