// Package ran knows what was run in conversations: which commands, on which files, with what result, and who asked for
// it. It answers three questions from transcripts alone: what was run after an error before and whether the error went
// away ([Fixes]), which commands did something ([Commands]), and where a file was read or changed ([Touched]).
//
//	talk := ran.Read(path, markdown.ParseTranscript(data), nil)
//	fixes := ran.Fixes([]*ran.Talk{talk}, "undefined: fsnotify")
//
// It opens no file and asks no index: which conversations come into question is for the caller to find, with
// [Tries]. Cost: linear in the text of the conversations it is given.
package ran

import (
	"bytes"
	"encoding/json"
	"time"

	"stet/markdown"
	"stet/vault"
)

// A Talk is what was run in one conversation, in order.
type Talk struct {
	Path  vault.Path
	steps []step
	turns []turn
	load  func(name string) []byte // reads a text that stands beside the transcript; may be nil
}

// A turn is what a person said.
type turn struct {
	message int
	at      int // how many steps there were before it
	when    time.Time
	text    []byte
}

// A step is one call of a tool with its result.
type step struct {
	message, result int // their numbers; result is 0 where there is none
	when            time.Time
	tool            string
	said            string // the text of the message that made the call
	raw             []byte // what the tool was given, until it is read
	out             []byte
	attached        string // the file that holds the result in place of out
	code            string // with what it ended, where that stands beside the result

	// What follows is known once the step is read, see [Talk.step].
	read          bool
	command       string // what a shell was given, "" for other tools
	about         string // what the agent says it is for
	files         []touch
	before, after string // of an edit: the text that was replaced, and its replacement
	failed        bool
	refused       bool // it did not run: a person or the program did not let it
	exit          *int
}

// A touch is a file that a step names.
type touch struct {
	path   string
	writes bool
}

// An Ask is what a person said before something was run.
type Ask struct {
	Message int    `json:"message"`
	Text    string `json:"text"` // its first line, cut
}

// Where is the place of something that was run.
type Where struct {
	Path    vault.Path `json:"-"`
	Message int        `json:"message"` // of the call
	Result  int        `json:"result,omitempty"`
	Time    time.Time  `json:"time,omitzero"` // UTC
	Asked   *Ask       `json:"asked,omitempty"`
}

// Read reads what was run in a transcript. load reads a text that stands in a file beside it, nil for one that cannot
// be read; a nil load reads none.
func Read(p vault.Path, t *markdown.Transcript, load func(name string) []byte) *Talk {
	r := reader{talk: &Talk{Path: p, load: load}, open: map[string]int{}}
	for i := range t.Messages {
		r.message(&t.Messages[i])
	}
	return r.talk
}

// step reads a step: what it was given, and what came of it. Most steps of a conversation are asked for nothing.
func (t *Talk) step(i int) *step {
	s := &t.steps[i]
	if !s.read {
		s.read = true
		s.arguments(s.raw)
		t.output(s)
		s.judge()
	}
	return s
}

// output is the result of a step, read from its file where it has one, and out of the JSON that Codex keeps it in.
func (t *Talk) output(s *step) []byte {
	if s.attached != "" && t.load != nil {
		s.out, s.attached = t.load(s.attached), ""
	}
	if bytes.HasPrefix(s.out, []byte(wrapping)) {
		var in struct {
			Output   string `json:"output"`
			Metadata struct {
				ExitCode json.Number `json:"exit_code"`
			} `json:"metadata"`
		}
		if json.Unmarshal(s.out, &in) == nil {
			s.out, s.code = []byte(in.Output), in.Metadata.ExitCode.String()
		}
	}
	return s.out
}

const wrapping = `{"output":"`

// ask is what a person said last before step i, nil for nothing.
func (t *Talk) ask(i int) *Ask {
	var out *Ask
	for _, u := range t.turns {
		if u.at > i {
			break
		}
		out = &Ask{u.message, firstLine(u.text, mostAsked)}
	}
	return out
}

func (t *Talk) where(i int) Where {
	s := &t.steps[i]
	return Where{Path: t.Path, Message: s.message, Result: s.result, Time: s.when, Asked: t.ask(i)}
}
