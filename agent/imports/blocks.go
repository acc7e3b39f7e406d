package imports

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"stet/markdown"
)

// A block is one piece of a message in the form of Anthropic's and OpenAI's
// programming interfaces, which most programs store as it is.
type block struct {
	Type, ID, Name       string
	Text, Input, Content json.RawMessage
	ToolUseID            string `json:"tool_use_id"`
	Arguments            json.RawMessage
	IsError              json.RawMessage `json:"is_error"`
}

// A result is what a tool answered, or of the role system what the client says.
type result struct {
	call, name, role string
	text             []byte
	failed           bool // the tool says so
	notice           bool // it stood in one message with what a person typed
}

// spoken is the content of one message taken apart. What a model only thought was
// not said, and is left out.
type spoken struct {
	text    []string
	calls   []markdown.ToolCall
	results []result
}

func (s spoken) said() string { return strings.Join(s.text, "\n\n") }

// byMachine makes notices of the client of the texts, and of the parts of texts, that no person typed. origin is a
// word, or an object with its kind.
func (s *spoken) byMachine(origin json.RawMessage) {
	from := struct{ Kind string }{text(origin)}
	_ = json.Unmarshal(origin, &from) // a word, or nothing
	var typed []string
	for _, t := range s.text {
		say := func(text string, part bool) {
			s.results = append(s.results, result{name: "claude-code", role: "system", text: []byte(text), notice: part})
		}
		if markdown.ByMachine(from.Kind, t) || t == "Warmup" || strings.HasPrefix(t, "[SUGGESTION MODE:") {
			say(t, false)
			continue
		}
		rest := notices().ReplaceAllStringFunc(t, func(notice string) string {
			say(notice, true)
			return ""
		})
		if rest = strings.TrimSpace(rest); rest != "" {
			typed = append(typed, rest)
		}
	}
	for i := range s.results {
		s.results[i].notice = s.results[i].notice && len(typed) > 0
	}
	s.text = typed
}

// notices are the elements in which a client says what its person looks at.
var notices = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)<ide_(\w+)>.*?</ide_\w+>`)
})

// parseContent reads content that is a string, one block or a list of blocks.
func parseContent(raw json.RawMessage) spoken {
	var out spoken
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return out
	}
	switch raw[0] {
	case '"':
		out.add(text(raw))
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil {
			for _, b := range list {
				out.block(b)
			}
		}
	case '{':
		out.block(raw)
	}
	return out
}

func (s *spoken) add(text string) {
	if strings.TrimSpace(text) != "" {
		s.text = append(s.text, strings.Trim(text, "\n"))
	}
}

func (s *spoken) block(raw json.RawMessage) {
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '"' {
		s.add(text(raw))
		return
	}
	var b block
	_ = json.Unmarshal(raw, &b) // a field of another type than expected leaves the others
	switch b.Type {
	case "tool_use", "server_tool_use", "mcp_tool_use":
		s.calls = append(s.calls, markdown.ToolCall{ID: b.ID, Name: b.Name, Arguments: compactJSON(b.Input)})
	case "toolCall":
		s.calls = append(s.calls, markdown.ToolCall{ID: b.ID, Name: b.Name, Arguments: compactJSON(b.Arguments)})
	case "tool_result", "mcp_tool_result", "web_search_tool_result":
		inner := parseContent(b.Content)
		s.results = append(s.results, result{call: b.ToolUseID, name: b.Name, text: []byte(inner.said()),
			failed: string(b.IsError) == "true"})
	case "thinking", "redacted_thinking", "reasoning":
	case "image", "image_url", "input_image", "document", "file", "input_file", "input_audio", "audio":
		s.add("[" + strings.TrimSuffix(strings.TrimPrefix(b.Type, "input_"), "_url") + "]")
	default:
		s.add(text(b.Text))
	}
}
