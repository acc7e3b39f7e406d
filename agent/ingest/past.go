package ingest

import (
	"slices"

	"stet/vault"
)

// A past is what was decided of stored memories before. What was decided and does
// not hold any more, somebody took back.
type past struct {
	finished map[string]bool
	pairs    map[[2]string]bool
}

// history reads the past once, when something is about to change.
func (f *finisher) history() (*past, error) {
	if f.past != nil {
		return f.past, nil
	}
	p := &past{finished: map[string]bool{}, pairs: map[[2]string]bool{}}
	for c, err := range f.v.Whole().History().Log(f.ctx, vault.LogOptions{}) {
		if err != nil {
			return nil, err
		}
		about := c.Trailers.All("Stet-Memory")
		named := slices.Concat(c.Trailers.All("Supersedes"), c.Trailers.All("Conflicts-With"))
		switch {
		case c.Op == vault.OpEncode && len(about) > 0:
			p.finished[about[0]] = true
			named = append(named, about[1:]...)
			about = about[:1]
		case c.Op == vault.OpUpdate:
			named = append(named, about...)
		}
		for _, line := range c.Trailers.All(flagTrailer) {
			p.pairs[readFlag(line).pair] = true
		}
		for _, a := range about {
			for _, b := range named {
				p.pairs[pair(a, b)] = true
			}
		}
	}
	f.past = p
	return p, nil
}

func pair(a, b string) [2]string { return [2]string{min(a, b), max(a, b)} }

// declined reports whether a pending memory was finished before.
func (f *finisher) declined(m vault.Memory) (bool, error) {
	if f.w.Again || m.ID == "" {
		return false, nil
	}
	p, err := f.history()
	return err == nil && p.finished[m.ID], err
}

// linked reports whether a decision about two memories waits for a person.
func linked(m, old vault.Memory) bool {
	return slices.Contains(m.Conflicts, old.ID) || slices.Contains(old.Conflicts, m.ID) ||
		slices.Contains(m.MayOutdate, old.ID) || slices.Contains(old.MayOutdate, m.ID)
}

// declinedPair reports whether something was decided of two memories before that
// neither of them says any more.
func (f *finisher) declinedPair(m, old vault.Memory) (bool, error) {
	if f.w.Again || m.ID == "" || old.ID == "" || linked(m, old) {
		return false, nil
	}
	p, err := f.history()
	return err == nil && p.pairs[pair(m.ID, old.ID)], err
}
