package install

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlFile is a file of YAML in block style, which is edited by whole lines. An entry stands at the beginning of
// what it is in, where no comment of others can be about it.
type yamlFile struct{ data []byte }

// wasEmpty marks a key that stood there without a value before an entry was added.
const wasEmpty = "# stet install: nothing stood here"

func (f yamlFile) parse() (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(f.data, &doc); err != nil {
		out := &PositionError{Line: 1, Column: 1, What: strings.TrimPrefix(err.Error(), "yaml: ")}
		if m := regexp.MustCompile(`line (\d+): `).FindStringSubmatch(out.What); m != nil {
			_, _ = fmt.Sscan(m[1], &out.Line) // a number by the pattern
			out.What = strings.Replace(out.What, m[0], "", 1)
		}
		return nil, out
	}
	if len(doc.Content) == 0 || empty(doc.Content[0]) {
		return nil, nil
	}
	if root := doc.Content[0]; root.Kind != yaml.MappingNode || root.Style&yaml.FlowStyle != 0 {
		return nil, &PositionError{root.Line, root.Column, "the file is no list of keys with values"}
	}
	return doc.Content[0], nil
}

func empty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" && n.Value == ""
}

// A yamlSpot is a key with its value, or an item of a list without a key, and all that it stands in, from the top.
type yamlSpot struct {
	key, value *yaml.Node
	above      []*yamlSpot
	alone      bool // nothing else stands in what it is in
	name       string
}

// line is the first line of it, from 1.
func (s *yamlSpot) line() int {
	if s.key != nil {
		return s.key.Line
	}
	return s.value.Line
}

func walkYAML(n *yaml.Node, keys []string, above []*yamlSpot, use func(*yamlSpot)) {
	var items []*yamlSpot
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			items = append(items, &yamlSpot{key: n.Content[i], value: n.Content[i+1], name: n.Content[i].Value})
		}
	case yaml.SequenceNode:
		for _, c := range n.Content {
			items = append(items, &yamlSpot{value: c})
		}
	}
	for _, s := range items {
		s.above, s.alone = above, len(items) == 1
		switch {
		case len(keys) == 0:
			use(s)
		case keys[0] == "*" || keys[0] == s.name:
			walkYAML(s.value, keys[1:], append(above[:len(above):len(above)], s), use)
		}
	}
}

func (f yamlFile) ours(selectors []Selector) (found []hit, err error) {
	root, err := f.parse()
	if err != nil || root == nil {
		return nil, err
	}
	for _, p := range selectors {
		walkYAML(root, p.Keys, nil, func(s *yamlSpot) {
			var value any
			if s.value.Decode(&value) != nil || !p.Owns(s.name, value) {
				return
			}
			var path []string
			for _, a := range s.above {
				path = append(path, a.name)
			}
			h := hit{Entry: Entry{path, s.name, value, idOf(s.name, value)}, start: s.line(),
				remove: func() ([]byte, error) { return f.remove(s) }}
			if startOf(value) != nil {
				walkYAML(s.value, nil, nil, func(c *yamlSpot) {
					if c.name == "command" {
						h.command = f.literal(c.value)
					}
				})
			}
			found = append(found, h)
		})
	}
	return found, nil
}

// literal is where a text stands, from and to, which is on one line; nil of another.
func (f yamlFile) literal(n *yaml.Node) []int {
	from := lineOffset(f.data, n.Line) + n.Column - 1
	for to := from + 1; to <= lineEnd(f.data, from); to++ {
		var text string
		if yaml.Unmarshal(f.data[from:to], &text) == nil && text == n.Value {
			return []int{from, to}
		}
	}
	return nil
}

// remove takes out an entry, and what was made for it alone.
func (f yamlFile) remove(s *yamlSpot) ([]byte, error) {
	from := s.line()
	for i := len(s.above) - 1; i >= 0 && s.alone; i-- {
		if up := s.above[i]; !f.marked(up) {
			s, from = up, up.line()
			continue
		}
		from-- // the mark
		break
	}
	if !f.begins(s) {
		return nil, &PositionError{s.line(), 1, "the entry of stet shares a line; take it out by hand"}
	}
	start := lineOffset(f.data, from)
	return cutLines(f.data, start, f.blockEnd(lineOffset(f.data, s.line())), false), nil
}

// marked reports whether nothing stood at a key before ours.
func (f yamlFile) marked(s *yamlSpot) bool {
	line, _, _ := bytes.Cut(f.data[lineOffset(f.data, s.line()+1):], []byte("\n"))
	return string(bytes.TrimSpace(line)) == wasEmpty
}

// begins reports whether s is the first thing on its line.
func (f yamlFile) begins(s *yamlSpot) bool {
	line := bytes.TrimLeft(f.data[lineOffset(f.data, s.line()):], " ")
	if s.key == nil {
		return bytes.HasPrefix(line, []byte("- "))
	}
	return bytes.HasPrefix(line, []byte(s.key.Value)) || bytes.HasPrefix(line, []byte(`"`+s.key.Value))
}

// blockEnd is where the lines end that stand deeper than the one at an offset.
func (f yamlFile) blockEnd(start int) int {
	own, end := indentOf(f.data[start:]), lineEnd(f.data, start)
	for at := end; at < len(f.data); {
		next := lineEnd(f.data, at)
		line := bytes.TrimSpace(f.data[at:next])
		if len(line) > 0 && indentOf(f.data[at:]) <= own {
			break
		}
		if len(line) > 0 {
			end = next
		}
		at = next
	}
	return end
}

func (f yamlFile) add(e Entry) ([]byte, error) {
	root, err := f.parse()
	if err != nil {
		return nil, err
	}
	eol := eolOf(f.data)
	var at *yamlSpot // the deepest key there is
	keys := e.Keys
	for n := root; n != nil && len(keys) > 0; {
		var s *yamlSpot
		walkYAML(n, nil, nil, func(c *yamlSpot) {
			if c.key != nil && c.name == keys[0] {
				s = c
			}
		})
		if n = nil; s != nil {
			at, n, keys = s, s.value, keys[1:]
		}
	}
	value := e.nested(e.Keys[:len(e.Keys)-len(keys)])
	if at != nil && e.Name != "" && len(keys) == 0 {
		var taken error
		walkYAML(at.value, nil, nil, func(c *yamlSpot) {
			if c.key != nil && c.name == e.Name {
				taken = &PositionError{c.line(), c.key.Column,
					fmt.Sprintf("%q is there already and starts something else", e.Name)}
			}
		})
		if taken != nil {
			return nil, taken
		}
	}
	if at == nil {
		return f.append(root, value)
	}
	list := e.Name == "" && len(keys) == 0
	indent := at.key.Column + 1
	var lines []string
	switch v := at.value; {
	case empty(v):
		lines = []string{strings.Repeat(" ", indent) + wasEmpty}
	case v.Style&yaml.FlowStyle != 0 || (v.Kind == yaml.SequenceNode) != list || v.Kind == yaml.ScalarNode ||
		v.Kind == yaml.AliasNode || v.Line == at.key.Line:
		what := map[bool]string{true: "list", false: "map"}[list]
		return nil, &PositionError{v.Line, v.Column, fmt.Sprintf("%s is not a %s written line by line",
			quoteKeys(e.Keys[:len(e.Keys)-len(keys)]), what)}
	default:
		indent = v.Column - 1
	}
	lines = append(lines, yamlLines(value, strings.Repeat(" ", indent))...)
	start := lineOffset(f.data, at.key.Line+1)
	if f.marked(at) {
		start = lineEnd(f.data, start)
	}
	if start == len(f.data) && !bytes.HasSuffix(f.data, []byte("\n")) {
		return insert(f.data, start, eol+strings.Join(lines, eol)), nil
	}
	return insert(f.data, start, strings.Join(lines, eol)+eol), nil
}

// append adds keys at the end of the file.
func (f yamlFile) append(root *yaml.Node, value any) ([]byte, error) {
	eol, next, indent := eolOf(f.data), bytes.Clone(f.data), ""
	ended := f.data == nil || bytes.HasSuffix(f.data, []byte("\n"))
	if last := lastNode(root); !ended && last.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return nil, &PositionError{last.Line, last.Column, "the text that ends the file would get a line end"}
	}
	if !ended && len(f.data) > 0 {
		next = append(next, eol...)
	}
	if root != nil {
		indent = strings.Repeat(" ", root.Content[0].Column-1)
	}
	next = append(next, strings.Join(yamlLines(value, indent), eol)...)
	if ended {
		next = append(next, eol...)
	}
	return next, nil
}

func lastNode(n *yaml.Node) *yaml.Node {
	if n == nil || len(n.Content) == 0 {
		return cmp.Or(n, &yaml.Node{})
	}
	return lastNode(n.Content[len(n.Content)-1])
}

// yamlLines writes a map or a list as lines.
func yamlLines(v any, indent string) (out []string) {
	put := func(head string, v any) {
		switch v := v.(type) {
		case Map:
			out = append(out, indent+head)
			out = append(out, yamlLines(v, indent+"  ")...)
		case []any:
			if _, deep := v[0].(Map); !deep {
				out = append(out, indent+head+" "+flowText(v))
				break
			}
			out = append(out, indent+head)
			out = append(out, yamlLines(v, indent+"  ")...)
		default:
			out = append(out, indent+head+" "+flowText(v))
		}
	}
	switch v := v.(type) {
	case Map:
		for _, m := range v {
			put(m.Key+":", m.Value)
		}
	case []any:
		for _, item := range v {
			lines := yamlLines(item, indent+"  ")
			lines[0] = indent + "- " + strings.TrimLeft(lines[0], " ")
			out = append(out, lines...)
		}
	}
	return out
}
