package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"stet/agent"
	"stet/agent/recall"
	"stet/cmd/stet/console"
	"stet/vault"
	"stet/vault/session"
)

func whyCommand() *console.Command {
	return &console.Command{
		Name: "why", Group: console.History,
		Summary: "show the conversation that a memory came from",
		Args:    "MEMORY", MinArgs: 1, MaxArgs: 1,
		Details: "The turns are those that the memory's source names (session:ID#14 or #14-16), else those\n" +
			"that were spoken last when a commit of that session wrote it: what the user had said, and\n" +
			"the answer. What a person wrote outside a session has no such turns, and neither has\n" +
			"what was said before anything was kept.",
		Examples: []console.Example{
			{Line: "stet why gate-code", Says: "one memory"},
			{Line: "stet why USER.md#1a2b3c4d", Says: "one entry of a notebook"},
			{Line: "stet why gate-code --json", Says: "for a program"},
		},
		Run: why,
	}
}

// A reasonView is one conversation that a memory came from, as JSON shows it.
type reasonView struct {
	Session  string         `json:"session"`
	Title    string         `json:"title,omitempty"`
	Path     vault.Path     `json:"path,omitempty"`
	Missing  bool           `json:"missing,omitempty"` // its transcript is not here
	Rev      vault.Revision `json:"rev,omitempty"`     // of the commit; "" when the memory's source says it
	Op       vault.Op       `json:"op,omitempty"`
	When     string         `json:"when,omitempty"`
	Messages []lineView     `json:"messages"`
	lines    []recall.Line
}

// A whyAnswer is what why prints under --json.
type whyAnswer struct {
	Memory  agent.Memory `json:"memory"`
	Reasons []reasonView `json:"reasons"`
}

func why(ctx context.Context, e *console.Env, in *console.Input) error {
	v, err := e.Reader(ctx)
	if err != nil {
		return err
	}
	defer e.Close(v)
	file, hash, entry := console.CutAddress(in.Words[0])
	if !entry {
		file = in.Words[0]
	}
	m, err := v.Resolve(ctx, e.Ref(v, file))
	if err != nil {
		return err
	}
	address := ""
	if entry {
		address = string(m.Path) + "#" + hash
	}
	reasons, err := reasonsOf(ctx, v, m, address)
	if err != nil {
		return err
	}
	if len(reasons) == 0 {
		e.Note("no session is known to have led to %s", cmp.Or(address, string(m.Path)))
	}
	return e.PagedAnswer(ctx, whyAnswer{Memory: agent.ViewMemory(m), Reasons: reasons}, func(w io.Writer) error {
		for _, r := range reasons {
			if err := printReason(w, e, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// reasonsOf lists the conversations that led to m, or to one entry of it: the one
// its source names, then those of its commits, the newest first.
func reasonsOf(ctx context.Context, v *vault.Vault, m vault.Memory, address string) ([]reasonView, error) {
	reasons := []reasonView{}
	named, from, to := turnsOf(m.Source)
	if named != "" && address == "" {
		r, err := reason(ctx, v, named, func(t *recall.Talk) []recall.Line { return t.Page(from, to, recall.Budget).Lines })
		if err != nil {
			return nil, err
		}
		reasons = append(reasons, r)
	}
	for c, err := range v.Log(ctx, vault.LogOptions{Path: m.Path, Follow: true}) {
		if err != nil {
			return nil, err
		}
		id := c.Trailers.Get("Stet-Session")
		if id == "" || c.Op == vault.OpSeal || address != "" && !slices.Contains(c.Trailers.All("Stet-Memory"), address) {
			continue
		}
		r, err := reason(ctx, v, id, func(t *recall.Talk) []recall.Line { return t.Before(c.When, recall.Budget).Lines })
		if err != nil {
			return nil, err
		}
		if named != "" && len(reasons) > 0 && r.Session == reasons[0].Session {
			continue // its source says it better
		}
		r.Rev, r.Op, r.When = c.Rev, c.Op, stamp(c.When)
		reasons = append(reasons, r)
	}
	return reasons, nil
}

// turnsOf reads "session:ID#14" or "session:ID#14-16".
func turnsOf(source string) (id string, from, to int) {
	rest, ok := strings.CutPrefix(source, "session:")
	if !ok {
		return "", 0, 0
	}
	id, turns, _ := strings.Cut(rest, "#")
	first, last, span := strings.Cut(turns, "-")
	from, _ = strconv.Atoi(first)
	if to = from; span {
		to, _ = strconv.Atoi(last)
	}
	return id, from, max(from, to)
}

// reason reads the turns of a conversation that take picks. One whose transcript
// is not here is named all the same.
func reason(ctx context.Context, v *vault.Vault, id string, take func(*recall.Talk) []recall.Line) (reasonView, error) {
	t, err := recall.Read(ctx, v, id)
	if errors.Is(err, session.ErrUnknownSession) {
		return reasonView{Session: id, Missing: true, Messages: []lineView{}}, nil
	}
	if err != nil {
		return reasonView{}, err
	}
	lines := take(t)
	return reasonView{Session: t.Known.ID, Title: t.Known.Title, Path: t.Known.Path, Messages: viewLines(lines), lines: lines}, nil
}

func printReason(w io.Writer, e *console.Env, r reasonView) error {
	head := e.Paint(console.Cyan, r.Session)
	if r.Title != "" {
		head += "  " + console.Line1(r.Title)
	}
	if r.Rev != "" {
		at, err := time.Parse(time.RFC3339, r.When)
		if err != nil {
			return err
		}
		head += fmt.Sprintf("  (%s %s, %s)", r.Op, r.Rev.Short(), console.Day(at))
	}
	if r.Missing {
		head += "  its transcript is not in this vault"
	}
	if _, err := fmt.Fprintln(w, head); err != nil {
		return err
	}
	return printLines(w, e, r.lines)
}
