package agent

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"stet/agent/recall"
	"stet/markdown"
	"stet/vault"
	"stet/vault/session"
)

// Meant is the id of the conversation, open or sealed, of whose id the user typed a part, or the path; else what was
// typed. What
// an agent, or a service in its name, calls a conversation stays: it may be any text. It fails with a
// [vault.AmbiguousError] where several are meant, or another one is called so.
func (s Sessions) Meant(ctx context.Context, agent, typed string) (string, error) {
	if agent != "" || s.a.Agent() != "" {
		return typed, nil
	}
	if strings.HasSuffix(typed, ".md") {
		k, _, err := session.Find(ctx, s.a.v.Whole(), s.a.ref(typed))
		return k.ID, err
	}
	id, err := session.Ending(ctx, s.a.v.Whole(), typed)
	return cmp.Or(id, typed), err
}

// mayBegin refuses an agent a conversation of its own under a name that is refused it elsewhere, or under a part of the
// id of another conversation: whoever typed that would mean both.
func (a *App) mayBegin(ctx context.Context, w Write, id string) error {
	if err := (vault.Writer{Actor: "agent", AgentName: w.Agent}).Check(a.v); err != nil {
		return err
	}
	if other, err := session.Ending(ctx, a.v.Whole(), id); err != nil || other != "" {
		return w.refused("observe", id, "it is a part of the id of another conversation")
	}
	return nil
}

// SessionExport chooses transcripts and their form.
type SessionExport struct {
	Refs    []string // none is all
	Format  string   // "markdown" for one, or "jsonl"
	Private bool     // what is marked private too
}

// Export writes transcripts, with what was said since they were sealed. Private ones are left out of all, and counted
// in a notice; naming one is an [ErrUsage], as is a format that does not fit, or one that is open alone. Nothing is
// written before that is clear.
func (s Sessions) Export(ctx context.Context, o SessionExport, w io.Writer) error {
	if o.Format != "markdown" && o.Format != "jsonl" {
		return Usagef("no format %q", o.Format).Suggest("markdown or jsonl")
	}
	if o.Format == "markdown" && len(o.Refs) != 1 {
		return Usagef("markdown is one transcript").Suggest("name one session, or --format jsonl for many")
	}
	picked, err := s.toExport(ctx, o)
	if err != nil {
		return err
	}
	live, err := recall.Open(ctx, s.a.v)
	if err != nil {
		return err
	}
	for _, w := range live.Warnings {
		s.a.warn("%s", w)
	}
	for _, k := range picked {
		data, _, err := live.ReadFile(k.Path)
		if !o.Private && err == nil && markdown.Parse(data).Private() {
			data, _, err = s.a.v.ReadFile(k.Path) // what was said since is private
		}
		if err != nil {
			return err
		}
		if o.Format == "markdown" {
			_, err = w.Write(data)
		} else {
			err = exportLines(w, s.a.v, k.Path, data)
		}
		if err != nil {
			return fmt.Errorf("export %s: %w", k.Path, err)
		}
	}
	return context.Cause(ctx)
}

func (s Sessions) toExport(ctx context.Context, o SessionExport) ([]session.Known, error) {
	if o.Private && s.a.o.Agent != "" {
		return nil, Write{Agent: s.a.o.Agent}.refused("export", "--private", "what is private is kept from agents")
	}
	if len(o.Refs) == 0 {
		all, err := session.All(ctx, s.a.v)
		var out []session.Known
		for _, k := range all {
			if !k.Private || o.Private {
				out = append(out, k)
			}
		}
		if n := len(all) - len(out); n > 0 {
			s.a.note("%d marked private left out; --private takes them too", n)
		}
		return out, err
	}
	var out []session.Known
	for _, ref := range o.Refs {
		talk, err := recall.Read(ctx, s.a.v, ref)
		if err != nil {
			return nil, err
		}
		k := talk.Known
		if k.Path == "" {
			return nil, Usagef("nothing of session %s is sealed", k.ID).Suggest("stet session end %s", k.ID)
		}
		if k.Private && !o.Private {
			return nil, Usagef("%s is marked private", k.Path).Suggest("--private exports it")
		}
		out = append(out, k)
	}
	return out, nil
}

// A headLine says what is known about a conversation, before its messages.
type headLine struct {
	Kind      string                  `json:"stet"`
	Session   string                  `json:"session"`
	ID        string                  `json:"id"`
	Title     string                  `json:"title,omitempty"`
	Agent     string                  `json:"agent,omitempty"`
	Source    string                  `json:"source,omitempty"`
	Origin    string                  `json:"origin,omitempty"`
	Provider  string                  `json:"provider,omitempty"`
	Model     string                  `json:"model,omitempty"`
	Config    string                  `json:"model_config,omitempty"`
	Project   string                  `json:"project,omitempty"`
	Parent    string                  `json:"parent,omitempty"`
	Older     []string                `json:"supersedes,omitempty"`
	Started   string                  `json:"started,omitempty"`
	Ended     string                  `json:"ended,omitempty"`
	EndReason string                  `json:"end_reason,omitempty"`
	Private   bool                    `json:"private,omitempty"`
	Branch    string                  `json:"branch,omitempty"`
	Models    []string                `json:"models,omitempty"`
	Summed    int                     `json:"compactions,omitempty"`
	Errors    int                     `json:"errors,omitempty"`
	Tokens    *markdown.TokenUse      `json:"tokens,omitempty"`
	CostUSD   *float64                `json:"cost_usd,omitempty"`
	CostState string                  `json:"cost_status,omitempty"`
	Context   *markdown.FrozenContext `json:"context,omitempty"`
}

type turnLine struct {
	Session string     `json:"session"`
	ID      string     `json:"id,omitempty"` // elsewhere
	Role    string     `json:"role"`
	Speaker string     `json:"speaker,omitempty"`
	Date    string     `json:"date,omitempty"`
	Text    string     `json:"text"`
	Bytes   []byte     `json:"bytes,omitempty"`
	Call    string     `json:"call,omitempty"`
	Calls   []callLine `json:"calls,omitempty"`
	Tokens  int        `json:"tokens,omitempty"`
}

type callLine struct {
	ID        string `json:"id,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments,omitempty"`
	Bytes     []byte `json:"bytes,omitempty"`
}

func exact(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func exportLines(w io.Writer, v *vault.Vault, p vault.Path, data []byte) error {
	t := markdown.ParseTranscript(data)
	err := t.Attach(func(name string) ([]byte, error) {
		data, _, err := v.ReadFile(vault.Path(p.Dir() + "/" + markdown.AttachmentDir(p.Base()) + "/" + name))
		return data, err
	})
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(headOf(t)); err != nil {
		return err
	}
	for _, m := range t.Messages {
		l := turnLine{
			Session: t.ID, ID: m.Ref, Role: m.Role, Speaker: m.Name, Date: exact(m.Time), Call: m.Call,
			Tokens: m.Tokens,
		}
		l.Text, l.Bytes = textOrBytes(m.Content)
		for _, c := range m.Calls {
			line := callLine{ID: c.ID, Name: c.Name}
			line.Arguments, line.Bytes = textOrBytes(c.Arguments)
			l.Calls = append(l.Calls, line)
		}
		if err := enc.Encode(l); err != nil {
			return err
		}
	}
	return out.Flush()
}

func textOrBytes(b []byte) (string, []byte) {
	if utf8.Valid(b) {
		return string(b), nil
	}
	return "", b
}

func headOf(t *markdown.Transcript) headLine {
	h := headLine{
		Kind: "session", Session: t.ID, ID: t.ID, Title: t.Title, Agent: t.Agent, Source: t.Source, Origin: t.Origin,
		Provider: t.Provider, Model: t.Model, Config: t.ModelConfig, Project: t.Project, Parent: t.Parent,
		Older: t.Supersedes, Started: exact(t.Started), Ended: exact(t.Ended), EndReason: t.EndReason,
		Branch: t.Branch, Models: t.Models, Summed: t.Compactions, Errors: t.Errors, Private: t.Private,
		Tokens: t.Tokens, Context: t.Context,
	}
	if c := t.Cost; c != nil {
		h.CostUSD, h.CostState = &c.USD, c.Status
	}
	return h
}
