package imports

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"stet/markdown"
)

// Cline, and Roo Code and Kilo Code, which came out of it, keep a conversation in the folder of the editor's
// extension as tasks/<id>/api_conversation_history.json: an array of messages of Anthropic's interface. What the
// program says around a prompt stands in elements of it; older versions give the answers of tools as texts that
// begin with "[tool for …] Result:". Times are those of messages that have a ts, and of the id, which Cline makes of
// the time.
//
// Cline 3, Roo Code 3 and Kilo Code 4, known from src/core of cline/cline and from other readers, as stored in
// November 2026. Cline 4's sessions/<id>.messages.json is another form and not read. Not tried on files of real
// users.

const clineFile = "api_conversation_history.json"

func cline() Source {
	s := clineTasks("cline", "Cline, conversations", "saoudrizwan.claude-dev")
	s.is = func(rec shape) bool { return rec[""] == clineFile && rec.has(".role", ".content") }
	return s
}

func rooCode() Source {
	return clineTasks("roo-code", "Roo Code, conversations", "rooveterinaryinc.roo-cline")
}

func kiloCode() Source {
	return clineTasks("kilo-code", "Kilo Code, conversations", "kilocode.kilo-code")
}

func clineTasks(agent, title, extension string) Source {
	return Source{
		Name: agent, Title: title,
		places: func(h Host) []string {
			var out []string
			for _, editor := range []string{"Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"} {
				for _, dir := range []string{h.under("XDG_CONFIG_HOME", ".config", editor),
					h.under("", filepath.Join("Library", "Application Support"), editor),
					h.under("APPDATA", "", editor)} {
					out = append(out, filepath.Join(dir, "User", "globalStorage", extension, "tasks"))
				}
			}
			return append(out, h.under("", ".vscode-server", "data", "User", "globalStorage", extension, "tasks"))
		},
		keep:    func(p string) bool { return filepath.Base(p) == clineFile },
		foreign: func(p string) string { return filepath.Base(filepath.Dir(p)) },
		read: func(r *reading, f file) error {
			return r.open(f, hasExt(".json"), func(name string, in io.Reader) error { return r.cline(agent, name, in) })
		},
	}
}

type clineMessage struct {
	Role    string
	Content json.RawMessage
	Time    json.RawMessage `json:"ts"`
	Model   struct {
		ID string `json:"modelId"`
	} `json:"modelInfo"`
	IsSummary bool `json:"isSummary"`
}

var clineParts = sync.OnceValue(func() (out struct{ around, project, answer, thought *regexp.Regexp }) {
	out.around = regexp.MustCompile(`(?s)<environment_details>.*?</environment_details>`)
	out.project = regexp.MustCompile(`# Current (?:Workspace|Working) Directory \(([^)\n]+)\)`)
	out.answer = regexp.MustCompile(`^\[([a-z_]+)(?: for '[^\n]*')?\] Result:\s*`)
	out.thought = regexp.MustCompile(`(?s)^\s*<thinking>.*?</thinking>\s*`)
	return out
})

func (r *reading) cline(agent, name string, in io.Reader) error {
	s := &Session{Transcript: markdown.Transcript{Agent: agent}}
	for extension, is := range map[string]string{"/saoudrizwan.claude-dev/": "cline",
		"/rooveterinaryinc.roo-cline/": "roo-code", "/kilocode.kilo-code/": "kilo-code"} {
		if strings.Contains(filepath.ToSlash(name), extension) {
			s.Agent = is
		}
	}
	if s.Origin = base(name); filepath.Base(name) == clineFile {
		s.Origin = filepath.Base(filepath.Dir(name))
	}
	if at := timeOf(json.RawMessage(s.Origin)); len(s.Origin) == len("1700000000000") {
		s.Started = at
	}
	names := map[string]string{}
	err := r.records(name, in, func(n int, record []byte) error {
		var m clineMessage
		if err := tolerant(record, &m); err != nil {
			return err
		}
		if m.Role == "" {
			return bad("it has no role")
		}
		s.cline(n, &m, names)
		return nil
	})
	if err != nil {
		return err
	}
	return r.session(s)
}

func (s *Session) cline(n int, m *clineMessage, names map[string]string) {
	said, parts := parseContent(m.Content), clineParts()
	s.by(m.Model.ID)
	for _, c := range said.calls {
		names[c.ID] = c.Name
	}
	for i := range said.results {
		said.results[i].name = names[said.results[i].call]
	}
	role, name := m.Role, ""
	if m.IsSummary {
		role, name = "system", s.Agent
		s.Compactions++
	}
	var words []string
	for _, t := range said.text {
		if m.Role != "user" {
			if t = parts.thought.ReplaceAllString(t, ""); t != "" {
				words = append(words, t)
			}
			continue
		}
		if at := parts.project.FindStringSubmatch(t); at != nil && s.Project == "" {
			s.Project, s.Folders = at[1], []string{at[1]}
		}
		t = strings.TrimSpace(parts.around.ReplaceAllString(t, ""))
		if at := parts.answer.FindStringSubmatch(t); at != nil {
			said.results = append(said.results, result{name: at[1], text: []byte(t[len(at[0]):])})
			continue
		}
		for _, tag := range []string{"task", "feedback", "user_message", "answer"} {
			if inner := between(t, tag); inner != "" && strings.HasPrefix(t, "<"+tag+">") {
				t = inner
			}
		}
		if t != "" {
			words = append(words, t)
		}
	}
	if len(said.results) > 0 && m.Role == "user" {
		for i := range said.results {
			said.results[i].text = bytes.TrimSpace(parts.around.ReplaceAll(said.results[i].text, nil))
		}
	}
	if m.Role != "user" && len(words)+len(said.calls) == 0 {
		words = said.text // thoughts alone keep their place: stored transcripts count them
	}
	said.text = words
	s.turn(role, name, itoa(n), timeOf(m.Time), &said)
}
