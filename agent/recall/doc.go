// Package recall finds conversations again: which of them a question is about,
// what was said there, and more of it page by page. No answer is longer than its
// budget, however long the conversations are, and a question that nothing
// answers gets an empty answer, never an error.
//
//	found, err := recall.Sessions(ctx, v, x, recall.Query{Text: "how did we fix the gate?"})
package recall

import (
	"context"
	"time"

	"stet/index"
	"stet/vault/session"
)

// Budget is how many characters an answer holds unless the query says otherwise.
const Budget = 12_000

// mostMatches is how many messages an answer is made of.
const mostMatches = 50

// A Searcher answers queries; an *index.Index is one.
type Searcher interface {
	Search(ctx context.Context, q index.Query) (*index.Result, error)
}

// A Query asks for what was said. The fields beside Text restrict the answer.
type Query struct {
	Text    string
	Session string // a name that session.Find knows: only there
	Agent   string
	Project string
	Role    string // user, assistant, tool, system
	Since   time.Time
	Until   time.Time
	Limit   int  // conversations, for Matches messages; 0 means 5 and 50
	Budget  int  // characters; 0 means Budget
	Alone   bool // matches alone, without what was said around them
	// Live is what the Searcher was opened on, where open sessions are searched
	// too; nil where they are not.
	Live *Live
}

// A Match is a message that answers a query.
type Match struct {
	index.Hit
	In session.Known
}

// A Matches is the flat answer: messages, best first.
type Matches struct {
	List []Match
	// Total counts the messages that match, shown or not, before the filters
	// that the index does not know.
	Total    int
	Tier     string
	Degraded string
	Warnings []string
	// Operators are the parts of the query that were not read as words.
	Operators []string
	Uncovered int // see [index.Result]
}

// A Found is one conversation of an answer with what of it matters. A
// conversation that went on in another one, or had one work for it, is one with
// it: Root is the first of them.
type Found struct {
	Root     session.Known
	Score    float64
	Segments []Segment // empty where the query is for matches alone
	Matches  []Match   // best first: those that Segments show, and more
}

// A Segment is a run of messages of one transcript.
type Segment struct {
	In    session.Known
	Lines []Line
}

// A Line is one message as it is shown.
type Line struct {
	Number int       `json:"number"`
	Role   string    `json:"role"`
	Name   string    `json:"name,omitempty"`
	Time   time.Time `json:"time,omitzero"`
	Text   string    `json:"text"`
	Cut    bool      `json:"cut,omitempty"`        // Text is a part of the message
	More   int       `json:"more_lines,omitempty"` // lines of a tool's result behind Text that are not shown
	Hit    bool      `json:"hit,omitempty"`
	Calls  []Call    `json:"calls,omitempty"`
	// SupersededBy is the memory that superseded one that the message led to, "" where none did.
	SupersededBy string `json:"superseded_by,omitempty"`
}

// A Call is a call of a tool as it is shown.
type Call struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments,omitempty"` // what it was given: on one line, or whole
	Changes   string `json:"changes,omitempty"`   // of an edit on one line, the lines that it brings and takes: "+3 -1"
}
