package llm

import (
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"
)

// Texts that come in single characters are put together in linear time.
func TestAReplyInManyPieces(t *testing.T) {
	t.Parallel()
	in, other := collector{}, blocks{reply: Reply{Calls: make([]Call, 1)}, open: map[int]int{0: 0}}
	index := 0
	began := time.Now()
	for range 1 << 18 {
		call := openai.ToolCall{Index: &index, Function: openai.FunctionCall{Arguments: "b"}}
		delta := openai.ChatCompletionStreamChoiceDelta{Content: "a", ToolCalls: []openai.ToolCall{call}}
		if err := in.delta(delta); err != nil {
			t.Fatal(err)
		}
		more := anthropicEvent{}
		more.Delta.Type, more.Delta.Text = "text_delta", "a"
		if err := other.delta(more); err != nil {
			t.Fatal(err)
		}
	}
	in.put(&in.reply, in.parts)
	other.finish()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	if len(in.reply.Text) != 1<<18 || len(in.parts[0].Arguments) != 1<<18 || len(other.reply.Text) != 1<<18 {
		t.Errorf("%d, %d and %d bytes", len(in.reply.Text), len(in.parts[0].Arguments), len(other.reply.Text))
	}
}
