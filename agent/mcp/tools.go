package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"stet/agent"
	"stet/agent/snapshot"
	"stet/agent/tools"
)

// maxResult is more than any reply of a tool has, in characters.
const maxResult = 60_000

// addTools offers the tools. There is no output schema: a client that has one asks a model to read it.
func (s *server) addTools(srv *mcp.Server) {
	for _, t := range s.box.Tools() {
		h := s.box.Hint(t.Name)
		// That there are no other arguments is said to who sends one; in the list it would cost each session.
		schema := bytes.Replace(t.Schema, []byte(`"additionalProperties":false,`), nil, 1)
		one := &mcp.Tool{Name: t.Name, Title: h.Title, Description: t.Description, InputSchema: json.RawMessage(schema),
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: h.Reads, IdempotentHint: h.Idempotent}}
		if !h.Reads {
			one.Annotations.DestructiveHint = &h.Destructive
		}
		if h.Long {
			one.Meta = mcp.Meta{"anthropic/maxResultSizeChars": maxResult}
		}
		srv.AddTool(one, s.call)
	}
}

// known fails for a tool that there is not, with those that there are.
func (s *server) known(name string) error {
	var names []string
	for _, t := range s.box.Tools() {
		names = append(names, t.Name)
	}
	if slices.Contains(names, name) {
		return nil
	}
	text := "unknown tool; the tools: " + strings.Join(names, ", ")
	if near := agent.Nearest(strings.ToLower(name), names); near != "" {
		text = "unknown tool; did you mean " + near + "?"
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: text}
}

// call carries out one call of a tool. Whatever goes wrong is a reply that says so, where the model sees it.
func (s *server) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	var reply string
	var notes []string
	err := s.with(ctx, req.ClientInfo(), &notes, func(ctx context.Context, a *agent.App) (err error) {
		reply, err = s.box.On(a).Answer(ctx, req.Params.Name, req.Params.Arguments)
		return err
	})
	switch {
	case err != nil && ctx.Err() != nil:
		// A note that a model was asked about is kept, and says so.
		said := append([]string{"cancelled: nothing was written"}, notes...)
		reply = tools.Refusal(agent.Usagef("%s", strings.Join(said, "; ")))
	case err != nil && reply == "":
		reply = tools.Refusal(err)
	}
	reply = cleaned(reply)
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: reply}},
		StructuredContent: json.RawMessage(reply), IsError: err != nil}, nil
}

// cleaned is JSON with each text in it as [snapshot.Clean] has it.
func cleaned(data string) string {
	var out strings.Builder
	for {
		before, rest, more := strings.Cut(data, `"`)
		out.WriteString(before)
		if !more {
			return out.String()
		}
		end := 0
		for end < len(rest) && rest[end] != '"' {
			if rest[end] == '\\' {
				end++
			}
			end++
		}
		var text string
		if end >= len(rest) || json.Unmarshal([]byte(`"`+rest[:end+1]), &text) != nil {
			return `{"ok":false,"error":"the reply is no JSON"}` // no tool makes such a one
		}
		out.WriteString(quoted(snapshot.Clean(text)))
		data = rest[end+1:]
	}
}

// quoted is a text as JSON, with nothing escaped that need not be.
func quoted(text string) string {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string can be encoded, and the builder takes it
	return strings.TrimSuffix(out.String(), "\n")
}
