package agent

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"stet/agent/recall"
	"stet/vault"
	"stet/vault/session"
)

// Reasons are the conversations that a memory came from: the one that its source names, then those
// of its commits, newest first.
type Reasons struct {
	Memory  Memory   `json:"memory"`
	Reasons []Reason `json:"reasons"`
}

// A Reason is a conversation that led to a memory. Rev, Op and When are those of the commit, and
// empty where the memory's source names the conversation.
type Reason struct {
	Session  string         `json:"session"`
	Title    string         `json:"title,omitempty"`
	Path     vault.Path     `json:"path,omitempty"`
	Missing  bool           `json:"missing,omitempty"` // its transcript is not in the vault
	Rev      vault.Revision `json:"rev,omitempty"`
	Op       vault.Op       `json:"op,omitempty"`
	When     time.Time      `json:"when,omitzero"` // UTC
	Messages []Message      `json:"messages"`
}

// Why finds the conversations that led to a memory, or to the entry FILE#HASH of a notebook. It
// fails with [vault.ErrNotFound] or [vault.ErrAmbiguous].
func (s Sessions) Why(ctx context.Context, ref string) (*Reasons, error) {
	file, hash, entry := cutAddress(ref)
	if !entry {
		file = ref
	}
	m, err := s.a.v.Resolve(ctx, s.a.ref(file))
	if err != nil {
		return nil, err
	}
	address := ""
	if entry {
		address = string(m.Path) + "#" + hash
	}
	out := &Reasons{Memory: viewMemory(m), Reasons: []Reason{}}
	named, from, to := turnsOf(m.Source)
	if named != "" && address == "" {
		r, err := s.reason(ctx, named, func(t *recall.Talk) recall.Page { return t.Page(from, to, recall.Budget) })
		if err != nil {
			return nil, err
		}
		out.Reasons = append(out.Reasons, r)
	}
	for c, err := range s.a.v.History().Log(ctx, vault.LogOptions{Path: m.Path, Follow: true}) {
		if err != nil {
			return nil, err
		}
		id := c.Trailers.Get("Stet-Session")
		if id == "" || c.Op == vault.OpSeal || entry && !slices.Contains(c.Trailers.All("Stet-Memory"), address) {
			continue
		}
		r, err := s.reason(ctx, id, func(t *recall.Talk) recall.Page { return t.Before(c.When, recall.Budget) })
		if err != nil {
			return nil, err
		}
		if named != "" && len(out.Reasons) > 0 && r.Session == out.Reasons[0].Session {
			continue // the source names the turns, the commit only the session
		}
		r.Rev, r.Op, r.When = c.Rev, c.Op, utc(c.When)
		out.Reasons = append(out.Reasons, r)
	}
	if len(out.Reasons) == 0 {
		s.a.note("no session is known to have led to %s", cmp.Or(address, string(m.Path)))
	}
	return out, nil
}

// turnsOf are the session and the first and last turn that a source names, 0 for none.
func turnsOf(source string) (id string, from, to int) {
	id, turns := vault.SourceTurns(source)
	if len(turns) > 0 {
		from, to = slices.Min(turns), slices.Max(turns)
	}
	return id, from, to
}

// reason reads the turns that take picks of a conversation.
func (s Sessions) reason(ctx context.Context, id string, take func(*recall.Talk) recall.Page) (Reason, error) {
	t, err := recall.Read(ctx, s.a.v, id)
	if errors.Is(err, session.ErrUnknownSession) || errors.Is(err, vault.ErrRefused) {
		return Reason{Session: id, Missing: true, Messages: []Message{}}, nil
	}
	if err != nil {
		return Reason{}, err
	}
	return Reason{
		Session: t.Known.ID, Title: t.Known.Title, Path: t.Known.Path, Messages: s.a.viewLines(t.Known, take(t).Lines),
	}, nil
}
