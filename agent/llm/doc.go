// Package llm asks language models: OpenAI's chat completions, which Ollama,
// llama.cpp, vLLM, LM Studio and OpenRouter speak as well, and Anthropic's
// messages, behind one interface.
//
// It promises that a call ends: connecting, the first byte, the pause between
// two bytes and the whole are limited, and so is the size of an answer. It
// tries again what may go well the second time, waiting as the server says, and
// never once a byte of the answer has arrived. It follows no redirect: prompts
// go to the host that was named and to no other. A key stands in one request
// header and nowhere else: not in an error, a log or a file. An answer that was
// cut off, is empty or is no answer is an error and never half a reply; what
// [Ask] returns has the fields that were asked for.
//
// Every call is written into a [Ledger] before it is made and again when it is
// over, so that the daily limit holds for all processes together and a killed
// one is counted too.
//
//	o, _, err := llm.FromSettings(settings, llm.Chat, os.Getenv)
//	client, err := llm.New(o)
//	reply, err := client.Generate(ctx, llm.Request{Task: "chat", Messages: []llm.Message{{Role: llm.User, Text: "Hello"}}})
package llm

import (
	"context"
	"encoding/json"
)

// A Client asks one model for one reply. It is safe for concurrent use. Errors
// are those of errors.go, or the cause of ctx; with an error, Reply holds no
// more than what the failed call has used up.
type Client interface {
	Generate(ctx context.Context, req Request) (Reply, error)
	Model() Model
}

// A Model says who answers.
type Model struct {
	Provider string
	Name     string
	Host     string
	Price    Price
	Window   int // tokens of request and answer together that it takes at least; 0 is not known
}

// A Role is who speaks in a [Message].
type Role string

// The roles. What the system says stands in [Request.System].
const (
	User       Role = "user"
	Assistant  Role = "assistant"
	ToolResult Role = "tool"
)

// A Message is one turn of a conversation.
type Message struct {
	Role   Role
	Text   string
	Calls  []Call // of the assistant
	CallID string // of the call that a tool result answers
	Failed bool   // the tool reports an error
}

// A Tool is something the model may ask to have done.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON Schema of the arguments, an object
}

// A Call is the model's wish to use a tool. Name and Arguments are what it
// wrote: the tool may not exist and the arguments may be no JSON.
type Call struct {
	ID        string
	Name      string
	Arguments string
}

// A Request is everything a model is told.
type Request struct {
	Task     string // what the call is for, as it is counted: "classify"
	System   string
	Messages []Message
	Tools    []Tool
	Answer   *Schema // the form of the answer, nil for free text; goes without Tools
	// MaxTokens bounds the answer; 0 is 4096.
	MaxTokens int
	// Most bounds it as well where the server does not heed MaxTokens: tokens, by their bytes, after which it is read
	// no further and the call ends with [ErrTooLong]; 0 is no bound.
	Most int
}

const defaultMaxTokens = 4096

func (r Request) maxTokens() int {
	if r.MaxTokens > 0 {
		return r.MaxTokens
	}
	return defaultMaxTokens
}

// A Stop says why an answer ended.
type Stop string

// The reasons.
const (
	StopEnd    Stop = "end"
	StopTools  Stop = "tools"  // it waits for the results of its calls
	StopLength Stop = "length" // MaxTokens was reached; the text is not whole
)

// A Reply is one answer. It holds text or calls or both.
type Reply struct {
	Text  string
	Calls []Call
	Stop  Stop
	Usage Usage
	Model string // as the server calls it
}
