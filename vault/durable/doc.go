// Package durable is the only way stet changes a file system. It guarantees
// that a write which returned nil is on stable storage where its name says
// "Sync" or where the method promises it, that a file is replaced whole or not
// at all, and that no path leaves the folder a [Root] was opened on.
//
// Every mutating call carries a label naming its call site and is announced to
// a [Hook] before it happens, so a test can kill the process at any single
// step, make one step fail, or replay a run with the unsynced steps lost.
//
// Two parts are here for speed alone:
//
//   - known_linux.go: remembers the names of folders that did not change since a process
//     looked at them three times. Without it a look at 10,000 unchanged files takes 0.8
//     instead of 0.6 times as long as "find" (medians on a busy machine); 0.6 is 14 ms
//     where the bound is 20, and at 100,000 files 121 ms where it is 130.
//
//   - straight_linux.go: os.Root opens every folder on the way to a file: 100,000 files take
//     4.0 s of processor time to read, with this 1.2 s. A first search then takes 13.2 s
//     in place of 16.0, and moving 2,000 of 100,000 memories 7.9 s in place of 10.
//
//     root, err := durable.OpenRoot(dir, nil)
//     err = root.CreateSync("note.tmp", "tmp/x", data, 0o644)
//     err = root.Rename("note", "tmp/x", "note.md")
//     err = root.SyncDir("note", ".")
package durable

import (
	"errors"
	"io/fs"
)

// Op names one kind of mutating file-system call.
type Op string

// The mutating calls. OpSync and OpSyncDir change nothing that a live process
// can see; they move what came before them to stable storage.
const (
	OpCreate   Op = "create"   // Path is made as an empty file
	OpWrite    Op = "write"    // Data is written to Path at Offset
	OpTruncate Op = "truncate" // Path is cut to Offset bytes
	OpSync     Op = "fsync"    // the contents of Path reach the disk
	OpRename   Op = "rename"   // Path becomes To, replacing it
	OpExchange Op = "exchange" // Path and To trade places
	OpLink     Op = "link"     // To becomes a second name of Path
	OpRemove   Op = "remove"   // Path is unlinked
	OpMkdir    Op = "mkdir"    // Path is made as a folder
	OpSyncDir  Op = "fsyncdir" // the names in folder Path reach the disk
	OpChmod    Op = "chmod"    // the permissions of Path change
	OpLock     Op = "flock"    // a kernel lock on Path is taken
)

// A Step describes one mutating call. Paths are absolute. Data must not be
// kept beyond the hook without copying it.
type Step struct {
	Op     Op
	Label  string
	Path   string
	To     string
	Data   []byte
	Offset int64
	// Perm is set for OpCreate, OpMkdir and OpChmod, before the umask.
	Perm fs.FileMode
	// Exclusive says that an OpRename fails when To exists instead of
	// replacing it.
	Exclusive bool
}

// A Hook sees every step before it happens. Returning nil lets it happen;
// [ErrSkip] reports success without doing it; [ErrShortWrite] does half of a
// write and then fails as a full disk does; any other error is returned in the
// step's place. A Hook is called from the goroutine that makes the step.
type Hook func(Step) error

// These steer a step from a [Hook]; the shipped command sets no hook.
var (
	// ErrSkip makes a step report success without happening.
	ErrSkip = errors.New("step skipped by a test hook")
	// ErrShortWrite makes a write stop half way with "no space left on device".
	ErrShortWrite = errors.New("short write by a test hook")
)

// ErrNotRegular reports that a path names something other than a regular file:
// a folder, symbolic link, FIFO, socket or device. It is never opened.
var ErrNotRegular = errors.New("not a regular file")

// ErrTooLarge reports a file above the size the caller was ready to read.
var ErrTooLarge = errors.New("file is too large")
