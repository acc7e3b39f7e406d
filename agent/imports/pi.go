package imports

import (
	"cmp"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stet/markdown"
)

// pi keeps a conversation as <agent>/sessions/--<folder>--/<time>_<id>.jsonl, and OpenClaw, which is built on it, as
// <state>/agents/<agent>/sessions/<id>.jsonl: a header, then entries. Since version 2 they form a tree by parentId,
// and the last entry is the end of the branch that is shown; before they stand one after the other. A file that was
// branched off names the other one in parentSession (branchedFrom in version 1) and repeats its entries, ids
// included.
//
// Known from packages/coding-agent/docs/session.md of badlogic/pi-mono (versions 1 to 3) and from other readers of
// OpenClaw's files, as stored in November 2026. Not tried on files of real users.

func pi() Source {
	return piLines("pi", "pi, conversations",
		func(h Host) []string {
			return []string{h.under("PI_CODING_AGENT_DIR", filepath.Join(".pi", "agent"), "sessions")}
		},
		func(s shape) bool {
			return s.one(".type", "session") && s.has(".id", ".timestamp") ||
				s.one(".type", "message") && s.has(".message.role")
		})
}

func openClawSessions() Source {
	return piLines("openclaw-sessions", "OpenClaw, conversations",
		func(h Host) []string { return []string{h.under("OPENCLAW_STATE_DIR", ".openclaw", "agents")} },
		nil) // its files look like pi's; where they stand tells
}

func piLines(agent, title string, places func(Host) []string, is func(shape) bool) Source {
	return Source{
		Name: agent, Title: title, places: places, keep: hasExt(".jsonl"), is: is,
		read: func(r *reading, f file) error {
			return r.open(f, hasExt(".jsonl"), func(name string, in io.Reader) error {
				if strings.Contains(filepath.ToSlash(name), "/.openclaw/") || agent == "openclaw-sessions" {
					return r.pi("openclaw", name, in)
				}
				return r.pi(agent, name, in)
			})
		},
	}
}

type piEntry struct {
	Type, ID, CWD, Provider, Name, Summary string
	Parent                                 string `json:"parentId"`
	Model                                  string `json:"modelId"`
	ParentFile                             string `json:"parentSession"`
	BranchedFrom                           string `json:"branchedFrom"`
	Timestamp, Content                     json.RawMessage
	Message                                struct {
		Role, Command, Model, Provider string
		Content, Output                json.RawMessage
		IsError                        bool   `json:"isError"`
		CallID                         string `json:"toolCallId"`
		Tool                           string `json:"toolName"`
		Timestamp                      json.RawMessage
		Usage                          struct{ Input, Output, CacheRead, CacheWrite int }
	}
}

func (r *reading) pi(agent, name string, in io.Reader) error {
	t := &tree{nodes: map[string]*treeNode{}}
	head := &Session{Transcript: markdown.Transcript{Agent: agent}}
	var sum markdown.TokenUse
	err := r.records(name, in, func(n int, record []byte) error {
		var e piEntry
		if err := tolerant(record, &e); err != nil {
			return err
		}
		if e.Type == "" {
			return bad("it has no type")
		}
		if e.Type == "session" {
			head.pi(&e)
			return nil
		}
		if e.ID == "" { // version 1
			e.ID, e.Parent = itoa(n), t.main
		}
		one := &Session{}
		one.piEntry(&e, head)
		u := e.Message.Usage
		sum.Input, sum.Output = sum.Input+u.Input, sum.Output+u.Output
		sum.CacheRead, sum.CacheWrite = sum.CacheRead+u.CacheRead, sum.CacheWrite+u.CacheWrite
		if head.Started.IsZero() {
			head.Started = timeOf(e.Timestamp)
		}
		t.nodes[e.ID] = &treeNode{id: e.ID, parent: e.Parent, order: int64(n), messages: one.Messages,
			errors: one.Errors, compactions: one.Compactions}
		t.main = e.ID
		return nil
	})
	if err != nil {
		return err
	}
	if head.Origin == "" {
		head.Origin = base(name)
	}
	head.keepsRefs, head.ParentStarted = true, r.started[head.ParentOrigin]
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

// pi takes up the header.
func (s *Session) pi(e *piEntry) {
	s.Origin, s.Project, s.Started = e.ID, e.CWD, timeOf(e.Timestamp)
	s.by(e.Model)
	s.Provider = e.Provider
	if e.CWD != "" {
		s.Folders = append(s.Folders, e.CWD)
	}
	if from := base(cmp.Or(e.ParentFile, e.BranchedFrom)); from != "" && from != "." {
		s.leaves(from[strings.LastIndexByte(from, '_')+1:], time.Time{}, true) // <time>_<id>
	}
}

// piEntry makes messages of an entry; head takes up what is a fact about all of them.
func (s *Session) piEntry(e *piEntry, head *Session) {
	m, at := &e.Message, timeOf(e.Timestamp)
	said := parseContent(m.Content)
	switch {
	case e.Type == "model_change":
		head.Model, head.Provider = cmp.Or(e.Model, head.Model), cmp.Or(e.Provider, head.Provider)
	case e.Type == "session_info":
		head.Title = e.Name
	case e.Type == "compaction", e.Type == "branch_summary":
		if e.Type == "compaction" {
			s.Compactions++
		}
		s.turn("system", head.Agent, e.ID, at, &spoken{text: slices.DeleteFunc([]string{e.Summary}, blank)})
	case e.Type == "custom_message":
		said = parseContent(e.Content)
		s.turn("system", head.Agent, e.ID, at, &said)
	case e.Type != "message":
	case m.Role == "toolResult":
		s.turn("tool", "", e.ID, at,
			&spoken{results: []result{{call: m.CallID, name: m.Tool, text: []byte(said.said()), failed: m.IsError}}})
	case m.Role == "bashExecution": // the person ran it
		s.turn("user", "", e.ID, at, &spoken{text: []string{"!" + m.Command},
			results: []result{{name: "bash", text: []byte(text(m.Output))}}})
	case m.Role == "user", m.Role == "assistant":
		head.by(m.Model)
		head.Provider = cmp.Or(m.Provider, head.Provider)
		s.turn(m.Role, "", e.ID, at, &said)
	default:
		s.turn("system", head.Agent, e.ID, at, &said)
	}
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
