package store

import (
	"io/fs"
	"time"

	"stet/vault/durable"
	"stet/vault/gitindex"
)

// Options connect a [Store] to its surroundings. Now and Env are required.
type Options struct {
	Now      func() time.Time    // clock of commits
	Env      func(string) string // environment, for git's configuration
	Hook     durable.Hook        // sees every change of the file system; nil outside tests
	LockWait time.Duration       // longest wait for another writer or for git's locks
	Holder   string              // names this process in the lock file
	Progress func(Event)         // told about long work, from one goroutine at a time; nil is silence
	Marker   Path                // the file that makes a folder inside this one a vault of its own
	// Merge joins two edits of base; false is a conflict.
	Merge    func(base, ours, theirs []byte) ([]byte, bool)
	Glance   time.Duration // pause before a file that changes is looked at again
	ReadOnly bool          // neither wait for the lock nor require recovery
}

// A Revision is a commit id, 40 hex digits; "" before the first commit.
type Revision string

// Short is the first ten digits, enough to be unique in any vault.
func (r Revision) Short() string { return string(r[:min(10, len(r))]) }

// A Hash is a git blob id, 40 hex digits; "" means that there is no file.
type Hash string

// An Event is one step of long work. Total is 0 while it is unknown.
type Event struct {
	Phase string
	Done  int
	Total int
}

// A File is one Markdown file of the working tree as the last look at it saw.
type File struct {
	Path    Path
	Size    int64
	ModTime time.Time
	// Identity differs when another file stands at the path or this one was
	// written since, even where size and ModTime were set back: on Linux it is
	// made of inode and change time. 0 where the system has neither.
	Identity uint64
	stat     gitindex.Stat
}

// Identity is the [File.Identity] of what info describes.
func Identity(info fs.FileInfo) uint64 {
	e := durable.EntryOf(info)
	return identityOf(&e)
}

// identityOf mixes the inode with the time of the last change. The factor spreads
// the inode over the bits that times differ in.
func identityOf(e *durable.Entry) uint64 {
	return e.Ino*0x9e3779b97f4a7c15 ^ uint64(e.CtimeSec*1e9+int64(e.CtimeNsec))
}

// statOf is what git stores of a file's description.
func statOf(info fs.FileInfo) gitindex.Stat {
	e := durable.EntryOf(info)
	return gitStat(&e)
}

// gitStat leaves 0 what the system does not tell: git finds it different, looks at
// the content once and fills it in.
func gitStat(e *durable.Entry) gitindex.Stat {
	return gitindex.Stat{
		CtimeSec: uint32(e.CtimeSec), CtimeNsec: e.CtimeNsec, MtimeSec: uint32(e.MtimeSec), MtimeNsec: e.MtimeNsec,
		Dev: uint32(e.Dev), Ino: uint32(e.Ino), UID: e.UID, GID: e.GID, Size: uint32(e.Size),
	}
}

func fileOf(p Path, e *durable.Entry) File {
	return File{Path: p, Size: e.Size, ModTime: e.ModTime(), Identity: identityOf(e), stat: gitStat(e)}
}

// fileAt is fileOf what a system call said.
func fileAt(p Path, info fs.FileInfo) File {
	e := durable.EntryOf(info)
	return fileOf(p, &e)
}

// A Problem is one finding of a look at the vault. ID is stable and can be
// branched on; Text says what is wrong, Hint what to do. Advice is what may well
// be as the person wants it: it alone leaves a vault in order.
type Problem struct {
	ID      string `json:"id"`
	Path    Path   `json:"path,omitempty"`
	Text    string `json:"text"`
	Hint    string `json:"hint,omitempty"`
	Fixable bool   `json:"fixable"`
	Advice  bool   `json:"advice,omitempty"`
}

// The ways a path can change between two states.
const (
	Added    = "added"
	Modified = "modified"
	Deleted  = "deleted"
	Renamed  = "renamed"
)

// A Change is one path that differs between two states of the vault.
type Change struct {
	Status string `json:"status"`
	Path   Path   `json:"path"`
	From   Path   `json:"from,omitempty"` // set for Renamed only
	Old    Hash   `json:"old,omitempty"`  // "" for Added
	New    Hash   `json:"new,omitempty"`  // "" for Deleted
}
