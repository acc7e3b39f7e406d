package llmtest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"stet/agent/llm"
)

type object = map[string]any

// parseOpenAI reads a request strictly: what the format does not know is wrong.
func parseOpenAI(r *http.Request) (*Request, error) {
	var in struct {
		Model     string `json:"model"`
		MaxTokens int    `json:"max_tokens"`
		MaxNew    int    `json:"max_completion_tokens"`
		Stream    bool   `json:"stream"`
		Messages  []struct {
			Role   string `json:"role"`
			Text   string `json:"content"`
			CallID string `json:"tool_call_id"`
			Calls  []struct {
				ID       string `json:"id"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
		Format *struct {
			Type   string `json:"type"`
			Schema struct {
				Name   string          `json:"name"`
				Schema json.RawMessage `json:"schema"`
				Strict bool            `json:"strict"`
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &in)
	}
	if err != nil {
		return nil, err
	}
	out := &Request{Mode: llm.ModeOpenAI, Model: in.Model, Body: body}
	out.MaxTokens = in.MaxTokens + in.MaxNew
	open := map[string]bool{}
	for _, m := range in.Messages {
		if m.Role == "system" {
			out.System += m.Text
			continue
		}
		if m.Role == "tool" && !open[m.CallID] {
			return nil, errors.New("a tool message must follow the call that it answers")
		}
		msg := llm.Message{Role: llm.Role(m.Role), Text: m.Text, CallID: m.CallID}
		for _, c := range m.Calls {
			open[c.ID] = true
			msg.Calls = append(msg.Calls, llm.Call{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
		}
		out.Messages = append(out.Messages, msg)
	}
	for _, t := range in.Tools {
		out.Tools = append(out.Tools, llm.Tool{Name: t.Function.Name, Description: t.Function.Description, Schema: t.Function.Parameters})
	}
	if f := in.Format; f != nil {
		if f.Type != "json_schema" || !f.Schema.Strict {
			return nil, errors.New("response_format: only strict schemas")
		}
		out.Answer = &llm.Schema{Name: f.Schema.Name, JSON: f.Schema.Schema}
	}
	switch {
	case in.Model == "" || len(out.Messages) == 0 || out.MaxTokens <= 0:
		return nil, errors.New("model, messages and max_tokens are required")
	case !in.Stream:
		return nil, errors.New("the client of stet streams")
	}
	return out, nil
}

// piece is how many bytes of an answer one event holds: few, so that words,
// escapes and the JSON of arguments are torn wherever they can be.
const piece = 5

// pieces cuts a text between characters.
func pieces(text string) []string {
	var out []string
	last := 0
	for i := range text {
		if i-last >= piece {
			out, last = append(out, text[last:i]), i
		}
	}
	return append(out, text[last:])
}

// An events writes server-sent events and flushes each.
type events struct{ w http.ResponseWriter }

func newEvents(w http.ResponseWriter) events {
	w.Header().Set("Content-Type", "text/event-stream")
	return events{w}
}

func (e events) send(name string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	line := "data: " + string(data) + "\n\n"
	if name != "" {
		line = "event: " + name + "\n" + line
	}
	e.raw(line)
}

func (e events) raw(text string) {
	_, _ = io.WriteString(e.w, text) // the client hung up
	if c, ok := e.w.(*cut); !ok || c.sent {
		_ = http.NewResponseController(e.w).Flush()
	}
}

func writeOpenAI(w http.ResponseWriter, req *Request, reply llm.Reply) {
	e := newEvents(w)
	chunk := func(delta object, finish any) {
		e.send("", object{"id": "c1", "object": "chat.completion.chunk", "model": req.Model,
			"choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}}})
	}
	e.raw(": keep-alive\n\n")
	chunk(object{"role": "assistant", "content": ""}, nil)
	if reply.Text != "" {
		for _, p := range pieces(reply.Text) {
			chunk(object{"content": p}, nil)
		}
	}
	for i, c := range reply.Calls {
		chunk(object{"tool_calls": []object{{"index": i, "id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": ""}}}}, nil)
		for _, p := range pieces(c.Arguments) {
			chunk(object{"tool_calls": []object{{"index": i, "function": object{"arguments": p}}}}, nil)
		}
	}
	chunk(object{}, finishReason(reply))
	u := reply.Usage
	usage := object{"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
		"prompt_tokens_details": object{"cached_tokens": u.CacheRead}}
	if u.Status == llm.CostActual {
		usage["cost"] = u.USD
	}
	e.send("", object{"id": "c1", "object": "chat.completion.chunk", "model": req.Model, "choices": []object{}, "usage": usage})
	e.raw("data: [DONE]\n\n")
}

func finishReason(reply llm.Reply) string {
	switch {
	case reply.Stop == llm.StopLength:
		return "length"
	case len(reply.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}
