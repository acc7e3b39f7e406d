package pipeline

import (
	"context"
	"errors"
	"sync"

	"stet/agent/llm"
)

// A run is one [Pipeline.Think].
type run struct {
	*Pipeline
	out []Thought

	mu       sync.Mutex
	done     int
	failures int
	gone     error // why the model is not asked any more
}

// maxFailures is how often a server may be unavailable, retries and all, before the
// rest of a batch does without it.
const maxFailures = 3

func (r *run) all(ctx context.Context, notes []Note) {
	workers := r.Workers
	if workers <= 0 {
		workers = defaultWorkers
	}
	total := 0
	for _, n := range notes {
		if n.Place || len(n.Near) > 0 {
			total++
		}
	}
	work := make(chan int)
	var wg sync.WaitGroup
	for range min(workers, total) {
		wg.Go(func() {
			for i := range work {
				r.one(ctx, notes[i], &r.out[i])
				r.report(total)
			}
		})
	}
	for i, n := range notes {
		if n.Place || len(n.Near) > 0 {
			work <- i
		}
	}
	close(work)
	wg.Wait()
}

// one thinks about one note; the two calls of it run at the same time.
func (r *run) one(ctx context.Context, n Note, t *Thought) {
	var wg sync.WaitGroup
	if n.Place {
		wg.Go(func() { t.Placed, t.PlaceErr = ask(ctx, r, n, r.place) })
	}
	if len(n.Near) > 0 {
		wg.Go(func() { t.Actions, t.JudgeErr = ask(ctx, r, n, r.judge) })
	}
	wg.Wait()
}

func (r *run) report(total int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done++; r.Progress != nil {
		r.Progress(r.done, total)
	}
}

// ask makes one call unless there is no sense in it.
func ask[T any](ctx context.Context, r *run, n Note, call func(context.Context, Note) (T, error)) (T, error) {
	var none T
	if err := r.hopeless(ctx); err != nil {
		return none, err
	}
	out, err := call(ctx, n)
	if err != nil {
		r.failed(err)
		return none, err
	}
	return out, nil
}

func (r *run) hopeless(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return r.gone
}

// failed remembers what will be no better with the next note.
func (r *run) failed(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, kind := range []error{llm.ErrNoModel, llm.ErrSetup, llm.ErrKey, llm.ErrRejected, llm.ErrLimit} {
		if errors.Is(err, kind) && r.gone == nil {
			r.gone = err
		}
	}
	if errors.Is(err, llm.ErrUnavailable) {
		if r.failures++; r.failures == maxFailures && r.gone == nil {
			r.gone = err
		}
	}
}
