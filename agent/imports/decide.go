package imports

import (
	"errors"

	"stet/markdown"
	"stet/vault/session"
)

// decide says what is to be done with a conversation; nil when nothing is.
func (w *writer) decide(s *Session) (*item, error) {
	w.censor.title(s)
	state := StateAdded
	// Every round is another variant of it; a person edits only so often.
	for range 100 {
		p, err := w.known.find(w.ctx, s.ID)
		if err != nil {
			return nil, err
		}
		if w.known.gone(s.ID, p) {
			w.saw(s)
			w.report.Rejected++
			return nil, nil
		}
		var have []byte
		if p != "" {
			if have, _, err = w.v.ReadFile(p); err != nil {
				return nil, err
			}
		}
		open, err := w.heard(s, have)
		if err != nil {
			return nil, err
		}
		merged, g, ok := s.hooked(have, open, w.o.Now, w.censor)
		switch {
		case ok:
			s = merged
		case p != "":
			g = compare(have, s, w.censor)
		}
		if g.changed > 0 {
			s, state = s.variant(g.changed, s.ID), StateSuperseded
			continue
		}
		if w.saw(s); p != "" && !g.more(s) {
			w.report.Unchanged++
			return nil, nil
		}
		if p != "" {
			state = StateGrown
		}
		return &item{s: s, path: p, have: have, state: state, growth: g}, nil
	}
	w.r.problem(s.Origin, 0, "left out: it has changed in more ways than can be told apart")
	return nil, nil
}

// saw takes down that the present file holds a conversation, once it is known
// which transcript that is.
func (w *writer) saw(s *Session) {
	w.talks = append(w.talks, doneTalk{ID: hashPart(s.ID), Messages: len(s.Messages), Ended: s.Ended, Project: s.Project})
}

// heard are the open turns of a conversation that its transcript does not hold; nil for none. s is kept private where
// they are.
func (w *writer) heard(s *Session, transcript []byte) ([]markdown.Message, error) {
	open, err := session.Rest(w.v, s.ID, transcript)
	if errors.Is(err, session.ErrUnknownSession) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s.Private = s.Private || open.Facts.Private
	w.heardOf[open.Key] = s.taken
	return open.Facts.Messages, nil
}
