package session

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"
	"unicode/utf8"

	"stet/agent"
	"stet/cmd/stet/console"
	"stet/markdown"
	"stet/vault"
	"stet/vault/durable"
	"stet/vault/session"
)

func export(ctx context.Context, e *console.Env, in *console.Input, words []string) error {
	format := in.String("format")
	switch {
	case format != "markdown" && format != "jsonl":
		return agent.Usagef("no format %q", format).Suggest("markdown or jsonl")
	case format == "markdown" && len(words) != 1:
		return agent.Usagef("markdown is one transcript").Suggest("name one session, or --format jsonl for many")
	case e.JSON:
		return agent.Usagef("an export has a form of its own").Suggest("--format jsonl, without --json")
	}
	v, err := e.Reader(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	picked, err := toExport(ctx, e, in, v, words)
	if err != nil {
		return err
	}
	write := func(w io.Writer) error {
		for _, k := range picked {
			data, _, err := v.ReadFile(k.Path)
			if err != nil {
				return err
			}
			if format == "markdown" {
				_, err = w.Write(data)
			} else {
				err = exportLines(w, v, k.Path, data)
			}
			if err != nil {
				return fmt.Errorf("export %s: %w", k.Path, err)
			}
		}
		return context.Cause(ctx)
	}
	if in.String("output") == "" {
		return e.Plain(write)
	}
	return writeNew(e, in.String("output"), write)
}

// toExport are the transcripts that the command line means. What is marked
// private leaves the vault only when that is said.
func toExport(ctx context.Context, e *console.Env, in *console.Input, v *vault.Vault, words []string) ([]session.Known, error) {
	if len(words) == 0 {
		all, err := session.All(ctx, v)
		var out []session.Known
		for _, k := range all {
			if !k.Private || in.Bool("private") {
				out = append(out, k)
			}
		}
		if n := len(all) - len(out); n > 0 {
			e.Note("%d marked private left out; --private takes them too", n)
		}
		return out, err
	}
	var out []session.Known
	for _, word := range words {
		k, _, err := session.Find(ctx, v, word)
		if err != nil {
			return nil, err
		}
		if k.Private && !in.Bool("private") {
			return nil, agent.Usagef("%s is marked private", k.Path).Suggest("--private exports it all the same")
		}
		out = append(out, k)
	}
	return out, nil
}

// writeNew writes a file that must not be there yet.
func writeNew(e *console.Env, name string, write func(io.Writer) error) (err error) {
	full := e.Abs(name)
	root, err := durable.OpenRoot(filepath.Dir(full), e.Hook)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	var all buffer
	if err := write(&all); err != nil {
		return err
	}
	return root.CreateSync("export", filepath.Base(full), all, 0o666)
}

type buffer []byte

func (b *buffer) Write(p []byte) (int, error) { *b = append(*b, p...); return len(p), nil }

// A headLine says what is known about a conversation, before its messages.
type headLine struct {
	Kind      string         `json:"stet"`
	Session   string         `json:"session"`
	ID        string         `json:"id"`
	Title     string         `json:"title,omitempty"`
	Agent     string         `json:"agent,omitempty"`
	Source    string         `json:"source,omitempty"`
	Origin    string         `json:"origin,omitempty"`
	Provider  string         `json:"provider,omitempty"`
	Model     string         `json:"model,omitempty"`
	Config    string         `json:"model_config,omitempty"`
	Project   string         `json:"project,omitempty"`
	Parent    string         `json:"parent,omitempty"`
	Older     []string       `json:"supersedes,omitempty"`
	Started   string         `json:"started,omitempty"`
	Ended     string         `json:"ended,omitempty"`
	EndReason string         `json:"end_reason,omitempty"`
	Tokens    map[string]int `json:"tokens,omitempty"`
	CostUSD   *float64       `json:"cost_usd,omitempty"`
	CostState string         `json:"cost_status,omitempty"`
	Context   map[string]any `json:"context,omitempty"`
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
		l := turnLine{Session: t.ID, ID: m.Ref, Role: m.Role, Speaker: m.Name, Date: exact(m.Time), Call: m.Call, Tokens: m.Tokens}
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
	h := headLine{Kind: "session", Session: t.ID, ID: t.ID, Title: t.Title, Agent: t.Agent, Source: t.Source, Origin: t.Origin, Provider: t.Provider,
		Model: t.Model, Config: t.ModelConfig, Project: t.Project, Parent: t.Parent, Older: t.Supersedes, Started: exact(t.Started), Ended: exact(t.Ended),
		EndReason: t.EndReason}
	if u := t.Tokens; u != nil {
		h.Tokens = map[string]int{"input": u.Input, "output": u.Output, "cache_read": u.CacheRead, "cache_write": u.CacheWrite}
	}
	if c := t.Cost; c != nil {
		h.CostUSD, h.CostState = &c.USD, c.Status
	}
	if c := t.Context; c != nil {
		h.Context = map[string]any{"commit": c.Commit, "budget": c.Budget, "query": c.Query, "sha256": c.SHA256}
	}
	return h
}
