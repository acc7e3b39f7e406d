package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"stet/agent/llm"
	"stet/vault"
)

// keptQueue is the queue of local state that holds notes while a model is asked.
const keptQueue = "notes"

// askers is how many processes of one vault can keep notes while they ask. A slot is a
// lock that tells whether the process that wrote an entry still runs.
const askers = 8

// A keeping holds notes in local state from before a model is asked until they are
// committed, so that no end of the process loses them.
type keeping struct {
	Slot  string
	Notes []vault.Note
	Write vault.Write

	v  *vault.Vault
	id string // of the entry, and of the first memory that is stored; "" before [keeping.hold]
}

// keep runs store while the notes can be kept. A process that ends meanwhile leaves them
// to [Recover]; whatever store returns has been told, and is kept no longer.
func keep(ctx context.Context, v *vault.Vault, notes []vault.Note, w vault.Write, store func(*keeping) (*Result, error)) (*Result, error) {
	for i := range askers {
		k := &keeping{Slot: fmt.Sprintf("asking-%d", i), Notes: notes, Write: w, v: v}
		entered := false
		var res *Result
		err := v.State().Alone(ctx, k.Slot, false, func() (err error) {
			entered = true
			if res, err = store(k); k.id == "" {
				return err
			}
			if err != nil && ctx.Err() != nil {
				return err // [Recover] stores them
			}
			return errors.Join(err, v.State().Done(ctx, keptQueue, k.id))
		})
		if entered || !errors.Is(err, vault.ErrBusy) {
			return res, err
		}
	}
	return nil, fmt.Errorf("store a note: %w: %d processes are asking a model about notes of this vault", vault.ErrBusy, askers)
}

// hold writes the notes down, once. The first memory that is stored gets the entry's id,
// which tells [Recover] that it was.
func (k *keeping) hold(ctx context.Context) error {
	if k == nil || k.id != "" {
		return nil
	}
	data, err := json.Marshal(k)
	if err == nil {
		k.id, err = k.v.State().Enqueue(ctx, keptQueue, data)
	}
	if err != nil {
		return fmt.Errorf("keep the note while the model is asked: %w", err)
	}
	return nil
}

// name gives the first note that a plan stores the id of the entry.
func (k *keeping) name(p *Plan) {
	if k == nil || k.id == "" {
		return
	}
	for i := range p.Items {
		if it := &p.Items[i]; it.Outcome == Insert && it.note.ID == "" {
			it.note.ID = k.id
			return
		}
	}
}

// Kept reports whether notes wait for [Recover].
func Kept(v *vault.Vault) bool {
	jobs, err := v.State().Jobs(keptQueue)
	return err == nil && len(jobs) > 0
}

// Recover stores the notes of processes that ended while they asked a model: by the rules,
// and marked as pending. Notes of a process that still asks are left to it. It returns what
// was stored before the first error.
func Recover(ctx context.Context, v *vault.Vault, find Searcher) (out []*Result, err error) {
	jobs, err := v.State().Jobs(keptQueue)
	if err != nil {
		return nil, err
	}
	for _, job := range jobs {
		var k keeping
		if err := json.Unmarshal(job.Data, &k); err != nil {
			return out, fmt.Errorf("store the note kept as %s: %w", job.ID, err)
		}
		k.v, k.id = v, job.ID
		err := v.State().Alone(ctx, k.Slot, false, func() error {
			var unknown *vault.NotFoundError
			if _, err := v.Resolve(ctx, k.id); errors.As(err, &unknown) {
				res, err := remember(ctx, v, find, &Mind{Model: interrupted{}}, k.Notes, k.Write, &k)
				if err != nil && !errors.Is(err, vault.ErrRejected) && !errors.Is(err, vault.ErrRefused) && !errors.Is(err, vault.ErrInvalid) {
					return err
				}
				if err == nil {
					out = append(out, res)
				}
			} else if err != nil {
				return err
			}
			return v.State().Done(ctx, keptQueue, k.id)
		})
		if err != nil && !errors.Is(err, vault.ErrBusy) {
			return out, fmt.Errorf("store the note kept as %s: %w", job.ID, err)
		}
	}
	return out, nil
}

// interrupted stands for a model whose asker ended before the answer.
type interrupted struct{}

// Generate implements [llm.Client].
func (interrupted) Generate(context.Context, llm.Request) (llm.Reply, error) {
	return llm.Reply{}, errors.New("stet was stopped while the model was asked")
}

// Model implements [llm.Client].
func (interrupted) Model() llm.Model { return llm.Model{} }
