package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/oklog/ulid/v2"

	"stet/agent/llm"
	"stet/templates"
	"stet/vault"
	"stet/vault/notebook"
)

// The queues of local state that hold notes: while a model is asked, and those that could
// not be stored afterwards, which stay there for a person to read.
const (
	keptQueue  = "notes"
	asideQueue = "aside"
)

// askers is how many processes of one vault can keep notes while they ask. A slot is a
// lock that tells whether the process that wrote an entry still runs.
const askers = 8

// A keeping holds notes in local state from before a model is asked until they are
// committed, so that no end of the process loses them.
type keeping struct {
	Slot  string
	Notes []vault.Note
	Entry *notebook.New // of the notebook Book, instead of notes
	Book  vault.Path
	Write vault.Write

	v  *vault.Vault
	id string // of the entry, and of the first memory that is stored; "" before [keeping.hold]
}

// keep runs store while the notes can be kept. A process that ends meanwhile leaves them
// to [Recover]. When store returns, its caller reports the outcome, and the notes are no
// longer kept; what keep warns of is that they are.
func (k keeping) keep(ctx context.Context, v *vault.Vault, store func(*keeping) error) (warning []string, err error) {
	for i := range askers {
		k.Slot, k.v = fmt.Sprintf("asking-%d", i), v
		entered := false
		err := v.State().Alone(ctx, k.Slot, false, func() error {
			entered = true
			err := store(&k)
			if k.id == "" || err != nil && ctx.Err() != nil {
				return err // [Recover] stores what was held
			}
			// A note that is stored stays stored: [Recover] drops an entry that this leaves behind.
			if done := v.State().Done(context.WithoutCancel(ctx), keptQueue, k.id); err == nil && done != nil {
				warning = append(warning, fmt.Sprintf("forget the kept copy of the note: %v", done))
			}
			return err
		})
		if entered || !errors.Is(err, vault.ErrBusy) {
			return warning, err
		}
	}
	return nil, fmt.Errorf("store a note: %w: %s a model about notes of this vault", vault.ErrBusy,
		templates.Plural(askers, "process is asking", "processes are asking"))
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
		if it := &p.Items[i]; it.Outcome == Insert && it.book == nil && it.note.ID == "" {
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
// and marked as pending. Notes of a process that still asks are left to it. A note that is
// refused, or an entry that cannot be read, is set aside in local state and named in the
// error; the others are stored all the same.
func Recover(ctx context.Context, v *vault.Vault, find Searcher) (out []*Result, err error) {
	jobs, err := v.State().Jobs(keptQueue)
	if err != nil {
		return nil, err
	}
	var failed []error
	for _, job := range jobs {
		k := keeping{v: v, id: job.ID}
		if err := json.Unmarshal(job.Data, &k); err != nil {
			failed = append(failed, setAside(ctx, v, job, err))
			continue
		}
		err := v.State().Alone(ctx, k.Slot, false, func() error {
			res, err := k.recover(ctx, find)
			out = append(out, res...)
			if refused(err) {
				return setAside(ctx, v, job, err)
			}
			if err != nil {
				return fmt.Errorf("store the note kept as %s: %w", job.ID, err)
			}
			return v.State().Done(ctx, keptQueue, job.ID)
		})
		if err != nil && !errors.Is(err, vault.ErrBusy) {
			failed = append(failed, err)
		}
	}
	return out, errors.Join(failed...)
}

// recover stores the notes of one entry unless they are stored already. Notes of which one
// is refused are stored one by one, so that the others do not share its fate.
func (k *keeping) recover(ctx context.Context, find Searcher) ([]*Result, error) {
	if _, err := k.v.Resolve(ctx, k.id); err == nil {
		return nil, nil
	} else if unknown := (*vault.NotFoundError)(nil); !errors.As(err, &unknown) {
		return nil, err
	}
	if id, err := ulid.ParseStrict(k.id); err == nil { // it became known when it was kept
		for i := range k.Notes {
			if k.Notes[i].Created.IsZero() {
				k.Notes[i].Created = id.Timestamp()
			}
		}
	}
	if k.Entry != nil {
		return k.recoverEntry(ctx)
	}
	res, err := remember(ctx, k.v, find, &Mind{Model: interrupted{}}, k.Notes, k.Write, k)
	if err == nil {
		return []*Result{res}, nil
	}
	if !refused(err) || len(k.Notes) == 1 {
		return nil, err
	}
	var out []*Result
	var failed []error
	for _, n := range k.Notes {
		res, err := remember(ctx, k.v, find, &Mind{Model: interrupted{}}, []vault.Note{n}, k.Write, nil)
		if err == nil {
			out = append(out, res)
		}
		if err != nil && !refused(err) {
			// The entry stays in the queue; notes stored by now are duplicates at the next try.
			return out, err
		}
		failed = append(failed, err)
	}
	return out, errors.Join(failed...)
}

// recoverEntry adds the entry of a notebook by the rules. Where it stands already nothing is
// written again.
func (k *keeping) recoverEntry(ctx context.Context) ([]*Result, error) {
	n := notebook.Core(k.v, notebook.LimitsOf(k.v))
	if k.Book != n.Path() {
		n = notebook.Profile(k.v, notebook.LimitsOf(k.v))
	}
	res, p, err := AddEntry(ctx, k.v, n, nil, *k.Entry, k.Write)
	if err != nil {
		return nil, err
	}
	res.Memories = append(res.Memories, vault.Memory{Path: n.Path()})
	return []*Result{{res.Result, p}}, nil
}

// refused reports whether an error will be the same at every further try.
func refused(err error) bool {
	return errors.Is(err, vault.ErrRejected) || errors.Is(err, vault.ErrRefused) || errors.Is(err, vault.ErrInvalid)
}

// setAside moves an entry to where nothing tries it again, and returns an error that says
// where its text is and why.
func setAside(ctx context.Context, v *vault.Vault, job vault.Job, why error) error {
	id, err := v.State().Enqueue(ctx, asideQueue, job.Data)
	if err == nil {
		err = v.State().Done(ctx, keptQueue, job.ID)
	}
	if err != nil {
		return errors.Join(why, err)
	}
	return fmt.Errorf("a note whose command was interrupted is not stored: %w; its text stays in stet/queue/%s.%s of the git directory", why, id, asideQueue)
}

// interrupted stands for a model whose asker ended before the answer.
type interrupted struct{}

// Generate implements [llm.Client].
func (interrupted) Generate(context.Context, llm.Request) (llm.Reply, error) {
	return llm.Reply{}, errors.New("stet was stopped while the model was asked")
}

// Model implements [llm.Client].
func (interrupted) Model() llm.Model { return llm.Model{} }
