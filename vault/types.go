package vault

import (
	"context"
	"io/fs"
	"time"

	"stet/vault/durable"
	"stet/vault/names"
	"stet/vault/settings"
	"stet/vault/store"
)

// These are the files and states of a vault as package store has them.
type (
	// A Path names a file of the vault.
	Path = store.Path
	// A Revision is a commit id, 40 hex digits; "" before the first commit.
	Revision = store.Revision
	// A Hash is a git blob id, 40 hex digits; "" means that there is no file.
	Hash = store.Hash
	// A File is one Markdown file of the working tree as the last look at it saw.
	File = store.File
	// A Change is one path that differs between two states of the vault.
	Change = store.Change
	// A Problem is one finding of a look at the vault.
	Problem = store.Problem
	// An Event is one step of long work. Total is 0 while it is unknown.
	Event = store.Event
	// GitState is what of git matters to somebody who follows the vault.
	GitState = store.GitState
)

// The ways a path can change between two states.
const (
	Added    = store.Added
	Modified = store.Modified
	Deleted  = store.Deleted
	Renamed  = store.Renamed
)

// MaxFileSize bounds what stet reads and stores as one Markdown file. Larger files
// stay on disk untouched.
const MaxFileSize = store.MaxFileSize

// ParsePath checks s and makes it clean. It fails with [ErrBadPath].
func ParsePath(s string) (Path, error) { return store.ParsePath(s) }

// Identity is the [File.Identity] of what info describes.
func Identity(info fs.FileInfo) uint64 { return store.Identity(info) }

// WithHint attaches the next step to an error, for the person or the agent who
// meets it, without changing its identity. Whoever prints it asks for an error
// with a method Hint() string.
func WithHint(err error, format string, args ...any) error {
	return store.WithHint(err, format, args...)
}

// Options wire a vault to its surroundings. Now and Env are required.
type Options struct {
	// Now is the clock for commits, ids and front matter.
	Now func() time.Time
	// Env reads the environment (git identity, XDG_CONFIG_HOME, HOME).
	Env func(string) string
	// Hook sees every mutating step; for tests only.
	Hook durable.Hook
	// LockWait bounds the wait for another writer or for git's own locks;
	// 0 means 10 seconds.
	LockWait time.Duration
	// SecondLook is the pause before a deletion by hand is believed; 0 means
	// one second.
	SecondLook time.Duration
	// Holder is one line that names this command in the lock file.
	Holder string
	// Progress is told about long work; nil is silence. It is called from one
	// goroutine at a time.
	Progress func(Event)
	// Warn is told of what local state could not keep while something was read; nil is silence.
	Warn func(text string)
	// Settings are the layers of configuration that are not the vault's own:
	// flags, environment, the person's file. The vault's file joins them.
	Settings []settings.Layer
	// Flagging lists the memories whose may_outdate names an id, as far as an index knows;
	// nil knows of none.
	Flagging func(ctx context.Context, id string) []Path
	// Reader is the agent that asks, who is given nothing that is private, or was: see [Vault.Whole]. "" is
	// a person.
	Reader string
	// Via is the agent among whose tools this runs, which every commit by somebody else names; "" for none.
	Via string
	// Private lists what is private of the files of a list, nil for all on disk, archived or not, with the ids, ""
	// for none, from an index. Where it fails, or is nil, every file is read.
	Private func(ctx context.Context, list func() ([]File, error)) (map[Path]string, error)
	// Identified lists the files with an id from an index, archived ones as well. Where it fails, is nil or finds
	// none, every file is read.
	Identified func(ctx context.Context, id string) ([]Path, error)
	// Named tells see what each file of a list is called, from an index. Where it fails, or is nil, every file is read.
	Named func(ctx context.Context, list func() ([]File, error), see func(Path, names.Known)) error
	// ReadOnly never waits for the lock and skips recovery when the lock is
	// held or the disk cannot be written.
	ReadOnly bool
}

// lockWait bounds how long a command waits for another writer when the caller
// does not say: eight writers make 800 commits in a few seconds, so ten
// seconds without a turn means a hang, not a queue.
const lockWait = 10 * time.Second
