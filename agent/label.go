package agent

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"stet/agent/recall"
	"stet/agent/snapshot"
	"stet/markdown"
	"stet/vault"
	"stet/vault/guard"
	"stet/vault/lineage"
	"stet/vault/session"
	"stet/vault/settings"
)

// A Label says what a text is worth that others than the user may have written.
type Label struct {
	Author string   `json:"author,omitempty"` // the agent, program or other person that wrote it; absent for the user
	Origin string   `json:"origin,omitempty"` // agent, person, tool or import; absent for the user
	Flags  []string `json:"flags,omitempty"`  // the guard's rules about orders that it meets
}

// String is the label in words, "" of a text that is the user's own and meets no rule.
func (l Label) String() string {
	text := cmp.Or(l.Author, l.Origin)
	if l.Author != "" && l.Origin != "agent" {
		text = strings.TrimSuffix(l.Author+", "+l.Origin, ", ")
	}
	if len(l.Flags) > 0 {
		text = strings.TrimPrefix(text+"; flagged: "+strings.Join(l.Flags, ", "), "; ")
	}
	return text
}

// The origins of texts.
const (
	fromAgent  = "agent"
	fromPerson = "person"
	fromTool   = "tool"
	fromImport = "import"
)

// orders names the rules about orders to a model that a text meets, without those that the user
// found harmless there.
func (a *App) orders(text []byte) (rules []string) {
	s := a.Settings()
	if s.Text(settings.GuardInjection) == guard.Off {
		return nil
	}
	policy := guard.Policy{Allow: s.List(settings.GuardAllow)}
	for _, f := range guard.Injections(text) {
		if !policy.Allowed(f) {
			rules = append(rules, f.Rule)
		}
	}
	slices.Sort(rules)
	return slices.Compact(rules)
}

// written is the label of a memory, given the commit that wrote it; the zero commit is none.
func (a *App) written(c vault.Commit, source string, text []byte) Label {
	l := Label{Flags: a.orders(text)}
	if actor := c.Trailers.Get("Stet-Actor"); actor != "" && actor != vault.ActorUser {
		l.Author, l.Origin = c.Author, fromAgent
	} else if via := c.Trailers.Get("Stet-Via"); via != "" {
		// It was written among that agent's tools, where the agent could confirm in the user's name.
		l.Author, l.Origin = via, fromAgent
	}
	rest, ok := strings.CutPrefix(source, fromImport+":")
	if program, _, _ := strings.Cut(rest, ":"); ok && l.Author == "" {
		l.Author = program // the user brought in what another one wrote
	}
	if c.Op == vault.OpImport || ok {
		l.Origin = fromImport
	}
	name, email := a.v.Person()
	if l.Origin == "" && c.Author != "" && !c.Nameless() && (c.Author != name || c.AuthorEmail != email) {
		l.Author, l.Origin = c.Author, fromPerson
	}
	return l
}

// said labels the messages of a session.
func (a *App) said(in session.Known) func(role, text string) Label {
	told := sync.OnceValue(func() bool { // by the agent, and by no hook of its program
		hooked, err := session.ByHooks(a.v, session.KeyOf(a.v, in.Agent, in.ID))
		return in.Agent != "" && (err != nil || !hooked)
	})
	return func(role, text string) Label { return a.saying(in, told, role, text) }
}

func (a *App) saying(in session.Known, told func() bool, role, text string) Label {
	l := Label{Flags: a.orders([]byte(text))}
	if by, ok := strings.CutPrefix(in.Source, fromImport+":"); ok {
		l.Author, l.Origin = by, fromImport // an agent's word, whatever role it gives a turn
	} else if in.Source == fromImport {
		l.Origin = fromImport
	}
	switch role {
	case "tool":
		l.Author, l.Origin = in.Agent, fromTool
	case "assistant":
		l.Author, l.Origin = in.Agent, cmp.Or(l.Origin, fromAgent)
	case "user":
		if l.Origin == "" && told() { // an agent's word as well
			l.Author, l.Origin = in.Agent, fromAgent
		}
	}
	return l
}

// A Message is one of a session, as it is shown.
type Message struct {
	recall.Line
	Label
}

// viewLines renders messages of a session, never nil.
func (a *App) viewLines(in session.Known, lines []recall.Line) []Message {
	out, said := make([]Message, 0, len(lines)), a.said(in)
	for _, l := range lines {
		l.Time = utc(l.Time)
		out = append(out, Message{l, said(l.Role, l.Text)})
	}
	return out
}

// labelHits labels what a search found, from the files as they are.
func (a *App) labelHits(ctx context.Context, hits []Hit) error {
	names, texts := make([]string, len(hits)), make([]vault.Memory, len(hits))
	for i, h := range hits {
		data, _, err := a.v.ReadFile(h.Path)
		switch {
		case err != nil:
			continue // gone since, or of another time
		case h.Message > 0:
			said := a.said(session.Read(h.Path, data))
			hits[i].Label = said(h.Role, h.Snippet)
			for j, r := range h.Reply {
				h.Reply[j].Label = said(r.Role, r.Snippet)
			}
			continue
		}
		m := vault.ReadMemory(h.Path, data)
		names[i], texts[i] = m.ID, m
		for _, e := range entriesOf(h.Class, data) {
			if e.Line <= h.Line {
				names[i], texts[i].Body = string(h.Path)+"#"+e.Hash(), []byte(e.Text)
			}
		}
	}
	wrote, _, err := a.v.History().Writers(ctx, "")
	for i, m := range texts {
		if err == nil && m.Path != "" {
			c, _ := wrote(names[i])
			hits[i].Label = a.written(c, m.Source, m.Body)
		}
	}
	return err
}

// entriesOf are the entries of a notebook; any other file has none.
func entriesOf(class vault.Class, data []byte) []markdown.Entry {
	if class != vault.ClassCore && class != vault.ClassProfile {
		return nil
	}
	return markdown.Parse(data).Entries()
}

// labelMemories labels memories that were read.
func (a *App) labelMemories(ctx context.Context, memories []Memory) error {
	wrote, _, err := a.v.History().Writers(ctx, "")
	if err != nil {
		return err
	}
	for i, m := range memories {
		c, _ := wrote(a.nameOf(m))
		memories[i].Label = a.written(c, m.Source, m.stored.Body)
	}
	return nil
}

// labelItems labels the memories of a snapshot. An entry that a notebook had no room for is still
// the work of who wrote the entry.
func (a *App) labelItems(ctx context.Context, items []snapshot.Item) error {
	wrote, _, err := a.v.History().Writers(ctx, "")
	if err != nil {
		return err
	}
	for n, i := range items {
		c, _ := wrote(i.ID)
		l := a.written(c, i.Source, nil)
		if c, ok := wrote(i.Source); ok && l.Origin != fromAgent {
			if entry := a.written(c, "", nil); entry.Author != "" {
				l = entry
			}
		}
		items[n].Author, items[n].Origin = l.Author, l.Origin
	}
	return nil
}

// nameOf is what commits call a memory, or an entry by its address.
func (a *App) nameOf(m Memory) string {
	if _, _, entry := cutAddress(string(m.Path)); entry {
		return string(m.Path)
	}
	return m.ID
}

// origins makes origins of commits. What one says of an approval may be anybody's: it is told where this clone knows of
// it.
func (a *App) origins() func(vault.Commit) Origin {
	approved, _ := lineage.Approvals(a.v) // what cannot be read approves nothing
	return func(c vault.Commit) Origin {
		o := originOf(c)
		if !approved[c.Rev] {
			o.Approved = ""
		}
		return o
	}
}

func originOf(c vault.Commit) Origin {
	t := c.Trailers
	o := Origin{
		Rev: c.Rev, When: utc(c.When), By: c.Author, Email: c.AuthorEmail, Kind: "person", Op: c.Op,
		Actor: t.Get("Stet-Actor"), Door: t.Get("Stet-Door"), Session: t.Get("Stet-Session"), Run: t.Get("Stet-Run"),
		Rule: t.Get("Stet-Rule"), Approved: t.Get("Stet-Approved-By"),
		Subject: c.Subject, Why: c.Body, Via: t.Get("Stet-Via"),
	}
	if o.Actor != "" && o.Actor != vault.ActorUser {
		o.Kind = "agent"
	}
	return o
}
