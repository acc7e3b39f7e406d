package console

import (
	"errors"
	"fmt"
)

// These are the errors of the command line itself.
var (
	// ErrUsage reports a command line that cannot be carried out as written.
	ErrUsage = errors.New("usage")
	// ErrProblems reports that a check found something; the answer lists it.
	ErrProblems = errors.New("problems found")
)

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
