// Package install says what stands in the files of a client so that it uses stet, and edits those files: JSON with
// or without comments, TOML and YAML, by ranges of bytes. What it was not asked to change stays as it was; an entry
// is ours by the command it starts, and a record that others keep says whether it was added; and what was added and
// taken out again leaves the bytes that were there before, or no file where there was none. It reads and writes no
// file itself.
package install

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Format is how a file is written.
type Format string

// The formats. JSON may have comments and trailing commas.
const (
	JSON Format = "json"
	TOML Format = "toml"
	YAML Format = "yaml"
)

// A Map is keys with values in order. Values are Map, []any, string and int.
type Map []Member

// A Member is one key of a Map.
type Member struct {
	Key   string
	Value any
}

// An Entry is one thing that stands in a file because of us: a member of the map that Keys lead to, or, with no
// Name, an item of the list there.
type Entry struct {
	Keys  []string
	Name  string
	Value any
	id    string // what it is called in a Record
}

// nested is the entry in the map or list it is in, and in all that it needs below the keys that are there.
func (e Entry) nested(there []string) any {
	var v any = []any{e.Value}
	if e.Name != "" {
		v = Map{{e.Name, e.Value}}
	}
	for i := len(e.Keys) - 1; i >= len(there); i-- {
		v = Map{{e.Keys[i], v}}
	}
	return v
}

// A Selector finds entries of ours: Keys lead to the maps and lists they are in ("*" is any key or index), and Owns
// says which of the items there are ours.
type Selector struct {
	Keys []string
	Owns func(name string, value any) bool
}

// A File is what is known of a file of another program. Data of it is nil where there is no file.
type File struct {
	Format    Format
	Head      Map // what a file of JSON begins with that we make
	Selectors []Selector
}

// A PositionError says what is wrong where in a file, counted from 1, the column in bytes.
type PositionError struct {
	Line, Column int
	What         string
}

func (e *PositionError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.What)
}

// ErrUneditable reports a file in a form whose bytes cannot be changed so that they could be changed back.
var ErrUneditable = errors.New("the file is written in a form that only a person can edit")

// A hit is an entry of ours in a file.
type hit struct {
	Entry
	start int // offset; of several the last is removed first
	// command is the literal, from and to, that says what it starts; nil where it starts nothing of ours.
	command []int
	// remove is the file without it and what was made for it alone, nil for no file.
	remove func() ([]byte, error)
}

// editor is what the formats have in common.
type editor interface {
	// ours are the entries of ours in the file, in order.
	ours(selectors []Selector) ([]hit, error)
	// add puts an entry in; without data, nil is no file and gets a final line end.
	add(e Entry) ([]byte, error)
}

const bom = "\ufeff"

func (f File) open(data []byte) (editor, error) {
	data = bytes.TrimPrefix(data, []byte(bom))
	switch f.Format {
	case JSON:
		return jsonFile{data, f.Head}, nil
	case TOML:
		return tomlFile{data}, nil
	case YAML:
		return yamlFile{data}, nil
	}
	return nil, fmt.Errorf("format %q: %w", f.Format, ErrUneditable)
}

// ours are the entries of ours in the file, in order, with offsets behind a byte order mark.
func (f File) ours(data []byte) ([]hit, error) {
	e, err := f.open(data)
	if err != nil {
		return nil, err
	}
	return e.ours(f.Selectors)
}

// only is the file with that alone as ours whose id the function takes.
func (f File) only(takes func(id string) bool) File {
	selectors := slices.Clone(f.Selectors)
	for i, p := range selectors {
		selectors[i].Owns = func(name string, value any) bool { return p.Owns(name, value) && takes(idOf(name, value)) }
	}
	f.Selectors = selectors
	return f
}

// Remove takes everything out that is ours, and what was made for it alone; nil is no file, before and after. It
// fails with a [PositionError] where the file is malformed.
func (f File) Remove(data []byte) ([]byte, error) {
	return keepBOM(data, func(data []byte) ([]byte, error) {
		for data != nil {
			found, err := f.ours(data)
			if err != nil || len(found) == 0 {
				return data, err
			}
			last := slices.MaxFunc(found, func(a, b hit) int { return a.start - b.start })
			if data, err = last.remove(); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
}

// Add puts entries in, in order, that are not there; nil is no file. It fails with a [PositionError] where the file
// is malformed or holds something else in their place, and with [ErrUneditable] where [File.Remove] would not give
// back what was there.
func (f File) Add(data []byte, entries []Entry) ([]byte, error) {
	was, err := f.ours(data)
	if err != nil {
		return nil, err
	}
	next, err := keepBOM(data, func(data []byte) ([]byte, error) {
		for _, entry := range entries {
			e, err := f.open(data)
			if err != nil {
				return nil, err
			}
			if data, err = e.add(entry); err != nil {
				return nil, err
			}
		}
		return data, nil
	})
	if err != nil {
		return nil, err
	}
	there, err := f.ours(next)
	if err != nil || len(there) != len(was)+len(entries) {
		return nil, errors.Join(ErrUneditable, err)
	}
	added := f.only(func(id string) bool {
		return !slices.ContainsFunc(was, func(h hit) bool { return h.id == id })
	})
	back, err := added.Remove(next)
	if err != nil || !bytes.Equal(back, data) || (back == nil) != (data == nil) {
		return nil, errors.Join(ErrUneditable, err)
	}
	return next, nil
}

func keepBOM(data []byte, edit func([]byte) ([]byte, error)) ([]byte, error) {
	rest, marked := bytes.CutPrefix(data, []byte(bom))
	next, err := edit(rest)
	if err == nil && marked {
		next = append([]byte(bom), next...)
	}
	return next, err
}

func positionError(data []byte, at int, format string, args ...any) error {
	before := data[:at]
	return &PositionError{bytes.Count(before, []byte("\n")) + 1, at - bytes.LastIndexByte(before, '\n'),
		fmt.Sprintf(format, args...)}
}

func quoteKeys(keys []string) string {
	if len(keys) == 0 {
		return "the file"
	}
	return fmt.Sprintf("%q", strings.Join(keys, "."))
}

// flowText writes a string, a number or a list of them on one line, as JSON, TOML and YAML all read it.
func flowText(v any) string { return jsonText(v, "", jsonStyle{}) }

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func insert(data []byte, at int, text string) []byte {
	return append(append(bytes.Clone(data[:at]), text...), data[at:]...)
}

// eolOf is the line ending of a file.
func eolOf(data []byte) string {
	if i := bytes.IndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineEnd is the offset behind the line end that follows at.
func lineEnd(data []byte, at int) int {
	if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(data)
}

// lineOffset is where a line begins, counted from 1, the end of data for one behind the last.
func lineOffset(data []byte, line int) int {
	at := 0
	for ; line > 1; line-- {
		at = lineEnd(data, at)
	}
	return at
}

func indentOf(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " ")) }

// cutLines takes lines out, with spaced also the empty line before them. Where they ended without a line end,
// what stands before them does; where nothing else is left of a file that ended with one, there is no file: nil.
func cutLines(data []byte, from, to int, spaced bool) []byte {
	before, after := data[:from], data[to:]
	if rest, ok := cutEOL(before); spaced && ok && (len(rest) == 0 || bytes.HasSuffix(rest, []byte("\n"))) {
		before = rest
	}
	if len(after) == 0 && data[to-1] != '\n' {
		before, _ = cutEOL(before)
	} else if len(before)+len(after) == 0 {
		return nil
	}
	return append(bytes.Clone(before), after...)
}

func cutEOL(data []byte) ([]byte, bool) {
	rest, ok := bytes.CutSuffix(data, []byte("\n"))
	return bytes.TrimSuffix(rest, []byte("\r")), ok
}
