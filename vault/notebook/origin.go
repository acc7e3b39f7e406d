package notebook

import (
	"context"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"stet/markdown"
	"stet/vault"
)

// An origin is the commit that brought an entry's text into the notebook.
type origin struct {
	when time.Time
	// written reports that stet wrote the entry, by name; false for what a
	// person typed into the file, committed or not yet.
	written bool
}

// past looks at history at most once, however often an edit starts again: what
// is committed meanwhile is newer than all of it.
type past struct {
	n     *Notebook
	found map[string]origin
}

// foresee looks at history while no lock is held when writing text may need it.
func (p *past) foresee(ctx context.Context, text string) error {
	if text == "" {
		return nil
	}
	page, err := p.n.Read()
	if err != nil {
		return err
	}
	if page.Usage.Characters+utf8.RuneCountInString(text) > p.n.limit {
		_, err = p.origins(ctx)
	}
	return err
}

func (p *past) origins(ctx context.Context) (map[string]origin, error) {
	if p.found != nil {
		return p.found, nil
	}
	found, err := p.n.origins(ctx)
	p.found = found
	return found, err
}

// origins finds the commit that each committed entry's text came with. Texts
// that HEAD does not have are left out: they are newer than any commit. Cost:
// one tree comparison for each commit back to the oldest entry's.
func (n *Notebook) origins(ctx context.Context) (map[string]origin, error) {
	r := reader{n: n, texts: map[vault.Hash]map[string]bool{"": {}}}
	_, now, err := r.at(ctx, "")
	if err != nil {
		return nil, err
	}
	pending := maps.Clone(now)
	out := make(map[string]origin, len(pending))
	for c, err := range n.v.Log(ctx, vault.LogOptions{Path: n.path, Changes: true}) {
		if err != nil {
			return nil, err
		}
		after, before, err := r.sides(ctx, c)
		if err != nil {
			return nil, err
		}
		for text := range after {
			if pending[text] && !before[text] {
				out[text] = origin{c.When, n.wrote(c, text)}
				delete(pending, text)
			}
		}
		if len(pending) == 0 {
			break
		}
	}
	return out, nil
}

// wrote reports whether a commit names the entry as its own work.
func (n *Notebook) wrote(c vault.Commit, text string) bool {
	named := n.Address(markdown.Entry{Text: text})
	return (c.Op == vault.OpRemember || c.Op == vault.OpUpdate) && slices.Contains(c.Trailers.All("Stet-Memory"), named)
}

// A reader reads each version of the notebook once, though it is what one commit
// made and what the next one found.
type reader struct {
	n     *Notebook
	texts map[vault.Hash]map[string]bool
}

// sides are the texts of the entries behind and before a commit.
func (r *reader) sides(ctx context.Context, c vault.Commit) (after, before map[string]bool, err error) {
	var change vault.Change
	for _, ch := range c.Changes {
		if ch.Path == r.n.path {
			change = ch
		}
	}
	after, ok := r.texts[change.New]
	if !ok {
		if _, after, err = r.at(ctx, string(c.Rev)); err != nil {
			return nil, nil, err
		}
	}
	before, ok = r.texts[change.Old]
	if !ok && len(c.Parents) > 0 {
		_, before, err = r.at(ctx, string(c.Parents[0]))
	}
	return after, before, err
}

// at are the texts of the notebook's entries as a commit has them.
func (r *reader) at(ctx context.Context, rev string) (vault.Hash, map[string]bool, error) {
	s, err := r.n.v.View(ctx, rev)
	if err != nil {
		return "", nil, err
	}
	data, hash, err := s.Read(r.n.path)
	if err != nil {
		return "", nil, err
	}
	if known, ok := r.texts[hash]; ok {
		return hash, known, nil
	}
	out := map[string]bool{}
	for _, e := range markdown.Parse(data).Entries() {
		out[e.Text] = true
	}
	r.texts[hash] = out
	return hash, out, nil
}
