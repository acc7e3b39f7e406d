package vault

import (
	"errors"
	"fmt"
	"strings"

	"stet/vault/durable"
	"stet/vault/filelock"
	"stet/vault/gitstore"
	"stet/vault/guard"
	"stet/vault/store"
)

// These can happen when a vault is opened or made.
var (
	// ErrNotVault reports a folder without .stet/config.yaml in it or above it.
	ErrNotVault = errors.New("not a stet vault")
	// ErrNewerFormat reports a vault written by a later stet. Nothing was read
	// further or written.
	ErrNewerFormat = errors.New("vault format is newer than this stet")
	// ErrUnsupportedRepository reports a git repository in a format that stet
	// cannot write safely. Nothing was written.
	ErrUnsupportedRepository = gitstore.ErrUnsupported
	// ErrInProgress reports an unfinished merge, rebase, cherry-pick, revert or
	// bisect of the person's. Nothing was written.
	ErrInProgress = gitstore.ErrInProgress
	// ErrIgnored reports ignore rules of the repository that hide the vault, or a path in it.
	ErrIgnored = store.ErrIgnored
	// ErrReadOnly reports a vault that cannot be written by this user.
	ErrReadOnly = store.ErrReadOnly
	// ErrDamaged reports state that stet will not guess about; run doctor.
	ErrDamaged = store.ErrDamaged
)

// These can happen when something is looked up.
var (
	// ErrNotFound reports that no memory, path or id matches.
	ErrNotFound = store.ErrNotFound
	// ErrAmbiguous reports that more than one thing matches.
	ErrAmbiguous = errors.New("matches more than one")
	// ErrNoRevision reports a revision that git does not know.
	ErrNoRevision = gitstore.ErrNoRevision
	// ErrNotRegular reports a folder, link, FIFO, socket or device where a
	// file was expected.
	ErrNotRegular = durable.ErrNotRegular
	// ErrTooLarge reports a file above MaxFileSize.
	ErrTooLarge = durable.ErrTooLarge
)

// These can happen when something is written.
var (
	// ErrBusy reports that another process kept the write lock, or git's, past
	// the wait. Nothing was written; trying again is right.
	ErrBusy = filelock.ErrBusy
	// ErrConflict reports that a file changed meanwhile, or that a merge needs
	// a person's decision. Nothing was written.
	ErrConflict = store.ErrConflict
	// ErrBadPath reports a path that is absolute, leaves the vault, passes
	// through a symbolic link, or names git's or stet's own state.
	ErrBadPath = store.ErrBadPath
	// ErrInvalid reports a value that cannot be stored as asked, an empty text
	// or an importance outside 0 to 1 for instance.
	ErrInvalid = errors.New("cannot be done")
	// ErrRefused reports a write that a rule forbids.
	ErrRefused = errors.New("refused")
	// ErrRejected reports that a machine was about to write what was taken back
	// before. Nothing was written.
	ErrRejected = errors.New("rejected before")
	// ErrSecret reports something that looks like a password, key or token.
	// Nothing was written. It is always an [ErrRefused] too.
	ErrSecret = errors.New("looks like a secret")
	// ErrInjection reports text that reads like orders to a model, written by
	// an agent, where the configuration forbids it. It is always an
	// [ErrRefused] too.
	ErrInjection = errors.New("reads like orders to a model")
	// ErrMassDeletion reports that so many files vanished at once that stet
	// asks before it commits their deletion.
	ErrMassDeletion = errors.New("too many files vanished at once")
	// ErrNothingToUndo reports that no operation is left to undo or redo.
	ErrNothingToUndo = errors.New("nothing is left")
)

// A NotFoundError is an [ErrNotFound] with the nearest names. Withheld makes an [ErrRefused] of it, with the same
// words: what is private is there, and the agent that asks is not told so.
type NotFoundError struct {
	Ref  string
	Near []string
	// Words are the memories and notes in whose name, title or alias Ref stands as whole words, and Parts those that
	// have it as a part of one otherwise: live ones, else archived ones, with path, id and title alone; never any
	// for an agent.
	Words, Parts []Memory
	Withheld     bool
	Says         error // what is said of an absent thing of its kind; nil for this error's own words
}

func (e *NotFoundError) Error() string {
	if e.Says != nil {
		return e.Says.Error()
	}
	return fmt.Sprintf("%q: %v", e.Ref, ErrNotFound)
}

// Unwrap makes errors.Is(err, ErrNotFound) true, or with ErrRefused where it is withheld.
func (e *NotFoundError) Unwrap() error {
	if e.Withheld {
		return ErrRefused
	}
	return ErrNotFound
}

// Hint names the next step.
func (e *NotFoundError) Hint() string {
	switch {
	case len(e.Near) == 1 && e.Near[0] == "archive/"+e.Ref:
		return "it is in the archive: " + e.Near[0]
	case len(e.Near) > 0:
		return "did you mean " + strings.Join(e.Near, " or ") + "?"
	}
	return `"stet list" and "stet search WORDS" show what is there`
}

// An AmbiguousError is an [ErrAmbiguous] with everything that matched.
type AmbiguousError struct {
	Ref        string
	Candidates []Memory
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q: %v (%d)", e.Ref, ErrAmbiguous, len(e.Candidates))
}

// Unwrap makes errors.Is(err, ErrAmbiguous) true.
func (e *AmbiguousError) Unwrap() error { return ErrAmbiguous }

// Hint names the next step.
func (e *AmbiguousError) Hint() string { return "name one by its path or its short id" }

// A MassDeletionError is an [ErrMassDeletion] with the counts.
type MassDeletionError struct{ Missing, Total int }

func (e *MassDeletionError) Error() string {
	return fmt.Sprintf("adopt: %v: %d of %d", ErrMassDeletion, e.Missing, e.Total)
}

// Unwrap makes errors.Is(err, ErrMassDeletion) true.
func (e *MassDeletionError) Unwrap() error { return ErrMassDeletion }

// Hint names the next step.
func (e *MassDeletionError) Hint() string {
	return `check that the folder is mounted and whole; "stet adopt --yes" commits the deletions`
}

// A GuardError is an [ErrRefused] with what the guard found in one file.
type GuardError struct {
	Path     Path // "" for the commit's message
	Findings []guard.Finding
	// ByHand is set for what a person wrote and did not commit.
	ByHand bool
	// New is set for a file that does not exist. Path is its folder then: stet
	// makes names from texts, and this one could spell the secret.
	New bool
	// Given is set for words of the request from which a name was to be made.
	Given bool
	kind  error
	// machine is set for a write of a machine, which cannot allow what was found.
	machine bool
}

func (e *GuardError) Error() string {
	where, what := fmt.Sprintf("%q", e.Path), make([]string, 0, len(e.Findings))
	switch {
	case e.New:
		where = fmt.Sprintf("a new file in %q", e.Path)
	case e.Given:
		where = "an argument"
	case e.Path == "":
		where = "the commit's message"
	}
	for _, f := range e.Findings {
		what = append(what, describeFinding(f))
	}
	who := ""
	if e.ByHand {
		who = "an edit made by hand "
	}
	return fmt.Sprintf("%s: %v: %s%v: %s", where, ErrRefused, who, e.kind, strings.Join(what, "; "))
}

// Unwrap makes errors.Is true for ErrRefused and for [ErrSecret] or
// [ErrInjection].
func (e *GuardError) Unwrap() []error { return []error{e.kind, ErrRefused} }

// Hint names the next step.
func (e *GuardError) Hint() string {
	switch {
	case e.ByHand:
		return e.hint("take it out of the file, then try again")
	case errors.Is(e.kind, ErrInjection):
		return e.hint("leave it out")
	}
	return e.hint("write down where it is kept instead")
}

func (e *GuardError) hint(advice string) string {
	if e.machine {
		return advice + "; if it is harmless the user can allow it"
	}
	return guardHint(advice, e.Findings)
}

func guardHint(advice string, found []guard.Finding) string {
	var prints []string
	for _, f := range found {
		prints = append(prints, f.Fingerprint)
	}
	return fmt.Sprintf("%s; if it is harmless: stet config add guard.allow %s", advice, strings.Join(prints, ","))
}

func describeFinding(f guard.Finding) string {
	if f.Excerpt == "" {
		return f.String()
	}
	return fmt.Sprintf("%s (%s)", f, f.Excerpt)
}
