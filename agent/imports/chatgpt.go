package imports

import (
	"encoding/json"
	"errors"
	"strings"

	"stet/markdown"
)

// The export of ChatGPT is a zip archive, or the folder it was unpacked to, with
// conversations.json, or conversations-000.json and on in newer ones: an array of
// conversations, each a tree of messages of which current_node is the end that is
// shown. Times and titles may be missing; a message of weight 0 was never seen.

func chatGPT() Source {
	return Source{
		Name: "chatgpt", Title: "ChatGPT, an export (zip, folder or conversations.json)",
		keep: isExport,
		is:   func(s shape) bool { return s.has(".mapping") },
		read: eachRecord(isExport, (*reading).chatGPT),
	}
}

type gptChat struct {
	ID          string
	Title       json.RawMessage
	Mapping     map[string]gptNode
	Conv        string          `json:"conversation_id"`
	Create      json.RawMessage `json:"create_time"`
	CurrentNode string          `json:"current_node"`
	Model       string          `json:"default_model_slug"`
	Project     string          `json:"gizmo_id"`
}

type gptNode struct {
	Parent  string
	Message *gptMessage
}

type gptMessage struct {
	ID, Recipient string
	Weight        *float64
	Author        struct {
		Role string `json:"role"`
		Name string `json:"name"`
	} `json:"author"`
	Create  json.RawMessage `json:"create_time"`
	Content struct {
		Type  string            `json:"content_type"`
		Parts []json.RawMessage `json:"parts"`
		Text  json.RawMessage   `json:"text"`
	} `json:"content"`
	Metadata struct {
		Hidden bool   `json:"is_visually_hidden_from_conversation"`
		Model  string `json:"model_slug"`
	} `json:"metadata"`
}

// tolerant reads a record of which single fields may have another type than
// expected.
func tolerant(record []byte, v any) error {
	err := json.Unmarshal(record, v)
	var kind *json.UnmarshalTypeError
	if err == nil || errors.As(err, &kind) && kind.Field != "" {
		return nil
	}
	return badLine{plainJSON(err)}
}

func (r *reading) chatGPT(_ string, _ int, record []byte) error {
	var c gptChat
	if err := tolerant(record, &c); err != nil {
		return err
	}
	if c.Conv != "" {
		c.ID = c.Conv
	}
	if c.ID == "" || c.Mapping == nil {
		return bad("it is no conversation of ChatGPT's: it has no id or no mapping")
	}
	t := &tree{nodes: map[string]*treeNode{}, main: c.CurrentNode}
	for id, n := range c.Mapping {
		node := &treeNode{id: id, parent: n.Parent, messages: n.Message.message(id)}
		if n.Message != nil {
			if at := timeOf(n.Message.Create); !at.IsZero() {
				node.order = at.UnixNano() // a map has no order
			}
		}
		t.nodes[id] = node
	}
	if t.nodes[t.main] == nil {
		t.main = t.newest()
	}
	model := c.Model
	for _, n := range t.path(t.main) {
		if m := c.Mapping[n.id].Message; m != nil && m.Metadata.Model != "" {
			model = m.Metadata.Model
		}
	}
	return r.tree(t, func() *Session {
		return &Session{Transcript: markdown.Transcript{Agent: "chatgpt", Provider: "openai", Origin: c.ID, Title: text(c.Title),
			Model: model, Project: c.Project, Started: timeOf(c.Create)}}
	})
}

// message is what a node holds for the transcript; nothing for what nobody saw.
func (m *gptMessage) message(id string) []markdown.Message {
	if m == nil || m.Weight != nil && *m.Weight == 0 || m.Metadata.Hidden {
		return nil
	}
	var said spoken
	switch m.Content.Type {
	case "thoughts", "reasoning_recap", "model_editable_context", "user_editable_context":
		return nil
	}
	for _, p := range m.Content.Parts {
		if len(p) > 0 && p[0] == '"' {
			said.add(text(p))
			continue
		}
		var part struct {
			Text json.RawMessage
			Type string `json:"content_type"`
		}
		_ = json.Unmarshal(p, &part) // a part of another form has nothing to say
		switch {
		case text(part.Text) != "":
			said.add(text(part.Text))
		case strings.HasSuffix(part.Type, "asset_pointer"):
			said.add("[" + strings.TrimSuffix(part.Type, "_asset_pointer") + "]")
		}
	}
	said.add(text(m.Content.Text))
	out := markdown.Message{Role: m.Author.Role, Time: timeOf(m.Create), Ref: id, Content: []byte(withoutInjected(said.said()))}
	if out.Role == "tool" {
		out.Name = m.Author.Name
	}
	if m.Recipient != "" && m.Recipient != "all" && out.Role == "assistant" {
		out.Calls = []markdown.ToolCall{{Name: m.Recipient, Arguments: out.Content}}
		out.Content = nil
	}
	if len(out.Content) == 0 && len(out.Calls) == 0 {
		return nil
	}
	return []markdown.Message{out}
}
