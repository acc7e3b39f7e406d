package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// The reference memory server keeps a graph as JSON lines: entities with their
// observations, and relations between them. Writers that came between each other
// leave two objects on a line, or half of one. An entity becomes a memory, with
// its relations as links.

func mcpMemory() Source {
	return Source{
		Name: "mcp-memory", Title: "the MCP reference memory server, its JSON lines", Memories: true,
		places: func(h Host) []string { return []string{h.Getenv("MEMORY_FILE_PATH")} },
		keep:   hasExt(".json", ".jsonl"),
		is: func(s shape) bool {
			return s.one(".type", "entity") && s.has(".name", ".entityType") || s.has(".relationType", ".from", ".to")
		},
		read: func(r *reading, f file) error { return r.mcpMemory(f) },
	}
}

type graphLine struct {
	Type, Name, From, To string
	Observations         []json.RawMessage
	EntityType           string `json:"entityType"`
	Relation             string `json:"relationType"`
}

type graphEntity struct {
	kind  string
	lines []string
}

func (r *reading) mcpMemory(f file) error {
	entities, order := map[string]*graphEntity{}, []string{}
	of := func(name string) *graphEntity {
		if entities[name] == nil {
			entities[name], order = &graphEntity{}, append(order, name)
		}
		return entities[name]
	}
	err := r.open(f, hasExt(".json", ".jsonl"), func(name string, in io.Reader) error {
		return r.lines(name, in, func(_ int, line []byte) error {
			for d := json.NewDecoder(bytes.NewReader(line)); ; {
				var l graphLine
				switch err := d.Decode(&l); {
				case errors.Is(err, io.EOF):
					return nil
				case err != nil:
					return badLine{plainJSON(err)}
				case l.Type == "entity" && l.Name != "":
					e := of(l.Name)
					e.kind = l.EntityType
					for _, o := range l.Observations {
						e.add(strings.Join(strings.Fields(text(o)), " "))
					}
				case l.Type == "relation" && l.From != "" && l.To != "":
					of(l.From).add(oneLine(l.Relation) + " [[" + oneLine(l.To) + "]]")
				default:
					return bad("neither an entity with a name nor a relation")
				}
			}
		})
	})
	if err != nil {
		return err
	}
	for _, name := range order {
		e := entities[name]
		if len(e.lines) == 0 {
			e.lines = []string{name}
		}
		m := memory{foreign: name, title: name, text: "- " + strings.Join(e.lines, "\n- ")}
		if e.kind != "" {
			m.categories = []string{oneLine(e.kind)}
		}
		if err := r.memory(m); err != nil {
			return err
		}
	}
	return nil
}

// add takes a line up once.
func (e *graphEntity) add(line string) {
	for _, have := range e.lines {
		if have == line {
			return
		}
	}
	if line != "" {
		e.lines = append(e.lines, line)
	}
}
