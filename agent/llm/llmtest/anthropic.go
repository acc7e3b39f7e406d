package llmtest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"stet/agent/llm"
)

// parseAnthropic reads a request under the rules that the real server enforces:
// the roles take turns, and each call is answered in the very next message.
func parseAnthropic(r *http.Request) (*Request, error) {
	var in struct {
		Model     string `json:"model"`
		MaxTokens int    `json:"max_tokens"`
		System    string `json:"system"`
		Stream    bool   `json:"stream"`
		Messages  []struct {
			Role    string `json:"role"`
			Content []struct {
				Type, Text, ID, Name string
				Input                json.RawMessage
				ToolUseID            string `json:"tool_use_id"`
				Content              string
				IsError              bool `json:"is_error"`
			} `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name, Description string
			Schema            json.RawMessage `json:"input_schema"`
		} `json:"tools"`
		Choice *struct{ Type, Name string } `json:"tool_choice"`
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &in)
	}
	if err != nil {
		return nil, err
	}
	if in.Model == "" || in.MaxTokens <= 0 || len(in.Messages) == 0 || in.Messages[0].Role != "user" || !in.Stream {
		return nil, errors.New("model, max_tokens, stream and messages that begin with the user's are required")
	}
	out := &Request{Mode: llm.ModeAnthropic, Model: in.Model, Body: body}
	out.System, out.MaxTokens = in.System, in.MaxTokens
	last, open := "", map[string]bool{}
	for _, m := range in.Messages {
		if m.Role == last || len(m.Content) == 0 {
			return nil, errors.New("roles must alternate and no message may be empty")
		}
		last = m.Role
		msg := llm.Message{Role: llm.Role(m.Role)}
		for _, b := range m.Content {
			switch b.Type {
			case "text":
				if b.Text == "" {
					return nil, errors.New("text content blocks must be non-empty")
				}
				msg.Text += b.Text
			case "tool_use":
				open[b.ID] = true
				msg.Calls = append(msg.Calls, llm.Call{ID: b.ID, Name: b.Name, Arguments: string(b.Input)})
			case "tool_result":
				if !open[b.ToolUseID] {
					return nil, errors.New("a tool_result must follow the tool_use that it answers")
				}
				delete(open, b.ToolUseID)
				out.Messages = append(out.Messages, llm.Message{Role: llm.ToolResult, CallID: b.ToolUseID, Text: b.Content, Failed: b.IsError})
			default:
				return nil, errors.New("unknown block " + b.Type)
			}
		}
		if m.Role == "user" && len(open) > 0 {
			return nil, errors.New("tool_use without a tool_result in the next message")
		}
		if msg.Text != "" || len(msg.Calls) > 0 {
			out.Messages = append(out.Messages, msg)
		}
	}
	for _, t := range in.Tools {
		if in.Choice != nil && in.Choice.Name == t.Name {
			out.Answer = &llm.Schema{Name: t.Name, JSON: t.Schema}
			continue
		}
		out.Tools = append(out.Tools, llm.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	return out, nil
}

func writeAnthropic(w http.ResponseWriter, req *Request, reply llm.Reply) {
	e := newEvents(w)
	u := reply.Usage
	e.send("message_start", object{"type": "message_start", "message": object{"id": "m1", "type": "message", "role": "assistant", "model": req.Model, "content": []any{},
		"usage": object{"input_tokens": u.Input - u.CacheRead - u.CacheWrite, "output_tokens": 1, "cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite}}})
	e.send("ping", object{"type": "ping"})
	calls := reply.Calls
	if req.Answer != nil && reply.Text != "" {
		calls, reply.Text = append([]llm.Call{{ID: "answer", Name: req.Answer.Name, Arguments: reply.Text}}, calls...), ""
	}
	index := 0
	block := func(start object, kind, field, text string) {
		e.send("content_block_start", object{"type": "content_block_start", "index": index, "content_block": start})
		for _, p := range pieces(text) {
			e.send("content_block_delta", object{"type": "content_block_delta", "index": index, "delta": object{"type": kind, field: p}})
		}
		e.send("content_block_stop", object{"type": "content_block_stop", "index": index})
		index++
	}
	if reply.Text != "" {
		block(object{"type": "text", "text": ""}, "text_delta", "text", reply.Text)
	}
	for _, c := range calls {
		block(object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": object{}}, "input_json_delta", "partial_json", c.Arguments)
	}
	stop := "end_turn"
	switch {
	case reply.Stop == llm.StopLength:
		stop = "max_tokens"
	case len(calls) > 0:
		stop = "tool_use"
	}
	e.send("message_delta", object{"type": "message_delta", "delta": object{"stop_reason": stop}, "usage": object{"output_tokens": u.Output}})
	e.send("message_stop", object{"type": "message_stop"})
}
