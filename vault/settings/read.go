package settings

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ErrUnreadable reports a file that is not a YAML mapping.
var ErrUnreadable = errors.New("not a readable configuration")

// A Kind says what is wrong with one key.
type Kind string

// The kinds of problem. All but BadValue can come from a newer stet.
const (
	UnknownKey Kind = "unknown key"
	NotAllowed Kind = "not allowed here"
	BadValue   Kind = "wrong value"
	Twice      Kind = "given twice"
)

// A Problem is one key that a source sets and that does not count. It is an
// error where the source is the person's own.
type Problem struct {
	Kind   Kind
	Key    string
	Origin string
	Detail string
}

func (p Problem) Error() string {
	switch p.Kind {
	case UnknownKey:
		return fmt.Sprintf("%s: unknown key %q", p.Origin, p.Key)
	case NotAllowed:
		return fmt.Sprintf("%s: a vault may not set %q; only you may, in your own configuration", p.Origin, p.Key)
	case Twice:
		return fmt.Sprintf("%s: %q is set twice", p.Origin, p.Key)
	}
	return fmt.Sprintf("%s: %s: %s", p.Origin, p.Key, p.Detail)
}

// Read reads the file of a source; name is what its problems and origins call
// it. Keys may be nested ("watch:" above "commit:") or dotted ("watch.commit:").
// A key with a problem is left out of the layer: in a person's own file that is
// an error to report, in a vault's file a warning, because the vault may be one
// that a newer stet shares. It fails with [ErrUnreadable].
func Read(source Source, name string, data []byte) (Layer, []Problem, error) {
	l := Layer{Source: source, values: map[Name]setting{}}
	leaves, err := flatten(data)
	if err != nil {
		return l, nil, fmt.Errorf("%s: %w", name, err)
	}
	var problems []Problem
	for _, leaf := range leaves {
		if leaf.name == VersionKey && source == Vault {
			continue
		}
		origin := fmt.Sprintf("%s:%d", name, leaf.line)
		bad := func(kind Kind, detail string) {
			problems = append(problems, Problem{kind, leaf.name, origin, detail})
		}
		k, known := Find(leaf.name)
		switch {
		case !known && leaf.empty && isSection(leaf.name):
		case !known:
			bad(UnknownKey, "")
		case source == Vault && !k.Vault:
			bad(NotAllowed, "")
		case leaf.empty:
		case !leaf.scalar && !(leaf.list && k.Type.IsList()):
			bad(BadValue, fmt.Sprintf("it must be one %s", k.Type))
		default:
			value, err := k.Parse(leaf.text)
			if err != nil {
				bad(BadValue, err.Error())
				continue
			}
			if _, twice := l.values[k.Name]; twice {
				bad(Twice, "")
				continue
			}
			l.values[k.Name] = setting{value, origin}
		}
	}
	return l, problems, nil
}

// VersionKey is the one key of a vault's file that is no setting: the version
// of the vault's format.
const VersionKey = "version"

// Version is the format version in a vault's file, 0 when it has none. It fails
// with [ErrUnreadable].
func Version(data []byte) (int, error) {
	var head struct {
		Version int `yaml:"version"`
	}
	if err := yaml.Unmarshal(data, &head); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return head.Version, nil
}

// isSection reports whether keys begin with that name and a dot.
func isSection(name string) bool {
	for _, k := range Names() {
		if strings.HasPrefix(k, name+".") {
			return true
		}
	}
	return false
}

// A leaf is one value of a file with its dotted name.
type leaf struct {
	name   string
	text   string // items of a list joined by commas
	line   int
	scalar bool
	list   bool // of scalars
	empty  bool // nothing stands behind the colon
}

// flatten lists the values of a file. Aliases are not followed: a few lines of
// them can stand for more text than there is memory.
func flatten(data []byte) ([]leaf, error) {
	root, err := parse(data)
	if err != nil || root == nil {
		return nil, err
	}
	var out []leaf
	var walk func(prefix string, m *yaml.Node)
	walk = func(prefix string, m *yaml.Node) {
		for i := 0; i+1 < len(m.Content); i += 2 {
			k, v := m.Content[i], m.Content[i+1]
			name := prefix + k.Value
			if v.Kind == yaml.MappingNode && len(v.Content) > 0 {
				walk(name+".", v)
				continue
			}
			l := leaf{name: name, line: k.Line, scalar: v.Kind == yaml.ScalarNode, empty: isNull(v) || v.Kind == yaml.MappingNode}
			l.text, l.list = itemsOf(v)
			out = append(out, l)
		}
	}
	walk("", root)
	return out, nil
}

// itemsOf is the text of a scalar, or the items of a list of scalars.
func itemsOf(v *yaml.Node) (text string, list bool) {
	if v.Kind != yaml.SequenceNode {
		return v.Value, false
	}
	var items []string
	for _, c := range v.Content {
		if c.Kind != yaml.ScalarNode {
			return "", false
		}
		items = append(items, c.Value)
	}
	return strings.Join(items, ","), true
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// parse returns the top mapping, nil for a file without any.
func parse(data []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	if len(doc.Content) == 0 || isNull(doc.Content[0]) {
		return nil, nil
	}
	if doc.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%w: it must be a list of keys with values", ErrUnreadable)
	}
	return doc.Content[0], nil
}
