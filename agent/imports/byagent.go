package imports

import (
	"fmt"
	"strings"

	"stet/vault"
	"stet/vault/session"
)

// What an agent imports is its word alone: nothing shows that anybody ever said it. Its conversations
// carry its name, and continue or replace none that it did not record.

// apart is the id under which an agent's import stores a conversation that names another's.
func (s *Session) apart(agent string) string { return SessionID("import:"+agent, s.ID, s.Started) }

// own makes s a conversation of the agent that imports it; of the user's import it stays as it is.
func (w *writer) own(s *Session) error {
	if w.o.Write.Actor == "" || w.o.Write.Actor == vault.ActorUser {
		return nil
	}
	agent := w.o.Write.AgentName
	keep, err := w.keepsID(s, agent)
	if err != nil {
		return err
	}
	if !keep {
		id := s.apart(agent)
		w.apart[s.ID], s.ID = id, id
	}
	var older []string
	for _, id := range s.Supersedes {
		_, mine, err := w.recorded(id, agent)
		if err != nil {
			return err
		}
		if mine {
			older = append(older, id)
		}
	}
	for i := range s.Messages {
		if s.Messages[i].Ref == session.HookRef {
			s.Messages[i].Ref = "" // a hook tells of turns by itself
		}
	}
	w.cut += len(s.Supersedes) - len(older)
	s.Supersedes, s.Agent, s.Source = older, agent, "import:"+agent
	if id := w.apart[s.Parent]; id != "" {
		s.Parent = id
		return nil
	}
	known, mine, err := w.recorded(s.Parent, agent)
	if known && !mine {
		s.Parent = ""
		w.cut++
	}
	return err
}

// keepsID reports whether s may go by its id: where nobody's conversation has it, and it is no id that was
// made up; where the agent recorded it; and where there is nothing to write.
func (w *writer) keepsID(s *Session, agent string) (bool, error) {
	p, err := w.known.find(w.ctx, s.ID)
	if err != nil || w.known.gone(s.ID, p) {
		return true, err
	}
	if p == "" {
		return !s.exact, nil
	}
	have, _, err := w.v.ReadFile(p)
	if err != nil {
		return false, err
	}
	k := session.Read(p, have)
	if k.Agent == agent {
		return true, nil
	}
	g := compare(have, s, w.censor)
	return !k.Private && g.changed == 0 && !g.more(s), nil
}

// recorded reports whether there is a conversation of that id, and whether the agent recorded it.
func (w *writer) recorded(id, agent string) (known, mine bool, err error) {
	if !isID(id) {
		return false, false, nil
	}
	if w.openBy == nil {
		w.openBy = map[string]string{}
		open, err := session.AllOpen(w.v)
		for _, o := range open {
			w.openBy[o.Facts.ID] = o.Facts.Agent
		}
		if err != nil {
			return false, false, err
		}
	}
	id = strings.ToLower(id)
	if by, ok := w.openBy[id]; ok {
		return true, by == agent, nil
	}
	p, err := w.known.find(w.ctx, id)
	if err != nil || p == "" {
		return false, false, err
	}
	head, err := session.Head(w.v, p)
	return true, head.Agent == agent, err
}

// tellApart says what an agent's import did not do as it was told.
func (w *writer) tellApart() {
	const rule = "an agent's import continues, supersedes and replaces only conversations that the agent recorded"
	if n := len(w.apart); n > 0 {
		w.r.note(fmt.Sprintf("stored apart, under ids of their own: %d; %s", n, rule))
	}
	if w.cut > 0 {
		w.r.note(fmt.Sprintf(`"supersedes" and "parent" left out: %d; %s`, w.cut, rule))
	}
}
