package install

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"stet/agent/clients"
)

// server is what we are called among the servers of a client.
const server = "stet"

// Tools may be called unasked: those that only read, and the one that saves what can be taken back.
func Tools() []string {
	return []string{"memory_search", "memory_read", "session_search", "memory_save"}
}

// Options say for whom and where.
type Options struct {
	Client  clients.Client
	Project string // folder; "" is the user's own files
	Getenv  func(string) string
	Binary  string // absolute
	// MCPOnly leaves out the hooks and the skill, Ask the list of tools that may be called unasked.
	MCPOnly, Ask bool
}

// A Target is one file with what stands in it because of us. Of a skill it is the whole Text.
type Target struct {
	Path string
	File
	Want []Entry
	Text []byte
	// AddBy and RemoveBy are commands of the client that do it in our place, where it can be started.
	AddBy, RemoveBy []string
	Shared          bool // other clients read it as well
}

// Targets are the files of a client, each once.
func (o Options) Targets() ([]Target, error) {
	var out []Target
	c := o.Client
	places := []place{{c.Server, []string{""}, ownsServer}}
	if !o.Ask && c.Allow.Entry != nil {
		places = append(places, place{c.Allow, Tools(), nil})
	}
	if !o.MCPOnly && c.Hooks.Entry != nil {
		var events []string
		for _, e := range c.Events {
			events = append(events, e.Name)
		}
		places = append(places, place{c.Hooks, events, ownsHook})
	}
	for _, p := range places {
		if err := o.target(&out, p); err != nil {
			return nil, err
		}
	}
	if o.MCPOnly {
		return out, nil
	}
	for _, s := range c.Skills {
		path, err := o.path(s)
		if err != nil {
			return nil, err
		}
		out = append(out, Target{Path: filepath.Join(path, "stet", "SKILL.md"), Text: Skill(),
			Shared: strings.HasPrefix(s.User, "~/.agents/")})
	}
	return out, nil
}

// Edit is the file as it shall be, nil of none. What is there already stays as it is; what starts another binary
// of ours is replaced.
func (t Target) Edit(data []byte) ([]byte, error) {
	if t.Text != nil {
		if data == nil || OwnsSkill(data) || bytes.Equal(data, t.Text) {
			return t.Text, nil
		}
		return nil, fmt.Errorf("somebody else wrote or edited it: %w", ErrUneditable)
	}
	found, err := t.Entries(data)
	if err != nil || slices.Equal(starts(found), starts(t.Want)) {
		return data, err
	}
	if data, err = t.Remove(data); err != nil {
		return nil, err
	}
	return t.Add(data, t.Want)
}

// Clear is the file without us, nil of none. A skill that somebody edited stays.
func (t Target) Clear(data []byte) ([]byte, error) {
	if t.Text == nil {
		return t.Remove(data)
	}
	if OwnsSkill(data) || bytes.Equal(data, t.Text) {
		return nil, nil
	}
	return data, nil
}

// starts is where each entry stands and what it starts or names, in order of the text.
func starts(entries []Entry) (out []string) {
	for _, e := range entries {
		raw, err := json.Marshal(plain(e.Value))
		var v any
		if err == nil {
			err = json.Unmarshal(raw, &v)
		}
		what := string(raw)
		if commands := commandsOf(v); len(commands) > 0 && err == nil {
			what = fmt.Sprintf("%q", commands)
		}
		out = append(out, fmt.Sprintf("%q %q %s", e.Keys, e.Name, what))
	}
	slices.Sort(out)
	return out
}

// plain is a value without the order of its keys.
func plain(v any) any {
	switch v := v.(type) {
	case Map:
		out := map[string]any{}
		for _, m := range v {
			out[m.Key] = plain(m.Value)
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, plain(item))
		}
		return out
	}
	return v
}

// Binaries are the programs of ours that the file has a client start, and Hooks how many of its hooks do.
func (t Target) Binaries(data []byte) (binaries []string, hooks int, err error) {
	found, err := t.Entries(data)
	for _, e := range found {
		for _, c := range commandsOf(e.Value) {
			binaries = append(binaries, c[0])
			if c[1] == "hook" {
				hooks++
			}
		}
	}
	slices.Sort(binaries)
	return slices.Compact(binaries), hooks, err
}

// Off are the keys that are true at the top of a file of JSON.
func Off(data []byte, keys []string) (out []string) {
	for _, k := range keys {
		f := File{Format: JSON, Places: []Place{{nil, func(name string, v any) bool { return name == k && v == true }}}}
		if found, err := f.Entries(data); err == nil && len(found) > 0 {
			out = append(out, k)
		}
	}
	return out
}

// A place is a place of a client with what is put there: an entry for each of the names.
type place struct {
	clients.Place
	names []string
	owns  func(string, any) bool
}

func (o Options) target(out *[]Target, p place) error {
	path, err := o.path(p.Place)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(*out, func(t Target) bool { return t.Path == path })
	if i < 0 {
		i = len(*out)
		t := Target{Path: path, File: File{Format: Format(p.Format)}}
		if p.Head != nil {
			t.Head, _ = value(p.Head, nil).(Map)
		}
		if o.Project == "" {
			t.AddBy, t.RemoveBy = filled(p.Add, o.Binary), filled(p.Remove, o.Binary)
		}
		*out = append(*out, t)
	}
	t := &(*out)[i]
	var want []Entry
	for _, name := range p.names {
		fill := map[string]any{"$binary": o.Binary, "$tool": name,
			"$command": Quote(o.Binary, "hook", o.Client.Name, name)}
		if e, ok := o.Client.Event(name); ok {
			fill["$timeout"] = e.Timeout
		}
		entry := Entry{Keys: p.At, Name: strings.ReplaceAll(p.Name, "$tool", name), Value: value(p.Entry, fill)}
		if p.Name == "" && fill["$timeout"] != nil {
			entry.Keys = append(slices.Clone(p.At), name)
		}
		want = append(want, entry)
	}
	t.Want, t.Places = append(t.Want, want...), append(t.Places, p.owned(want)...)
	return nil
}

// owned is where entries of a place stand, those of other versions of us as well.
func (p place) owned(entries []Entry) []Place {
	switch {
	case p.owns == nil:
		var ours []any
		for _, e := range entries {
			ours = append(ours, e.Value)
		}
		return []Place{{p.At, func(name string, v any) bool {
			if p.Name != "" {
				return slices.Contains(Tools(), name)
			}
			return slices.Contains(ours, v)
		}}}
	case p.Name != "":
		return []Place{{p.At, p.owns}}
	}
	events := append(slices.Clone(p.At), "*")
	return []Place{{events, p.owns}, {append(slices.Clone(events), "*", "hooks"), p.owns}}
}

// path is where a place is.
func (o Options) path(p clients.Place) (string, error) {
	if o.Project != "" {
		if p.Project == "" {
			return "", fmt.Errorf("%s has no files of a project", o.Client.Title)
		}
		return filepath.Join(o.Project, filepath.FromSlash(p.Project)), nil
	}
	if dir := o.Getenv(p.Home); p.Home != "" && dir != "" {
		return filepath.Join(dir, filepath.Base(p.User)), nil
	}
	rest, home := strings.CutPrefix(p.User, "~/")
	if !home || o.Getenv("HOME") == "" {
		return "", fmt.Errorf("%q: there is no home folder: HOME is not set", p.User)
	}
	return filepath.Join(o.Getenv("HOME"), filepath.FromSlash(rest)), nil
}

func filled(words []string, binary string) (out []string) {
	for _, w := range words {
		out = append(out, strings.ReplaceAll(w, "$binary", binary))
	}
	return out
}

// value is JSON of the table with what its holes stand for, in the order of its keys.
func value(raw json.RawMessage, fill map[string]any) any {
	v, err := hujson.Parse(raw)
	if err != nil {
		return nil // a test reads the table
	}
	return ordered(&v, fill)
}

func ordered(v *hujson.Value, fill map[string]any) any {
	switch c := v.Value.(type) {
	case *hujson.Object:
		out := Map{}
		for i := range c.Members {
			m := &c.Members[i]
			out = append(out, Member{m.Name.Value.(hujson.Literal).String(), ordered(&m.Value, fill)})
		}
		return out
	case *hujson.Array:
		out := []any{}
		for i := range c.Elements {
			out = append(out, ordered(&c.Elements[i], fill))
		}
		return out
	}
	l := v.Value.(hujson.Literal)
	if l.Kind() != '"' {
		var plain any
		if json.Unmarshal(l, &plain) != nil {
			return nil
		}
		return plain
	}
	text := l.String()
	if whole, ok := fill[text]; ok {
		return whole
	}
	if tool, ok := fill["$tool"].(string); ok {
		text = strings.ReplaceAll(text, "$tool", tool)
	}
	return text
}
