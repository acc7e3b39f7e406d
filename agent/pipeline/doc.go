// Package pipeline understands new memories with a model: where each belongs, and what
// it does to stored ones that resemble it. It knows texts and no vault: it can touch
// nothing, and stored memories have numbers here and no names.
//
// It promises how many calls are made. A memory whose place is known and that resembles
// nothing costs none, one of the two costs one, both cost two, which run at the same
// time; an absurd answer is not asked for again. Answers are brought into bounds: a
// place is one that can be a folder, and each stored memory that was shown has one
// action. What an action may do is decided by [Weigh], from the words alone; whose word
// counts is for the caller to judge.
//
//	thoughts, err := (&pipeline.Pipeline{Model: client, Scopes: scopes}).Think(ctx, notes)
package pipeline

import (
	"context"
	"time"

	"stet/agent/llm"
)

// A Note is a new memory. What is given is not asked for.
type Note struct {
	Text  string
	Title string
	Kind  string
	Scope string // "" = not known
	// Author is who wrote it, "user" or an agent's name, and When it was written; the zero
	// time is today.
	Author string
	When   time.Time
	// Place asks where it belongs.
	Place bool
	// Near are the stored memories to judge, none for nothing to judge.
	Near []Stored
}

// A Stored is a stored memory.
type Stored struct {
	Text   string
	Title  string
	Scope  string
	Author string
	When   time.Time
}

// A Thought is what the model made of one note.
type Thought struct {
	Placed   *Placed  // nil when it was not asked, or failed
	PlaceErr error    // why there is no place although it was asked for
	Actions  []Action // one for each of Near in order; nil when it was not asked, or failed
	JudgeErr error
}

// Err is the first thing that went wrong, nil for nothing.
func (t Thought) Err() error {
	if t.JudgeErr != nil {
		return t.JudgeErr
	}
	return t.PlaceErr
}

// A Placed says where a note belongs.
type Placed struct {
	Scope      string // "/" is the top
	Categories []string
	Importance float64
	// Dates that the note names, as "2026-11-22", "" for none: what it says holds from
	// ValidFrom until ValidUntil, or happened When.
	ValidFrom, ValidUntil, When string
}

// A Kind is what becomes of a stored memory.
type Kind string

// The kinds of actions.
const (
	Keep      Kind = "keep"
	Supersede Kind = "supersede"
	Conflict  Kind = "conflict"
	Duplicate Kind = "duplicate"
	Update    Kind = "update"  // it says both from now on
	Correct   Kind = "correct" // it had a slip, which is mended in place
)

// An Action is what the model wants of one stored memory. Quote are its words that are no
// longer true; Text is what it says after an Update, or what stands in the place of the
// quote after a Correct.
type Action struct {
	Kind       Kind
	Quote      string
	Text       string
	Confidence float64
}

// A Scope is a folder in use with a few words about what it holds.
type Scope struct{ Path, Holds string }

// A Pipeline asks one model. Its zero Workers and Progress are usable.
type Pipeline struct {
	Model      llm.Client
	Now        time.Time
	Scopes     []Scope  // in use, offered in this order
	Categories []string // in use, offered in this order
	Workers    int      // notes thought about at a time; 0 is 4
	Progress   func(done, total int)
}

const (
	defaultWorkers = 4
	// maxText bounds how much of a note is sent, in bytes: a place shows at the
	// beginning, and more than this is not judged (see [Judgeable]).
	maxText = 8 << 10
	answer  = 2048 // tokens; models that think aloud need most of them
)

// Judgeable reports whether a text is short enough to be judged: of half a memory
// nobody can say what it makes untrue.
func Judgeable(text string) bool { return len(text) <= maxText }

// Think thinks about notes, some of them at a time, and returns a thought for each
// in their order. It fails only with the cause of ctx: what a model does wrong
// stands in the thoughts. When the model cannot be had, the rest is not asked.
func (p *Pipeline) Think(ctx context.Context, notes []Note) ([]Thought, error) {
	r := &run{Pipeline: p, out: make([]Thought, len(notes))}
	r.all(ctx, notes)
	return r.out, context.Cause(ctx)
}
