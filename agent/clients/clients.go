// Package clients is the one table of the agent programs that stet works with: what their hooks are called, what
// they are given and take, where their configuration stands. Readers, writers, installers and docs/AGENTS.md are
// made from it, so that a new version of a program is a row.
package clients

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

//go:embed clients.json
var table []byte

// A Client is one program.
type Client struct {
	Name  string `json:"name"` // as its conversations are imported, and who their agent is
	Title string `json:"title"`
	// Version was looked at on Date (YYYY-MM-DD), by Source.
	Version string `json:"version"`
	Date    string `json:"date"`
	Source  string `json:"source"`
	// Chars of one output reach the model whole; a longer one becomes a file.
	Chars  int    `json:"chars"`
	Fields Fields `json:"fields"` // of every event
	// Written is the key by which lines of a conversation's file name the version of the program, "" for none.
	Written string   `json:"written"`
	Hooks   Location `json:"hooks"`
	Events  []Event  `json:"events"`
	Server  Location `json:"server"` // of the Model Context Protocol
	// Allow is where tools are named that may be called unasked, an entry each; "$tool" is its name.
	Allow  Location   `json:"allow"`
	Skills []Location `json:"skills"` // folders
	// Print is set where nothing is written: the program rewrites its file, or has it at no known path.
	Print bool `json:"print"`
	// Off are the keys of the files OffIn that keep hooks from being run.
	Off   []string   `json:"off"`
	OffIn []Location `json:"offIn"`
	Then  []string   `json:"then"` // what is left to the person
}

// Fields say where an event has what: our name of a field to the path of theirs, dots between keys.
type Fields map[string]string

// A Location is a file of the program, and where in it an entry of stet stands.
type Location struct {
	User    string   `json:"user"`    // file; ~/ is the home folder
	Home    string   `json:"home"`    // variable that names another folder for the one User lies in
	Project string   `json:"project"` // file, seen from the project; "" where it has none
	Format  string   `json:"format"`  // json, toml, yaml
	At      []string `json:"at"`      // keys above the name of the event, or of the entry
	Name    string   `json:"name"`    // of the entry, "" for an item of a list
	// Entry holds "$command" and "$timeout" of a hook, "$binary" or "$tool".
	Entry json.RawMessage `json:"entry"`
	Head  json.RawMessage `json:"head"` // keys that a new file begins with
	// Add and Remove are commands of the program that do it for the user's own file.
	Add    []string `json:"add"`
	Remove []string `json:"remove"`
}

// An Event is one that the program sends to its hooks.
type Event struct {
	Name    string         `json:"name"`
	Event   string         `json:"event"`   // ours
	Timeout int            `json:"timeout"` // seconds that a hook is given
	Fields  Fields         `json:"fields"`  // beside those of the client, or instead of them
	Says    map[string]Way `json:"says"`    // by what it does; see [Context] and [Block]
	// Takes are all fields that an output may have: path to boolean, string or "=" and the one value; nil where
	// the program takes no output.
	Takes map[string]string `json:"takes"`
}

// What an output does with a text: it is put before the model, or it is and the turn goes on.
const (
	Context = "context"
	Block   = "block"
)

// A Way is how an output says a text.
type Way struct {
	Since  string          `json:"since"`  // version that takes it, "" for all
	Output json.RawMessage `json:"output"` // holds "$text"
}

// All lists the clients, in the order of a list for people.
var All = sync.OnceValue(func() []Client {
	var out []Client
	if err := json.Unmarshal(table, &out); err != nil {
		panic("clients.json: " + err.Error()) // a test reads it
	}
	return out
})

// Names are those of all clients, in their order. Every start of the command needs them, and few the table.
func Names() []string {
	return []string{"claude-code", "codex", "cursor", "hermes", "vscode", "opencode", "claude-desktop"}
}

// Find is the client of that name.
func Find(name string) (Client, bool) {
	i := slices.IndexFunc(All(), func(c Client) bool { return c.Name == name })
	if i < 0 {
		return Client{}, false
	}
	return All()[i], true
}

// Event is the client's event of that name.
func (c Client) Event(name string) (Event, bool) {
	i := slices.IndexFunc(c.Events, func(e Event) bool { return e.Name == name })
	if i < 0 {
		return Event{}, false
	}
	return c.Events[i], true
}

// Kind is the client's event that is the one of ours of that name.
func (c Client) Kind(ours string) (Event, bool) {
	i := slices.IndexFunc(c.Events, func(e Event) bool { return e.Event == ours })
	if i < 0 {
		return Event{}, false
	}
	return c.Events[i], true
}

// Check fails where the program would refuse an output.
func (e Event) Check(output []byte) error {
	var v map[string]any
	if err := json.Unmarshal(output, &v); err != nil {
		return fmt.Errorf("output of %s: %w", e.Name, err)
	}
	return e.check("", v)
}

func (e Event) check(at string, v map[string]any) error {
	for key, value := range v {
		path := at + key
		if inner, ok := value.(map[string]any); ok {
			if err := e.check(path+".", inner); err != nil {
				return err
			}
			continue
		}
		want, known := e.Takes[path]
		ok := false
		switch is := value.(type) {
		case bool:
			ok = want == "boolean"
		case string:
			ok = want == "string" || want == "="+is
		}
		if !known || !ok {
			return fmt.Errorf("output of %s: it takes no %s %v", e.Name, path, value)
		}
	}
	return nil
}
