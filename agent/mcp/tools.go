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
		reply = refusal(agent.Usagef("%s", strings.Join(said, "; ")))
	case err != nil && reply == "":
		reply = refusal(err)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: reply}},
		StructuredContent: json.RawMessage(reply), IsError: err != nil}, nil
}

// refusal is the reply to a call that no tool has answered.
func refusal(err error) string { return tools.Texts(tools.Refusal(err), snapshot.Clean) }
