package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"stet/agent/encode"
	"stet/agent/pipeline"
	"stet/index"
	"stet/markdown"
	"stet/vault"
)

// A Meaner finds memories by meaning. An [index.Index] with an embedder is one.
type Meaner interface {
	// Alike lists for each of texts up to limit memories that mean the like,
	// nearest first; nil where it cannot tell.
	Alike(ctx context.Context, texts []string, limit int) ([][]index.Likeness, error)
}

// unspoken reports whether a draft is shown to nobody outside: it is private, or looks
// like a secret.
func (d *gatherer) unspoken(dr *draft) bool {
	if dr.self != nil {
		return dr.self.Private || d.secret(dr.self.Path, dr.memory.Text)
	}
	return dr.note.Private || d.secret("memories/note.md", dr.memory.Text+"\n"+dr.note.Title)
}

func (d *gatherer) secret(p vault.Path, text string) bool {
	return len(d.v.Secrets(p, []byte(text))) > 0
}

// liken looks for what resembles the drafts in meaning, in one call for all of them.
// Where that fails, words decide what resembles them.
func (d *gatherer) liken(drafts []*draft) error {
	if d.mind.Meaning == nil {
		return nil
	}
	var texts []string
	var of []*draft
	for i := range drafts {
		dr := drafts[i]
		if _, asked := d.thoughts[i]; asked || dr.plan.Duplicate != nil || !pipeline.Judgeable(dr.memory.Text) || d.unspoken(dr) {
			continue
		}
		// As the index sends a memory: its name, then what it says.
		name := cmp.Or(dr.note.Title, markdown.Slug(markdown.FirstWords([]byte(dr.memory.Text), 10), 60))
		texts, of = append(texts, name+"\n"+strings.TrimSpace(dr.memory.Text)), append(of, dr)
	}
	if len(texts) == 0 {
		return nil
	}
	found, err := d.mind.Meaning.Alike(d.ctx, texts, near)
	if err != nil {
		if cause := context.Cause(d.ctx); cause != nil {
			return cause
		}
		d.warnings = append(d.warnings, fmt.Sprintf("what resembles the new memory in meaning could not be looked up: %s; shared words decide", strings.Join(strings.Fields(err.Error()), " ")))
		return nil
	}
	for i, list := range found {
		if err := d.resembles(of[i], list); err != nil {
			return err
		}
	}
	return nil
}

// resembles takes up what was found by meaning. The rules judge what the words did
// not find.
func (d *gatherer) resembles(dr *draft, list []index.Likeness) error {
	dr.cosine = map[string]float64{}
	more := false
	for _, l := range list {
		if !concerns(dr.note.Scope, vault.ScopeOf(l.Path)) {
			continue
		}
		m, ok, err := d.read(l.Path)
		if err != nil {
			return err
		}
		if !ok || !dr.follows(m) {
			continue
		}
		key := string(m.Path)
		dr.cosine[key] = l.Cosine
		if slices.ContainsFunc(dr.near, func(o encode.Memory) bool { return o.ID == key }) {
			continue
		}
		d.stored[key] = m
		dr.near, more = append(dr.near, storedMemory(m)), true
	}
	if !more {
		return nil
	}
	if dr.self != nil {
		return d.reconsider(dr)
	}
	var err error
	dr.plan, err = d.decide(dr.memory, dr.near, nil)
	return err
}

// resembling are the stored memories that a note is judged beside: none unless one
// of them resembles it; those that a rule or a change is about first, then those that
// are nearest.
func (d *gatherer) resembling(dr *draft) []vault.Memory {
	type ranked struct {
		vault.Memory
		rank   int
		cosine float64
	}
	var all []ranked
	for _, o := range dr.near {
		m := d.stored[o.ID]
		if m.Private || !pipeline.Judgeable(o.Text) || d.secret(m.Path, o.Text) {
			continue
		}
		r := ranked{m, 2, dr.cosine[o.ID]}
		switch {
		case slices.ContainsFunc(dr.plan.Verdicts, func(v encode.Verdict) bool { return v.Old == o.ID }),
			dr.cosine != nil && encode.Keyed(dr.memory.Text, o.Text):
			r.rank = 0
		case dr.cosine == nil && encode.Related(dr.memory.Text, o.Text), dr.cosine != nil && r.cosine >= d.mind.Similar:
			r.rank = 1
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.cosine, a.cosine))
	})
	if len(all) == 0 || all[0].rank == 2 {
		return nil
	}
	var out []vault.Memory
	for _, m := range all[:min(shown, len(all))] {
		out = append(out, m.Memory)
	}
	return out
}
