package settings

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// ErrUneditable reports a file in a form whose bytes cannot be changed safely.
var ErrUneditable = errors.New("the file is written in a form that only a person can edit")

// Set gives a key a value, in canonical form, and leaves every other byte as it
// is; a key that is not there is added to its section, else at the end. It
// fails with [ErrUnreadable] or [ErrUneditable].
func Set(data []byte, k Key, value string) ([]byte, error) {
	name := string(k.Name)
	e, err := open(data, name)
	if err != nil {
		return nil, err
	}
	written := encode(value)
	if e.flow && strings.ContainsAny(written, "[]{},") {
		written = fmt.Sprintf("%q", value)
	}
	if k.Type.IsList() {
		written = encodeList(strings.Split(value, ","))
	}
	var next []byte
	switch {
	case e.flow && (e.value == nil || isNull(e.value)):
		return nil, fmt.Errorf("%s: %w", name, ErrUneditable)
	case e.value == nil:
		next = e.insert(written)
	case isNull(e.value) && e.value.Value == "":
		next = splice(data, e.afterColon(), e.afterColon(), " "+written)
	default:
		start, end, ok := e.extent()
		if !ok {
			return nil, fmt.Errorf("%s: %w", name, ErrUneditable)
		}
		next = splice(data, start, end, written)
	}
	return next, e.verify(next, &value)
}

// Add appends an item to a key that is a list and leaves every other byte as it
// is; an item that is there already is no change. The errors are those of [Set].
func Add(data []byte, k Key, item string) ([]byte, error) {
	e, err := open(data, string(k.Name))
	if err != nil {
		return nil, err
	}
	if e.value == nil || isNull(e.value) {
		return Set(data, k, item)
	}
	have, list := itemsOf(e.value)
	all := strings.Trim(have+","+item, ",")
	switch {
	case slices.Contains(strings.Split(have, ","), item):
		return data, nil
	case !list:
		return Set(data, k, all)
	}
	next, ok := e.append(encodeList([]string{item}))
	if !ok {
		return nil, fmt.Errorf("%s: %w", k.Name, ErrUneditable)
	}
	return next, e.verify(next, &all)
}

// append adds an item, given in brackets, to the list that stands there.
func (e *editor) append(item string) ([]byte, bool) {
	n := len(e.value.Content)
	item = item[1 : len(item)-1]
	if n == 0 {
		at := e.position(e.value.Line, e.value.Column)
		return splice(e.data, at+1, at+1, item), bytes.HasPrefix(e.data[at:], []byte("["))
	}
	last := &editor{data: e.data, value: e.value.Content[n-1]}
	_, end, ok := last.extent()
	if e.value.Style&yaml.FlowStyle != 0 {
		return splice(e.data, end, end, ", "+item), ok
	}
	line := e.data[e.lineStart(last.value.Line):]
	dash := bytes.IndexByte(line, '-')
	if !ok || dash < 0 || strings.TrimSpace(string(line[:dash])) != "" {
		return nil, false
	}
	at, before := e.lineStart(last.value.Line+1), ""
	if at > 0 && e.data[at-1] != '\n' {
		before = e.eol()
	}
	return splice(e.data, at, at, before+string(line[:dash])+"- "+item+e.eol()), true
}

// Unset takes a key out, and its section with it when nothing else stands
// there. Comments stay. A key that is not there is no error. The errors are
// those of [Set].
func Unset(data []byte, name string) ([]byte, error) {
	e, err := open(data, name)
	if err != nil || e.value == nil {
		return data, err
	}
	if e.flow {
		return nil, fmt.Errorf("%s: %w", name, ErrUneditable)
	}
	next := data
	nodes := []*yaml.Node{e.key}
	for i := len(e.sections) - 1; i >= 0 && len(e.sections[i].value.Content) == 2; i-- {
		nodes = append(nodes, e.sections[i].key)
	}
	for i, key := range nodes { // the deepest stands lowest: earlier lines keep their numbers
		from, to := e.lineStart(key.Line), e.lineStart(key.Line+1)
		if i == 0 {
			to = e.lineStart(lastLine(e.value) + 1)
		}
		next = splice(next, from, to, "")
	}
	return next, e.verify(next, nil)
}

// A section is a key with the mapping below it.
type section struct{ key, value *yaml.Node }

// An editor is a file with the place of one key in it.
type editor struct {
	data       []byte
	name       string
	rest       string // what of the name is below the deepest section
	root       *yaml.Node
	sections   []section // from the top to the key
	key, value *yaml.Node
	flow       bool // it stands between braces, where a value can only be replaced
	before     []leaf
}

func open(data []byte, name string) (*editor, error) {
	before, err := flatten(data)
	if err != nil {
		return nil, err
	}
	e := &editor{data: data, name: name, rest: name, before: before}
	if e.root, err = parse(data); err != nil || e.root == nil {
		return e, err
	}
	for m := e.root; m != nil; {
		e.flow = e.flow || m.Style&yaml.FlowStyle != 0
		m = e.descend(m)
	}
	return e, nil
}

// descend looks in one mapping for the key, or for the section to look in next.
func (e *editor) descend(m *yaml.Node) *yaml.Node {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if k := m.Content[i]; k.Value == e.rest {
			e.key, e.value = k, m.Content[i+1]
			return nil
		}
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		k, v := m.Content[i], m.Content[i+1]
		rest, inside := strings.CutPrefix(e.rest, k.Value+".")
		if !inside || v.Kind != yaml.MappingNode && !isNull(v) {
			continue
		}
		e.sections, e.rest = append(e.sections, section{k, v}), rest
		if v.Kind == yaml.MappingNode {
			return v
		}
		return nil
	}
	return nil
}

// eol is the line ending of the file.
func (e *editor) eol() string {
	if i := bytes.IndexByte(e.data, '\n'); i > 0 && e.data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// insert adds the key below its section, or at the end of the file.
func (e *editor) insert(written string) []byte {
	eol := e.eol()
	at, indent := len(e.data), 0
	if n := len(e.sections); n > 0 {
		s := e.sections[n-1]
		indent = s.key.Column - 1 + 2
		at = e.lineStart(s.key.Line + 1)
		if len(s.value.Content) > 0 {
			indent = s.value.Content[0].Column - 1
			at = e.lineStart(lastLine(s.value) + 1)
		}
	}
	var b strings.Builder
	if at > 0 && e.data[at-1] != '\n' {
		b.WriteString(eol)
	}
	parts := strings.Split(e.rest, ".")
	for i, part := range parts {
		b.WriteString(strings.Repeat(" ", indent+2*i) + part + ":")
		if i == len(parts)-1 {
			b.WriteString(" " + written)
		}
		b.WriteString(eol)
	}
	return splice(e.data, at, at, b.String())
}

// extent is where the value stands, for a value on one line.
func (e *editor) extent() (start, end int, ok bool) {
	v := e.value
	if v.Kind != yaml.ScalarNode || v.Anchor != "" || v.Style&(yaml.TaggedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return 0, 0, false
	}
	start = e.position(v.Line, v.Column)
	line := e.data[start:e.lineStart(v.Line+1)]
	switch {
	case v.Style&yaml.DoubleQuotedStyle != 0:
		return start, start + quoted(line, '"'), quoted(line, '"') > 0
	case v.Style&yaml.SingleQuotedStyle != 0:
		return start, start + quoted(line, '\''), quoted(line, '\'') > 0
	}
	return start, start + len(v.Value), bytes.HasPrefix(line, []byte(v.Value))
}

// quoted is the length of the quoted text that line begins with, 0 when it does
// not end on it.
func quoted(line []byte, quote byte) int {
	for i := 1; i < len(line); i++ {
		switch {
		case line[i] == '\\' && quote == '"':
			i++
		case line[i] == quote && quote == '\'' && i+1 < len(line) && line[i+1] == quote:
			i++
		case line[i] == quote:
			return i + 1
		}
	}
	return 0
}

func (e *editor) afterColon() int {
	at := e.position(e.key.Line, e.key.Column)
	return at + bytes.IndexByte(e.data[at:], ':') + 1
}

// lineStart is the offset of a line counted from 1, the end for one behind the
// last.
func (e *editor) lineStart(line int) int {
	at := 0
	for ; line > 1; line-- {
		i := bytes.IndexByte(e.data[at:], '\n')
		if i < 0 {
			return len(e.data)
		}
		at += i + 1
	}
	return at
}

// position is the offset of a place; columns count characters from 1.
func (e *editor) position(line, column int) int {
	at := e.lineStart(line)
	for ; column > 1 && at < len(e.data); column-- {
		_, n := utf8.DecodeRune(e.data[at:])
		at += n
	}
	return at
}

func lastLine(n *yaml.Node) int {
	last := n.Line
	for _, c := range n.Content {
		last = max(last, lastLine(c))
	}
	return last
}

// verify reads the result: it must say what it said, but for this one key.
func (e *editor) verify(next []byte, value *string) error {
	after, err := flatten(next)
	if err != nil {
		return fmt.Errorf("%s: %w: %w", e.name, ErrUneditable, err)
	}
	mine := func(l leaf) bool { return l.name == e.name }
	i := slices.IndexFunc(after, mine)
	twice := i >= 0 && slices.ContainsFunc(after[i+1:], mine)
	if twice || (i >= 0) != (value != nil) || i >= 0 && after[i].text != *value {
		return fmt.Errorf("%s: %w", e.name, ErrUneditable)
	}
	others := func(all []leaf) []leaf {
		var out []leaf
		for _, l := range all {
			if l.line = 0; !mine(l) && !(l.empty && strings.HasPrefix(e.name, l.name+".")) {
				out = append(out, l)
			}
		}
		return out
	}
	if !slices.Equal(others(e.before), others(after)) {
		return fmt.Errorf("%s: %w", e.name, ErrUneditable)
	}
	return nil
}

// encode writes a value as YAML would read it back.
func encode(value string) string {
	out, err := yaml.Marshal(value)
	plain := strings.TrimSuffix(string(out), "\n")
	if err != nil || strings.Contains(plain, "\n") {
		return fmt.Sprintf("%q", value)
	}
	if inner := strings.Trim(plain, `"`); inner == value && plain != value && isPlain(value) {
		return value // a number or a boolean is written as one
	}
	return plain
}

func encodeList(items []string) string {
	for i, item := range items {
		if items[i] = encode(item); strings.ContainsAny(items[i], "[]{},") {
			items[i] = fmt.Sprintf("%q", item)
		}
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// isPlain is true for values that mean the same with and without quotes here,
// since keys have types and values are read as text.
func isPlain(value string) bool {
	return value != "" && value != "null" && strings.Trim(value, "abcdefghijklmnopqrstuvwxyz0123456789.") == ""
}

func splice(data []byte, from, to int, text string) []byte {
	return slices.Concat(data[:from], []byte(text), data[to:])
}
