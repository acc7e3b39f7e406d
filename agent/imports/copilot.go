package imports

import (
	"cmp"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"

	"stet/markdown"
)

// Copilot CLI keeps a conversation as session-state/<id>/events.jsonl, in its first versions
// session-state/<id>.jsonl: one event a line, {type, data, id, timestamp, parentId}. An answer names the tools that
// it asks for; each of them ends with tool.execution_complete. What a sub-agent says has the call that started it as
// parentToolCallId, and becomes a conversation of its own. session.snapshot_rewind is a fact about files and takes
// nothing back that was said.
//
// The program is closed; known from the session events of github/copilot-sdk and what other readers say of versions
// 0.0.369 to 1.0, as stored in November 2026. Not tried on files of real users.

func copilot() Source {
	return Source{
		Name: "copilot-cli", Title: "Copilot CLI, conversations",
		places: func(h Host) []string {
			return []string{h.under("COPILOT_HOME", ".copilot", "session-state"),
				h.under("COPILOT_HOME", ".copilot", "history-session-state")}
		},
		keep: func(p string) bool {
			return filepath.Base(p) == "events.jsonl" ||
				hasExt(".jsonl")(p) && filepath.Base(filepath.Dir(p)) == "session-state"
		},
		is: func(s shape) bool {
			kind, _, ok := strings.Cut(s[".type"], ".")
			return ok && s.has(".data", ".id") && strings.Contains(" session user assistant tool ", " "+kind+" ")
		},
		foreign: func(p string) string {
			if base(p) == "events" {
				return filepath.Base(filepath.Dir(p))
			}
			return base(p)
		},
		read: func(r *reading, f file) error {
			return r.open(f, hasExt(".jsonl"), func(name string, in io.Reader) error { return r.copilot(name, in) })
		},
	}
}

type copilotEvent struct {
	Type, ID  string
	Timestamp json.RawMessage
	Data      struct {
		Content, Message, Arguments, Result, Title json.RawMessage
		SessionID                                  string          `json:"sessionId"`
		Start                                      json.RawMessage `json:"startTime"`
		Model                                      string          `json:"selectedModel"`
		NewModel                                   string          `json:"newModel"`
		Summary                                    json.RawMessage `json:"summaryContent"`
		ParentCall                                 string          `json:"parentToolCallId"`
		CallID                                     string          `json:"toolCallId"`
		Tool                                       string          `json:"toolName"`
		Error                                      json.RawMessage
		Context                                    struct{ CWD string }
		Requests                                   []struct {
			Name, ToolCallID string
			Arguments        json.RawMessage
		} `json:"toolRequests"`
		Metrics map[string]struct {
			Usage struct {
				Input      int `json:"inputTokens"`
				Output     int `json:"outputTokens"`
				CacheRead  int `json:"cacheReadTokens"`
				CacheWrite int `json:"cacheWriteTokens"`
			}
		} `json:"modelMetrics"`
	}
}

// A copilotFile is one file as it is read.
type copilotFile struct {
	main  *Session
	subs  map[string]*Session // by the call that started them
	order []string
	names map[string]string // call to tool
}

func (r *reading) copilot(name string, in io.Reader) error {
	c := &copilotFile{main: &Session{Transcript: markdown.Transcript{Agent: "copilot-cli", Provider: "github"}},
		subs: map[string]*Session{}, names: map[string]string{}}
	err := r.records(name, in, func(_ int, record []byte) error {
		var e copilotEvent
		if err := tolerant(record, &e); err != nil {
			return err
		}
		if e.Type == "" {
			return bad("it has no type")
		}
		c.event(&e)
		return nil
	})
	if err != nil {
		return err
	}
	s := c.main
	if s.Origin == "" {
		if s.Origin = base(name); s.Origin == "events" {
			s.Origin = filepath.Base(filepath.Dir(name))
		}
	}
	if err := r.session(s); err != nil {
		return err
	}
	for _, call := range c.order {
		b := c.subs[call]
		b.Origin, b.Project, b.Folders = s.Origin+"/"+call, s.Project, s.Folders
		b.ParentOrigin, b.ParentStarted, b.Model = s.Origin, s.Started, s.Model
		if err := r.session(b); err != nil {
			return err
		}
	}
	return nil
}

// of is the conversation in which an event happened.
func (c *copilotFile) of(call string) *Session {
	if call == "" {
		return c.main
	}
	if c.subs[call] == nil {
		c.subs[call] = &Session{Transcript: markdown.Transcript{Agent: c.main.Agent, Provider: c.main.Provider}}
		c.order = append(c.order, call)
	}
	return c.subs[call]
}

func (c *copilotFile) event(e *copilotEvent) {
	d, at, s := &e.Data, timeOf(e.Timestamp), c.main
	switch e.Type {
	case "session.start", "session.resume":
		s.Origin = cmp.Or(s.Origin, d.SessionID)
		s.by(d.Model)
		s.Project = cmp.Or(s.Project, d.Context.CWD)
		if d.Context.CWD != "" {
			s.Folders = append(s.Folders, d.Context.CWD)
		}
		if s.Started.IsZero() {
			if s.Started = timeOf(d.Start); s.Started.IsZero() {
				s.Started = at
			}
		}
	case "session.model_change":
		s.by(d.NewModel)
	case "session.title_changed":
		s.Title = cmp.Or(text(d.Title), s.Title)
	case "session.compaction_complete":
		s.Compactions++
		s.turn("system", "copilot-cli", e.ID, at, &spoken{text: said(d.Summary)})
	case "session.error":
		s.turn("system", "copilot-cli", e.ID, at, &spoken{text: said(d.Message)})
	case "session.shutdown":
		var sum markdown.TokenUse
		for _, m := range d.Metrics {
			u := m.Usage
			sum.Input, sum.Output = sum.Input+max(u.Input-u.CacheRead, 0), sum.Output+u.Output
			sum.CacheRead, sum.CacheWrite = sum.CacheRead+u.CacheRead, sum.CacheWrite+u.CacheWrite
		}
		if sum != (markdown.TokenUse{}) {
			s.Tokens = &sum
		}
	case "user.message":
		c.of(d.ParentCall).turn("user", "", e.ID, at, &spoken{text: said(d.Content)})
	case "assistant.message":
		words := spoken{text: said(d.Content)}
		for _, q := range d.Requests {
			c.names[q.ToolCallID] = q.Name
			words.calls = append(words.calls,
				markdown.ToolCall{ID: q.ToolCallID, Name: q.Name, Arguments: compactJSON(q.Arguments)})
		}
		c.of(d.ParentCall).turn("assistant", "", e.ID, at, &words)
	case "tool.execution_start":
		if c.names[d.CallID] == "" { // no answer told of it
			c.names[d.CallID] = d.Tool
			c.of(d.ParentCall).turn("assistant", "", e.ID, at, &spoken{calls: []markdown.ToolCall{
				{ID: d.CallID, Name: d.Tool, Arguments: compactJSON(d.Arguments)}}})
		}
	case "tool.execution_complete":
		answer := toolOutput(d.Result)
		if len(answer) == 0 {
			answer = []byte(cmp.Or(text(d.Error), messageOf(d.Error)))
		}
		c.of(d.ParentCall).turn("tool", "", e.ID, at, &spoken{results: []result{
			{call: d.CallID, name: cmp.Or(c.names[d.CallID], d.Tool), text: answer,
				failed: len(d.Error) > 0 && string(d.Error) != "null"}}})
	}
}

// said is a text that is not blank.
func said(raw json.RawMessage) []string {
	s := parseContent(raw)
	return s.text
}

func messageOf(raw json.RawMessage) string {
	var o struct{ Message string }
	_ = json.Unmarshal(raw, &o) // of another form it says nothing
	return o.Message
}
