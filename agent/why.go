package agent

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"stet/agent/cite"
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
	all, err := s.origins(ctx, m, address)
	if err != nil {
		return nil, err
	}
	named, seen := "", map[string]bool{} // the session of the memory's source, and the turns that are shown
	for _, o := range all {
		id, from, to := turnsOf(o.ref)
		if id == "" || from > 0 && seen[o.ref] {
			continue
		}
		seen[o.ref] = true
		r, err := s.reason(ctx, id, func(t *recall.Talk) recall.Page {
			if from == 0 && o.commit.Rev != "" {
				return t.Before(o.commit.When, recall.Budget)
			}
			return t.At(from, to, o.when, recall.Budget)
		})
		switch {
		case err != nil:
			return nil, err
		case o.commit.Rev == "":
			named = r.Session
		case from == 0 && r.Session == named:
			continue // the source names the turns, the commit only the session
		default:
			r.Rev, r.Op, r.When = o.commit.Rev, o.commit.Op, utc(o.commit.When)
		}
		out.Reasons = append(out.Reasons, r)
	}
	if len(out.Reasons) == 0 {
		s.a.note("no session is known to have led to %s", cmp.Or(address, string(m.Path)))
	}
	return out, nil
}

// An origin is turns, or a session, as sources name them, and the commit that names them: none of a memory's source.
type origin struct {
	ref    string
	commit vault.Commit
	when   time.Time // they were named
}

// origins are those of a memory, or of the entry at an address in it: of a commit that names no turns, its session.
func (s Sessions) origins(ctx context.Context, m vault.Memory, address string) (out []origin, err error) {
	if address == "" {
		out = []origin{{ref: m.Source, when: m.Created}}
	}
	for c, err := range s.a.v.History().Log(ctx, vault.LogOptions{Path: m.Path, Follow: true}) {
		if err != nil {
			return nil, err
		}
		if c.Op == vault.OpSeal || address != "" && !slices.Contains(c.Trailers.All("Stet-Memory"), address) {
			continue
		}
		refs := slices.Concat(c.Trailers.All("Stet-Source"), cite.Named(c), c.Trailers.All("Stet-Said"))
		if len(refs) == 0 {
			refs = []string{"session:" + c.Trailers.Get("Stet-Session")}
		}
		for _, ref := range refs {
			turn, _, _ := strings.Cut(ref, " ") // behind one that was said stands the key of its words
			out = append(out, origin{turn, c, c.When})
		}
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
