package markdown

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// A Value is one front matter value: text or a list of texts. Numbers, truth
// values and times are text that can be read as such, because YAML's own typing
// turns 007 into 7 and 1.10 into 1.1. The zero Value is empty text.
type Value struct {
	kind  valueKind
	text  string
	items []string
	node  *yaml.Node // of a mapping that was read
	pairs []Pair     // of one that is to be written
}

// A Pair is a key of a mapping, a word, and its value, which is no mapping.
type Pair struct {
	Key   string
	Value Value
}

type valueKind int

const (
	scalarString valueKind = iota // must read back as text in any YAML reader
	scalarPlain                   // number, truth value, time, null: never quoted if it can be avoided
	list
	mapping
)

// String makes a text value.
func String(s string) Value { return Value{kind: scalarString, text: s} }

// Plain makes a value that is written without quotes wherever YAML allows, such
// as a date without a time.
func Plain(s string) Value { return Value{kind: scalarPlain, text: s} }

// Strings makes a list of texts. The Value keeps a copy.
func Strings(items []string) Value { return Value{kind: list, items: slices.Clone(items)} }

// Mapping makes a mapping of at least one key.
func Mapping(pairs ...Pair) Value { return Value{kind: mapping, pairs: pairs} }

// Number makes a number; f must be finite to be written.
func Number(f float64) Value {
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'g'
	}
	return Plain(strconv.FormatFloat(f, format, -1, 64))
}

// Bool makes true or false.
func Bool(b bool) Value { return Plain(strconv.FormatBool(b)) }

// Time makes a time in UTC, in the form 2026-01-09T14:02:11Z, with a fraction
// only if t has one.
func Time(t time.Time) Value { return Plain(t.UTC().Format(time.RFC3339Nano)) }

// valueOf reads a node. Aliases were bounded when the front matter was read.
func valueOf(n *yaml.Node) Value {
	n = follow(n)
	switch n.Kind {
	case yaml.SequenceNode:
		return Value{kind: list, items: collect(n, nil)}
	case yaml.MappingNode:
		return Value{kind: mapping, node: n}
	}
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0 && n.ShortTag() != "!!str" {
		return Plain(n.Value)
	}
	return String(n.Value)
}

func follow(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	return n
}

// collect flattens nested lists, so that an unquoted [[Note]] reads as "Note".
func collect(n *yaml.Node, items []string) []string {
	for _, c := range n.Content {
		switch c = follow(c); c.Kind {
		case yaml.SequenceNode:
			items = collect(c, items)
		case yaml.ScalarNode:
			items = append(items, c.Value)
		}
	}
	return items
}

// IsList reports whether the value is written as a list.
func (v Value) IsList() bool { return v.kind == list }

// IsMapping reports whether the value is a nested mapping.
func (v Value) IsMapping() bool { return v.kind == mapping }

// Texts returns the texts of a mapping by their keys, never nil; values that are lists or mappings are
// left out.
func (v Value) Texts() map[string]string {
	out := map[string]string{}
	for i := 0; v.node != nil && i+1 < len(v.node.Content); i += 2 {
		if n := follow(v.node.Content[i+1]); n.Kind == yaml.ScalarNode {
			out[v.node.Content[i].Value] = n.Value
		}
	}
	return out
}

// Text returns a scalar as it was written, without its quotes: 007 stays "007".
// A list is joined with ", "; a mapping is "".
func (v Value) Text() string {
	if v.kind == list {
		return strings.Join(v.items, ", ")
	}
	return v.text
}

// List returns the items of a list, or the parts of a scalar between commas,
// without blanks around them and without empty parts.
func (v Value) List() []string {
	if v.kind == list {
		return slices.Clone(v.items)
	}
	if v.kind == mapping || v.isNull() {
		return nil
	}
	var out []string
	for part := range strings.SplitSeq(v.text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

func (v Value) isNull() bool {
	if v.kind != scalarPlain {
		return false
	}
	switch v.text {
	case "", "~", "null", "Null", "NULL":
		return true
	}
	return false
}

// Float reads a decimal number, quoted or not.
func (v Value) Float() (float64, bool) {
	if v.kind > scalarPlain || strings.Trim(v.text, "0123456789+-.eE") != "" || v.text == "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(v.text, 64)
	return f, err == nil
}

// Bool reads true, yes, on and false, no, off in any case.
func (v Value) Bool() (value, ok bool) {
	if v.kind > scalarPlain {
		return false, false
	}
	switch strings.ToLower(v.text) {
	case "true", "yes", "on":
		return true, true
	case "false", "no", "off":
		return false, true
	}
	return false, false
}

// Time reads a date with or without a time of day; without a zone it is UTC.
func (v Value) Time() (time.Time, bool) {
	if v.kind > scalarPlain {
		return time.Time{}, false
	}
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02 15:04:05",
		"2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly,
	} {
		if t, err := time.Parse(layout, v.text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// Equal reports whether two values say the same: the same items in the same
// order, the same text, or two numbers of the same size as in 0.7 and 0.70.
func (v Value) Equal(w Value) bool {
	if v.kind == mapping && w.kind == mapping {
		a, b := v.mappingNode(), w.mappingNode()
		return a != nil && b != nil && sameNode(a, b)
	}
	if v.kind > scalarPlain || w.kind > scalarPlain {
		return v.kind == w.kind && slices.Equal(v.items, w.items)
	}
	if v.text == w.text {
		return true
	}
	if v.kind != scalarPlain || w.kind != scalarPlain {
		return false
	}
	f, okF := v.Float()
	g, okG := w.Float()
	return okF && okG && f == g
}

// mappingNode is a mapping as a reader sees it, nil for one that cannot be written.
func (v Value) mappingNode() *yaml.Node {
	if v.node != nil {
		return v.node
	}
	text, err := encodeFlow(v)
	var doc yaml.Node
	if err != nil || yaml.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) != 1 {
		return nil
	}
	return doc.Content[0]
}
