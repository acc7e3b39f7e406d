package llm

import (
	"context"
	"fmt"

	"stet/templates"
)

// A Loop is a conversation in which a model works with tools. It is for one [Loop.Run]; what that used up stands in
// the loop afterwards, also where it failed.
type Loop struct {
	Client Client
	Rounds int // answers whose calls are carried out, at most
	// Call carries out call i of an answer and returns the message with its result. An error ends the loop.
	Call func(ctx context.Context, c Call, i int) (Message, error)
	// Before is told what all requests may have used up with the next one, which is not made where it fails; nil is
	// nothing.
	Before func(most Usage) error
	// Most is told what all requests have used up, and says what [Request.Most] of the next one is; nil is 0.
	Most func(used Usage) int

	Asked int // requests that were made
	Made  int // answers whose calls were carried out
	Usage Usage
}

// Run asks until an answer calls no tool, and returns its text, or "" when Rounds are made. An answer that was cut off
// is [ErrTooLong], and none of its calls is carried out.
func (l *Loop) Run(ctx context.Context, req Request) (final string, err error) {
	for l.Made < l.Rounds {
		if l.Before != nil {
			if err := l.Before(l.Usage.Plus(l.Client.Model().Price.worst(req))); err != nil {
				return "", err
			}
		}
		if l.Most != nil {
			req.Most = l.Most(l.Usage)
		}
		reply, err := l.Client.Generate(ctx, req)
		l.Asked++
		l.Usage = l.Usage.Plus(reply.Usage)
		switch {
		case err != nil:
			return "", err
		case reply.Stop == StopLength:
			return "", fmt.Errorf("%w: the answer was cut off at %s, and none of its calls was made", ErrTooLong,
				templates.Plural(req.maxTokens(), "token"))
		case len(reply.Calls) == 0:
			return reply.Text, nil
		}
		l.Made++
		req.Messages = append(req.Messages, Message{Role: Assistant, Text: reply.Text, Calls: reply.Calls})
		for i, c := range reply.Calls {
			answer, err := l.Call(ctx, c, i)
			if err != nil {
				return "", err
			}
			req.Messages = append(req.Messages, answer)
		}
	}
	return "", nil
}
