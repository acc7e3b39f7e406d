package watch

import (
	"cmp"
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"stet/index"
	"stet/vault"
)

// A bubble is a watcher on a vault and an index that are none, with time that
// passes when everybody waits.
type bubble struct {
	t     *testing.T
	h     *hints // of the newest opening
	began time.Time
	end   context.CancelFunc
	ended chan error

	mu     sync.Mutex
	ahead  time.Duration // of the clock on the wall
	events []timed
	calls  []call

	dirty    map[vault.Path]string // uncommitted edits and their kind
	git      vault.GitState
	adoptErr func(o vault.AdoptOptions) error
	files    []vault.File
	head     vault.Revision
	diff     []vault.Change
	gone     bool
	root     string // "" is nowhere
	openErr  error
	opened   int
	due      func(context.Context)
}

type timed struct {
	at time.Duration
	Event
}

// A call is one the watcher made: what and when.
type call struct {
	at   time.Duration
	what string
	n    int
}

func (b *bubble) note(what string, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls = append(b.calls, call{time.Since(b.began), what, n})
}

// times lists when a call was made.
func (b *bubble) times(what string) (out []time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.calls {
		if c.what == what {
			out = append(out, c.at)
		}
	}
	return out
}

// of lists the events of one kind.
func (b *bubble) of(kind Kind) (out []timed) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.events {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

// inBubble runs f beside a watcher with a debounce of 150 ms and two quiet
// seconds.
func inBubble(t *testing.T, prepare func(*bubble), f func(*bubble)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bubble{t: t, began: time.Now(), ended: make(chan error, 1), dirty: map[vault.Path]string{}}
		if prepare != nil {
			prepare(b)
		}
		ctx, end := context.WithCancel(t.Context())
		b.end = end
		o := Options{
			Now: func() time.Time { b.mu.Lock(); defer b.mu.Unlock(); return time.Now().Add(b.ahead) },
			Emit: func(e Event) {
				b.mu.Lock()
				defer b.mu.Unlock()
				b.events = append(b.events, timed{time.Since(b.began), e})
			},
			Open: b.open, Due: b.due,
			source: func(_ context.Context, _ Subject, h *hints) (closer, error) { b.h = h; return nothing{}, nil },
			gone:   func() bool { b.mu.Lock(); defer b.mu.Unlock(); return b.gone },
		}
		go func() { b.ended <- Run(ctx, o) }()
		synctest.Wait()
		f(b)
		end()
		if err := <-b.ended; err != nil {
			t.Errorf("the watcher ended with %v", err)
		}
		if last := b.events[len(b.events)-1]; last.Kind != Stopped {
			t.Errorf("the last event is %s", last.Kind)
		}
	})
}

// after lets time pass.
func (b *bubble) after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (b *bubble) set(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
}

// edit changes a file by hand and reports it.
func (b *bubble) edit(p vault.Path) {
	b.set(func() { b.dirty[p] = vault.Modified })
	b.h.changed(p)
	synctest.Wait()
}

func (b *bubble) open(context.Context) (Subject, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.opened++; b.openErr != nil {
		return Subject{}, b.openErr
	}
	return Subject{Vault: b, Index: fakeIndex{b}, Commit: true, Debounce: 150 * time.Millisecond, Quiet: 2 * time.Second, Poll: 2 * time.Second,
		Close: func() error { return nil }}, nil
}

type nothing struct{}

func (nothing) Close() error { return nil }

func (b *bubble) Root() string { return cmp.Or(b.root, "/nowhere/at/all") }

func (b *bubble) Head() (vault.Revision, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.head, nil
}

func (b *bubble) Changes(context.Context, vault.Revision, vault.Revision) ([]vault.Change, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.diff, nil
}

func (b *bubble) Survey(context.Context, vault.Path, bool) (vault.Survey, error) {
	b.note("survey", 0)
	b.mu.Lock()
	defer b.mu.Unlock()
	return vault.Survey{Files: b.files}, nil
}

func (b *bubble) Pick(_ context.Context, paths []vault.Path) (out []vault.File, err error) {
	for _, p := range paths {
		out = append(out, vault.File{Path: p})
	}
	return out, nil
}

func (b *bubble) Git() vault.GitState {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.git
}

func (b *bubble) Claim(context.Context, string) (func() error, error) {
	return func() error { return nil }, nil
}

// Adopt commits what is dirty and may be, in one commit.
func (b *bubble) Adopt(_ context.Context, o vault.AdoptOptions) (*vault.Result, error) {
	b.note("adopt", 0)
	if b.adoptErr != nil {
		if err := b.adoptErr(o); err != nil {
			return nil, err
		}
	}
	b.mu.Lock()
	edits := map[vault.Path]string{}
	for p, kind := range b.dirty {
		edits[p] = kind
	}
	b.mu.Unlock()
	res := &vault.Result{}
	for p, kind := range edits {
		if c := (vault.Change{Path: p, Status: kind}); !o.Leave(c) {
			res.Changes = append(res.Changes, c)
			b.set(func() { delete(b.dirty, p) })
		}
	}
	if len(res.Changes) > 0 {
		res.Commits = []vault.Commit{{Rev: "1", Subject: "adopt"}}
		for _, c := range res.Changes {
			b.note("commit "+string(c.Path), 1)
		}
	}
	return res, nil
}

type fakeIndex struct{ b *bubble }

func (x fakeIndex) CatchUp(context.Context) (index.Stats, error) {
	x.b.note("catch up", 0)
	return index.Stats{Total: 7}, nil
}

func (x fakeIndex) Refresh(_ context.Context, paths []vault.Path, _ []vault.File) (index.Stats, error) {
	x.b.note("refresh", len(paths))
	return index.Stats{Changed: len(paths)}, nil
}

func (x fakeIndex) Close() error {
	x.b.note("close", 0)
	return nil
}
