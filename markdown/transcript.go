package markdown

import (
	"bytes"
	"strconv"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// A Transcript is one conversation: what is known about it, and its messages.
// Rendered it is a Markdown file with one second-level heading per message:
//
//	## 14 · user · Caroline · 2026-01-09T14:02:11Z
//
//	<!-- stet {"ref":"D1:3","tokens":12} -->
//
//	The words, as they were said.
//
// For any content, ParseTranscript of a rendered transcript gives the
// transcript back.
type Transcript struct {
	ID, Title, Agent, Source string
	Origin                   string // the id it had where it was imported from
	Provider, Model          string
	ModelConfig              string
	Project, Parent          string
	Supersedes               []string
	Started, Ended           time.Time
	EndReason                string
	Tokens                   *TokenUse
	Cost                     *Cost
	Context                  *FrozenContext
	Private                  bool
	Branch                   string   // of the code, the last one
	Models                   []string // where there were several, in the order of their first words
	Compactions, Errors      int      // how often what was said was summed up for the model; calls of tools that failed
	Renumbered               []string // when messages were given other numbers, and which; docs/FORMAT.md says how
	Messages                 []Message
}

// TokenUse counts the tokens of a conversation.
type TokenUse struct {
	Input      int `json:"input"`
	Output     int `json:"output"`
	CacheRead  int `json:"cache_read"`
	CacheWrite int `json:"cache_write"`
}

// A Cost is what a conversation cost. Status says how it is known: estimated
// or actual.
type Cost struct {
	USD    float64
	Status string
}

// A FrozenContext names the snapshot that a conversation began with.
type FrozenContext struct {
	Commit string   `json:"commit"`
	Budget int      `json:"budget"` // tokens
	Query  string   `json:"query"`
	SHA256 string   `json:"sha256"`          // of its text
	Dirty  []string `json:"dirty,omitempty"` // files that were not committed
}

// A Message is one turn, or the result of one tool call.
type Message struct {
	Number  int // from 1; rendering numbers messages by their place
	Role    string
	Name    string    // of the speaker or the tool; optional
	Time    time.Time // zero when it is not known
	Ref     string    // the id it had where it was imported from
	Call    string    // of a tool's result: the id of the call it answers
	Tokens  int
	Content []byte
	Calls   []ToolCall
	// Attached names the file that holds the content, in the folder beside the
	// transcript. Parsing leaves Content nil then; see [Transcript.Attach].
	Attached string
}

// A ToolCall is one call of a tool, part of the message that made it.
type ToolCall struct {
	ID        string
	Name      string
	Arguments []byte
}

// Words used by the format itself.
const (
	dot        = " · "
	noteOpen   = "<!-- stet {"
	noteClose  = " -->"
	textInfo   = "stet-text"
	callInfo   = "stet-call {"
	stetPrefix = "stet-"
)

// messageNote is the JSON of the line below a heading.
type messageNote struct {
	Role   string `json:"role,omitempty"` // where the heading cannot hold it
	Name   string `json:"name,omitempty"`
	Ref    string `json:"ref,omitempty"`
	Call   string `json:"call,omitempty"`
	Tokens int    `json:"tokens,omitempty"`
	File   string `json:"file,omitempty"`
	// Escaped says that marks of Markdown in the text which would be read as something else stand behind a backslash.
	Escaped bool `json:"escaped,omitempty"`
	// Fenced says that the text stands in a fence which names its language. Transcripts of before have no such fences.
	Fenced bool `json:"fenced,omitempty"`
}

// ParseTranscript reads a transcript. It never fails: what is not there is
// empty, and text before the first message heading belongs to no message.
func ParseTranscript(src []byte) *Transcript {
	d := Parse(src)
	t := &Transcript{}
	d.readFacts(t)
	for _, s := range d.Messages() {
		m := Message{
			Number: s.Number, Role: s.Role, Name: s.Name, Time: s.Time, Ref: s.Ref, Call: s.Call,
			Tokens: s.Tokens, Attached: s.Attached,
		}
		if s.Attached == "" {
			m.Content = bytes.Clone(s.Text(src))
		}
		for _, c := range s.Calls {
			m.Calls = append(m.Calls, ToolCall{ID: c.ID, Name: c.Name, Arguments: bytes.Clone(c.Arguments(src))})
		}
		t.Messages = append(t.Messages, m)
	}
	return t
}

// Attach fills in the contents that stand in files of their own. load is given
// the name inside the folder beside the transcript; its first error ends it.
func (t *Transcript) Attach(load func(name string) ([]byte, error)) error {
	for i := range t.Messages {
		m := &t.Messages[i]
		if m.Attached == "" {
			continue
		}
		data, err := load(m.Attached)
		if err != nil {
			return err
		}
		m.Content, m.Attached = data, ""
	}
	return nil
}

// readFacts reads the front matter.
func (d *Document) readFacts(t *Transcript) {
	text := func(key string) string {
		v, _ := d.Meta(key)
		return v.Text()
	}
	for key, into := range t.texts() {
		*into = text(key)
	}
	v, _ := d.Meta("supersedes")
	t.Supersedes = v.List()
	v, _ = d.Meta("models")
	t.Models = v.List()
	for key, into := range map[string]*int{"compactions": &t.Compactions, "errors": &t.Errors} {
		*into, _ = strconv.Atoi(text(key))
	}
	v, _ = d.Meta("renumbered")
	t.Renumbered = v.List()
	for key, into := range map[string]*time.Time{"started": &t.Started, "ended": &t.Ended} {
		if v, ok := d.Meta(key); ok {
			at, _ := v.Time()
			*into = at.UTC()
		}
	}
	if v, ok := d.Meta("cost_usd"); ok {
		usd, _ := v.Float()
		t.Cost = &Cost{USD: usd, Status: text("cost_status")}
	}
	if m := d.nested("tokens"); m != nil {
		t.Tokens = &TokenUse{m.number("input"), m.number("output"), m.number("cache_read"), m.number("cache_write")}
	}
	if m := d.nested("context"); m != nil {
		t.Context = &FrozenContext{Commit: m["commit"], Budget: m.number("budget"), Query: m["query"], SHA256: m["sha256"],
			Dirty: d.nestedList("context", "dirty")}
	}
	t.Private = d.Private()
}

// texts are the keys whose value is plain text.
func (t *Transcript) texts() map[string]*string {
	return map[string]*string{
		"id": &t.ID, "title": &t.Title, "agent": &t.Agent, "source": &t.Source, "origin": &t.Origin,
		"provider": &t.Provider, "model": &t.Model, "model_config": &t.ModelConfig,
		"project": &t.Project, "parent": &t.Parent, "end_reason": &t.EndReason, "branch": &t.Branch,
	}
}

// A flatMap is a mapping of texts inside front matter.
type flatMap map[string]string

func (m flatMap) number(key string) int {
	n, _ := strconv.Atoi(m[key])
	return n
}

// nested reads a mapping one level down; nil when there is none.
func (d *Document) nested(key string) flatMap {
	f := d.meta()
	i := f.find(key)
	if i < 0 {
		return nil
	}
	n := follow(f.values[i])
	if n.Kind != yaml.MappingNode {
		return nil
	}
	out := flatMap{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if v := follow(n.Content[i+1]); v.Kind == yaml.ScalarNode && utf8.ValidString(v.Value) {
			out[n.Content[i].Value] = v.Value
		}
	}
	return out
}

// nestedList reads a list inside a mapping.
func (d *Document) nestedList(key, inner string) []string {
	v, _ := d.Meta(key)
	for i := 0; v.node != nil && i+1 < len(v.node.Content); i += 2 {
		if v.node.Content[i].Value == inner {
			return valueOf(v.node.Content[i+1]).List()
		}
	}
	return nil
}
