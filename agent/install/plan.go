package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"stet/agent/clients"
	"stet/templates"
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
	// MCPOnly wants no hooks and no skill, Ask no tools that may be called unasked, Gone nothing at all.
	MCPOnly, Ask, Gone bool
}

// A Target is one file with what shall stand in it because of us. Of a skill it is the whole Text.
type Target struct {
	Path string
	File
	Want []Entry
	Text []byte
	Gone bool // the Text shall not be there
	// AddBy and RemoveBy are commands of the client that do it for us, where it can be started.
	AddBy, RemoveBy []string
	Shared          bool // other clients read it as well
	binary          string
}

// Wanted reports whether anything of ours shall stand there.
func (t Target) Wanted() bool { return len(t.Want) > 0 || t.Text != nil && !t.Gone }

// Targets are the files of a client, each once, those as well in which nothing of ours shall stand.
func (o Options) Targets() ([]Target, error) {
	var out []Target
	c := o.Client
	sections := []section{{c.Server, []string{""}, ownsServer, !o.Gone}}
	if c.Allow.Entry != nil {
		sections = append(sections, section{c.Allow, Tools(), nil, !o.Gone && !o.Ask})
	}
	if c.Hooks.Entry != nil {
		var events []string
		for _, e := range c.Events {
			events = append(events, e.Name)
		}
		sections = append(sections, section{c.Hooks, events, ownsHook, !o.Gone && !o.MCPOnly})
	}
	for _, s := range sections {
		if err := o.target(&out, s); err != nil {
			return nil, err
		}
	}
	for _, s := range c.Skills {
		path, err := o.Path(s)
		if err != nil {
			return nil, err
		}
		out = append(out, Target{Path: filepath.Join(path, "stet", "SKILL.md"), Text: Skill(),
			Gone: o.Gone || o.MCPOnly, Shared: strings.HasPrefix(s.User, "~/.agents/")})
	}
	return out, nil
}

// A Record says what we know of our entries in a file: of each, by what it is called, how it stood there before we
// came, "" of one that we added. nil knows nothing.
type Record map[string]string

// whole is what the text of a skill is called in a [Record].
const whole = "text"

// A Change is what becomes of a file.
type Change struct {
	Data   []byte // nil is no file
	Record Record // from then on
	By     []string
	// Kept are entries that are not wanted and stay, for nothing shows that we added them. Out are those that are
	// wanted and that somebody took out after they were there. Foreign is a skill that somebody wrote or edited.
	Kept, Out []string
	Foreign   bool
}

// Edit is the file as it shall be. What is wanted and there stays as it is, but for the path of the binary. What is
// not wanted is taken out where the record says that we added it, or, without a record, where it starts us. It fails as
// [File.Add] and [File.Remove] do.
func (t Target) Edit(data []byte, rec Record) (c Change, err error) {
	if t.Text != nil {
		return t.edited(data, rec), nil
	}
	c.Record = Record{}
	c.Data, err = keepBOM(data, func(data []byte) ([]byte, error) {
		found, err := t.ours(data)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			rec = nil // all of it was taken out, by whomever
		}
		gone := map[string]bool{}
		for _, h := range found {
			was, known := rec[h.id]
			ours := known && was == "" || rec == nil && startOf(h.Value) != nil
			if gone[h.id] = ours && !t.wants(h.id); gone[h.id] && h.id == server {
				c.By = t.RemoveBy
			}
		}
		if data, err = t.only(func(id string) bool { return gone[id] }).Remove(data); err != nil {
			return nil, err
		}
		if data, err = t.settle(data, rec, &c); err != nil {
			return nil, err
		}
		var add []Entry
		for _, e := range t.Want {
			if _, there := c.Record[e.id]; there {
				continue
			}
			if was, known := rec[e.id]; known {
				c.Out, c.Record[e.id] = append(c.Out, e.id), was
				continue
			}
			if add, c.Record[e.id] = append(add, e), ""; e.id == server {
				c.By = t.AddBy
			}
		}
		return t.Add(data, add)
	})
	return c, err
}

func (t Target) wants(id string) bool {
	return slices.ContainsFunc(t.Want, func(e Entry) bool { return e.id == id })
}

// settle has each entry that stays start the binary, and puts back what it started where it is not wanted.
func (t Target) settle(data []byte, rec Record, c *Change) ([]byte, error) {
	found, err := t.ours(data)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b hit) int { return b.start - a.start }) // so that offsets before it stay
	for _, h := range found {
		command, is, wanted := startOf(h.Value), h.id, t.wants(h.id)
		if h.command != nil {
			is = string(data[h.command[0]:h.command[1]])
		}
		was, known := rec[h.id]
		if !known {
			was = is
		}
		if c.Record[h.id] = was; !wanted {
			c.Kept = append(c.Kept, h.id)
		}
		next := is
		if command != nil && wanted && filepath.IsAbs(command[0]) && command[0] != t.binary {
			text, _ := h.Value.(map[string]any)["command"].(string)
			next = flowText(moved(text, command, t.binary))
		} else if command != nil && !wanted && command[0] == t.binary {
			next = was
		}
		if next == is {
			continue
		}
		if h.command == nil {
			return nil, ErrUneditable
		}
		data = slices.Concat(data[:h.command[0]], []byte(next), data[h.command[1]:])
	}
	slices.Reverse(c.Kept)
	after, err := t.ours(data)
	if err != nil || len(after) != len(found) {
		return nil, errors.Join(ErrUneditable, err)
	}
	return data, nil
}

// edited is [Target.Edit] of a skill.
func (t Target) edited(data []byte, rec Record) Change {
	was, known := rec[whole]
	stood := known && was != "" && data != nil
	switch {
	case data != nil && !OwnsSkill(data) && !bytes.Equal(data, t.Text):
		return Change{Data: data, Record: rec, Foreign: true}
	case t.Gone && stood:
		return Change{Data: []byte(was), Record: rec, Kept: []string{"the skill"}}
	case t.Gone:
		return Change{}
	case !known:
		was = string(data)
	case !stood:
		was = ""
	}
	return Change{Data: t.Text, Record: Record{whole: was}}
}

// Look says which programs of ours the file has a client start, how many of its hooks do, and how many hooks are
// wanted, not there, and not known to have been taken out.
func (t Target) Look(data []byte, rec Record) (binaries []string, hooks, missing int, err error) {
	found, err := t.ours(bytes.TrimPrefix(data, []byte(bom)))
	there := map[string]bool{}
	for _, h := range found {
		there[h.id] = true
		if c := startOf(h.Value); c != nil {
			binaries = append(binaries, c[0])
			if c[1] == "hook" {
				hooks++
			}
		}
	}
	for _, e := range t.Want {
		if _, known := rec[e.id]; !known && !there[e.id] && strings.HasPrefix(e.id, "hook ") {
			missing++
		}
	}
	slices.Sort(binaries)
	return slices.Compact(binaries), hooks, missing, err
}

// Off are the keys that are true at the top of a file of JSON.
func Off(data []byte, keys []string) (out []string) {
	for _, k := range keys {
		is := func(name string, v any) bool { return name == k && v == true }
		f := File{Format: JSON, Selectors: []Selector{{nil, is}}}
		if found, err := f.ours(data); err == nil && len(found) > 0 {
			out = append(out, k)
		}
	}
	return out
}

// A section is a location with what is put there: an entry for each of the names.
type section struct {
	clients.Location
	names []string
	owns  func(string, any) bool
	want  bool
}

func (o Options) target(out *[]Target, s section) error {
	path, err := o.Path(s.Location)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(*out, func(t Target) bool { return t.Path == path })
	if i < 0 {
		i = len(*out)
		t := Target{Path: path, File: File{Format: Format(s.Format)}, binary: o.Binary}
		if s.Head != nil {
			t.Head, _ = value(s.Head, nil).(Map)
		}
		if o.Project == "" {
			t.AddBy, t.RemoveBy = filled(s.Add, o.Binary), filled(s.Remove, o.Binary)
		}
		*out = append(*out, t)
	}
	t := &(*out)[i]
	var entries []Entry
	for _, name := range s.names {
		fill := map[string]any{"$binary": o.Binary, "$tool": name,
			"$command": templates.ShellLine(o.Binary, "hook", o.Client.Name, name)}
		entry := Entry{Keys: s.At, Name: strings.ReplaceAll(s.Name, "$tool", name)}
		if e, ok := o.Client.Event(name); ok {
			fill["$timeout"] = e.Timeout
			entry.id = "hook " + o.Client.Name + " " + name
			if s.Name == "" {
				entry.Keys = append(slices.Clone(s.At), name)
			}
		}
		entry.Value = value(s.Entry, fill)
		if entry.id == "" {
			entry.id = idOf(entry.Name, entry.Value)
		}
		entries = append(entries, entry)
	}
	if t.Selectors = append(t.Selectors, s.owned(entries)...); s.want {
		t.Want = append(t.Want, entries...)
	}
	return nil
}

// owned selects the entries of a section, those of other versions of us as well.
func (s section) owned(entries []Entry) []Selector {
	switch {
	case s.owns == nil:
		return []Selector{{s.At, func(name string, v any) bool {
			return slices.ContainsFunc(entries, func(e Entry) bool { return e.id == idOf(name, v) })
		}}}
	case s.Name != "":
		return []Selector{{s.At, s.owns}}
	}
	events := append(slices.Clone(s.At), "*")
	return []Selector{{events, s.owns}, {append(slices.Clone(events), "*", "hooks"), s.owns}}
}

// Path is the path of a location. Where nothing is written it may be what says so to the user.
func (o Options) Path(l clients.Location) (string, error) {
	rest, home := strings.CutPrefix(l.User, "~/")
	dir := o.Getenv("HOME")
	switch {
	case o.Project != "" && l.Project != "":
		return filepath.Join(o.Project, filepath.FromSlash(l.Project)), nil
	case o.Project != "" && !o.Client.Print:
		return "", fmt.Errorf("%s has no files of a project", o.Client.Title)
	case l.Home != "" && o.Getenv(l.Home) != "":
		return filepath.Join(o.Getenv(l.Home), filepath.Base(l.User)), nil
	case home && dir != "":
		return filepath.Join(dir, filepath.FromSlash(rest)), nil
	case home && !o.Client.Print:
		return "", fmt.Errorf("%q: there is no home folder: HOME is not set", l.User)
	}
	return l.User, nil
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
