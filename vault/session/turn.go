package session

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"stet/markdown"
	"stet/vault"
)

// A Turn is one message of a conversation and what is known of the conversation
// with it; each may add to that. Session, Role and Time are required.
type Turn struct {
	Session string `json:"session,omitempty"` // an id of ours, or whatever the agent calls it
	ID      string `json:"id,omitempty"`      // the id of ours that the conversation goes by already; "" makes it
	After   int    `json:"after,omitempty"`   // messages of its transcript when a hook told of it
	Agent   string `json:"agent,omitempty"`
	Via     string `json:"via,omitempty"`    // the agent among whose tools it was recorded, where that is another one
	Source  string `json:"source,omitempty"` // cli, hook, mcp…
	Project string `json:"project,omitempty"`
	Parent  string `json:"parent,omitempty"` // the session that this one is a part of
	Title   string `json:"title,omitempty"`
	Model   string `json:"model,omitempty"`
	// Provider served the model, as ModelConfig says; Usage and Cost (US dollars) are what the turn
	// took, and add up. Private keeps the whole conversation from agents.
	Provider    string              `json:"provider,omitempty"`
	ModelConfig string              `json:"model_config,omitempty"`
	Usage       *markdown.TokenUse  `json:"usage,omitempty"`
	Cost        *float64            `json:"cost,omitempty"`
	Private     bool                `json:"private,omitempty"`
	Role        string              `json:"role,omitempty"` // user, assistant, tool…
	Name        string              `json:"name,omitempty"` // of the speaker or the tool
	Time        time.Time           `json:"time,omitzero"`
	Ref         string              `json:"ref,omitempty"`  // the message's foreign id
	Call        string              `json:"call,omitempty"` // of a tool's result: the call it answers
	Tokens      int                 `json:"tokens,omitempty"`
	Text        []byte              `json:"-"`
	Calls       []markdown.ToolCall `json:"-"`
	beside      bool                // see [HookMay]
}

// record is a line of an open session: a turn, or the intent that Seal leaves.
type record struct {
	V int `json:"v"`
	Turn
	Text  string     `json:"text,omitempty"`
	Bytes []byte     `json:"bytes,omitempty"` // what no JSON string can hold
	Calls []callLine `json:"calls,omitempty"`
	Seal  *intent    `json:"seal,omitempty"`
	// Context is the snapshot that the conversation was given, of a line that is no turn.
	Context *markdown.FrozenContext `json:"context,omitempty"`
}

type callLine struct {
	ID    string `json:"id,omitempty"`
	Name  string `json:"name,omitempty"`
	Args  string `json:"args,omitempty"`
	Bytes []byte `json:"bytes,omitempty"`
}

// lineVersion is the version of these lines up to which they are known, turnVersion that of turns and
// marks, which older programs read as well.
const (
	lineVersion = 2
	turnVersion = 1
)

// MaxTurn is the largest text of one turn: what could not be sealed must not be
// acknowledged.
const MaxTurn = 8 << 20

// maxField bounds what stands in headings and front matter.
const maxField = 1000

// Append adds a turn to its open session, which begins with its first turn, and
// returns when the turn is durable. It waits for no writer of the vault, reads
// nothing of git and opens no index. It fails with [vault.ErrInvalid],
// [vault.ErrTooLarge], or with what the disk says, and has then added nothing.
func Append(ctx context.Context, v *vault.Vault, t Turn) error {
	r, err := t.record()
	if err == nil && t.beside {
		err = aside(ctx, v, t)
	}
	if err != nil {
		return err
	}
	return r.append(ctx, v)
}

// record is the turn as a line holds it.
func (t Turn) record() (*record, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	r := record{V: turnVersion, Turn: t}
	r.Time = t.Time.UTC()
	r.Text, r.Bytes = split(t.Text)
	for _, c := range t.Calls {
		line := callLine{ID: c.ID, Name: c.Name}
		line.Args, line.Bytes = split(c.Arguments)
		r.Calls = append(r.Calls, line)
	}
	return &r, nil
}

func (r *record) append(ctx context.Context, v *vault.Vault) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	key := Key(r.Agent, r.Session)
	if r.Private {
		if err := v.State().KeepPrivate(ctx, key); err != nil {
			return err
		}
	}
	return v.State().AppendSession(ctx, key, data)
}

// notes reports a line that notes a snapshot and is no turn.
func (r *record) notes() bool { return r.Context != nil && r.Role == "" }

// NoteContext notes which snapshot an open session was given, or one that begins with it; the last
// one counts. It fails as [Append] does.
func NoteContext(ctx context.Context, v *vault.Vault, agent, id string, at time.Time, c markdown.FrozenContext) error {
	t := Turn{Session: id, Agent: agent, Role: "context", Text: []byte("context"), Time: at.UTC()}
	if err := t.check(); err != nil {
		return err
	}
	t.Role, t.Text = "", nil
	r := record{V: lineVersion, Turn: t, Context: &c}
	return r.append(ctx, v)
}

// split puts bytes where JSON keeps them as they are.
func split(b []byte) (string, []byte) {
	if utf8.Valid(b) {
		return string(b), nil
	}
	return "", b
}

func (t *Turn) check() error {
	if strings.TrimSpace(t.Session) == "" {
		return fmt.Errorf("session: %w: it needs an id", vault.ErrInvalid)
	}
	if strings.TrimSpace(t.Role) == "" {
		return fmt.Errorf("session %q: %w: a turn needs a role", t.Session, vault.ErrInvalid)
	}
	if len(t.Text) == 0 && len(t.Calls) == 0 {
		return fmt.Errorf("session %q: %w: the turn says nothing", t.Session, vault.ErrInvalid)
	}
	size := len(t.Text)
	fields := []string{t.Session, t.ID, t.Agent, t.Source, t.Project, t.Parent, t.Title, t.Model, t.Provider,
		t.ModelConfig, t.Role, t.Name, t.Ref, t.Call}
	for _, c := range t.Calls {
		size += len(c.Arguments)
		fields = append(fields, c.ID, c.Name)
	}
	for _, f := range fields {
		if !isHeading(f) {
			return fmt.Errorf("session %q: %w: %.40q must be one line of text of at most %d bytes", t.Session, vault.ErrInvalid, f, maxField)
		}
	}
	if size > MaxTurn {
		return fmt.Errorf("session %q: %w: a turn of %d bytes, at most %d", t.Session, vault.ErrTooLarge, size, MaxTurn)
	}
	if u := t.Usage; u != nil && min(u.Input, u.Output, u.CacheRead, u.CacheWrite) < 0 ||
		t.Cost != nil && !(*t.Cost >= 0 && *t.Cost < 1e9) {
		return fmt.Errorf("session %q: %w: tokens and costs cannot be negative", t.Session, vault.ErrInvalid)
	}
	if y := t.Time.UTC().Year(); t.Time.IsZero() || y < 0 || y > 9999 {
		return fmt.Errorf("session %q: %w: time %v", t.Session, vault.ErrInvalid, t.Time)
	}
	return nil
}

// isHeading reports what headings and front matter can hold.
func isHeading(f string) bool {
	return utf8.ValidString(f) && len(f) <= maxField &&
		!strings.ContainsFunc(f, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// message is the turn as a transcript has it.
func (r *record) message() markdown.Message {
	m := markdown.Message{Role: r.Role, Name: r.Name, Time: r.Time, Ref: r.Ref, Call: r.Call, Tokens: r.Tokens, Content: join(r.Text, r.Bytes)}
	for _, c := range r.Calls {
		m.Calls = append(m.Calls, markdown.ToolCall{ID: c.ID, Name: c.Name, Arguments: join(c.Args, c.Bytes)})
	}
	return m
}

func join(text string, raw []byte) []byte {
	if len(raw) > 0 {
		return raw
	}
	if text == "" {
		return nil
	}
	return []byte(text)
}
