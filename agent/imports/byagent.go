package imports

import (
	"errors"
	"fmt"
	"strings"

	"stet/vault"
	"stet/vault/session"
)

// What an agent imports is its word alone: nothing shows that anybody ever said it. Its conversations
// carry its name, and continue or replace none that it did not record.

// apart is the id under which an agent's import stores a conversation that names another's.
func (s *Session) apart(agent string) string { return SessionID("import:"+agent, s.ID, s.Started) }

// own makes s a conversation of the agent that imports it; of the user's import it stays as it is. ok is false for one
// that hooks of a client record, which is left out.
func (w *writer) own(s *Session) (ok bool, err error) {
	if w.o.Write.Actor == "" || w.o.Write.Actor == vault.ActorUser {
		return true, nil
	}
	agent := w.o.Write.AgentName
	if hooked, err := w.byHooks(s.ID); hooked || err != nil {
		w.report.Skipped++
		w.r.note(fmt.Sprintf("left out: hooks of a client record conversation %s; the user's own import takes it",
			s.Origin))
		return false, err
	}
	keep, err := w.keepsID(s, agent)
	if err != nil {
		return false, err
	}
	if !keep {
		id := s.apart(agent)
		w.apart[s.ID], s.ID = id, id
	}
	var older []string
	for _, id := range s.Supersedes {
		_, mine, err := w.recorded(id, agent)
		if err != nil {
			return false, err
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
	s.copyOf = ""
	w.cut += len(s.Supersedes) - len(older)
	s.Supersedes, s.Agent, s.Source = older, agent, "import:"+agent
	if id := w.apart[s.Parent]; id != "" {
		s.Parent = id
		return true, nil
	}
	known, mine, err := w.recorded(s.Parent, agent)
	if known && !mine {
		s.Parent = ""
		w.cut++
	}
	return true, err
}

// worker reports the import of what hooks told of, which goes on with all that the client recorded.
func (w *writer) worker() bool { return w.o.Write.Door == session.HookDoor }

// byHooks reports a conversation of which hooks of a client told: what they leave to their worker it alone brings.
func (w *writer) byHooks(id string) (bool, error) {
	if w.worker() {
		return false, nil
	}
	return session.ByHooks(w.v, hashPart(id))
}

// keepsID reports whether s may go by its id: where nobody's conversation has it, and it is no id that was
// made up; where the agent recorded it; and where there is nothing to write.
func (w *writer) keepsID(s *Session, agent string) (bool, error) {
	p, err := w.known.find(w.ctx, s.ID)
	if err != nil || w.known.gone(s.ID, p) {
		return true, err
	}
	known, mine, err := w.recorded(s.ID, agent)
	if p == "" || mine || err != nil {
		return mine || !known && !s.exact && w.worker(), err // hooks may come to tell of it
	}
	have, _, err := w.v.ReadFile(p)
	if err != nil {
		return false, err
	}
	g := compare(have, s, w.censor)
	return !session.Read(p, have).Private && g.changed == 0 && !g.more(s), nil
}

// recorded reports whether there is a conversation of that id, open or not, and whether the agent recorded it.
func (w *writer) recorded(id, agent string) (known, mine bool, err error) {
	if !isID(id) {
		return false, false, nil
	}
	id = strings.ToLower(id)
	hooked, err := w.byHooks(id)
	if hooked || err != nil {
		return hooked, false, err
	}
	if open, err := session.Rest(w.v, id, nil); !errors.Is(err, session.ErrUnknownSession) {
		return true, err == nil && open.Facts.Agent == agent, err
	}
	p, err := w.known.find(w.ctx, id)
	if err != nil || p == "" {
		return false, false, err
	}
	head, err := session.Head(w.v, p)
	return true, head.Agent == agent && (head.Source != "import" || w.worker()), err
}

// tellApart says what an agent's import did not do as it was told, and what stands twice.
func (w *writer) tellApart() {
	w.tellTwice()
	const rule = "an agent's import continues, supersedes and replaces only conversations that the agent recorded"
	if n := len(w.apart); n > 0 {
		w.r.note(fmt.Sprintf("stored apart, under ids of their own: %d; %s", n, rule))
	}
	if w.cut > 0 {
		w.r.note(fmt.Sprintf(`"supersedes" and "parent" left out: %d; %s`, w.cut, rule))
	}
}
