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
	machine bool // stet wrote it for an agent
	filed   bool // stet chose the notebook for it
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
// the history of one file, back to the oldest entry's commit.
func (n *Notebook) origins(ctx context.Context) (map[string]origin, error) {
	r := reader{a: n.v.History().Ancestry(), texts: map[vault.Hash]map[string]bool{}}
	head, err := r.a.At("", n.path)
	if err != nil {
		return nil, err
	}
	now, err := r.read(head.Hash)
	if err != nil {
		return nil, err
	}
	pending := maps.Clone(now)
	out := make(map[string]origin, len(pending))
	for version, err := range n.v.History().Versions(ctx, "", n.path) {
		if err != nil {
			return nil, err
		}
		after, err := r.read(version.New)
		if err != nil {
			return nil, err
		}
		before, err := r.read(version.Old)
		if err != nil {
			return nil, err
		}
		c := version.Commit
		for text := range after {
			if !pending[text] || before[text] {
				continue
			}
			written, actor := n.wrote(c, text), c.Trailers.Get("Stet-Actor")
			out[text] = origin{c.When, written, written && actor != "" && actor != vault.ActorUser,
				written && slices.Contains(c.Trailers.All(Filed), n.Address(markdown.Entry{Text: text}))}
			if len(c.Parents) < 2 {
				delete(pending, text) // a merge has it from a branch, which comes later
			}
		}
		if len(pending) == 0 {
			break
		}
	}
	return out, nil
}

// ByAgents reports the texts of entries that agents wrote; the others are a person's
// own words. Cost: as long as the notebook's history.
func (n *Notebook) ByAgents(ctx context.Context) (map[string]bool, error) {
	found, err := n.origins(ctx)
	out := map[string]bool{}
	for text, o := range found {
		out[text] = o.machine
	}
	return out, err
}

// wrote reports whether a commit names the entry as its own work. One that took
// something back brings the work of others.
func (n *Notebook) wrote(c vault.Commit, text string) bool {
	named := n.Address(markdown.Entry{Text: text})
	return c.Op != "" && c.Op != vault.OpAdopt && c.Op != vault.OpRevert && slices.Contains(c.Trailers.All("Stet-Memory"), named)
}

// A reader reads each version of the notebook once, though it is what one commit
// made and what the next one found.
type reader struct {
	a     *vault.Ancestry
	texts map[vault.Hash]map[string]bool
}

// read are the texts of a version's entries.
func (r *reader) read(h vault.Hash) (map[string]bool, error) {
	if known, ok := r.texts[h]; ok {
		return known, nil
	}
	data, err := r.a.Read(h)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, e := range markdown.Parse(data).Entries() {
		out[e.Text] = true
	}
	r.texts[h] = out
	return out, nil
}
