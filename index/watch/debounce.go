package watch

import (
	"time"

	"stet/vault"
)

// A debouncer holds paths that changed, until each has been left alone for a while.
// Too many of them become one entry for everything.
type debouncer struct {
	wait  time.Duration // since the last change
	most  time.Duration // since the first, whatever comes after it; 0 = no bound
	limit int           // of paths
	// group is how long what is due waits for what is not yet, so that edits
	// made together are taken together.
	group time.Duration

	at  map[vault.Path]span
	all span // of everything; zero when it is not meant
	// bound is a time before which nothing is due: exact after take, too early
	// once a path was added again.
	bound  time.Time
	newest time.Time // the last change of all
}

// A span is when a path changed first and last.
type span struct{ first, last time.Time }

func (s span) none() bool { return s.first.IsZero() }

func (s span) with(now time.Time) span {
	if s.none() {
		return span{now, now}
	}
	if now.After(s.last) {
		s.last = now
	}
	return s
}

// add notes that p changed.
func (p *debouncer) add(path vault.Path, now time.Time) {
	if p.at == nil {
		p.at = map[vault.Path]span{}
	}
	if _, known := p.at[path]; !known && len(p.at) >= p.limit {
		p.addAll(now)
		p.at = nil
		return
	}
	p.at[path] = p.at[path].with(now)
	p.heard(p.at[path])
}

// addAll notes that anything may have changed.
func (p *debouncer) addAll(now time.Time) {
	p.all = p.all.with(now)
	p.heard(p.all)
}

func (p *debouncer) heard(s span) {
	if s.last.After(p.newest) {
		p.newest = s.last
	}
	p.sooner(p.due(s))
}

func (p *debouncer) sooner(t time.Time) {
	if p.bound.IsZero() || t.Before(p.bound) {
		p.bound = t
	}
}

func (p *debouncer) due(s span) time.Time {
	t := s.last.Add(p.wait)
	if end := s.first.Add(p.most); p.most > 0 && end.Before(t) {
		return end
	}
	return t
}

// next is a time at which to call take; ok is false for an empty debouncer.
func (p *debouncer) next() (t time.Time, ok bool) {
	t = p.bound
	if together, end := p.newest.Add(p.wait), p.bound.Add(p.group); t.Before(together) {
		t = together
		if end.Before(t) {
			t = end
		}
	}
	return t, !p.bound.IsZero()
}

// take removes what is due and returns it; all means everything.
func (p *debouncer) take(now time.Time) (paths []vault.Path, all bool, since time.Time) {
	if next, ok := p.next(); !ok || now.Before(next) {
		return nil, false, time.Time{}
	}
	p.bound = time.Time{}
	taken := func(s span) bool {
		if now.Before(p.due(s)) {
			p.sooner(p.due(s))
			return false
		}
		if since.IsZero() || s.first.Before(since) {
			since = s.first
		}
		return true
	}
	if !p.all.none() && taken(p.all) {
		all, p.all = true, span{}
	}
	for path, s := range p.at {
		if taken(s) {
			paths = append(paths, path)
			delete(p.at, path)
		}
	}
	return paths, all, since
}

// has reports whether path, or a folder above it, is waiting.
func (p *debouncer) has(path vault.Path) bool {
	if !p.all.none() {
		return true
	}
	for at := path; len(p.at) > 0; at = vault.Path(at.Dir()) {
		if _, ok := p.at[at]; ok {
			return true
		}
		if at.Dir() == "." {
			break
		}
	}
	return false
}
