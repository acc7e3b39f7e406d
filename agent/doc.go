// Package agent is the application layer: every use case of stet as one method, for any front end.
//
// A front end (the command line, a server, a hook) parses its input into an options struct, calls one
// method, and shows the result struct. [Open] gives an [App] on a vault; its handles hold the use cases of
// one area each: [App.Memories], [App.History], [App.Sessions], [App.Vault]. What a use case needs from
// outside (clock, environment variables, the file-system hook, model clients) comes in through [Options];
// nothing here prints or reads flags.
//
// The App does what no front end may forget. It decides whether rules and a model compare a new memory,
// connects them with the search index, stores an agent's memories in the scope of its project, and after
// every write updates the search index and seals the sessions that have ended. Its policy says who may do
// what: every use case that writes asks it first.
package agent

import (
	"errors"
	"fmt"

	"stet/markdown"
	"stet/vault"
)

// ErrUsage reports a request that cannot be carried out as it was made.
var ErrUsage = errors.New("usage")

// A UsageError is an [ErrUsage] with a message and the next step.
type UsageError struct{ text, hint string }

// Usagef returns a usage error with that message.
func Usagef(format string, args ...any) *UsageError {
	return &UsageError{text: fmt.Sprintf(format, args...)}
}

// Suggest adds the next step and returns the error itself.
func (u *UsageError) Suggest(format string, args ...any) *UsageError {
	u.hint = fmt.Sprintf(format, args...)
	return u
}

func (u *UsageError) Error() string { return u.text }

// Unwrap makes errors.Is(err, ErrUsage) true.
func (u *UsageError) Unwrap() error { return ErrUsage }

// Hint names the next step, "" when the message is enough.
func (u *UsageError) Hint() string { return u.hint }

// Nearest returns the name that the user most likely meant, "" when none is close.
func Nearest(word string, names []string) string {
	best, distance := "", 3
	for _, name := range names {
		// Two slips in a short word leave nothing of it to recognise.
		if d := markdown.Edits(word, name, distance); d < distance && d*3 <= max(len(word), len(name)) {
			best, distance = name, d
		}
	}
	return best
}

// Told is err as who asked is told it: what is withheld is not there.
func Told(err error) error {
	e := withheld(err)
	switch {
	case e == nil:
		return err
	case e.Says != nil:
		return toldError{err.Error(), e.Says}
	}
	return toldError{err.Error(), &vault.NotFoundError{Ref: e.Ref, Near: e.Near}}
}

// withheld is the part of err that says that something is withheld, nil for none.
func withheld(err error) *vault.NotFoundError {
	var e *vault.NotFoundError
	if errors.As(err, &e) && e.Withheld {
		return e
	}
	return nil
}

// A toldError is one of its own kind with the words of a longer one.
type toldError struct {
	text string
	is   error
}

func (e toldError) Error() string { return e.text }

// Unwrap gives the kind.
func (e toldError) Unwrap() error { return e.is }
