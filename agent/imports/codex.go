package imports

import (
	"encoding/json"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"stet/markdown"
)

// Codex keeps a conversation as sessions/YYYY/MM/DD/rollout-<time>-<uuid>.jsonl.
// Everything that is said stands in it twice, as an item of the model's interface
// and as an event for the screen: the items are read, and the events only where
// there are no items. Instructions that the program puts in front are dropped.
// Before the form {timestamp, type, payload} lines were the payload alone.

func codex() Source {
	isRollout := func(p string) bool {
		base := filepath.Base(p)
		return strings.HasPrefix(base, "rollout-") && strings.HasSuffix(base, ".jsonl")
	}
	return Source{
		Name: "codex", Title: "Codex, conversations",
		places: func(h Host) []string {
			return []string{h.under("CODEX_HOME", ".codex", "sessions"), h.under("CODEX_HOME", ".codex", "archived_sessions")}
		},
		keep: isRollout,
		is: func(s shape) bool {
			return s.has(".payload", ".type") && (s.has(".payload.type") ||
				s.one(".type", "session_meta", "turn_context", "compacted")) ||
				s.has(".id", ".instructions", ".timestamp") || s.has(".record_type")
		},
		foreign: func(p string) string {
			base := strings.TrimSuffix(filepath.Base(p), ".jsonl")
			return base[max(0, len(base)-len("00000000-0000-0000-0000-000000000000")):]
		},
		read: func(r *reading, f file) error {
			return r.open(f, hasExt(".jsonl"), func(name string, in io.Reader) error { return r.codex(name, in) })
		},
	}
}

type codexLine struct {
	Timestamp, Payload json.RawMessage
	Type               string
}

type codexItem struct {
	Type, Role, ID, CWD, Model, Name                              string
	Timestamp, Content, Message, Arguments, Input, Action, Output json.RawMessage
	Provider                                                      string `json:"model_provider"`
	Forked                                                        string `json:"forked_from_id"`
	CallID                                                        string `json:"call_id"`
	Git                                                           struct{ Branch string }
	Info                                                          struct {
		Total struct {
			Input  int `json:"input_tokens"`
			Cached int `json:"cached_input_tokens"`
			Output int `json:"output_tokens"`
		} `json:"total_token_usage"`
	} `json:"info"`
}

// A codexFile is one file as it is read; items and events are the two streams.
type codexFile struct {
	s      *Session
	items  []markdown.Message
	events []markdown.Message
	spoke  bool // an item said something, so events would repeat it
	names  map[string]string
	// started holds when other conversations began.
	started map[string]time.Time
}

func (r *reading) codex(name string, in io.Reader) error {
	c := &codexFile{names: map[string]string{}, started: r.started,
		s: &Session{Transcript: markdown.Transcript{Agent: "codex", Provider: "openai"}}}
	err := r.records(name, in, func(n int, line []byte) error {
		var l codexLine
		if err := tolerant(line, &l); err != nil {
			return err
		}
		if l.Payload == nil {
			l.Payload = line
			if l.Type != "" {
				l.Type = "response_item"
			} else {
				l.Type = "session_meta" // the first line of older files has no type
			}
		}
		var it codexItem
		if err := tolerant(l.Payload, &it); err != nil {
			return err
		}
		c.line(n, &l, &it)
		return nil
	})
	if err != nil {
		return err
	}
	if c.s.Origin == "" {
		c.s.Origin = strings.TrimSuffix(filepath.Base(name), ".jsonl")
	}
	r.remember(c.s.Origin, c.s.Started)
	c.s.Messages = c.events
	if c.spoke || len(c.events) == 0 {
		c.s.Messages = c.items
	}
	return r.session(c.s)
}

func (c *codexFile) line(n int, l *codexLine, it *codexItem) {
	at := timeOf(l.Timestamp)
	m := markdown.Message{Time: at, Ref: itoa(n)}
	if (l.Type == "session_meta" || l.Type == "turn_context") && it.CWD != "" {
		c.s.Folders = append(c.s.Folders, it.CWD)
	}
	switch l.Type {
	case "session_meta":
		if c.s.Origin == "" && it.Forked != "" {
			c.s.leaves(it.Forked, c.started[it.Forked], false)
		}
		if c.s.Origin == "" { // a fork repeats that of the conversation it left
			c.s.Origin, c.s.Project, c.s.Branch = it.ID, it.CWD, it.Git.Branch
			if c.s.Started = timeOf(it.Timestamp); c.s.Started.IsZero() {
				c.s.Started = at
			}
			if it.Provider != "" {
				c.s.Provider = it.Provider
			}
		}
	case "turn_context":
		c.s.by(it.Model)
		if c.s.Project == "" {
			c.s.Project = it.CWD
		}
	case "compacted":
		m.Role, m.Content = "system", []byte(text(it.Message))
		c.s.Compactions++
		if len(m.Content) > 0 {
			c.items, c.events = append(c.items, m), append(c.events, m)
		}
	case "event_msg":
		c.event(m, it)
	case "response_item":
		c.item(m, it)
	}
}

func (c *codexFile) event(m markdown.Message, it *codexItem) {
	switch it.Type {
	case "user_message":
		m.Role = "user"
	case "agent_message":
		m.Role = "assistant"
	case "token_count":
		if t := it.Info.Total; t.Input+t.Output > 0 {
			c.s.Tokens = &markdown.TokenUse{Input: t.Input - min(t.Cached, t.Input), Output: t.Output, CacheRead: t.Cached}
		}
		return
	default:
		return
	}
	if words := codexWords(m.Role, []string{text(it.Message)}); words != "" {
		m.Content = []byte(words)
		c.events = append(c.events, m)
	}
}

func (c *codexFile) item(m markdown.Message, it *codexItem) {
	switch it.Type {
	case "message", "": // a payload without a type that has a role is what somebody said
		if it.Role == "" {
			return
		}
		if it.Role == "developer" || it.Role == "system" {
			return
		}
		m.Role = it.Role
		words := codexWords(m.Role, parseContent(it.Content).text)
		if words == "" {
			return
		}
		m.Content, c.spoke = []byte(words), true
	case "function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call":
		m.Role = "assistant"
		args := it.Arguments
		for _, other := range []json.RawMessage{it.Input, it.Action} {
			if len(args) == 0 {
				args = other
			}
		}
		if it.Name == "" {
			it.Name = strings.TrimSuffix(it.Type, "_call")
		}
		m.Calls = []markdown.ToolCall{{ID: it.CallID, Name: it.Name, Arguments: compactJSON(args)}}
		c.names[it.CallID] = it.Name
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output":
		m.Role, m.Call, m.Name = "tool", it.CallID, c.names[it.CallID]
		var failed bool
		if m.Content, failed = codexOutput(it.Output); failed {
			c.s.Errors++
		}
	default:
		return
	}
	c.items = append(c.items, m)
}

// codexOutput is the answer of a tool: a text, a list of blocks, or an object or
// a JSON text that holds it as "output" or "content". It failed where the command's exit code says so.
func codexOutput(raw json.RawMessage) (said []byte, failed bool) {
	inner := raw
	if s := text(raw); strings.HasPrefix(strings.TrimSpace(s), "{") {
		inner = json.RawMessage(s)
	}
	var o struct {
		Output, Content json.RawMessage
		Metadata        struct {
			Exit json.RawMessage `json:"exit_code"`
		}
	}
	if len(inner) > 0 && inner[0] == '{' && json.Unmarshal(inner, &o) == nil {
		exit, err := strconv.Atoi(string(o.Metadata.Exit))
		failed = err == nil && exit != 0
		for _, r := range []json.RawMessage{o.Output, o.Content} {
			if said := parseContent(r).said(); said != "" {
				return []byte(said), failed
			}
		}
	}
	if said := parseContent(raw).said(); said != "" {
		return []byte(said), failed
	}
	return compactJSON(raw), failed
}

// codexWords drops what the program says in a person's name.
func codexWords(role string, texts []string) string {
	var out []string
	for _, t := range texts {
		if role == "user" {
			t = strings.TrimSpace(withoutInjected(t))
			for _, head := range []string{"# AGENTS.md instructions", "<environment_context>", "<user_instructions>", "<INSTRUCTIONS>",
				"<permissions instructions>", "<turn_aborted>", "<collaboration_mode>", "<skills_instructions>"} {
				if strings.HasPrefix(t, head) {
					t = ""
				}
			}
		}
		if strings.TrimSpace(t) != "" {
			out = append(out, t)
		}
	}
	return strings.Join(out, "\n\n")
}
