package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stet/agent/cite"
	"stet/agent/recall"
	"stet/markdown"
	"stet/templates"
	"stet/vault"
	"stet/vault/session"
)

// Reasons are the conversations that a memory came from: the one that its source names, then those
// of its commits, newest first.
type Reasons struct {
	Memory  Memory   `json:"memory"`
	Reasons []Reason `json:"reasons"`
}

// Writer is the author of the commit, and the agent that the user wrote through.
func (r Reason) Writer() string { return through(r.By, r.Via) }

// A Reason is a conversation that led to a memory. Rev, Op, When, By and Via are those of the commit, and
// empty where the memory's source names the conversation. Proof is "recorded" where the turns ask for the change or
// have the text's words and a client's hook or the user's command recorded them, else "claimed": the writer says so.
type Reason struct {
	Session  string         `json:"session"`
	Title    string         `json:"title,omitempty"`
	Path     vault.Path     `json:"path,omitempty"`
	Missing  bool           `json:"missing,omitempty"` // its transcript is not in the vault
	Proof    string         `json:"proof"`
	Rev      vault.Revision `json:"rev,omitempty"`
	Op       vault.Op       `json:"op,omitempty"`
	By       string         `json:"by,omitempty"`
	Via      string         `json:"via,omitempty"` // the agent among whose tools the user wrote
	When     time.Time      `json:"when,omitzero"` // UTC
	Messages []Message      `json:"messages"`
}

// Why finds the conversations that led to a memory, or to the entry FILE#HASH, or HASH, of a notebook. It
// fails with [vault.ErrNotFound] or [vault.ErrAmbiguous].
func (s Sessions) Why(ctx context.Context, ref string) (*Reasons, error) {
	ref = s.a.addressed(ctx, ref)
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
	source, seen := "", map[string]bool{} // the session of the memory's source, and the turns that are shown
	for _, o := range all {
		id, named := vault.SourceTurns(o.ref)
		if id == "" || len(named) > 0 && seen[o.ref] {
			continue
		}
		seen[o.ref] = true
		turns, recorded, err := cite.Origin(ctx, s.a.v, o.commit, o.ref, o.when, cameBy(m, address, o.commit))
		if err != nil {
			return nil, err
		}
		r, err := s.reason(ctx, id, o, len(named) > 0, turns)
		switch {
		case err != nil:
			return nil, err
		case o.commit.Rev == "":
			source = r.Session
		case len(named) == 0 && r.Session == source:
			continue // the source names the turns, the commit only the session
		default:
			r.Rev, r.Op, r.When = o.commit.Rev, o.commit.Op, utc(o.commit.When)
			r.By, r.Via = o.commit.Author, o.commit.Trailers.Get("Stet-Via")
		}
		if r.Proof = "claimed"; recorded {
			r.Proof = "recorded"
		}
		out.Reasons = append(out.Reasons, r)
	}
	if len(out.Reasons) == 0 {
		s.a.note("%s", unspoken(cmp.Or(address, string(m.Path)), string(m.Path), all))
	}
	return out, nil
}

// unspoken says of a text that no conversation led to who wrote it when, as far as its commits tell.
func unspoken(what, file string, all []origin) string {
	out := "no conversation is known to have led to " + what
	if i := slices.IndexFunc(all, func(o origin) bool { return o.commit.Rev != "" }); i >= 0 {
		c := all[i].commit
		by := through(c.Author, c.Trailers.Get("Stet-Via"))
		out += fmt.Sprintf(": %s wrote it on %s (%s)", by, c.When.Format(time.DateOnly), c.Subject)
	}
	return out + fmt.Sprintf("; \"stet history %s\" shows each change", templates.Quote(file))
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

// cameBy is the text of a memory, or of the entries that a commit names in it: of one entry, if the address is not "".
func cameBy(m vault.Memory, address string, c vault.Commit) string {
	var out []string
	for _, e := range markdown.Parse(m.Body).Entries() {
		at := string(m.Path) + "#" + e.Hash()
		if at == address || address == "" && slices.Contains(c.Trailers.All("Stet-Memory"), at) {
			out = append(out, e.Body())
		}
	}
	if len(out) == 0 && address == "" {
		return string(m.Body)
	}
	return strings.Join(out, "\n")
}

// reason reads the turns of a conversation that an origin names, if it does, or else a turn that it may come from.
func (s Sessions) reason(ctx context.Context, id string, o origin, named bool, turns []int) (Reason, error) {
	t, err := recall.Read(ctx, s.a.v, id)
	if errors.Is(err, session.ErrUnknownSession) || errors.Is(err, vault.ErrRefused) {
		return Reason{Session: id, Missing: true, Messages: []Message{}}, nil
	}
	if err != nil {
		return Reason{}, err
	}
	var page recall.Page
	switch {
	case named && len(turns) == 0: // taken back
	case named:
		page = t.Page(slices.Min(turns), slices.Max(turns), recall.Budget)
	case len(turns) > 0:
		page = t.Turn(turns[0], recall.Budget)
	case o.commit.Rev != "":
		page = t.Before(o.commit.When, recall.Budget)
	default:
		page = t.Page(0, 0, recall.Budget)
	}
	return Reason{
		Session: t.Known.ID, Title: t.Known.Title, Path: t.Known.Path, Messages: s.a.viewLines(t.Known, page.Lines),
	}, nil
}
