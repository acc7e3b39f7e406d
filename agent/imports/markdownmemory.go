package imports

import (
	"cmp"
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

// eachNote reads Markdown files as one memory each, which more makes complete.
func eachNote(more func(r *reading, f file, d *markdown.Document, m *memory)) func(*reading, file) error {
	return func(r *reading, f file) error {
		d, ok := r.readNote(f)
		if !ok {
			return nil
		}
		m := memory{foreign: f.rel(), text: string(d.Body()), categories: d.Tags(), private: private(d)}
		m.title = cmp.Or(meta(d, "title", "name"), d.Title(), base(f.path))
		m.created = timeOf(json.RawMessage(meta(d, "created", "date", "created_at")))
		more(r, f, d, &m)
		return r.memory(m)
	}
}

// private reports whether a note says that it is. Front matter that cannot be read does with the word alone.
func private(d *markdown.Document) bool {
	if d.FrontMatterError() == nil {
		return d.Private()
	}
	front := string(d.Bytes()[:len(d.Bytes())-len(d.Body())])
	return markdown.HasPrivateLine(front) || strings.Contains(strings.ToLower(front), "private")
}

// meta is the text of the first key of a front matter that says something.
func meta(d *markdown.Document, keys ...string) string {
	for _, key := range keys {
		if v, ok := d.Meta(key); ok && v.Text() != "" {
			return v.Text()
		}
	}
	return ""
}

func claudeMemory() Source {
	return Source{
		Name: "claude-memory", Title: "Claude Code, its own memory of each project", Memories: true,
		places: func(h Host) []string { return []string{h.under("CLAUDE_CONFIG_DIR", ".claude", "projects")} },
		keep: func(p string) bool {
			return hasExt(".md")(p) && slices.Contains(strings.Split(filepath.ToSlash(p), "/"), "memory")
		},
		read: eachNote(func(r *reading, f file, d *markdown.Document, m *memory) {
			if about := meta(d, "description"); about != "" {
				m.text = strings.TrimSpace(about) + "\n\n" + strings.TrimLeft(m.text, "\r\n")
			}
			// In words of ours.
			kinds := map[string]string{"user": "preference", "feedback": "instruction", "project": "fact", "reference": "reference"}
			m.kind = kinds[meta(d, "type")]
			m.scope = []string{r.claudeProject(f)}
		}),
	}
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
					CWD string
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
		places: func(h Host) []string { return []string{h.under("HERMES_HOME", ".hermes", "memories")} },
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
				errs = append(errs, r.memory(memory{foreign: store + ":" + textHash(entry), scope: []string{store}, text: entry, private: private(d)}))
			}
			return errors.Join(errs...)
		},
	}
}

func openClaw() Source {
	return Source{
		Name: "openclaw", Title: "OpenClaw, MEMORY.md, USER.md and memory/ of its workspace", Memories: true,
		places: func(h Host) []string { return []string{h.under("OPENCLAW_STATE_DIR", ".openclaw", "workspace")} },
		keep: func(p string) bool {
			dir := filepath.Base(filepath.Dir(p))
			return dir == "memory" && hasExt(".md")(p) || slices.Contains([]string{"MEMORY.md", "USER.md"}, filepath.Base(p))
		},
		read: eachNote(func(_ *reading, f file, _ *markdown.Document, m *memory) {
			if m.created.IsZero() {
				m.created = timeOf(json.RawMessage(base(f.path))) // memory/2026-01-31.md
			}
			if filepath.Base(filepath.Dir(f.path)) == "memory" {
				m.scope = []string{"memory"}
			}
		}),
	}
}

// basic-memory's permalink names a note for good, wherever its file is moved.
func basicMemory() Source {
	return Source{
		Name: "basic-memory", Title: "basic-memory, its notes", Memories: true,
		places: func(h Host) []string { return []string{h.under("BASIC_MEMORY_HOME", "basic-memory")} },
		keep:   func(p string) bool { return hasExt(".md")(p) },
		read: eachNote(func(_ *reading, _ file, d *markdown.Document, m *memory) {
			if dir, _, ok := strings.Cut(m.foreign, "/"); ok {
				m.scope = []string{dir}
			}
			m.foreign = cmp.Or(meta(d, "permalink"), m.foreign)
			if m.kind = meta(d, "type"); m.kind == "note" {
				m.kind = ""
			}
		}),
	}
}
