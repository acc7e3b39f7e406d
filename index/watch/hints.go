package watch

import (
	"sync"
	"time"

	"stet/vault"
)

// hints is what a source of events has reported and the loop has not yet dealt
// with. Sources add from goroutines of their own, so that a long commit never
// keeps the system's queue of events from being emptied.
type hints struct {
	now  func() time.Time
	wake chan struct{} // holds one token when there is something new

	mu      sync.Mutex
	index   debouncer // to be indexed
	quiet   debouncer // to be committed
	git     bool      // git's folder changed
	config  bool      // the vault's configuration changed
	trouble []Event
	failed  error // the source can report no more
}

func newHints(now func() time.Time, s Subject) *hints {
	return &hints{
		now: now, wake: make(chan struct{}, 1),
		index: debouncer{wait: s.Debounce, most: latest, limit: manyPaths},
		// A path costs some 100 bytes, so even the limit is small; beyond it
		// nothing is committed before everything is quiet.
		quiet: debouncer{wait: s.Quiet, limit: 32 * manyPaths, group: 3 * s.Quiet},
	}
}

func (h *hints) with(f func(now time.Time)) {
	h.mu.Lock()
	f(h.now())
	h.mu.Unlock()
	select {
	case h.wake <- struct{}{}:
	default: // a token is there already
	}
}

// changed reports that a file may have changed, come or gone.
func (h *hints) changed(paths ...vault.Path) {
	h.with(func(now time.Time) {
		for _, p := range paths {
			if p == vault.Marker {
				h.config = true
			}
			h.index.add(p, now)
			h.quiet.add(p, now)
		}
	})
}

// touched reports that a file's description changed and its contents did not,
// as far as the system says.
func (h *hints) touched(p vault.Path) { h.with(func(now time.Time) { h.index.add(p, now) }) }

// lost reports that changes were missed.
func (h *hints) lost() {
	h.with(func(now time.Time) { h.index.addAll(now); h.quiet.addAll(now) })
}

// atGit reports that git's folder changed.
func (h *hints) atGit() { h.with(func(time.Time) { h.git = true }) }

// warn passes on what a person should know.
func (h *hints) warn(text string) {
	h.with(func(time.Time) { h.trouble = append(h.trouble, Event{Kind: Warning, Text: text}) })
}

// fail reports that the source has ended.
func (h *hints) fail(err error) { h.with(func(time.Time) { h.failed = err }) }

// unsettled reports whether p changed again since it was last taken.
func (h *hints) unsettled(p vault.Path) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.quiet.has(p)
}

// later puts a path back that was written at that time.
func (h *hints) later(p vault.Path, written time.Time) {
	h.with(func(time.Time) { h.quiet.add(p, written) })
}
