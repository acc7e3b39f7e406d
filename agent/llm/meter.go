package llm

import (
	"context"
	"errors"
)

// A Meter is a [Client] whose calls are kept in a ledger and stay within the
// daily limit.
type Meter struct {
	Client
	ledger *Ledger
	limit  float64
}

// Metered counts the calls of c; limit is dollars a day.
func Metered(c Client, ledger *Ledger, limit float64) *Meter { return &Meter{c, ledger, limit} }

// Generate implements [Client]. It fails with [ErrLimit] before it asks. An
// answer that cannot be written down is returned together with the error: it
// has been paid for.
func (m *Meter) Generate(ctx context.Context, req Request) (Reply, error) {
	model := m.Model()
	entry := Entry{Task: req.Task, Provider: model.Provider, Model: model.Name}
	entry.take(model.Price.worst(req))
	entry, err := m.ledger.Begin(ctx, entry, m.limit)
	if err != nil {
		return Reply{}, err
	}
	reply, err := m.Client.Generate(ctx, req)
	entry.State, entry.Millis = Done, m.ledger.now().Sub(entry.At).Milliseconds()
	if err != nil {
		entry.State = Failed
		if reply.Usage.Status == "" {
			reply.Usage = atWork(model, req, err)
		}
	}
	entry.take(reply.Usage)
	return reply, errors.Join(err, m.ledger.End(ctx, entry))
}

// atWork is the usage of a call that ended without a word: nothing where the
// server said no, the prompt where it may have been at work.
func atWork(model Model, req Request, err error) Usage {
	var e *CallError
	if errors.As(err, &e) && !e.spent {
		return model.Price.charge(Usage{})
	}
	return model.Price.charge(Usage{Input: req.Tokens(), Guessed: true})
}
