package llm

import (
	"fmt"
	"slices"
	"time"

	"stet/vault/settings"
)

// A Slot is a use that a model can be configured for.
type Slot string

// The slots. Auxiliary falls back to Chat. Curator falls back to nothing: what
// works in the background must have been asked for.
const (
	Chat      Slot = "chat"
	Auxiliary Slot = "auxiliary"
	Curator   Slot = "curator"
)

// Slots lists them.
func Slots() []Slot { return []Slot{Chat, Auxiliary, Curator} }

// FromSettings reads what is configured for a slot, and for which slot it was
// written down. It fails with [ErrNoModel], [ErrSetup], or [ErrKey] where the
// variable of the key is not set. A provider's usual variable counts only at
// the provider's own address: a key goes to no other host unless the person
// names both.
func FromSettings(s settings.Settings, slot Slot, getenv func(string) string) (Options, Slot, error) {
	keys := settings.Model(string(slot))
	o := Options{Provider: s.Text(keys.Provider), Model: s.Text(keys.Model), BaseURL: s.Text(keys.BaseURL), Mode: s.Text(keys.Mode), Price: s.Text(keys.Price)}
	if o.Model == "" {
		switch {
		case o.Provider != "" || o.BaseURL != "":
			return o, slot, &setupError{fmt.Sprintf("%s is not set", keys.Model), ErrSetup, fmt.Sprintf("stet config set %s NAME", keys.Model)}
		case slot == Auxiliary:
			return FromSettings(s, Chat, getenv)
		}
		return o, slot, &setupError{fmt.Sprintf("%s is not set", keys.Model), ErrNoModel, fmt.Sprintf("for example: stet config set %s ollama; stet config set %s NAME", keys.Provider, keys.Model)}
	}
	if s.Mixed(keys.Provider, keys.BaseURL, keys.KeyEnv) {
		return o, slot, &setupError{fmt.Sprintf("%s, %s and %s come from the environment in part", keys.Provider,
			keys.BaseURL, keys.KeyEnv), ErrSetup, "set all of them in your own file, or all in the environment"}
	}
	p, ok := provider(o.Provider)
	if !ok {
		return o, slot, &setupError{fmt.Sprintf("%s is %q", keys.Provider, o.Provider), ErrSetup, ""}
	}
	o.Timeouts.FirstByte = s.Duration(keys.Timeout)
	if o.Timeouts.FirstByte <= 0 {
		o.Timeouts.FirstByte = time.Nanosecond // zero would be the default
	}
	name := s.Text(keys.KeyEnv)
	if name == "" && (o.BaseURL == "" || o.BaseURL == p.BaseURL) {
		name = p.KeyEnv
	}
	if name == "" {
		return o, slot, nil
	}
	if o.Key = Secret(getenv(name)); o.Key == "" {
		return o, slot, &setupError{fmt.Sprintf("the variable %s holds no key for models.%s", name, slot), ErrKey, "set it in the environment; another variable can be named by " + string(keys.KeyEnv)}
	}
	return o, slot, nil
}

// A setupError says which key is wrong, and what to set.
type setupError struct {
	text string
	kind error
	hint string
}

func (e *setupError) Error() string { return e.kind.Error() + ": " + e.text }
func (e *setupError) Unwrap() error { return e.kind }
func (e *setupError) Hint() string  { return e.hint }

// Configured lists the slots that have a model of their own.
func Configured(s settings.Settings) []Slot {
	return slices.DeleteFunc(Slots(), func(slot Slot) bool { return s.Text(settings.Model(string(slot)).Model) == "" })
}
