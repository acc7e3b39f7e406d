package recall

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"stet/agent/llm"
	"stet/templates/prompts"
	"stet/vault"
)

// taskSummary is what the calls are counted as.
const taskSummary = "summarise"

// summaryTokens bounds an answer; models that think aloud need most of them.
const summaryTokens = 4096

// A Source is a message that a summary rests on.
type Source struct {
	Session string     `json:"session"`        // id
	Path    vault.Path `json:"path,omitempty"` // "" while it is open
	Message int        `json:"message"`
}

// A Summary is what a model makes of an [Answer].
type Summary struct {
	Text    string   `json:"text"`
	Sources []Source `json:"sources"`
	// LeftOut counts messages that were not shown to the model: those of private
	// conversations, and what looks like a secret.
	LeftOut int `json:"-"`
}

// Summarise asks a model what the segments of an answer say about the question: one
// call, and nothing but what the answer shows goes out. The text is at most budget
// characters, 0 for [Budget]. Sources that were not shown are dropped. It fails with
// what the model failed with, and with [vault.ErrRefused] where nothing may be shown.
func Summarise(ctx context.Context, v *vault.Vault, model llm.Client, question string, a *Answer, budget int) (*Summary, error) {
	ask, shown, leftOut := recapOf(v, question, a)
	if len(ask.Conversations) == 0 || len(v.Secrets("sessions/question.md", []byte(question))) > 0 {
		return nil, fmt.Errorf("summarise: %w: there is nothing that a model may be shown", vault.ErrRefused)
	}
	said, _, err := llm.Ask[prompts.Recapped](ctx, model, "recap", llm.Request{Task: taskSummary, System: ask.System(), MaxTokens: summaryTokens,
		Messages: []llm.Message{{Role: llm.User, Text: ask.User()}}})
	if err != nil {
		return nil, err
	}
	out := &Summary{Text: strings.TrimSpace(strings.Map(printable, strings.ToValidUTF8(said.Summary, ""))), LeftOut: leftOut, Sources: []Source{}}
	if out.Text == "" {
		return nil, fmt.Errorf("summarise: %w: it says nothing", llm.ErrAbsurd)
	}
	if most := cmp.Or(budget, Budget); utf8.RuneCountInString(out.Text) > most {
		out.Text = string([]rune(out.Text)[:most])
	}
	for _, at := range said.Sources {
		if source, ok := shown[at]; ok {
			out.Sources = append(out.Sources, source)
			delete(shown, at) // named once
		}
	}
	return out, nil
}

// printable leaves out what a terminal would take for orders.
func printable(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return -1
	}
	return r
}

// recapOf is what of an answer may be shown to a model, with what its numbers stand
// for.
func recapOf(v *vault.Vault, question string, a *Answer) (ask prompts.Recap, shown map[prompts.Source]Source, leftOut int) {
	ask.Question, shown = question, map[prompts.Source]Source{}
	for i, f := range a.Found {
		c := prompts.Conversation{Number: i + 1, Title: f.Root.Title, Date: day(f.Root.Started)}
		for _, s := range f.Segments {
			for _, l := range s.Lines {
				if s.In.Private || f.Root.Private || len(v.Secrets(s.In.Path, []byte(l.Text))) > 0 {
					leftOut++
					continue
				}
				c.Messages = append(c.Messages, prompts.Said{Number: l.Number, Speaker: cmp.Or(l.Name, l.Role), Date: day(l.Time), Text: l.Text})
				source := Source{Session: s.In.ID, Message: l.Number}
				if !s.In.Open {
					source.Path = s.In.Path
				}
				// Parts of one conversation can have messages of the same number: the
				// first stands for both.
				if at := (prompts.Source{Conversation: c.Number, Message: l.Number}); shown[at] == (Source{}) {
					shown[at] = source
				}
			}
		}
		if f.Root.Private || len(v.Secrets(f.Root.Path, []byte(c.Title))) > 0 {
			c.Title = ""
		}
		if len(c.Messages) > 0 {
			ask.Conversations = append(ask.Conversations, c)
		}
	}
	return ask, shown, leftOut
}

func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}
