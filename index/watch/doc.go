// Package watch keeps the search index of a vault up to date while the vault is
// being edited, and commits hand edits once they have been left alone for a
// while.
//
// Events of the file system are hints and nothing else: each says "look here",
// the look decides. A lost, late, doubled or wrong event therefore costs time,
// never a right answer, and where events are lost for certain (an overflow, a
// suspended machine, a folder that went away) everything is looked at. What may
// be committed is decided by [vault.Vault.Adopt]; this package adds that a file
// must be quiet first, also in the instant in which it is read.
//
//	err := watch.Run(ctx, watch.Options{Now: time.Now, Open: open, Emit: show})
package watch

import (
	"context"
	"time"

	"github.com/fsnotify/fsnotify"

	"stet/index"
	"stet/vault"
)

// A Vault is what is watched; a *vault.Vault is one.
type Vault interface {
	Root() string
	Head() (vault.Revision, error)
	Changes(ctx context.Context, from, to vault.Revision) ([]vault.Change, error)
	Survey(ctx context.Context, under vault.Path, files bool) (vault.Survey, error)
	Pick(ctx context.Context, paths []vault.Path) ([]vault.File, error)
	Adopt(ctx context.Context, o vault.AdoptOptions) (*vault.Result, error)
	Git() vault.GitState
	Claim(ctx context.Context, name string) (release func() error, err error)
}

// An Index is what is kept up to date; an *index.Index is one. Close lets go of
// memory and files; using it again afterwards must work.
type Index interface {
	CatchUp(ctx context.Context) (index.Stats, error)
	Refresh(ctx context.Context, paths []vault.Path, files []vault.File) (index.Stats, error)
	Close() error
}

// A Subject is one opening of a vault, with the settings that it was opened
// with. Run opens another one when the vault's configuration changes or its
// folder comes back.
type Subject struct {
	Vault Vault
	Index Index
	// Commit says whether hand edits are committed at all.
	Commit bool
	// Debounce is how long a file is left alone before it is indexed, Quiet
	// before it is committed, Poll the time between two looks where the system
	// reports no events.
	Debounce, Quiet, Poll time.Duration
	Close                 func() error
}

// Options wire a watcher to its surroundings. Now, Open and Emit are required.
type Options struct {
	Now func() time.Time
	// Open opens the vault; an error of the first call ends Run, later ones
	// are taken for a vault that is away.
	Open func(context.Context) (Subject, error)
	// Emit hears what happens, from one goroutine at a time.
	Emit func(Event)
	// Due does what is due, from a goroutine of its own: once after the start,
	// then once a minute. Its context ends with Run. nil is nothing.
	Due func(context.Context)

	// For tests: what takes the place of the system's events, of adding one
	// watch, and of looking at the folder itself.
	source func(context.Context, Subject, *hints) (closer, error)
	add    func(w *fsnotify.Watcher, name string) error
	gone   func() bool
}

// A Kind says what an [Event] is about.
type Kind string

// The kinds of events.
const (
	Started   Kind = "started"   // everything has been looked at once
	Indexed   Kind = "indexed"   // files were taken into the index or out of it
	Committed Kind = "committed" // a hand edit was committed
	Left      Kind = "left"      // a hand edit stays uncommitted
	Warning   Kind = "warning"   // something is not as it should be; the watcher goes on
	Stopped   Kind = "stopped"   // the watcher ended as it was asked to
)

// An Event is one thing that happened.
type Event struct {
	Kind Kind
	// Mode is "events" or "polling", with Started.
	Mode string
	// Commits says whether hand edits are committed, with Started.
	Commits bool
	// Folders and Files count what is followed, with Started.
	Folders, Files int
	// Added, Changed and Removed count files, with Indexed.
	Added, Changed, Removed int
	// Took is how long the work took that the event tells of; with Indexed it
	// begins with the change on disk as far as that is known.
	Took time.Duration
	// Commit is the new commit, with Committed.
	Commit vault.Commit
	// Path, Text and Hint say what is the matter, with Left and Warning.
	Path vault.Path
	Text string
	Hint string
}

// The pauses of a watcher.
const (
	// heartbeat is the longest pause: the time within which a folder that went
	// away, or a machine that slept, is noticed.
	heartbeat = 10 * time.Second
	// slack is by how much a pause may differ from the time on the wall before
	// the machine is taken to have slept.
	slack = 5 * time.Second
	// sweep is the time between two looks at everything, for file systems that
	// report some changes and not others. It costs a tenth of a second at
	// 100,000 files.
	sweep = 5 * time.Minute
	// idle is how long nothing must have happened before memory is given back.
	idle = 5 * time.Second
	// dueEvery is the time between two calls of Options.Due.
	dueEvery = time.Minute
	// latest bounds the debounce of a file that never stops changing.
	latest = 2 * time.Second
)

// manyPaths is the number of changed files from which looking at everything is
// cheaper than looking at each.
const manyPaths = 512
