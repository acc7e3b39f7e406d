// Package prompts holds what stet says to models, and the form in which they must
// answer. A prompt is a Go type: what it needs are its fields, so that a prompt with
// a part missing does not compile. What people wrote goes to a model as JSON in the
// user's turn, never into the system prompt: a note cannot pose as an instruction by
// closing a quote.
//
// The package is a leaf: it imports nothing of stet and asks nobody.
package prompts

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"strconv"
	"strings"
)

//go:embed place.md
var place string

//go:embed judge.md
var judge string

//go:embed recap.md
var recap string

//go:embed review.md
var review string

//go:embed memory_review.md
var memoryReview string

//go:embed skill_review.md
var skillReview string

//go:embed flush.md
var flush string

//go:embed curator.md
var curator string

//go:embed curator_memories.md
var curatorMemories string

//go:embed hook_nudge.md
var hookNudge string

// HookNudge asks an agent, by a hook, to save what is worth keeping of a conversation in which nothing was saved for
// so many turns; session is what it calls it, and skill asks for the method of its work as well.
func HookNudge(turns int, session string, skill bool) string {
	also := ""
	if skill {
		also = " If the work took several steps that would serve again, save the method with the tool skill."
	}
	text := strings.NewReplacer("{turns}", strconv.Itoa(turns), "{skill}", also,
		"{session}", strconv.Quote(session)).Replace(hookNudge)
	return strings.TrimSpace(text)
}

// Place asks where a note belongs and when it is true. Dates are written 2026-11-22.
type Place struct {
	Today      string   `json:"today"`
	Note       string   `json:"note"`
	Title      string   `json:"title,omitempty"`
	Kind       string   `json:"kind,omitempty"`
	Date       string   `json:"date,omitempty"` // of the note; "" is today
	Scopes     []Scope  `json:"scopes_in_use"`
	Categories []string `json:"categories_in_use"`
}

// A Scope is a folder in use.
type Scope struct {
	Path  string `json:"scope"`
	Holds string `json:"holds,omitempty"` // a few words
}

// System is the system prompt.
func (Place) System() string { return place }

// User is the user's turn.
func (p Place) User() string {
	p.Scopes, p.Categories = some(p.Scopes), some(p.Categories)
	return text(p)
}

// Placed is the answer to [Place].
type Placed struct {
	Scope      string   `json:"suggested_scope"`
	Categories []string `json:"categories"`
	Importance *float64 `json:"importance"`
	ValidFrom  string   `json:"valid_from"`
	ValidUntil string   `json:"valid_until"`
	When       string   `json:"when"`
}

// Judge asks what a new note does to stored ones.
type Judge struct {
	Today  string   `json:"today"`
	Note   string   `json:"new_note"`
	Title  string   `json:"title,omitempty"`
	Date   string   `json:"date,omitempty"` // of the note; "" is today
	Author string   `json:"author,omitempty"`
	Scope  string   `json:"scope,omitempty"`
	Stored []Stored `json:"stored"`
}

// A Stored note is named by its number alone: a model that knew no path and no id
// can name no other file.
type Stored struct {
	Number int    `json:"number"`
	Note   string `json:"note"`
	Title  string `json:"title,omitempty"`
	Scope  string `json:"scope,omitempty"`
	Date   string `json:"date,omitempty"`
	Author string `json:"author,omitempty"`
}

// System is the system prompt.
func (Judge) System() string { return judge }

// User is the user's turn.
func (j Judge) User() string { return text(j) }

// Judged is the answer to [Judge].
type Judged struct {
	Actions []Action `json:"actions"`
}

// An Action is what becomes of one stored note. Its fields are in the order in which they
// help: which note, which words of it, and only then what to do.
type Action struct {
	Number     int     `json:"number"`
	Quote      string  `json:"quote" desc:"words of the stored note"`
	Action     string  `json:"action" enum:"keep,supersede,conflict,correct,duplicate,update"`
	Text       string  `json:"text"`
	Confidence float64 `json:"confidence"`
}

// Recap asks what earlier conversations say about a question.
type Recap struct {
	Question      string         `json:"question"`
	Conversations []Conversation `json:"conversations"`
}

// A Conversation is what is shown of one.
type Conversation struct {
	Number   int    `json:"number"`
	Title    string `json:"title,omitempty"`
	Date     string `json:"date,omitempty"`
	Messages []Said `json:"messages"`
}

// A Said is one message of a conversation.
type Said struct {
	Number  int    `json:"number"`
	Speaker string `json:"speaker"`
	Date    string `json:"date,omitempty"`
	Text    string `json:"text"`
}

// System is the system prompt.
func (Recap) System() string { return recap }

// User is the user's turn.
func (r Recap) User() string { return text(r) }

// Recapped is the answer to [Recap].
type Recapped struct {
	Summary string   `json:"summary" desc:"at most 200 words"`
	Sources []Source `json:"sources" desc:"the messages that it rests on"`
}

// A Source is a message by number.
type Source struct {
	Conversation int `json:"conversation"`
	Message      int `json:"message"`
}

// Review asks what of a conversation is worth keeping. It stands whole in the user's turn: the
// system prompt is that of the conversation, byte for byte, so that providers have it cached.
type Review struct {
	Memory bool    `json:"-"` // asks for memories
	Skill  bool    `json:"-"` // asks for a skill
	Flush  bool    `json:"-"` // the turns stand there whole, for the last time
	Frozen string  `json:"frozen_memory,omitempty"`
	Before []Heard `json:"related_turns_of_earlier_conversations,omitempty"`
	Turns  []Heard `json:"turns"`
}

// A Heard is one turn, or a part of one, under a label of its own.
type Heard struct {
	Turn string `json:"turn"`
	Part int    `json:"part,omitempty"` // of a turn that stands in parts, from 1
	Time string `json:"time,omitempty"` // Fri 2026-11-20 06:00, UTC
	Says string `json:"says"`           // "user: …"
}

// User is the user's turn.
func (r Review) User() string {
	parts := []string{review}
	for _, p := range []struct {
		asked bool
		text  string
	}{{r.Memory, memoryReview}, {r.Skill, skillReview}, {r.Flush, flush}} {
		if p.asked {
			parts = append(parts, p.text)
		}
	}
	return strings.Join(append(parts, text(r)), "\n")
}

// Curator asks for umbrella skills, or for memories that are one.
type Curator struct {
	Memories bool        `json:"-"`
	Clusters []Cluster   `json:"clusters"`
	Skills   []Candidate `json:"skills"`
}

// A Cluster is skills, by name, that may belong together.
type Cluster struct {
	Skills  []string `json:"skills"`
	Why     string   `json:"why"`
	Refused []string `json:"refused_last_time,omitempty"` // why
}

// A Candidate is a skill of a cluster.
type Candidate struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Files       map[string]int `json:"files,omitempty"` // bytes of each
	Text        string         `json:"text,omitempty"`  // of a memory
}

// System is the system prompt.
func (c Curator) System() string {
	if c.Memories {
		return curatorMemories
	}
	return curator
}

// User is the user's turn.
func (c Curator) User() string { return text(c) }

// text is JSON with one note, scope or message a line; no letter is escaped that need
// not be.
func text(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("prompts: " + err.Error()) // structs of strings and numbers
	}
	return strings.NewReplacer("[{\"", "[\n{\"", "},{\"", "},\n{\"").Replace(b.String()) // a quote in a string is escaped
}

// some makes an empty list one that JSON shows.
func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
