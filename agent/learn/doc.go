// Package learn asks a model what of a conversation is worth keeping: memories, a skill, or both. The
// model works with tools alone, which are injected; what they may do is decided there, and once more
// here, for what only a review can know: which turns a lesson rests on.
//
// A review ends: each answer is one call to the model, a loop has a bound of rounds, and an answer that
// was cut off carries out nothing. What was saved before an error stands in the [Outcome] beside it.
//
//	job := learn.Job{Session: id, Actor: "nudge", Memory: true, Turns: turns, First: 1}
//	out, err := learn.Review(ctx, client, box, job)
package learn

import (
	"context"
	"encoding/json"
	"time"

	"stet/agent/llm"
	"stet/vault/session"
)

// A Toolbox is what a review may call. Of what Tools lists, a review offers the model what its parts
// need. A reply is JSON: ok says whether the call did anything, error why not, and done is "proposed"
// where it waits for a person and "already stored" or "unchanged" where there was nothing to do. An error
// of Call ends the review.
type Toolbox interface {
	Tools() []llm.Tool
	Call(ctx context.Context, name string, args json.RawMessage) (string, error)
}

// ModeFull is the mode in which the memory part may look before it saves; any other is light.
const ModeFull = "full"

// A Job is what is to be reviewed.
type Job struct {
	Session string // id
	Actor   string // who reviews, and what the calls are counted as: nudge, skill-nudge, flush
	// Memory and Skill are the parts that are due; both together are one review with the tools of both.
	Memory, Skill bool
	// Whole shows every turn to its end, in as many calls as the model's window needs. Otherwise there
	// is one call or loop about the newest turns that fit: of each the first 200 characters in the light
	// form and 2,000 in a loop. What a longer turn says behind them is still unreviewed.
	Whole  bool
	Turns  []session.Turn // in order
	First  int            // number of Turns[0] in its session
	System string         // the conversation's system prompt, sent byte for byte; "" for none
	Frozen string         // the snapshot that the conversation began with
	// Related are user turns of earlier conversations, of which none is private.
	Related   []Related
	Mode      string // of the memory part, as memory.nudge_mode says
	MaxRounds int    // of a loop about memories alone; 0 is 8
}

// A Related turn was said by the user in an earlier conversation.
type Related struct {
	Session string // id
	Number  int
	Time    time.Time
	Text    string
}

// An Outcome is what a review did.
type Outcome struct {
	Saved    []string // the lessons, as they were given to memory_save or memory_edit
	Proposed []string // those that wait for a person
	Skill    string   // name of the one that was written or proposed, "" for none
	Nothing  bool     // nothing was worth keeping, or new
	Rounds   int      // answers of the model that called tools
	Calls    int      // requests to the model
	Usage    llm.Usage
	Refused  []string // calls that did nothing, each with the reason
	// From is the number of the first turn that was shown, 0 for none: turns before it did not fit. With
	// Whole none are left out.
	From int
	// Upto is the number of the last turn up to which the review is done, 0 for none: with an error it
	// says where the next one goes on.
	Upto int
}
