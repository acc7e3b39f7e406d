package agent

import (
	"context"
	"errors"
	"sync"

	"stet/vault/session"
)

// LiveOptions describe a conversation that a program holds.
type LiveOptions struct {
	ID     string // what the program calls it
	Agent  string // the program's name; "" is the user
	Source string // how it is held: voice, sms…
	// Learnt is told of each review, from a goroutine of its own; nil is nobody.
	Learnt func(*Reviewed)
}

// A Live is a conversation that a program holds. It is safe for concurrent use, and learns beside the
// conversation: no turn waits for a model. It is closed.
type Live struct {
	o    LiveOptions
	mu   sync.Mutex // an App serves one goroutine
	a    *App
	due  chan struct{}
	stop func()
	wg   sync.WaitGroup
}

// Session begins a conversation, or goes on with the one of that id. The reviews that an earlier process
// left are made now.
func (a *App) Session(ctx context.Context, o LiveOptions) (*Live, error) {
	own := a.o
	own.Agent, own.Ask, own.Progress, own.Notify = o.Agent, nil, nil, nil
	s := &Live{o: o, due: make(chan struct{}, 1)}
	var err error
	if s.a, err = NewEnvironment(own).OpenAt(ctx, a.place, false); err != nil {
		return nil, err
	}
	reviewer, err := NewEnvironment(own).OpenAt(ctx, a.place, false)
	if err != nil {
		return nil, errors.Join(err, s.a.Close())
	}
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.due <- struct{}{}
	s.wg.Go(func() {
		s.learn(ctx, reviewer)
		_ = reviewer.Close() // what it wrote is durable
	})
	return s, nil
}

// learn makes the reviews that are due until ctx ends. What fails stands in [Learning.Reviews].
func (s *Live) learn(ctx context.Context, a *App) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.due:
			_, _ = a.Learning().Work(ctx, WorkOptions{Write: Write{Agent: s.o.Agent}, Each: s.o.Learnt})
		}
	}
}

// Turn adds what somebody said; role is one of [Roles]. It fails as [Sessions.Observe] does.
func (s *Live) Turn(ctx context.Context, role, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	done, err := s.a.Sessions().Observe(ctx, session.Turn{Session: s.o.ID, Agent: s.o.Agent, Source: s.o.Source,
		Role: role, Text: []byte(text)})
	if err == nil && done.Queued {
		select {
		case s.due <- struct{}{}:
		default: // it is looked already
		}
	}
	return err
}

// Flush learns from the conversation before a part of it is forgotten, see [Learning.Flush].
func (s *Live) Flush(ctx context.Context) (*Reviewed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.a.Learning().Flush(ctx, Write{Agent: s.o.Agent}, s.o.Agent, s.o.ID)
}

// Close ends the conversation and waits for no model: what nobody has reviewed is queued for the next
// process, and so is a review that is under way. A conversation in which nothing was said leaves nothing.
func (s *Live) Close() error {
	s.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	key := session.Key(s.o.Agent, s.o.ID)
	_, err := session.FindOpen(s.a.v, key)
	if err == nil {
		_, err = s.a.Sessions().End(context.Background(),
			EndOptions{Write: Write{Agent: s.o.Agent}, Refs: []string{key}, Reason: "ended"})
	}
	if errors.Is(err, session.ErrUnknownSession) {
		err = nil
	}
	s.wg.Wait()
	return errors.Join(err, s.a.Close())
}
