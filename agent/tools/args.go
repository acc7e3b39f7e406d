package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"stet/agent"
)

// A kind is what an argument may be, in the words of JSON Schema.
type kind string

const (
	text    kind = "string"
	number  kind = "number"
	integer kind = "integer" // not negative
	boolean kind = "boolean"
	words   kind = "array" // of strings
	objects kind = "objects"
)

// A param is one argument of a tool.
type param struct {
	name     string
	kind     kind
	about    string // for the model, where the name does not say it
	required bool
	subject  bool     // a call is about what it says
	enum     []string // all that it may say
	of       []param  // of objects
}

// schema is the JSON Schema of the arguments.
func (t tool) schema() json.RawMessage {
	data, err := json.Marshal(schema(t.params))
	if err != nil {
		panic(fmt.Sprintf("tools: schema of %s: %v", t.name, err)) // the table is ours
	}
	return data
}

func schema(params []param) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, p := range params {
		one := map[string]any{"type": p.kind}
		if p.about != "" {
			one["description"] = p.about
		}
		switch {
		case p.kind == words:
			one["items"] = map[string]any{"type": text}
		case p.kind == objects:
			one["type"], one["items"] = "array", map[string]any{"type": "object"} // their arguments stand beside it
		case p.enum != nil:
			one["enum"] = p.enum
		}
		properties[p.name] = one
		if p.required {
			required = append(required, p.name)
		}
	}
	out := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

// arguments are what a call was given: strings, float64s, bools, []string and []arguments.
type arguments map[string]any

func (in arguments) text(name string) string          { s, _ := in[name].(string); return s }
func (in arguments) flag(name string) bool            { b, _ := in[name].(bool); return b }
func (in arguments) words(name string) []string       { w, _ := in[name].([]string); return w }
func (in arguments) objects(name string) []arguments  { o, _ := in[name].([]arguments); return o }
func (in arguments) whole(name string, unset int) int { return int(in.number(name, float64(unset))) }

func (in arguments) number(name string, unset float64) float64 {
	if f, ok := in[name].(float64); ok {
		return f
	}
	return unset
}

// pointer is a text that may be absent, which "" does not say.
func (in arguments) pointer(name string) *string {
	if s, ok := in[name].(string); ok {
		return &s
	}
	return nil
}

// about is what the call is about: two calls that differ elsewhere try the same thing.
func (in arguments) about(params []param) string {
	about, some := arguments{}, false
	for _, p := range params {
		if v, ok := in[p.name]; ok && p.subject {
			about[p.name], some = v, some || p.enum == nil
		}
	}
	if !some {
		about = in
	}
	data, err := json.Marshal(about)
	if err != nil {
		return ""
	}
	return string(data)
}

// only fails where the call has an argument that does not go with what it asks for.
func (in arguments) only(what string, takes ...string) error {
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if !slices.Contains(takes, name) {
			return agent.Usagef("%s takes no %s", what, name).Suggest("it takes %s", strings.Join(takes, ", "))
		}
	}
	return nil
}

// maxArguments is the largest call in bytes: more text than any tool stores.
const maxArguments = 4 << 20

// read reads one JSON object by the rule of the package. where is the place of the object in the call,
// "" for the call itself. It fails with [agent.ErrUsage].
func read(raw []byte, params []param, where string) (arguments, error) {
	if len(raw) > maxArguments {
		return nil, agent.Usagef("the arguments have %d bytes, at most %d", len(raw), maxArguments)
	}
	fields, err := members(raw, where)
	if err != nil {
		return nil, err
	}
	in := arguments{}
	for _, f := range fields {
		named := func(p param) bool { return p.name == f.name }
		if !slices.ContainsFunc(params, named) && alias(f.name) != "" {
			f.name = alias(f.name)
		}
		i := slices.IndexFunc(params, named)
		switch _, twice := in[f.name]; {
		case i < 0:
			return nil, unknown(where+f.name, f.name, params)
		case twice:
			return nil, agent.Usagef("%s%s stands there twice", where, f.name)
		case string(f.value) == "null":
			continue
		}
		if in[f.name], err = params[i].value(f.value, where); err != nil {
			return nil, err
		}
	}
	for _, p := range params {
		if _, given := in[p.name]; !given && p.required {
			return nil, p.advice(agent.Usagef("%s%s is missing", where, p.name))
		}
	}
	return in, nil
}

// alias is what a model means that uses the word of another memory server, "" for any other.
func alias(name string) string {
	return map[string]string{"q": "query", "content": "text", "id": "ref", "path": "ref"}[name]
}

func unknown(full, name string, params []param) error {
	var names []string
	for _, p := range params {
		names = append(names, p.name)
	}
	err := agent.Usagef("there is no argument %q", full)
	if near := agent.Nearest(name, names); near != "" {
		return err.Suggest("did you mean %s? the arguments: %s", near, strings.Join(names, ", "))
	}
	return err.Suggest("the arguments: %s", strings.Join(names, ", "))
}

type member struct {
	name  string
	value json.RawMessage
}

// members are those of one JSON object, in order; nothing at all is an object without any.
func members(raw []byte, where string) (out []member, err error) {
	if data := bytes.TrimSpace(raw); where == "" && (len(data) == 0 || string(data) == "null") {
		return nil, nil
	}
	bad := agent.Usagef("%s must be one JSON object", strings.TrimRight("the arguments "+where, ". "))
	d := json.NewDecoder(bytes.NewReader(raw))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, bad
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, bad.Suggest("%v", err)
		}
		m := member{name: name.(string)} // the decoder takes nothing else for a name
		if err := d.Decode(&m.value); err != nil {
			return nil, bad.Suggest("%v", err)
		}
		out = append(out, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, bad.Suggest("%v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, bad.Suggest("nothing may stand behind it")
	}
	return out, nil
}

// advice adds what p is, where that is said.
func (p param) advice(err *agent.UsageError) error {
	if p.about == "" {
		return err
	}
	return err.Suggest("%s: %s", p.name, p.about)
}

// value reads one argument.
func (p param) value(raw json.RawMessage, where string) (any, error) {
	wrong := func(what string) error {
		return p.advice(agent.Usagef("%s%s must be %s", where, p.name, what))
	}
	switch p.kind {
	case text:
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return nil, wrong("a string")
		}
		if p.enum != nil && !slices.Contains(p.enum, s) {
			return nil, wrong("one of " + strings.Join(p.enum, ", "))
		}
		if p.required && strings.TrimSpace(s) == "" {
			return nil, wrong("a text that is not empty")
		}
		return s, nil
	case words:
		list := []string{}
		if json.Unmarshal(unquoted(raw), &list) != nil {
			return nil, wrong(`a list of strings, as ["a", "b"]`)
		}
		return list, nil
	case objects:
		var list []json.RawMessage
		if json.Unmarshal(unquoted(raw), &list) != nil || len(list) == 0 {
			return nil, wrong("a list of objects with at least one")
		}
		var out []arguments
		for i, one := range list {
			in, err := read(one, p.of, fmt.Sprintf("%s[%d].", p.name, i))
			if err != nil {
				return nil, err
			}
			out = append(out, in)
		}
		return out, nil
	case boolean:
		var b bool
		if json.Unmarshal(unquoted(raw), &b) != nil {
			return nil, wrong("true or false")
		}
		return b, nil
	}
	var f float64
	if json.Unmarshal(unquoted(raw), &f) != nil {
		return nil, wrong("a number")
	}
	if p.kind == integer && (f != math.Trunc(f) || f < 0 || f > math.MaxInt32) {
		return nil, wrong("a whole number that is not negative")
	}
	return f, nil
}

// unquoted is the text of a string, as some models write numbers, booleans and lists; anything else as it is.
func unquoted(raw json.RawMessage) []byte {
	var s string
	if json.Unmarshal(raw, &s) != nil || s == "null" || s != strings.TrimSpace(s) {
		return raw
	}
	return []byte(s)
}
