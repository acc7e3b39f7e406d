package imports

import (
	"errors"

	"stet/markdown"
	"stet/vault"
	"stet/vault/session"
)

// decide says what is to be done with a conversation; nil when nothing is.
func (w *writer) decide(s *Session) (*item, error) {
	w.censor.title(s)
	state := StateAdded
	var in openPart
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
			s.asIn(have)
		}
		open, err := w.open(s, have)
		if err != nil {
			return nil, err
		}
		merged, g, ok := s.hooked(have, open.turns, w.o.Now, w.censor)
		if open.key != "" {
			in.key = open.key
		}
		switch {
		case ok:
			s, in.turns = merged, append(in.turns, open.turns...)
		case p != "":
			g = compare(have, s, w.censor)
		}
		if g.changed > 0 && s.Formerly != "" && s.Origin != s.Formerly {
			// A copy under another name that says something else replaces nothing.
			s.ID, s.Origin = SessionID(s.Agent, s.Formerly, s.Started), s.Formerly
			continue
		}
		if g.changed > 0 {
			s, state = s.variant(g.changed, s.ID), StateSuperseded
			continue
		}
		if w.saw(s); p != "" && !g.more(s) {
			w.report.Unchanged++
			w.holds(in)
			return nil, nil
		}
		if p != "" {
			state = StateGrown
		}
		return &item{s: s, path: p, have: have, state: state, open: in, growth: g}, nil
	}
	w.r.problem(s.Origin, 0, "left out: it has changed in more ways than can be told apart")
	return nil, nil
}

// saw takes down that the present file holds a conversation, once it is known
// which transcript that is.
func (w *writer) saw(s *Session) {
	w.talks = append(w.talks, doneTalk{ID: hashPart(s.ID), Messages: len(s.Messages), Ended: s.Ended, Project: s.Project})
}

// An openPart is what is open of a conversation: its key, "" for nothing, and those turns that come in with it.
type openPart struct {
	key   string
	turns []markdown.Message
}

// open is what is open of a conversation and its transcript does not hold. s is kept private where it is, or was before
// its transcript was removed.
func (w *writer) open(s *Session, transcript []byte) (openPart, error) {
	if transcript == nil && !s.Private {
		var err error
		if s.Private, err = w.v.History().PrivateTalk(w.ctx, s.ID); err != nil {
			return openPart{}, err
		}
	}
	open, err := session.Rest(w.v, s.ID, transcript)
	if errors.Is(err, session.ErrUnknownSession) {
		return openPart{}, w.below(s)
	}
	if err != nil {
		return openPart{}, err
	}
	s.Private = s.Private || open.Facts.Private
	return openPart{open.Key, open.Facts.Messages}, w.below(s)
}

// below keeps s private where what it is a part of is, there or in this run.
func (w *writer) below(s *Session) error {
	if s.Parent != "" && !s.Private {
		key := session.Key(s.Agent, s.Parent)
		p, err := w.known.find(w.ctx, key)
		if err == nil {
			s.Private, err = session.Private(w.ctx, w.v.Whole(), s.Agent, s.Parent, []vault.Path{p})
		}
		if err != nil {
			return err
		}
		s.Private = s.Private || w.known.private[hashPart(key)]
	}
	if s.Private {
		w.known.private[hashPart(s.ID)] = true
	}
	return nil
}

// holds is told that transcripts hold what came in of an open conversation.
func (w *writer) holds(open openPart) {
	if open.key != "" {
		w.held[open.key] = open.turns
	}
}
