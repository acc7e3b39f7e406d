package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/sashabaranov/go-openai"
)

// An openaiClient speaks chat completions. It always streams: only so a model
// that thinks for long can be told from a server that hangs.
type openaiClient struct {
	call
	api     *openai.Client
	own     bool          // the maker's own server, which knows the newest fields only
	without atomic.Uint32 // the fields that this server has refused
}

// The optional fields of a request, by what a server says that refuses them.
const (
	noFormat uint32 = 1 << iota
	noStreamOptions
	noOldMax
	noTemperature
)

func refusals() map[uint32][]string {
	return map[uint32][]string{
		noFormat:        {"response_format", "json_schema", "structured output", "grammar"},
		noStreamOptions: {"stream_options"},
		noOldMax:        {"max_completion_tokens"},
		noTemperature:   {"temperature"},
	}
}

func newOpenAI(c call, u *url.URL) *openaiClient {
	config := openai.DefaultConfig(string(c.key))
	config.BaseURL, config.HTTPClient = u.String(), c.http
	config.EmptyMessagesLimit = maxBody // keep-alive lines; the body as a whole is limited
	return &openaiClient{call: c, api: openai.NewClientWithConfig(config), own: u.Host == "api.openai.com"}
}

// Generate implements [Client].
func (c *openaiClient) Generate(ctx context.Context, req Request) (Reply, error) {
	ctx, pace := c.bounded(ctx)
	defer pace.stop()
	for {
		without := c.without.Load()
		reply, err := c.try(ctx, req, pace, without)
		learnt := learn(err) &^ without
		if learnt == 0 && req.Answer != nil && vague(err) {
			learnt = (noFormat | noStreamOptions | noTemperature) &^ without
		}
		if learnt == 0 {
			return reply, err
		}
		// The server has done nothing yet; it is asked without that field.
		c.without.Or(learnt)
	}
}

// learn says which optional fields a server has just refused.
func learn(err error) uint32 {
	var e *CallError
	if !errors.As(err, &e) || !errors.Is(err, ErrRejected) {
		return 0
	}
	var fields uint32
	for field, words := range refusals() {
		for _, w := range words {
			if strings.Contains(strings.ToLower(e.Detail), w) {
				fields |= field
			}
		}
	}
	return fields
}

// vague reports a refusal that names no field we know: the server is asked once more
// without any optional field.
func vague(err error) bool {
	var e *CallError
	return errors.As(err, &e) && errors.Is(err, ErrRejected) && learn(err) == 0 &&
		(e.Status == http.StatusBadRequest || e.Status == http.StatusUnprocessableEntity)
}

func (c *openaiClient) try(ctx context.Context, req Request, pace *pace, without uint32) (Reply, error) {
	stream, err := c.api.CreateChatCompletionStream(ctx, c.request(req, without))
	if err != nil {
		return Reply{}, c.failed(ctx, err)
	}
	// Nothing was written that closing could lose.
	defer func() { _ = stream.Close() }()
	in := collector{pieces: pieces{most: req.Most, pace: pace}}
	for {
		data, err := stream.RecvRaw()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = in.chunk(data)
		}
		if err != nil {
			in.put(&in.reply, in.parts)
			return c.lost(req, in.reply), c.midway(ctx, err)
		}
	}
	in.put(&in.reply, in.parts)
	if in.reply.Stop == "" {
		// Without a reason to stop it did not stop by itself.
		return c.lost(req, in.reply), c.broken(ctx, errCut, true)
	}
	in.reply.Calls = in.calls()
	return c.complete(req, in.reply)
}

var (
	errCut     = errors.New("the answer broke off")
	errNonsens = errors.New("what it sends is no answer")
	errEndless = errors.New("the answer is not cut where it was asked to be")
)

// failed is the error of a request that was not answered with a stream.
func (c *openaiClient) failed(ctx context.Context, err error) error {
	var api *openai.APIError
	var raw *openai.RequestError
	switch {
	case errors.As(err, &api) && api.HTTPStatusCode != 0:
		return c.call.refused(api.HTTPStatusCode, fmt.Sprint(api.Code, " ", api.Type), api.Message)
	case errors.As(err, &raw) && raw.HTTPStatusCode != 0:
		return c.call.refused(raw.HTTPStatusCode, "", http.StatusText(raw.HTTPStatusCode)+" "+string(raw.Body[:min(len(raw.Body), maxDetail)]))
	case errors.Is(err, openai.ErrChatCompletionInvalidModel):
		return c.fail(ErrRejected, 0, "this model does not chat")
	}
	return c.broken(ctx, err, false)
}

// midway is the error of a stream that ended badly.
func (c *openaiClient) midway(ctx context.Context, err error) error {
	if api, ok := errors.AsType[*openai.APIError](err); ok {
		e := c.call.refused(api.HTTPStatusCode, fmt.Sprint(api.Code, " ", api.Type), api.Message)
		if told, ok := errors.AsType[*CallError](e); ok {
			told.spent = true
		}
		return e
	}
	return c.ended(ctx, err)
}

func (c *openaiClient) request(req Request, without uint32) openai.ChatCompletionRequest {
	out := openai.ChatCompletionRequest{Model: c.model.Name, Stream: true}
	if c.own || without&noOldMax != 0 || newNames(c.model.Name) {
		out.MaxCompletionTokens = req.maxTokens()
	} else {
		//lint:ignore SA1019 only OpenAI's own server knows the new name for certain
		out.MaxTokens = req.maxTokens()
	}
	if without&noStreamOptions == 0 {
		out.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	if req.System != "" {
		out.Messages = append(out.Messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleSystem, Content: req.System})
	}
	for _, m := range req.Messages {
		out.Messages = append(out.Messages, openaiMessage(m))
	}
	for _, t := range req.Tools {
		out.Tools = append(out.Tools, openai.Tool{Type: openai.ToolTypeFunction,
			Function: &openai.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: t.Schema}})
	}
	if req.Answer != nil && without&noTemperature == 0 && !newNames(c.model.Name) {
		out.Temperature = math.SmallestNonzeroFloat32 // the library sends no zero
	}
	if req.Answer != nil && without&noFormat == 0 {
		out.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: req.Answer.Name, Schema: req.Answer.JSON, Strict: true}}
	}
	return out
}

// newNames are the models that refuse max_tokens and a temperature; the library
// refuses to send them.
func newNames(model string) bool {
	for _, p := range []string{"o1", "o3", "o4", "gpt-5"} {
		if strings.HasPrefix(model, p) {
			return true
		}
	}
	return false
}

func openaiMessage(m Message) openai.ChatCompletionMessage {
	out := openai.ChatCompletionMessage{Role: string(m.Role), Content: m.Text, ToolCallID: m.CallID}
	if m.Role == ToolResult && m.Failed {
		out.Content = "error: " + m.Text
	}
	for _, call := range m.Calls {
		out.ToolCalls = append(out.ToolCalls, openai.ToolCall{ID: call.ID, Type: openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: call.Name, Arguments: call.Arguments}})
	}
	return out
}

// A chunk is one event of a stream, or a whole answer of a server that does not
// stream, with the fields beyond OpenAI's that others send.
type chunk struct {
	Model   string `json:"model"`
	Choices []struct {
		Index        int                                    `json:"index"`
		Delta        openai.ChatCompletionStreamChoiceDelta `json:"delta"`
		Message      openai.ChatCompletionStreamChoiceDelta `json:"message"`
		FinishReason openai.FinishReason                    `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Details    *struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		Cost *float64 `json:"cost"` // OpenRouter, in dollars
	} `json:"usage"`
	Error *openai.APIError `json:"error"`
}

// A collector puts a reply together from its events.
type collector struct {
	reply Reply
	parts []Call
	slots map[int]int // position in a stream → parts
	pieces
}

// pieces are the texts of a reply while they grow: a stream of single characters
// must not copy all that came before for each of them.
type pieces struct {
	text []byte
	args [maxCalls][]byte
	most int // tokens, 0 is no bound
	got  int // bytes
	pace *pace
}

const (
	frame    = 512      // bytes of an event around what it says
	perToken = 4        // bytes of what it says, on average
	excess   = 64 << 10 // bytes above the bound, for tokens are guessed
)

// take counts an event that says so many bytes, as far as these are known. What a model thinks costs as much as what
// it says.
func (p *pieces) take(event []byte, said int) error {
	n := max(perToken, said, len(event)-frame)
	p.pace.earn(n)
	p.got += n
	if p.most > 0 && (p.got-excess)/perToken > p.most {
		return fmt.Errorf("%w, and has more than %d tokens", errEndless, p.most)
	}
	return nil
}

// put sets the texts of a reply and its calls.
func (p *pieces) put(r *Reply, calls []Call) {
	r.Text = string(p.text)
	for i := range calls {
		calls[i].Arguments = string(p.args[i])
	}
}

const (
	maxCalls = 128     // of one answer
	maxName  = 4 << 10 // bytes of the name of a tool
)

func (in *collector) chunk(data []byte) error {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return fmt.Errorf("%w: an event is no JSON", errNonsens)
	}
	if c.Error != nil {
		return c.Error
	}
	in.reply.Model = or(c.Model, in.reply.Model)
	if c.Usage != nil {
		u := &in.reply.Usage
		u.Input, u.Output = c.Usage.Prompt, c.Usage.Completion
		if c.Usage.Details != nil {
			u.CacheRead = c.Usage.Details.Cached
		}
		if c.Usage.Cost != nil {
			u.USD, u.Status = *c.Usage.Cost, CostActual
		}
	}
	said := 0
	for _, choice := range c.Choices {
		said += len(choice.Delta.Content) + len(choice.Delta.ReasoningContent)
		for _, t := range choice.Delta.ToolCalls {
			said += len(t.Function.Arguments)
		}
		if choice.Index != 0 {
			continue // one answer was asked for
		}
		for _, d := range []openai.ChatCompletionStreamChoiceDelta{choice.Delta, choice.Message} {
			if d.Refusal != "" {
				return ErrRefused
			}
			if err := in.delta(d); err != nil {
				return err
			}
		}
		if err := in.finish(choice.FinishReason); err != nil {
			return err
		}
	}
	return in.take(data, said)
}

func (in *collector) delta(d openai.ChatCompletionStreamChoiceDelta) error {
	in.text = append(in.text, d.Content...)
	for _, t := range d.ToolCalls {
		at, ok := -1, false
		if t.Index != nil {
			at, ok = in.slots[*t.Index]
		}
		// Some servers number every call 0 and tell them apart by id alone.
		if !ok || t.ID != "" && in.parts[at].ID != "" && t.ID != in.parts[at].ID {
			if len(in.parts) == maxCalls {
				return fmt.Errorf("%w: too many tools are called", errNonsens)
			}
			at = len(in.parts)
			in.parts = append(in.parts, Call{})
			if in.slots == nil {
				in.slots = map[int]int{}
			}
			if t.Index != nil {
				in.slots[*t.Index] = at
			}
		}
		p := &in.parts[at]
		if p.ID, p.Name = or(p.ID, t.ID), p.Name+t.Function.Name; len(p.Name) > maxName {
			return fmt.Errorf("%w: the name of a tool has no end", errNonsens)
		}
		in.args[at] = append(in.args[at], t.Function.Arguments...)
	}
	return nil
}

func (in *collector) finish(reason openai.FinishReason) error {
	switch reason {
	case "", openai.FinishReasonNull:
	case openai.FinishReasonLength:
		in.reply.Stop = StopLength
	case openai.FinishReasonToolCalls, openai.FinishReasonFunctionCall:
		in.reply.Stop = StopTools
	case openai.FinishReasonContentFilter:
		return ErrRefused
	case "error":
		return errCut
	default:
		in.reply.Stop = StopEnd
	}
	return nil
}

// calls are the finished calls. Servers that know no ids get some: an answer to
// a call must name it.
func (in *collector) calls() []Call {
	seen := map[string]bool{}
	for i := range in.parts {
		p := &in.parts[i]
		if p.ID == "" || seen[p.ID] {
			p.ID = fmt.Sprintf("call_%d", i+1)
		}
		seen[p.ID] = true
		p.Arguments = or(strings.TrimSpace(p.Arguments), "{}")
	}
	if len(in.parts) > 0 && in.reply.Stop == StopEnd {
		in.reply.Stop = StopTools // Ollama says "stop" to calls as well
	}
	return in.parts
}
