package install

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlFile is a file of TOML, in which an entry is a table of its own at the end.
type tomlFile struct{ data []byte }

func (f tomlFile) decode() (map[string]any, error) {
	var out map[string]any
	err := toml.Unmarshal(f.data, &out)
	if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := wrong.Position()
		return nil, &PositionError{line, column, strings.TrimPrefix(wrong.Error(), "toml: ")}
	}
	return out, err
}

func (f tomlFile) ours(selectors []Selector) (found []hit, err error) {
	top, err := f.decode()
	if err != nil {
		return nil, err
	}
	for _, p := range selectors {
		m := top
		for _, k := range p.Keys {
			m, _ = m[k].(map[string]any)
		}
		for _, name := range slices.Sorted(maps.Keys(m)) {
			value := m[name]
			if !p.Owns(name, value) {
				continue
			}
			want := append(slices.Clone(p.Keys), name)
			h := hit{Entry: Entry{p.Keys, name, value, idOf(name, value)}}
			tables, command := f.tables(want)
			if len(tables) > 0 {
				h.start = tables[0][0]
			}
			if startOf(value) != nil {
				h.command = command
			}
			h.remove = func() ([]byte, error) {
				if len(tables) == 0 {
					return nil, positionError(f.data, 0, "%s is not written as a table of its own; take it out by hand",
						quoteKeys(want))
				}
				last := tables[len(tables)-1]
				return cutLines(f.data, last[0], last[1], true), nil
			}
			found = append(found, h)
		}
	}
	return found, nil
}

// tables are the offsets of the tables that keys name, and of those below them: from the line of the header to
// behind the last line with a key; and those of the literal that is the command of the first.
func (f tomlFile) tables(keys []string) (out [][2]int, command []int) {
	var p unstable.Parser
	p.Reset(f.data)
	depth := 0 // of the table that keys name, from 1, or of one below it
	for p.NextExpression() {
		e := p.Expression()
		last := 0
		var name []string
		for it := e.Key(); it.Next(); {
			raw := it.Node().Raw
			last = int(raw.Offset + raw.Length)
			name = append(name, string(it.Node().Data))
		}
		switch {
		case e.Kind == unstable.KeyValue:
			last = int(e.Raw.Offset + e.Raw.Length)
			if raw := e.Value().Raw; depth == len(keys) && slices.Equal(name, []string{"command"}) {
				command = []int{int(raw.Offset), int(raw.Offset + raw.Length)}
			}
		case len(name) >= len(keys) && slices.Equal(name[:len(keys)], keys):
			depth = len(name)
			out = append(out, [2]int{bytes.LastIndexByte(f.data[:last], '\n') + 1, 0})
		default:
			depth = 0
		}
		if depth > 0 {
			out[len(out)-1][1] = lineEnd(f.data, last)
		}
	}
	return out, command
}

func (f tomlFile) add(e Entry) ([]byte, error) {
	if _, err := f.decode(); err != nil {
		return nil, err
	}
	eol, next := eolOf(f.data), bytes.Clone(f.data)
	ended := f.data == nil || bytes.HasSuffix(f.data, []byte("\n"))
	if len(f.data) > 0 {
		if !ended {
			next = append(next, eol...)
		}
		next = append(next, eol...)
	}
	value, _ := e.Value.(Map)
	path := append(slices.Clone(e.Keys), e.Name)
	lines := []string{"[" + strings.Join(path, ".") + "]"}
	for _, m := range value {
		lines = append(lines, m.Key+" = "+flowText(m.Value))
	}
	next = append(next, strings.Join(lines, eol)...)
	if ended {
		next = append(next, eol...)
	}
	if _, err := (tomlFile{next}).decode(); err != nil { // such as an inline table above it
		return nil, positionError(f.data, 0, "%s cannot be added as a table: %v", quoteKeys(path), err)
	}
	return next, nil
}
