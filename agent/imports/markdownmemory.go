package imports

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"stet/markdown"
)

// Programs that keep memories as Markdown files: Claude Code's folders, one a
// project; Hermes' two files of entries; OpenClaw's and basic-memory's folders.

// maxNote bounds one file of memories; larger ones are no notes.
const maxNote = 1 << 20

// readNote reads a whole Markdown file.
func (r *reading) readNote(f file) (*markdown.Document, bool) {
	if f.size > maxNote {
		r.problem(f.path, 0, "larger than 1 MiB")
		return nil, false
	}
	data, err := os.ReadFile(f.path)
	if err != nil {
		r.problem(f.path, 0, err.Error())
		return nil, false
	}
	r.progress.Bytes += int64(len(data))
	if !utf8.Valid(data) {
		r.problem(f.path, 0, "not UTF-8") // half a text would be worse than none
		return nil, false
	}
	return markdown.Parse(data), true
}

// rel is the path of a file inside the place it was found in.
func (f file) rel() string {
	rel, err := filepath.Rel(f.root, f.path)
	if err != nil {
		rel = filepath.Base(f.path)
	}
	return filepath.ToSlash(rel)
}

// page is a Markdown file as one memory.
func page(d *markdown.Document, f file) memory {
	m := memory{foreign: f.rel(), text: string(d.Body())}
	for _, key := range []string{"title", "name"} {
		if v, ok := d.Meta(key); ok && m.title == "" {
			m.title = v.Text()
		}
	}
	if m.title == "" {
		m.title = d.Title()
	}
	if m.title == "" {
		m.title = base(f.path)
	}
	m.categories = d.Tags()
	for _, key := range []string{"created", "date", "created_at"} {
		if v, ok := d.Meta(key); ok && m.created.IsZero() {
			raw, _ := json.Marshal(v.Text()) // a string always can be
			m.created = timeOf(raw)
		}
	}
	return m
}

func claudeMemory() Source {
	return Source{
		Name: "claude-memory", Title: "Claude Code, its own memory of each project", Memories: true,
		places: func(h Host) []string { return []string{join(h.under("CLAUDE_CONFIG_DIR", ".claude"), "projects")} },
		keep: func(p string) bool {
			return hasExt(".md")(p) && slices.Contains(strings.Split(filepath.ToSlash(p), "/"), "memory")
		},
		read: func(r *reading, f file) error {
			d, ok := r.readNote(f)
			if !ok {
				return nil
			}
			m := page(d, f)
			if v, ok := d.Meta("description"); ok {
				m.text = strings.TrimSpace(v.Text()) + "\n\n" + strings.TrimLeft(m.text, "\r\n")
			}
			m.kind = claudeKind(d)
			m.scope = []string{r.claudeProject(f)}
			return r.memory(m)
		},
	}
}

// claudeKind is the kind of a memory of Claude Code's in words of ours.
func claudeKind(d *markdown.Document) string {
	v, ok := d.Meta("type")
	if !ok {
		return ""
	}
	kinds := map[string]string{"user": "preference", "feedback": "instruction", "project": "fact", "reference": "reference"}
	return kinds[v.Text()]
}

// claudeProject is the name of the project that a folder of memories is about:
// of the folder that its conversations ran in, since the encoded name of the
// folder here cannot be turned back.
func (r *reading) claudeProject(f file) string {
	dir := filepath.Dir(f.path)
	for filepath.Base(dir) != "memory" && dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
	}
	dir = filepath.Dir(dir)
	if r.projects == nil {
		r.projects = map[string]string{}
	}
	if name, ok := r.projects[dir]; ok {
		return name
	}
	name := strings.Trim(filepath.Base(dir), "-")
	quiet := &reading{ctx: r.ctx}
	files, _ := filepath.Glob(filepath.Join(dir, "*.jsonl")) // a pattern that cannot be bad
	for _, p := range files {
		cwd := ""
		info, err := os.Lstat(p)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		err = quiet.open(file{path: p}, nil, func(name string, in io.Reader) error {
			return quiet.lines(name, in, func(_ int, line []byte) error {
				var l struct {
					CWD string `json:"cwd"`
				}
				if json.Unmarshal(line, &l) == nil && l.CWD != "" {
					cwd = l.CWD
					return errStop
				}
				return nil
			})
		})
		if err == nil && cwd != "" {
			name = cwd[strings.LastIndexAny(strings.TrimRight(cwd, `/\`), `/\`)+1:]
			break
		}
	}
	r.projects[dir] = name
	return name
}

// Hermes keeps entries with a line of "§" between them, and nothing else.
func hermesMemory() Source {
	return Source{
		Name: "hermes-memory", Title: "Hermes, MEMORY.md and USER.md", Memories: true,
		places: func(h Host) []string { return []string{join(h.under("HERMES_HOME", ".hermes"), "memories")} },
		keep:   func(p string) bool { return slices.Contains([]string{"MEMORY.md", "USER.md"}, filepath.Base(p)) },
		read: func(r *reading, f file) error {
			d, ok := r.readNote(f)
			if !ok {
				return nil
			}
			text := strings.TrimPrefix(strings.ReplaceAll(string(d.Bytes()), "\r\n", "\n"), "\ufeff")
			var errs []error
			for entry := range strings.SplitSeq("\n"+text+"\n", "\n§\n") {
				if entry = strings.TrimSpace(entry); entry == "" {
					continue
				}
				store := strings.ToLower(base(f.path))
				errs = append(errs, r.memory(memory{foreign: store + ":" + textHash(entry), scope: []string{store}, text: entry}))
			}
			return errors.Join(errs...)
		},
	}
}

func openClaw() Source {
	return Source{
		Name: "openclaw", Title: "OpenClaw, MEMORY.md, USER.md and memory/ of its workspace", Memories: true,
		places: func(h Host) []string { return []string{join(h.under("OPENCLAW_STATE_DIR", ".openclaw"), "workspace")} },
		keep: func(p string) bool {
			dir := filepath.Base(filepath.Dir(p))
			return dir == "memory" && hasExt(".md")(p) || slices.Contains([]string{"MEMORY.md", "USER.md"}, filepath.Base(p))
		},
		read: func(r *reading, f file) error {
			d, ok := r.readNote(f)
			if !ok {
				return nil
			}
			m := page(d, f)
			if day := timeOf(json.RawMessage(`"` + base(f.path) + `"`)); !day.IsZero() && m.created.IsZero() {
				m.created = day
			}
			if filepath.Base(filepath.Dir(f.path)) == "memory" {
				m.scope = []string{"memory"}
			}
			return r.memory(m)
		},
	}
}

// basic-memory's permalink names a note for good, wherever its file is moved.
func basicMemory() Source {
	return Source{
		Name: "basic-memory", Title: "basic-memory, its notes", Memories: true,
		places: func(h Host) []string { return []string{h.under("BASIC_MEMORY_HOME", "basic-memory")} },
		keep:   func(p string) bool { return hasExt(".md")(p) },
		read: func(r *reading, f file) error {
			d, ok := r.readNote(f)
			if !ok {
				return nil
			}
			m := page(d, f)
			if dir, _, ok := strings.Cut(m.foreign, "/"); ok {
				m.scope = []string{dir}
			}
			if v, ok := d.Meta("permalink"); ok && v.Text() != "" {
				m.foreign = v.Text()
			}
			if v, ok := d.Meta("type"); ok && v.Text() != "note" {
				m.kind = v.Text()
			}
			return r.memory(m)
		},
	}
}
