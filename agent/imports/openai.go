package imports

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"

	"stet/markdown"
)

// Data sets and logs keep one conversation a line, or as an element of an array,
// in one of two forms: "messages" with role and content, as OpenAI's interface
// takes them, or "conversations" with from and value, as ShareGPT has them. A file
// of messages alone is one conversation. Most have no ids: then the file's name and
// the first message are one, and a number where several begin alike.

func openAI() Source {
	return chatLines("openai", "OpenAI messages, one conversation a line",
		func(s shape) bool { return s.has(".messages[].role") || s.has(".role", ".content") })
}

func shareGPT() Source {
	return chatLines("sharegpt", "ShareGPT conversations, one a line or in an array",
		func(s shape) bool { return s.has(".conversations[].from") || s.has(".conversation[]") })
}

func chatLines(agent, title string, is func(shape) bool) Source {
	keep := hasExt(".jsonl", ".json", ".ndjson")
	return Source{
		Name: agent, Title: title, keep: keep, is: is,
		read: func(r *reading, f file) error {
			return r.open(f, keep, func(name string, in io.Reader) error {
				c := &chatFile{agent: agent, name: filepath.Base(name), begun: map[string]int{}}
				err := r.records(name, in, func(n int, record []byte) error { return r.chatLine(c, n, record) })
				if err == nil && c.bare != nil {
					err = r.session(c.named(c.bare, 1))
				}
				return err
			})
		},
	}
}

// A chatFile is one file as it is read.
type chatFile struct {
	agent, name string
	bare        *Session       // of messages that stand alone
	begun       map[string]int // conversations by their first message
}

// named gives s an id by what stands in it, and the one that it had by its place n in the file.
func (c *chatFile) named(s *Session, n int) *Session {
	if s.Origin == "" && len(s.Messages) > 0 {
		sum := sha256.Sum256(s.Messages[0].Content)
		first := hex.EncodeToString(sum[:])
		s.Formerly = c.name + ":" + itoa(n) + ":" + first[:8]
		s.Origin = c.name + ":" + first[:16]
		if c.begun[first]++; c.begun[first] > 1 {
			s.Origin += "#" + itoa(c.begun[first])
		}
	}
	return s
}

type chatLine struct {
	ID, Title, Model, Created json.RawMessage
	Messages                  []chatTurn
	Conv                      json.RawMessage `json:"conversation_id"`
	Custom                    json.RawMessage `json:"custom_id"`
	Share                     []chatTurn      `json:"conversations"`
	Share2                    []chatTurn      `json:"conversation"`
}

type chatTurn struct {
	ID, Content, Value json.RawMessage
	Role, From, Name   string
	Time               json.RawMessage `json:"timestamp"`
	Call               string          `json:"tool_call_id"`
	Calls              json.RawMessage `json:"tool_calls"`
	OneCall            json.RawMessage `json:"function_call"`
}

func (r *reading) chatLine(of *chatFile, n int, record []byte) error {
	var c chatLine
	if err := tolerant(record, &c); err != nil {
		return err
	}
	turns := c.Messages
	for _, other := range [][]chatTurn{c.Share, c.Share2} {
		if turns == nil {
			turns = other
		}
	}
	if turns == nil {
		var t chatTurn
		if tolerant(record, &t) == nil && t.Role != "" {
			if of.bare == nil {
				of.bare = &Session{Transcript: markdown.Transcript{Agent: of.agent}}
			}
			if m := t.message(); len(m.Content)+len(m.Calls) > 0 {
				of.bare.Messages = append(of.bare.Messages, m)
			}
			return nil
		}
		return bad(`it has neither "messages" nor "conversations"`)
	}
	s := &Session{Transcript: markdown.Transcript{Agent: of.agent, Title: text(c.Title), Model: text(c.Model),
		Started: timeOf(c.Created)}}
	for _, t := range turns {
		if m := t.message(); m.Role != "" && len(m.Content)+len(m.Calls) > 0 {
			s.Messages = append(s.Messages, m)
		}
	}
	for _, id := range []json.RawMessage{c.Conv, c.ID, c.Custom} {
		s.Origin = cmp.Or(s.Origin, string(compactJSON(id)))
	}
	return r.session(of.named(s, n))
}

func (t *chatTurn) message() markdown.Message {
	said := parseContent(t.Content)
	if len(said.text) == 0 {
		said.add(text(t.Value))
	}
	role := cmp.Or(t.Role, t.From)
	switch strings.ToLower(role) {
	case "human", "prompter":
		role = "user"
	case "gpt", "bot", "chatgpt", "model", "bing", "bard":
		role = "assistant"
	case "function", "observation", "function_response", "tool_response":
		role = "tool"
	case "":
		return markdown.Message{}
	}
	m := markdown.Message{Role: role, Name: t.Name, Call: t.Call, Time: timeOf(t.Time), Content: []byte(said.said())}
	if id := compactJSON(t.ID); id != nil {
		m.Ref = string(id)
	}
	m.Calls = append(said.calls, openAICalls(t.Calls)...)
	if len(t.OneCall) > 0 {
		m.Calls = append(m.Calls, openAICalls(json.RawMessage(`[{"function":`+string(t.OneCall)+`}]`))...)
	}
	return m
}

// openAICalls reads tool_calls, which some programs store as a JSON text.
func openAICalls(raw json.RawMessage) []markdown.ToolCall {
	if s := text(raw); s != "" {
		raw = json.RawMessage(s)
	}
	var list []struct {
		ID       string
		CallID   string `json:"call_id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var out []markdown.ToolCall
	for _, c := range list {
		if c.Function.Name != "" {
			out = append(out, markdown.ToolCall{ID: cmp.Or(c.ID, c.CallID), Name: c.Function.Name, Arguments: compactJSON(c.Function.Arguments)})
		}
	}
	return out
}
