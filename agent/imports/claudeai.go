package imports

import (
	"encoding/json"

	"stet/markdown"
)

// The export of Claude.ai is a zip archive or folder with conversations.json: an
// array of conversations with chat_messages. What was attached stands beside the
// text of a message. In newer exports messages name the one they answer, and then
// they form a tree.

func claudeAI() Source {
	return Source{
		Name: "claude-ai", Title: "Claude.ai, an export (zip, folder or conversations.json)",
		keep: isExport,
		is:   func(s shape) bool { return s.has(".chat_messages[]") },
		read: eachRecord(isExport, (*reading).claudeAI),
	}
}

type aiChat struct {
	UUID, Model string
	Name        json.RawMessage
	Created     json.RawMessage `json:"created_at"`
	Leaf        string          `json:"current_leaf_message_uuid"`
	Messages    []aiMessage     `json:"chat_messages"`
}

type aiMessage struct {
	UUID, Sender       string
	Text, Content      json.RawMessage
	Attachments, Files []aiFile
	Parent             string          `json:"parent_message_uuid"`
	Created            json.RawMessage `json:"created_at"`
}

type aiFile struct {
	Name string          `json:"file_name"`
	Text json.RawMessage `json:"extracted_content"`
}

func (r *reading) claudeAI(_ string, _ int, record []byte) error {
	var c aiChat
	if err := tolerant(record, &c); err != nil {
		return err
	}
	if c.UUID == "" || c.Messages == nil {
		return bad("it is no conversation of Claude.ai's: it has no uuid or no chat_messages")
	}
	begin := func() *Session {
		return &Session{Transcript: markdown.Transcript{Agent: "claude-ai", Provider: "anthropic", Origin: c.UUID, Title: text(c.Name),
			Model: c.Model, Started: timeOf(c.Created)}}
	}
	t := &tree{nodes: map[string]*treeNode{}, main: c.Leaf}
	before := ""
	for i := range c.Messages {
		m := &c.Messages[i]
		n := &treeNode{id: m.UUID, parent: m.Parent, order: int64(i), messages: m.messages()}
		if n.id == "" {
			n.id = "#" + itoa(i+1)
		}
		if m.Parent == "" {
			n.parent = before // older exports: one after the other
		}
		before = n.id
		t.nodes[n.id] = n
	}
	if t.nodes[t.main] == nil {
		t.main = t.newest()
	}
	return r.tree(t, begin)
}

// messages are what was said, and the answers of tools that stand in it.
func (m *aiMessage) messages() []markdown.Message {
	said := parseContent(m.Content)
	if len(said.text) == 0 {
		said.add(text(m.Text))
	}
	for _, f := range append(m.Attachments, m.Files...) {
		said.add("[attached: " + oneLine(f.Name) + "]")
		said.add(text(f.Text))
	}
	role := map[string]string{"human": "user", "": "user"}[m.Sender]
	if role == "" {
		role = m.Sender
	}
	at := timeOf(m.Created)
	var out []markdown.Message
	if len(said.text)+len(said.calls) > 0 {
		out = append(out, markdown.Message{Role: role, Time: at, Ref: m.UUID, Content: []byte(withoutInjected(said.said())), Calls: said.calls})
	}
	for i, res := range said.results {
		out = append(out, markdown.Message{Role: "tool", Name: res.name, Call: res.call, Time: at, Ref: m.UUID + "#" + itoa(i+1), Content: res.text})
	}
	return out
}
