package durable

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// knownFolders spares a process that walks a tree again and again the reading and
// sorting of names: they are what they were while the times of their folder are. It
// is what git's cache of untracked files relies on. The entries themselves are looked
// at each time.
type knownFolders struct {
	// now and stamps are the system's, others in tests.
	now    func() (unix.Timespec, error)
	stamps func(fd int) bool

	mu     sync.Mutex
	at     map[string]*knownFolder // by path below the root
	device map[uint64]bool         // what stamps said
}

// A knownFolder is a folder as it was when its names were read.
type knownFolder struct {
	own   Entry
	seen  int    // how often in a row it was like that
	known bool   // it was seen often enough
	names string // each with a NUL behind it: a third of what a slice would take
}

const (
	// knownFrom is how often a folder must be seen unchanged before its names are
	// kept: a process that looks once or twice keeps none.
	knownFrom = 3
	// knownAge is how many whole seconds ago a folder must have changed. Within one
	// step of the clock that its times are taken from, two changes look like one:
	// ten milliseconds, and a second where inodes have no room for more.
	knownAge = 1
	// knownMost bounds the folders remembered. When there are more all are
	// forgotten: those that are gone are never asked for again.
	knownMost = 1 << 16
)

// names returns the names in folder p, open as fd, in order: those it knows, in the
// memory of scratch, or what read says.
func (k *knownFolders) names(p string, fd int, scratch []string, read func(fd int) ([]string, error)) ([]string, error) {
	own, err := ownEntry(fd)
	if err != nil {
		return read(fd)
	}
	if text, ok := k.have(p, own); ok {
		names := scratch[:0]
		for text != "" {
			name, rest, _ := strings.Cut(text, "\x00")
			names, text = append(names, name), rest
		}
		return names, nil
	}
	// Asked before the names are read: a change behind that must get another time.
	calm := k.settled(own) && k.trusts(own.Dev, fd)
	names, err := read(fd)
	if err == nil {
		k.keep(p, own, calm, names)
	}
	return names, err
}

func (k *knownFolders) have(p string, own Entry) (string, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f := k.at[p]
	if f == nil || f.own != own || !f.known {
		return "", false
	}
	return f.names, true
}

// forget lets go of a folder that is not there any more.
func (k *knownFolders) forget(p string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.at, p)
}

// keep takes note of a folder that was like own before its names were read.
func (k *knownFolders) keep(p string, own Entry, calm bool, names []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	f := k.at[p]
	if f == nil || f.own != own {
		if k.at == nil || len(k.at) >= knownMost {
			k.at = map[string]*knownFolder{}
		}
		// A clone, since p is cut from the paths of all its neighbours.
		k.at[strings.Clone(p)] = &knownFolder{own: own, seen: 1}
		return
	}
	if f.seen++; f.seen >= knownFrom && calm {
		f.known, f.names = true, joinNames(names)
	}
}

func joinNames(names []string) string {
	size := len(names)
	for _, name := range names {
		size += len(name)
	}
	var out strings.Builder
	out.Grow(size)
	for _, name := range names {
		out.WriteString(name)
		out.WriteByte(0)
	}
	return out.String()
}

// settled reports that another change of the folder would get another time. It asks
// the clock that the kernel takes the times of files from.
func (k *knownFolders) settled(own Entry) bool {
	clock := k.now
	if clock == nil {
		clock = fileClock
	}
	now, err := clock()
	return err == nil && int64(now.Sec) > own.CtimeSec+knownAge && int64(now.Sec) > own.MtimeSec+knownAge
}

func fileClock() (now unix.Timespec, err error) {
	err = unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now)
	return now, err
}

// trusts asks once for each device.
func (k *knownFolders) trusts(device uint64, fd int) bool {
	k.mu.Lock()
	yes, asked := k.device[device]
	k.mu.Unlock()
	if asked {
		return yes
	}
	if k.stamps == nil {
		yes = stampsFolders(fd)
	} else {
		yes = k.stamps(fd)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.device == nil {
		k.device = map[uint64]bool{}
	}
	k.device[device] = yes
	return yes
}

// stampsFolders reports that a file system on this machine stamps a folder whenever
// a name in it comes, goes or changes. Of others, those over a network or made by a
// program, that is not known.
func stampsFolders(fd int) bool {
	var st unix.Statfs_t
	if err := unix.Fstatfs(fd, &st); err != nil {
		return false
	}
	return slices.Contains([]uint32{unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC}, uint32(st.Type))
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
