package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stet/index"
	"stet/vault"
	"stet/vault/vaulttest"
)

func TestMain(m *testing.M) {
	vaulttest.InMemory()
	m.Run()
}

// patience is how long a test waits for what must come. It is long because a
// loaded machine may be slow; a test that passes does not wait.
const patience = 90 * time.Second

// A watching is a watcher that runs beside a test, in real time and on the real
// system's events.
type watching struct {
	t      *testing.T
	f      *vaulttest.Fixture
	v      *vault.Vault // of the test's own
	events chan Event
	seen   []Event
	end    context.CancelFunc
	ended  chan error
}

// tune changes how a watcher is started.
type tune func(*Subject, *Options)

func noCommit(s *Subject, _ *Options) { s.Commit = false }

// start runs a watcher on f's vault and waits until it has looked at everything.
func start(t *testing.T, f *vaulttest.Fixture, tunes ...tune) *watching {
	t.Helper()
	w := launch(t, f, tunes...)
	w.await("the start", func(e Event) bool { return e.Kind == Started })
	return w
}

func launch(t *testing.T, f *vaulttest.Fixture, tunes ...tune) *watching {
	t.Helper()
	w := &watching{t: t, f: f, v: f.Open(), events: make(chan Event, 100_000), ended: make(chan error, 1)}
	ctx, end := context.WithCancel(t.Context())
	w.end = end
	o := Options{Now: time.Now, Emit: func(e Event) { w.events <- e }}
	o.Open = func(ctx context.Context) (Subject, error) {
		vo := f.Options()
		vo.SecondLook, vo.Holder = 50*time.Millisecond, "pid 1 stet watch"
		v, err := vault.Open(ctx, f.Dir, vo)
		if err != nil {
			return Subject{}, err
		}
		x, err := index.Open(v, index.Options{Now: time.Now})
		if err != nil {
			return Subject{}, errors.Join(err, v.Close())
		}
		s := Subject{Vault: v, Index: x, Commit: true, Debounce: 30 * time.Millisecond, Quiet: 400 * time.Millisecond, Poll: 50 * time.Millisecond,
			Close: func() error { return errors.Join(x.Close(), v.Close()) }}
		for _, tune := range tunes {
			tune(&s, &Options{})
		}
		return s, nil
	}
	for _, tune := range tunes {
		tune(&Subject{}, &o)
	}
	go func() { w.ended <- Run(ctx, o) }()
	t.Cleanup(w.stop)
	return w
}

// stop ends the watcher as Ctrl-C does; it must end without an error. All that it
// said has been seen then.
func (w *watching) stop() {
	w.t.Helper()
	if w.end == nil {
		return
	}
	w.end()
	w.end = nil
	select {
	case err := <-w.ended:
		if err != nil {
			w.t.Errorf("the watcher ended with %v", err)
		}
	case <-time.After(patience):
		w.t.Error("the watcher does not end")
	}
	for len(w.events) > 0 {
		w.seen = append(w.seen, <-w.events)
	}
}

// await waits for an event.
func (w *watching) await(what string, ok func(Event) bool) Event {
	w.t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case e := <-w.events:
			w.seen = append(w.seen, e)
			if ok(e) {
				return e
			}
		case err := <-w.ended:
			w.end = nil
			w.t.Fatalf("waiting for %s: the watcher ended: %v", what, err)
		case <-deadline:
			w.t.Fatalf("waiting for %s: it never came; seen:\n%s", what, w.story())
		}
	}
}

func (w *watching) story() string {
	var b strings.Builder
	for _, e := range w.seen {
		fmt.Fprintf(&b, "  %s %s +%d ~%d -%d %s %s %s\n", e.Kind, e.Commit.Subject, e.Added, e.Changed, e.Removed, e.Path, e.Text, e.Hint)
	}
	return b.String()
}

// settled waits until every hand edit is committed and the index on disk is
// what the files are, and fails the test if that never comes.
func (w *watching) settled() {
	w.t.Helper()
	deadline := time.Now().Add(patience)
	for {
		why := w.unsettled()
		if why == "" {
			return
		}
		select {
		case e := <-w.events:
			w.seen = append(w.seen, e)
		case err := <-w.ended:
			w.end = nil
			w.t.Fatalf("the watcher ended: %v", err)
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("not settled: %s; seen:\n%s", why, w.story())
		}
	}
}

func (w *watching) unsettled() string {
	w.t.Helper()
	st, err := w.v.Status(w.t.Context())
	if err != nil {
		return err.Error()
	}
	if len(st.Changed) > 0 {
		return fmt.Sprintf("%d edits are not committed, %v first", len(st.Changed), st.Changed[0])
	}
	return w.unindexed()
}

// unindexed says in what the index on disk differs from the files, "" in
// nothing: it counts what a search has to read because it changed.
func (w *watching) unindexed() string {
	w.t.Helper()
	x, err := index.Open(w.v, index.Options{Now: time.Now, ReadOnly: true})
	if err != nil {
		w.t.Fatal(err)
	}
	defer x.Close()
	res, err := x.Search(w.t.Context(), index.Query{Text: "edit", Limit: -1})
	if err != nil {
		return err.Error()
	}
	if res.Indexed > 0 || res.Degraded != "" {
		return fmt.Sprintf("%d files are not indexed %s", res.Indexed, res.Degraded)
	}
	return ""
}

// finds searches for one word and wants these paths.
func (w *watching) finds(word string, want ...string) {
	w.t.Helper()
	x, err := index.Open(w.v, index.Options{Now: time.Now, ReadOnly: true})
	if err != nil {
		w.t.Fatal(err)
	}
	defer x.Close()
	res, err := x.Search(w.t.Context(), index.Query{Text: "+" + word, Limit: -1})
	if err != nil {
		w.t.Fatal(err)
	}
	got := map[string]bool{}
	for _, h := range res.Hits {
		got[string(h.Path)] = true
	}
	for _, p := range want {
		if !got[p] {
			w.t.Errorf("%q is not found in %s", word, p)
		}
	}
	if len(got) != len(want) {
		w.t.Errorf("%q is found in %d files, want %d", word, len(got), len(want))
	}
}

// subjects lists what was committed, oldest first: all of it once the watcher has
// been stopped.
func (w *watching) subjects() []string {
	var out []string
	for _, e := range w.seen {
		if e.Kind == Committed {
			out = append(out, e.Commit.Subject)
		}
	}
	return out
}

// never fails the test if a version of p that was ever committed is not one of
// these.
func never(t *testing.T, f *vaulttest.Fixture, p string, allowed func(string) bool) {
	t.Helper()
	for rev := range strings.FieldsSeq(f.Git("log", "--format=%H", "--diff-filter=AM", "--", p)) {
		if text := f.Git("show", rev+":"+p); !allowed(text) {
			t.Errorf("%s was committed half saved in %s: %d bytes %.40q", p, rev, len(text), text)
		}
	}
}

func write(t *testing.T, dir, p, text string) {
	t.Helper()
	full := filepath.Join(dir, filepath.FromSlash(p))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
