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

// WithHint attaches the next step to an error without changing its identity.
func WithHint(err error, format string, args ...any) error {
	return hinted{err, fmt.Sprintf(format, args...)}
}

type hinted struct {
	error
	hint string
}

func (h hinted) Unwrap() error { return h.error }
func (h hinted) Hint() string  { return h.hint }
