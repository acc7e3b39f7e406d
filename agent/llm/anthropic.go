package llm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
)

// An anthropicClient speaks Anthropic's messages, written here: the official
// library would double the size of stet's binary.
type anthropicClient struct {
	call
	url           string
	noTemperature atomic.Bool // the model has refused one
}

const anthropicVersion = "2023-06-01" // of the protocol; the newest there is

type anthropicRequest struct {
	Model     string             `json:"model"`
	MaxTokens int                `json:"max_tokens"`
	System    string             `json:"system,omitempty"`
	Messages  []anthropicMessage `json:"messages"`
	Tools     []anthropicTool    `json:"tools,omitempty"`
	Choice    *anthropicChoice   `json:"tool_choice,omitempty"`
	Stream    bool               `json:"stream"`
	// Temperature is 0 for an answer in a given form; nil leaves it to the server.
	Temperature *float64 `json:"temperature,omitempty"`
}

type anthropicMessage struct {
	Role    string           `json:"role"`
	Content []anthropicBlock `json:"content"`
}

type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
}

type anthropicTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
}

type anthropicChoice struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

// request puts req into the wire's form. An answer in a given form is asked for
// as the call of one tool that has to be made: every model and every server of
// this protocol knows tools.
func (c *anthropicClient) request(req Request) anthropicRequest {
	out := anthropicRequest{Model: c.model.Name, MaxTokens: req.maxTokens(), System: req.System, Stream: true}
	for _, m := range req.Messages {
		role, blocks := "user", anthropicBlocks(m)
		if m.Role == Assistant {
			role = "assistant"
		}
		// The roles must take turns, and all results of one turn stand together.
		if n := len(out.Messages); n > 0 && out.Messages[n-1].Role == role {
			out.Messages[n-1].Content = append(out.Messages[n-1].Content, blocks...)
		} else if len(blocks) > 0 {
			out.Messages = append(out.Messages, anthropicMessage{role, blocks})
		}
	}
	for _, t := range req.Tools {
		out.Tools = append(out.Tools, anthropicTool(t))
	}
	if a := req.Answer; a != nil {
		out.Tools = append(out.Tools, anthropicTool{a.Name, "Give the answer.", a.JSON})
		out.Choice = &anthropicChoice{"tool", a.Name}
		if !c.noTemperature.Load() {
			out.Temperature = new(float64)
		}
	}
	return out
}

func anthropicBlocks(m Message) []anthropicBlock {
	if m.Role == ToolResult {
		return []anthropicBlock{{Type: "tool_result", ToolUseID: m.CallID, Content: m.Text, IsError: m.Failed}}
	}
	var out []anthropicBlock
	if strings.TrimSpace(m.Text) != "" { // blocks without text are refused
		out = append(out, anthropicBlock{Type: "text", Text: m.Text})
	}
	for _, call := range m.Calls {
		input := json.RawMessage(call.Arguments)
		if !json.Valid(input) || !strings.HasPrefix(strings.TrimSpace(call.Arguments), "{") {
			input = json.RawMessage("{}") // what the model wrote wrong cannot be sent; the tool's result says so
		}
		out = append(out, anthropicBlock{Type: "tool_use", ID: call.ID, Name: call.Name, Input: input})
	}
	return out
}

// Generate implements [Client].
func (c *anthropicClient) Generate(ctx context.Context, req Request) (Reply, error) {
	ctx, pace := c.bounded(ctx)
	defer pace.stop()
	reply, err := c.try(ctx, req, pace)
	if learn(err)&noTemperature != 0 && !c.noTemperature.Swap(true) {
		return c.try(ctx, req, pace) // the server has done nothing yet
	}
	return reply, err
}

func (c *anthropicClient) try(ctx context.Context, req Request, pace *pace) (Reply, error) {
	body, err := json.Marshal(c.request(req))
	if err != nil {
		return Reply{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return Reply{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Anthropic-Version", anthropicVersion)
	if c.key != "" {
		r.Header.Set("X-Api-Key", string(c.key))
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return Reply{}, c.broken(ctx, err, false)
	}
	// Nothing was written that closing could lose.
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return Reply{}, c.answered(resp)
	}
	in := blocks{answer: req.Answer, pieces: pieces{most: req.Most, pace: pace}}
	if err := in.read(resp.Body); err != nil {
		in.put(&in.reply, in.reply.Calls)
		return c.lost(req, in.reply), c.midway(ctx, err)
	}
	in.finish()
	return c.complete(req, in.reply)
}

type anthropicError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

func (e *anthropicError) Error() string { return e.Message }

func (c *anthropicClient) answered(resp *http.Response) error {
	var told struct {
		Error anthropicError `json:"error"`
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxPeek))
	if err != nil || json.Unmarshal(data, &told) != nil || told.Error.Message == "" {
		told.Error.Message = http.StatusText(resp.StatusCode)
	}
	return c.refused(resp.StatusCode, told.Error.Type, told.Error.Message)
}

func (c *anthropicClient) midway(ctx context.Context, err error) error {
	if told, ok := errors.AsType[*anthropicError](err); ok {
		return c.spent(ErrUnavailable, told.Message)
	}
	return c.ended(ctx, err)
}

// blocks puts a reply together from the events of a stream.
type blocks struct {
	reply  Reply
	answer *Schema
	open   map[int]int // index of a block → position in reply.Calls
	ended  bool
	pieces
}

type anthropicUsage struct {
	Input      *int `json:"input_tokens"`
	Output     *int `json:"output_tokens"`
	CacheRead  *int `json:"cache_read_input_tokens"`
	CacheWrite *int `json:"cache_creation_input_tokens"`
}

type anthropicWhole struct {
	Model   string           `json:"model"`
	Content []anthropicBlock `json:"content"`
	Stop    string           `json:"stop_reason"`
	Usage   anthropicUsage   `json:"usage"`
}

type anthropicEvent struct {
	Type    string         `json:"type"`
	Index   int            `json:"index"`
	Message anthropicWhole `json:"message"`
	Block   anthropicBlock `json:"content_block"`
	Delta   struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Partial  string `json:"partial_json"`
		Thinking string `json:"thinking"`
		Stop     string `json:"stop_reason"`
	} `json:"delta"`
	Usage anthropicUsage  `json:"usage"`
	Error *anthropicError `json:"error"`
}

// read takes events until the one that ends the message. A stream that ends
// without it was cut off.
func (in *blocks) read(body io.Reader) error {
	lines := bufio.NewReader(body)
	for !in.ended {
		line, err := lines.ReadBytes('\n')
		data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:"))
		if data = bytes.TrimSpace(data); ok && err == nil && !bytes.Equal(data, []byte("[DONE]")) {
			if err := in.event(data); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) && !in.ended {
			return errCut
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (in *blocks) event(data []byte) error {
	var e anthropicEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("%w: an event is no JSON", errNonsens)
	}
	if err := in.take(data, len(e.Delta.Text)+len(e.Delta.Partial)+len(e.Delta.Thinking)); err != nil {
		return err
	}
	switch e.Type {
	case "error":
		if e.Error == nil {
			return fmt.Errorf("%w: an error without a word", errNonsens)
		}
		return e.Error
	case "message":
		return in.whole(data)
	case "message_start":
		in.reply.Model = e.Message.Model
		in.count(e.Message.Usage)
	case "content_block_start":
		return in.start(e.Index, e.Block)
	case "content_block_delta":
		return in.delta(e)
	case "message_delta":
		in.count(e.Usage)
		return in.stop(e.Delta.Stop)
	case "message_stop":
		in.ended = true
		if in.reply.Stop == "" {
			return errCut
		}
	}
	return nil // a ping, the end of a block, or something newer
}

// whole takes the answer of a server that does not stream.
func (in *blocks) whole(data []byte) error {
	var m anthropicWhole
	if err := json.Unmarshal(data, &m); err != nil {
		return fmt.Errorf("%w: it is no message", errNonsens)
	}
	in.reply.Model, in.ended = m.Model, true
	in.count(m.Usage)
	for i, b := range m.Content {
		if err := in.start(i, b); err != nil {
			return err
		}
	}
	if m.Stop == "" {
		return errCut
	}
	return in.stop(m.Stop)
}

func (in *blocks) count(u anthropicUsage) {
	to := &in.reply.Usage
	set := func(to *int, n *int) {
		if n != nil {
			*to = *n
		}
	}
	plain := to.Input - to.CacheRead - to.CacheWrite // the wire counts the three apart
	set(&plain, u.Input)
	set(&to.Output, u.Output)
	set(&to.CacheRead, u.CacheRead)
	set(&to.CacheWrite, u.CacheWrite)
	to.Input = plain + to.CacheRead + to.CacheWrite
}

func (in *blocks) start(index int, b anthropicBlock) error {
	switch b.Type {
	case "text":
		in.text = append(in.text, b.Text...)
	case "tool_use":
		if len(in.reply.Calls) == maxCalls {
			return fmt.Errorf("%w: too many tools are called", errNonsens)
		}
		if in.open == nil {
			in.open = map[int]int{}
		}
		in.open[index] = len(in.reply.Calls)
		if string(b.Input) != "{}" && string(b.Input) != "null" {
			in.args[len(in.reply.Calls)] = b.Input // whole; a stream begins with {} and sends it in parts
		}
		in.reply.Calls = append(in.reply.Calls, Call{ID: b.ID, Name: b.Name})
	}
	return nil
}

func (in *blocks) delta(e anthropicEvent) error {
	switch e.Delta.Type {
	case "text_delta":
		in.text = append(in.text, e.Delta.Text...)
	case "input_json_delta":
		at, ok := in.open[e.Index]
		if !ok {
			return fmt.Errorf("%w: arguments of a call that was not made", errNonsens)
		}
		in.args[at] = append(in.args[at], e.Delta.Partial...)
	}
	return nil // thoughts and signatures
}

func (in *blocks) stop(reason string) error {
	switch reason {
	case "":
	case "max_tokens", "model_context_window_exceeded":
		in.reply.Stop = StopLength
	case "tool_use":
		in.reply.Stop = StopTools
	case "refusal":
		return ErrRefused
	default:
		in.reply.Stop = StopEnd
	}
	return nil
}

// finish turns the call that stands for the answer into its text, and gives
// every other call arguments.
func (in *blocks) finish() {
	in.put(&in.reply, in.reply.Calls)
	var calls []Call
	for _, call := range in.reply.Calls {
		call.Arguments = or(strings.TrimSpace(call.Arguments), "{}")
		if in.answer != nil && call.Name == in.answer.Name {
			in.reply.Text = call.Arguments
			if in.reply.Stop == StopTools {
				in.reply.Stop = StopEnd
			}
			continue
		}
		calls = append(calls, call)
	}
	in.reply.Calls = calls
}
