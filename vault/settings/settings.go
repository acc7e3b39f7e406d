// Package settings knows every configuration key of stet, who may set it, and
// what it is when several places say different things.
//
// It promises that a value is what the nearest of these says: a flag, the
// environment, the vault's file, the person's own file, the built-in default;
// of keys that guard something, the strictest of them, where the default counts
// unless the person's file says otherwise; and that the environment of an agent's command has no more write or publish,
// or ask a model, than the files do. It promises that a vault's file, which whoever made the vault wrote, decides
// nothing but the keys that [Key.Vault] opens to it; and that editing a file
// changes the bytes of one key and no other.
//
//	user, problems, err := settings.Read(settings.User, "config.yaml", data)
//	all := settings.Resolve(user, vaultFile)
//	wait := all.Duration(settings.LockWait)
package settings

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Source is a place that can set a key.
type Source string

// The sources, nearest first.
const (
	Flag        Source = "flag"
	Environment Source = "environment"
	Vault       Source = "vault"
	User        Source = "user"
	Default     Source = "default"
)

func (s Source) rank() int {
	return slices.Index([]Source{Flag, Environment, Vault, User, Default}, s)
}

// A Layer is what one source says.
type Layer struct {
	Source Source
	values map[Name]setting
	agent  bool
}

// OfAgent returns the layer of the environment as it counts in a command that an agent runs: see [Key.Agents].
func (l Layer) OfAgent() Layer {
	l.agent = true
	return l
}

type setting struct {
	value  string
	origin string
}

// With returns the layer with one more value, in canonical form already, and
// where it stands.
func (l Layer) With(name Name, value, origin string) Layer {
	next := Layer{Source: l.Source, values: map[Name]setting{}, agent: l.agent}
	for k, v := range l.values {
		next.values[k] = v
	}
	next.values[name] = setting{value, origin}
	return next
}

// FromEnvironment reads the variables of all keys; an empty one is not set. The
// error is a [Problem].
func FromEnvironment(getenv func(string) string) (Layer, error) {
	l := Layer{Source: Environment, values: map[Name]setting{}}
	for _, k := range Keys() {
		text := getenv(k.Env())
		if text == "" {
			continue
		}
		value, err := k.Parse(text)
		if err != nil {
			return l, Problem{Kind: BadValue, Key: string(k.Name), Origin: k.Env(), Detail: err.Error()}
		}
		l.values[k.Name] = setting{value, k.Env()}
	}
	return l, nil
}

// Settings is the outcome of all sources. The zero value holds the defaults.
type Settings struct{ layers []Layer }

// Resolve puts layers in order of their sources, whatever order they come in.
func Resolve(layers ...Layer) Settings {
	s := Settings{layers: slices.Clone(layers)}
	slices.SortStableFunc(s.layers, func(a, b Layer) int { return cmp.Compare(a.Source.rank(), b.Source.rank()) })
	return s
}

// An Entry is one key with its value in force.
type Entry struct {
	Key    Key
	Value  string
	Source Source
	Origin string // "path:line" or a variable's name; "" for flag and default
}

// Entry says what a key is and who said so.
func (s Settings) Entry(k Key) Entry {
	e := Entry{Key: k, Value: k.Default, Source: Default}
	for _, l := range slices.Backward(s.layers) {
		v, ok := l.values[k.Name]
		tightens := l.Source == Vault || l.Source == Environment
		if !ok || l.Source == Vault && !k.Vault || k.Stricter && tightens && !k.Type.stricter(v.value, e.Value) ||
			l.agent && !k.Agents.lets(v.value, e.Value) {
			continue
		}
		e = Entry{Key: k, Value: v.value, Source: l.Source, Origin: v.origin}
	}
	return e
}

// Mixed reports whether some of these keys are set by the environment and others by a file: an
// address of the one must not get a secret of the other.
func (s Settings) Mixed(names ...Name) bool {
	from := map[bool]bool{}
	for _, n := range names {
		if e := s.Entry(n.key()); e.Source != Default {
			from[e.Source == Environment] = true
		}
	}
	return len(from) > 1
}

// Entries lists every key in the order of [Keys].
func (s Settings) Entries() []Entry {
	var out []Entry
	for _, k := range Keys() {
		out = append(out, s.Entry(k))
	}
	return out
}

// Of is the value of a key, and who said so.
func (s Settings) Of(name Name) Entry { return s.Entry(name.key()) }

// Text is the value in canonical form.
func (s Settings) Text(name Name) string { return s.Of(name).Value }

// Bool is the value of a key of type boolean.
func (s Settings) Bool(name Name) bool { return s.Text(name) == "true" }

// Int is the value of a key of type number.
func (s Settings) Int(name Name) int {
	n, _ := strconv.Atoi(s.Text(name)) // checked when it was read
	return n
}

// List is the value of a key of type list.
func (s Settings) List(name Name) []string {
	text := s.Text(name)
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// Bytes is the value of a key of type size.
func (s Settings) Bytes(name Name) int64 {
	n, _ := bytesOf(s.Text(name)) // checked when it was read
	return n
}

// Duration is the value of a key of type duration.
func (s Settings) Duration(name Name) time.Duration {
	d, _ := time.ParseDuration(s.Text(name)) // checked when it was read
	return d
}

// permission is a boolean of which false is the stricter one.
func permission() Type {
	t := boolean()
	t.stricter = func(a, b string) bool { return a == "false" && b != "false" }
	return t
}
