package imports

import (
	"cmp"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stet/markdown"
)

// Gemini CLI keeps a conversation as <tmp>/<project>/chats/session-<time>-<id>: one JSON object (.json, 0.1 to 0.3x)
// or JSON lines (.jsonl, since 2026), the first of which holds the facts. A line with the id of an earlier message
// is that message once more; "$rewindTo" takes back a message and all behind it, "$set" changes facts. A sub-agent's
// file stands in a folder that is named for its parent. The folder of the project holds .project_root, which names
// the real one; older ones are called by a hash. Tool calls stand with their results in the answer that made them.
//
// Qwen Code began as a fork of it, and kept that form in its first versions. Since 0.6 it keeps JSON lines,
// <projects>/<folder>/chats/<id>.jsonl, that form a tree by parentUuid; messages are contents of Gemini's interface.
//
// Known from chatRecordingService.ts and chatRecordingTypes.ts of google-gemini/gemini-cli and
// chatRecordingService.ts of QwenLM/qwen-code as stored in November 2026. Not tried on files of real users.

func gemini() Source {
	return Source{
		Name: "gemini-cli", Title: "Gemini CLI, conversations",
		places: func(h Host) []string { return []string{h.under("GEMINI_CLI_HOME", "", ".gemini", "tmp")} },
		keep:   isChat(".json", ".jsonl"),
		is: func(s shape) bool {
			return s.has(".sessionId", ".projectHash") || s.has(".$rewindTo") ||
				s.one(".type", "gemini") && s.has(".id", ".content")
		},
		read: func(r *reading, f file) error {
			return r.open(f, hasExt(".json", ".jsonl"), func(name string, in io.Reader) error {
				return r.gemini("gemini-cli", name, in)
			})
		},
	}
}

func qwen() Source {
	return Source{
		Name: "qwen-code", Title: "Qwen Code, conversations",
		places: func(h Host) []string {
			return []string{h.under("", ".qwen", "projects"), h.under("", ".qwen", "tmp")}
		},
		keep:    isChat(".json", ".jsonl"),
		forked:  namesFork,
		foreign: func(p string) string { return base(p) },
		is:      func(s shape) bool { return s.has(".uuid", ".sessionId") && s.has(".message.parts[]") },
		read: func(r *reading, f file) error {
			return r.open(f, hasExt(".json", ".jsonl"), func(name string, in io.Reader) error {
				if hasExt(".json")(name) || strings.HasPrefix(base(name), "session-") {
					return r.gemini("qwen-code", name, in)
				}
				return r.qwen(name, in)
			})
		},
	}
}

// isChat reports a file of those kinds in a folder "chats", or in one below it.
func isChat(exts ...string) func(string) bool {
	return func(p string) bool {
		return hasExt(exts...)(p) && slices.Contains(strings.Split(filepath.ToSlash(filepath.Dir(p)), "/"), "chats")
	}
}

// A genaiPart is a part of a content of Gemini's interface.
type genaiPart struct {
	Text    json.RawMessage
	Thought json.RawMessage // true, or of older versions the thought itself
	Call    *struct {
		ID, Name string
		Args     json.RawMessage
	} `json:"functionCall"`
	Response *struct {
		ID, Name string
		Response json.RawMessage
	} `json:"functionResponse"`
	Inline json.RawMessage `json:"inlineData"`
	File   json.RawMessage `json:"fileData"`
}

// parts reads a text, a part or a list of both.
func (s *spoken) parts(raw json.RawMessage) {
	if t := text(raw); t != "" {
		s.add(t)
		return
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		for _, one := range list {
			s.parts(one)
		}
		return
	}
	var p genaiPart
	_ = json.Unmarshal(raw, &p) // a field of another type than expected leaves the others
	switch {
	case len(p.Thought) > 0 && string(p.Thought) != "false":
	case p.Call != nil:
		c := p.Call
		s.calls = append(s.calls, markdown.ToolCall{ID: c.ID, Name: c.Name, Arguments: compactJSON(c.Args)})
	case p.Response != nil:
		a := p.Response
		var o struct{ Error json.RawMessage }
		_ = json.Unmarshal(a.Response, &o) // of another form it says nothing of an error
		s.results = append(s.results, result{call: a.ID, name: a.Name, text: toolOutput(a.Response),
			failed: len(o.Error) > 0 && string(o.Error) != "null"})
	case len(p.Inline)+len(p.File) > 0:
		s.add("[attached]")
	default:
		s.add(text(p.Text))
	}
}

// toolOutput is what a tool answered: the text in "output", "error", "content" or "result" of an object, else all of
// it.
func toolOutput(raw json.RawMessage) []byte {
	var o struct{ Output, Error, Content, Result json.RawMessage }
	if json.Unmarshal(raw, &o) == nil {
		for _, one := range []json.RawMessage{o.Output, o.Error, o.Content, o.Result} {
			if said := parseContent(one).said(); said != "" {
				return []byte(said)
			}
		}
	}
	return compactJSON(raw)
}

type geminiLine struct {
	ID, Type, Model, Kind, Summary string
	SessionID                      string          `json:"sessionId"`
	Started                        json.RawMessage `json:"startTime"`
	Directories                    []string
	Timestamp, Content             json.RawMessage
	Messages                       []geminiLine
	Rewind                         *string     `json:"$rewindTo"`
	Set                            *geminiLine `json:"$set"`
	ToolCalls                      []struct {
		ID, Name, Status string
		Args, Result     json.RawMessage
		Shown            json.RawMessage `json:"resultDisplay"`
	} `json:"toolCalls"`
	Tokens struct{ Input, Output, Cached int }
}

// A geminiFile is one file as it is read.
type geminiFile struct {
	s     *Session
	lines []geminiLine
	taken [][]geminiLine // what was taken back, each with what followed
}

func (r *reading) gemini(agent, name string, in io.Reader) error {
	g := &geminiFile{s: &Session{Transcript: markdown.Transcript{Agent: agent}}}
	err := r.records(name, in, func(_ int, record []byte) error {
		var l geminiLine
		if err := tolerant(record, &l); err != nil {
			return err
		}
		g.line(&l)
		return nil
	})
	if err != nil {
		return err
	}
	s := g.s
	s.Origin = cmp.Or(s.Origin, base(name))
	chats := filepath.Dir(name)
	if filepath.Base(chats) != "chats" {
		s.ParentOrigin = filepath.Base(chats)
		s.ParentStarted = r.started[s.ParentOrigin]
		chats = filepath.Dir(chats)
	}
	r.remember(s.Origin, s.Started)
	if s.Project == "" && filepath.Base(chats) == "chats" {
		s.Project = projectRoot(filepath.Join(filepath.Dir(chats), ".project_root"))
	}
	s.gemini(g.lines)
	for _, lines := range g.taken {
		b := &Session{Transcript: markdown.Transcript{Agent: agent, Project: s.Project,
			Origin: s.Origin + "/" + lines[0].ID}, ParentOrigin: s.Origin, ParentStarted: s.Started}
		b.gemini(lines)
		s.taken = append(s.taken, b.Messages...)
		if err := r.session(b); err != nil {
			return err
		}
	}
	return r.session(s)
}

// projectRoot is the folder that a file of one line names; "" for none.
func projectRoot(file string) string {
	in, err := os.Open(file)
	if err != nil {
		return ""
	}
	data, err := io.ReadAll(io.LimitReader(in, 4<<10))
	if in.Close() != nil || err != nil {
		return ""
	}
	return oneLine(string(data))
}

func (g *geminiFile) line(l *geminiLine) {
	if l.Set != nil {
		g.line(l.Set)
	}
	if l.Rewind != nil {
		at := max(0, slices.IndexFunc(g.lines, func(have geminiLine) bool { return have.ID == *l.Rewind }))
		if at < len(g.lines) {
			g.taken, g.lines = append(g.taken, slices.Clone(g.lines[at:])), g.lines[:at]
		}
	}
	if l.ID == "" {
		s := g.s
		s.Origin, s.Title = cmp.Or(s.Origin, l.SessionID), cmp.Or(l.Summary, s.Title)
		if s.Started.IsZero() {
			s.Started = timeOf(l.Started)
		}
		if len(l.Directories) > 0 {
			s.Project, s.Folders = cmp.Or(s.Project, l.Directories[0]), l.Directories
		}
		if len(l.Messages) > 0 && len(g.lines) == 0 {
			g.lines = l.Messages
		}
		return
	}
	for i := range slices.Backward(g.lines) {
		if g.lines[i].ID == l.ID {
			g.lines[i] = *l
			return
		}
	}
	g.lines = append(g.lines, *l)
}

// gemini makes messages of lines.
func (s *Session) gemini(lines []geminiLine) {
	var sum markdown.TokenUse
	for i := range lines {
		l := &lines[i]
		said := spoken{}
		said.parts(l.Content)
		at := timeOf(l.Timestamp)
		role, name := "user", ""
		switch l.Type {
		case "gemini", "qwen", "model", "assistant":
			role = "assistant"
			s.by(l.Model)
		case "info", "error", "warning":
			role, name = "system", s.Agent
		}
		u := l.Tokens
		sum.Input, sum.Output = sum.Input+u.Input-min(u.Cached, u.Input), sum.Output+u.Output
		sum.CacheRead += u.Cached
		for _, c := range l.ToolCalls {
			said.calls = append(said.calls, markdown.ToolCall{ID: c.ID, Name: c.Name, Arguments: compactJSON(c.Args)})
			out := spoken{}
			out.parts(c.Result)
			answer := []byte(out.said())
			for _, res := range out.results {
				answer = append(answer, res.text...)
			}
			if len(answer) == 0 {
				answer = []byte(text(c.Shown))
			}
			if len(answer) > 0 {
				said.results = append(said.results, result{call: c.ID, name: c.Name, text: answer,
					failed: c.Status == "error"})
			}
		}
		s.turn(role, name, l.ID, at, &said)
	}
	if sum != (markdown.TokenUse{}) {
		s.Tokens = &sum
	}
}

// turn adds what was said in one record, and then what its tools answered.
func (s *Session) turn(role, name, ref string, at time.Time, said *spoken) {
	content := []byte(said.said())
	if role == "user" {
		content = []byte(strings.TrimSpace(withoutInjected(said.said())))
	}
	if len(content)+len(said.calls) > 0 {
		s.Messages = append(s.Messages,
			markdown.Message{Role: role, Name: name, Time: at, Ref: ref, Content: content, Calls: said.calls})
	}
	for i, res := range said.results {
		if res.failed {
			s.Errors++
		}
		at := markdown.Message{Role: "tool", Name: res.name, Call: res.call, Time: at, Ref: ref, Content: res.text}
		if i > 0 || len(content)+len(said.calls) > 0 {
			at.Ref += "#" + itoa(i+1)
		}
		s.Messages = append(s.Messages, at)
	}
}

type qwenLine struct {
	UUID, Type, Subtype, CWD, Model string
	Parent                          string `json:"parentUuid"`
	SessionID                       string `json:"sessionId"`
	AgentID                         string `json:"agentId"`
	Sidechain                       bool   `json:"isSidechain"`
	Timestamp                       json.RawMessage
	Message                         struct{ Parts json.RawMessage }
	Payload                         struct {
		CustomTitle string `json:"customTitle"`
		ParentID    string `json:"parentSessionId"`
	} `json:"systemPayload"`
	ForkedFrom struct {
		SessionID string `json:"sessionId"`
	} `json:"forkedFrom"`
	Usage struct {
		Input  int `json:"promptTokenCount"`
		Output int `json:"candidatesTokenCount"`
		Cached int `json:"cachedContentTokenCount"`
	} `json:"usageMetadata"`
}

func (r *reading) qwen(name string, in io.Reader) error {
	t := &tree{nodes: map[string]*treeNode{}}
	head := &Session{Transcript: markdown.Transcript{Agent: "qwen-code"}}
	var sum markdown.TokenUse
	err := r.records(name, in, func(n int, record []byte) error {
		var l qwenLine
		if err := tolerant(record, &l); err != nil {
			return err
		}
		if l.UUID == "" {
			return bad("it has no uuid")
		}
		head.qwen(&l, &sum)
		one := &Session{}
		roles := map[string]string{"user": "user", "assistant": "assistant", "tool_result": "tool"}
		if role, name := roles[l.Type], ""; role != "" {
			said := spoken{}
			said.parts(l.Message.Parts)
			switch l.Subtype {
			case "notification", "cron", "background_task_completed": // nobody typed it
				role, name = "system", "qwen-code"
			}
			one.turn(role, name, l.UUID, timeOf(l.Timestamp), &said)
		}
		t.nodes[l.UUID] = &treeNode{id: l.UUID, parent: l.Parent, order: int64(n), messages: one.Messages,
			errors: one.Errors}
		if !l.Sidechain {
			t.main = l.UUID // it goes on behind the last line
		}
		return nil
	})
	if err != nil {
		return err
	}
	head.Origin, head.keepsRefs = cmp.Or(head.Origin, base(name)), true
	head.ParentStarted = r.started[head.ParentOrigin]
	r.remember(head.Origin, head.Started)
	if sum != (markdown.TokenUse{}) {
		head.Tokens = &sum
	}
	return r.tree(t, func() *Session {
		s := *head
		head.Tokens = nil // of the branch that is shown
		return &s
	})
}

// qwen takes up the facts of one line.
func (s *Session) qwen(l *qwenLine, sum *markdown.TokenUse) {
	s.Origin, s.Project = cmp.Or(s.Origin, l.SessionID), cmp.Or(s.Project, l.CWD)
	s.by(l.Model)
	s.Title = cmp.Or(l.Payload.CustomTitle, s.Title)
	if from := l.ForkedFrom.SessionID; from != "" && !s.fork {
		s.leaves(from, time.Time{}, true)
	}
	s.ParentOrigin = cmp.Or(s.ParentOrigin, l.Payload.ParentID)
	if l.CWD != "" && !slices.Contains(s.Folders, l.CWD) {
		s.Folders = append(s.Folders, l.CWD)
	}
	if s.Started.IsZero() {
		s.Started = timeOf(l.Timestamp)
	}
	sum.Input, sum.Output = sum.Input+l.Usage.Input-min(l.Usage.Cached, l.Usage.Input), sum.Output+l.Usage.Output
	sum.CacheRead += l.Usage.Cached
}
