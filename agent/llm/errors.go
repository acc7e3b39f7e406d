package llm

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// These are the ways in which a call ends without an answer.
var (
	// ErrNoModel reports that no model is configured where one is required.
	ErrNoModel = errors.New("no model is configured")
	// ErrSetup reports a configuration that cannot be right; nothing was sent.
	ErrSetup = errors.New("the model is not set up right")
	// ErrUnavailable reports a server that cannot be reached, is overloaded,
	// took too long, or broke off. Trying again later is right.
	ErrUnavailable = errors.New("the model is unavailable")
	// ErrKey reports a key that is missing or not accepted.
	ErrKey = errors.New("the model's server does not accept the key")
	// ErrRejected reports a request that the server does not understand, or a
	// model it does not have. Trying again changes nothing.
	ErrRejected = errors.New("the model's server rejects the request")
	// ErrTooLong reports a request above the model's window, or an answer that
	// did not fit into MaxTokens.
	ErrTooLong = errors.New("too long for the model")
	// ErrRefused reports a model or server that refuses to answer this.
	ErrRefused = errors.New("the model refuses to answer")
	// ErrAbsurd reports an answer that is not in the form that was asked for.
	ErrAbsurd = errors.New("the model's answer makes no sense")
	// ErrLimit reports that the call could exceed the daily limit; nothing was
	// sent.
	ErrLimit = errors.New("the daily limit for models is reached")
)

// A CallError is a failed call: one of the errors above, and whose it is.
type CallError struct {
	Kind   error
	Model  string
	Host   string
	Status int    // of HTTP, 0 without an answer
	Detail string // what the server said, shortened, without the key
	hint   string
	// spent says that the model may have been at work: it may be charged for.
	spent bool
}

func (e *CallError) Error() string {
	text := fmt.Sprintf("model %q at %s: %v", e.Model, e.Host, e.Kind)
	if e.Status != 0 {
		text += fmt.Sprintf(" (%d)", e.Status)
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// Unwrap makes errors.Is find the kind.
func (e *CallError) Unwrap() error { return e.Kind }

// Hint names the next step, "" when there is none.
func (e *CallError) Hint() string { return e.hint }

// A Secret is a key that no formatting shows.
type Secret string

const hidden = "[key]"

func (s Secret) String() string { return hidden }

// Format keeps every verb from showing it, wrong ones too.
func (s Secret) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, hidden) } // fmt notices by itself

// MarshalText keeps encoders from writing it.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

const (
	maxDetail = 300 // characters of what a server says
	minLeak   = 8   // that many characters of a key in a row are a leak
)

// tell makes what a server said fit for a terminal: one line, short, without
// control characters and without any part of the key.
func (s Secret) tell(text string) string {
	key := string(s)
	for i := 0; i+minLeak <= len(key); i++ {
		n := minLeak
		for i+n < len(key) && strings.Contains(text, key[i:i+n+1]) {
			n++
		}
		text = strings.ReplaceAll(text, key[i:i+n], hidden)
	}
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "�"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	}), " ")
	if r := []rune(text); len(r) > maxDetail {
		text = string(r[:maxDetail]) + "…"
	}
	return text
}
